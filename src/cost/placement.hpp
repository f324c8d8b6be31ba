// How the ranks of a communicator lie on nodes, for algorithms that mind it.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "sibyl/schedule.hpp"

namespace sibyl {

// A number for the host of this rank: equal on one host, different on two as good as surely.
std::int64_t host_number();

// How many consecutive ranks share a node, where that is the same number on all nodes but the last,
// which may hold fewer; else 1. Collective; all ranks get the same answer.
Rank find_ranks_per_node(MPI_Comm comm, std::int64_t own_host);

}  // namespace sibyl
