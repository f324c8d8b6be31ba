// The cases that MPI_Gather and MPI_Scatter share: gather_test.cpp and scatter_test.cpp run them.
#pragma once

#include "collectives/harness.hpp"

namespace sibyl::test {

// Every root with every algorithm: the values by definition, and as the MPI library moves them.
void serves_every_root(Collective collective);
// Random pairs of layouts with matching signatures at the root and elsewhere, MPI_IN_PLACE at a
// random part of the roots, counts around the sizes at which engines and algorithms change.
void moves_between_layouts(Collective collective);
// First segments from nothing to more than a block (linear-synchronised gather cuts blocks).
void cuts_anywhere(Collective collective);
// What is not significant away from the root may be anything.
void ignores_insignificant_arguments(Collective collective);

}  // namespace sibyl::test
