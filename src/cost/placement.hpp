// How the ranks of a communicator lie on nodes, for algorithms that mind it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "planners/nodes.hpp"

namespace sibyl {

// A number for the host of this rank: equal on one host, different on two as good as surely.
std::int64_t host_number();
// The same, or what SIBYL_TEST_PLACEMENT names for this rank of the world: a list of numbers of
// nodes, from whose first entry it goes on after the last. Empty, or no such list: the host's.
std::int64_t node_number(std::string_view test_placement);

// Where all ranks lie. Consecutive ranks, the same number on all nodes but the last, which may hold
// fewer, are named by that number; any other placement rank by rank. Every rank counts as a node of
// its own where they cannot be asked. Collective; all ranks get the same answer.
Placement find_placement(MPI_Comm comm, std::int64_t own_node);

// How many processors `ranks` of `comm`, which share this node, may run on; where each is bound to
// processors of its own, which is enough for whoever else is there, the largest number. Collective
// over `ranks`, by messages with `tag`; all get the same answer, 0 where MPI fails.
std::int64_t processors_of(MPI_Comm comm, int tag, std::span<const Rank> ranks);

// The ranks of `rank`'s node among `ranks`, in ascending order.
std::vector<Rank> ranks_of_own_node(const Placement& placement, Rank rank, Rank ranks);

}  // namespace sibyl
