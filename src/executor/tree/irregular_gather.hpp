// What both ends of a tree's messages share in a gather; see irregular_gather.cpp for inner ranks,
// irregular_gather_root.cpp for the root.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "executor/tree/tree_message.hpp"

namespace sibyl {

// Behind its blocks a message has their sizes and then these: the first place, and how many.
inline constexpr std::size_t cube_bytes = 2 * sizeof(std::uint32_t);

// Which of the node's children has that place; as many as there are if none has.
std::size_t child_of(const OrderedNode& node, Rank place);

// What a message of `bytes` bytes takes that holds a cube's blocks, and its end.
std::size_t trailer_bytes(const WrittenSizes& sizes);
void write_trailer(const WrittenSizes& sizes, const JoinOrder::Cube& cube, char* to);

// Before a long message that is not its sender's only one: whose blocks it will hold. An empty cube
// if the message is no announcement, but one that holds blocks.
inline constexpr std::size_t announcement_bytes = 3 * sizeof(std::uint32_t);
void write_announcement(const JoinOrder::Cube& cube, char* to);
JoinOrder::Cube announced(const char* message, std::size_t bytes);

// Takes a message apart, of blocks in the child's cube: sizes for their places go to `sizes`, which
// is that of the child's cube. False if it is malformed, which only a message of somebody else
// could be.
bool open_message(const char* message, std::size_t bytes, const OrderedChild& child,
                  std::span<std::uint32_t> sizes, IrregularRoom::Opened& opened);

int gather_at_root(const OrderedNode& node, const IrregularCall& call, IrregularRoom& room);

}  // namespace sibyl
