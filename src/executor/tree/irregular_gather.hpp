// What both ends of a tree's messages share in a gather; see irregular_gather.cpp for inner ranks,
// irregular_gather_root.cpp for the root.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "executor/tree/irregular.hpp"

namespace sibyl {

// The child at that place; nullptr if there is none.
const OrderedChild* child_of(const OrderedNode& node, Rank place);

// Takes a message apart: sizes for the ranks of the child's cube. False if it is malformed, which
// only a message of somebody else could be.
bool open_message(const char* message, std::size_t bytes, std::span<std::uint32_t> sizes,
                  std::size_t& data_bytes);

int gather_at_root(const OrderedNode& node, const IrregularCall& call, IrregularRoom& room);

}  // namespace sibyl
