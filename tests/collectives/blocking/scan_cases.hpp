// The cases that MPI_Exscan and MPI_Scan share: exscan_test.cpp and scan_test.cpp run them.
#pragma once

#include "collectives/harness.hpp"

namespace sibyl::test {

// Every predefined operator on every type that the standard gives it, against the MPI library's own
// collective, with each algorithm in turn.
void equals_native_for_predefined(Collective collective);
// Random counts around the sizes at which engines and algorithms change, MPI_IN_PLACE on a random
// part of the ranks.
void equals_native_for_sizes(Collective collective);
// Products of 2x2 matrices in every layout of the datatype, created as commuting and not.
void keeps_operand_order(Collective collective);
// Many calls of mixed kinds on one communicator, with no waiting in between.
void survives_a_mix_of_calls(Collective collective);

}  // namespace sibyl::test
