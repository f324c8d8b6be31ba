// Measures what messages and operators cost on a communicator.
#pragma once

#include <mpi.h>

#include "planners/nodes.hpp"
#include "selection/choose_reduce.hpp"

namespace sibyl {

// Collective over `comm`, whose messages with the given tag are ours alone; takes some
// milliseconds, some tens on a slow network. Nothing is known where MPI fails or there is no
// memory, or where there is one rank. Whether links carry messages in turn is looked for between
// nodes of consecutive ranks, of which there are at least four. What operators cost stays 0 where
// they cannot be applied at some rank.
Costs measure_costs(MPI_Comm comm, int tag, const Placement& placement, bool combines = true);
// Of these only what the operator costs, on this rank alone.
double measure_gamma();

// What was set stands for what was measured.
Costs with_settings(Costs costs, const Settings& settings);

}  // namespace sibyl
