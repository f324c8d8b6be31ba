// Gather and scatter of blocks of any sizes along an ordered tree (planners/ordered_tree.hpp).
//
// What a message holds is not known before it is there: only the root knows all sizes, and a tree
// that was built for other sizes serves as well. So every edge of the tree carries a message in
// every call, and messages say what they carry:
//
//   gather:  blocks, by place | sizes | first place, places
//   scatter: first place, places | sizes | blocks
//
// In a gather a large subtree is sent in several messages (planners/gather_parts.hpp), each of
// which says which places it holds; whoever awaits a subtree waits until all of them have come.
//
// `sizes` is 4 bytes a rank, or 4 bytes in all where they are equal.
//
// Three ways leave the ordered tree:
//   direct  A block of `direct_from` bytes or more travels in a message of its own between its rank
//           and the root; its size in the tree is a mark. Whoever expects such a block posts its
//           receive at once, and the tree tells both ends what really came: ranks and a root that
//           do not agree on a size all end, and the error is MPI_ERR_TRUNCATE at who has too little
//           room.
//   star    A scatter's root sends a message to each other node itself, where that reaches them
//           sooner than passing messages on.
//   flat    A scatter's root sends each rank a message with its own block, and nobody passes on
//           anything: where blocks are so large that start-ups hide behind them.
//
// The program of a plan would name the blocks of each message; here a rank cannot know them. Both
// follow the same OrderedNode.
//
// Trees are over places (planners/node_order.hpp): nodes, cubes and the sizes in messages name
// places, in whose order blocks travel; peers and the root's blocks are named by rank.
//
// Thread safety: one call at a time per IrregularRoom.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "executor/executor.hpp"
#include "executor/irregular_blocks.hpp"
#include "executor/program/expected.hpp"
#include "executor/program/workspace.hpp"
#include "planners/ordered_tree.hpp"

namespace sibyl {

// What stays from call to call, so that calls alike allocate nothing. Memory for messages is given
// back where a call needs less than half of it.
struct IrregularRoom {
  // Bytes that messages are put together in and taken apart from.
  std::size_t scratch_bytes() const;
  // Room for so many messages, and for no more.
  void make_parts(std::size_t count);
  // That of one message.
  Area& part(std::size_t index);

  std::deque<Area> parts;  // a message each
  struct Opened {          // a child's message in gather
    JoinOrder::Cube cube;  // the places whose blocks it holds
    std::size_t child = 0;
    const char* data = nullptr;
    std::size_t data_bytes = 0;
    std::size_t bytes = 0;  // of the message
  };
  std::vector<Opened> opened;
  std::vector<Rank> missing;               // places that are still to come, by child
  std::vector<JoinOrder::Cube> announced;  // what a child's next message holds
  Area packed;  // own block where its datatype has gaps, and whatever is of no further use
  std::vector<std::uint32_t> sizes;
  std::vector<MPI_Request> requests;
  std::vector<Rank> request_rank;
  // Messages by the node's window (tree_mail.hpp): which of `requests` stand for one that is still
  // to be sent, and what is to be received.
  std::vector<char> in_window;
  struct Incoming {
    Rank from = no_rank;
    char* to = nullptr;
    MPI_Count count = 0;
    DatatypeInfo type;
    bool is_expected = false;   // a block that comes while others are waited for
    bool is_forgotten = false;  // wherever it should have been put
    bool is_spread = false;     // over `spread`
    enum State : std::uint8_t { awaited, here, by_mpi };
    State state = awaited;
  };
  std::vector<Incoming> incoming;
  std::size_t expected_in_window = 0;
  std::vector<std::span<char>> spread;  // where the pieces of a message go
  ExpectedMessages expected;            // direct blocks, by rank
  std::vector<int> finished;
  std::vector<MPI_Status> statuses;
  std::vector<int> lengths;  // of a derived datatype
  std::vector<MPI_Aint> places;
  std::vector<MPI_Datatype> types;
  // Scatter: the tree for the sizes of the last call.
  std::vector<std::uint64_t> tree_sizes;
  std::vector<std::uint64_t> wanted_sizes;
  OrderedNode tree;
};

struct IrregularCall {
  MPI_Comm comm = MPI_COMM_NULL;  // private; returns its errors
  int tag_base = 0;               // three tags are used
  Rank rank = 0;
  Rank ranks = 1;
  Rank root = 0;
  NodeOrder order{1, 1};
  std::size_t direct_from = 0;
  NodeWindow* window = nullptr;  // of this rank's node
  bool star = false;  // a scatter's root sends to each other node itself; false at others
  // This rank's block, which begins at own.base; without a datatype it has none: the root's is in
  // place, or the arguments are wrong and the rank only helps the others.
  UserBuffer own;
  // The root's, with no counts where they are wrong.
  IrregularBlocks all;

  bool is_root() const { return rank == root; }
  Rank place() const { return order.place_of(rank); }
  Rank root_place() const { return order.place_of(root); }
  bool has_own() const { return own.type.handle != MPI_DATATYPE_NULL; }
  std::size_t own_bytes() const {
    return has_own() ? static_cast<std::size_t>(own.count) * own.type.size : 0;
  }
};

// Builds the tree of a gather by messages: at most 2 ceil(log2 p) - 1 that depend on each other.
int construct_tree(const IrregularCall& call, IrregularRoom& room, OrderedNode& node);

// Return MPI_SUCCESS or the first error code; all messages are performed after an error as well.
// `node` is this rank's place in a tree with the call's root that all ranks share.
int gather_irregular(const OrderedNode& node, const IrregularCall& call, IrregularRoom& room);
// `linear` travels with the scatter from the root to all ranks: whether later calls are to be
// served by the linear algorithm.
int scatter_irregular(const IrregularCall& call, IrregularRoom& room, bool& linear);
// The same for a gather, along its tree and by messages of its own.
int hear_from_root(const IrregularCall& call, IrregularRoom& room, const OrderedNode& node,
                   bool& linear);

}  // namespace sibyl
