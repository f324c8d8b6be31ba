// The choice where all ranks share a node, whose messages go through a window
// (executor/window/node_window.hpp), and have a processor each.
#pragma once

#include "selection/choose.hpp"

namespace sibyl {

// The window that is taken where nobody says how large it is to be: room for slots of full size, of
// as many ranks as it was measured for, beside a library that it was measured beside. In bytes; 0:
// none. Where all ranks share a node.
std::uint32_t window_that_pays(NativeLibrary library, Rank ranks);

// Bytes of the shortest vectors that are served here: below there is little to win.
inline constexpr std::uint64_t least_within = 4096;

// Whether any call of this collective is chosen for here.
constexpr bool may_go_within(Collective collective) {
  return collective == Collective::reduce || collective == Collective::allreduce ||
         collective == Collective::bcast;
}

// nullptr: the MPI library, which knows how to use a node's memory as well.
const Algorithm* choose_within(const Situation& situation);

// What takes turns with it under the governor; nullptr: nothing.
const Algorithm* challenger_within(const Situation& situation);

}  // namespace sibyl
