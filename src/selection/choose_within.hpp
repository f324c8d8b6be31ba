// The choice where all ranks share a node, whose messages go through a window
// (executor/window/node_window.hpp), and have a processor each.
#pragma once

#include "selection/choose.hpp"

namespace sibyl {

// nullptr: the MPI library, which knows how to use a node's memory as well.
const Algorithm* choose_within(const Situation& situation);

// What takes turns with it under the governor; nullptr: nothing.
const Algorithm* challenger_within(const Situation& situation);

}  // namespace sibyl
