// The choice for all-to-alls of equal blocks where ranks share nodes.
#pragma once

#include "selection/choose.hpp"

namespace sibyl {

// nullptr: the MPI library's own.
const Algorithm* choose_alltoall_on_nodes(const Situation& now);

// What that may bring back of a measurement of costs, in bytes over a node's link.
double saved_on_nodes(const Situation& now);

// Whether what goes from one node to another on two levels can be counted in one message.
bool is_countable_on_nodes(const Situation& now);

}  // namespace sibyl
