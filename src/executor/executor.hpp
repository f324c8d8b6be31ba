// Runs a prepared program over point-to-point messages of a private communicator.
//
// There are two engines. Lockstep performs the program round by round with blocking MPI calls,
// which costs a small call least. Dataflow starts every step as soon as the steps that it depends
// on are complete, so that a late peer delays only what depends on it; the header of the program
// says how many messages it may have under way (PortWindow). After a step has failed both still
// perform the remaining messages, since other ranks wait for them; they return the first error, and
// leave no request behind.
//
// Thread safety: one run at a time per Workspace.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

#include "executor/datatype.hpp"
#include "executor/irregular_blocks.hpp"
#include "executor/program/prepared.hpp"
#include "executor/program/workspace.hpp"

namespace sibyl {

// A buffer of the user's, as blocks. Block b starts at base + b * stride and holds `count`
// elements; a reduction's vector is one block. A rank that holds only its own block r has base such
// that block r lies there, so base itself may point to no memory. Where blocks differ in size,
// `irregular` says where each one lies.
struct UserBuffer {
  char* base = nullptr;
  MPI_Count count = 0;
  MPI_Aint stride = 0;
  DatatypeInfo type;
  const IrregularBlocks* irregular = nullptr;

  // Packed bytes of a block.
  std::size_t bytes_of(Rank rank) const {
    return irregular != nullptr ? irregular->bytes(rank)
                                : static_cast<std::size_t>(count) * type.size;
  }
  struct Block {
    char* address;
    MPI_Count count;
  };
  // Of a block that has elements.
  Block block(Rank rank) const {
    if (irregular != nullptr) return {irregular->at(rank), irregular->counts[rank]};
    return {base + static_cast<MPI_Aint>(rank) * stride, count};
  }
};

class NodeWindow;
struct Piggyback;

// The progress hook: what a rank can do while it waits for messages.
class ProgressHook {
 public:
  // Does a small piece of it, some microseconds long, rarely more. False when nothing is left.
  virtual bool advance() noexcept = 0;

 protected:
  ~ProgressHook() = default;
};

// One call of a collective. `send` and `receive` are equal under MPI_IN_PLACE; one that is not
// significant at this rank is left empty.
struct CollectiveCall {
  MPI_Comm comm = MPI_COMM_NULL;  // private; returns its errors
  int tag_base = 0;
  UserBuffer send;
  UserBuffer receive;
  MPI_Op op = MPI_OP_NULL;
  // Packed bytes of a block, of the largest where they differ, or of the vector.
  std::size_t block_bytes = 0;
  std::size_t first_segment = 0;  // bytes of segment 0 of a block of a gather that is cut in two
  // Where the blocks of all ranks begin in one vector, and where the last one ends: of a
  // reduce-scatter in elements, of an alltoallv that saves blocks in scratch in packed bytes there.
  std::span<const MPI_Count> block_begins;
  // Messages without data are not sent: both ends know of them.
  bool leaves_empty_out = false;
  ProgressHook* progress_hook = nullptr;
  // Of an allreduce: this rank's record, which goes with messages of the call and is that of all
  // ranks when it is over (program/piggyback.hpp); on all ranks or on none, and with no window,
  // whose messages carry none. nullptr: there is none.
  Piggyback* piggyback = nullptr;
  // By which messages to ranks of this node go; nullptr: by MPI, as all others.
  NodeWindow* window = nullptr;
  // Of a program that cuts a vector into segments and sets no limit itself: how many sends to one
  // rank may be under way; 0: any number (selection/model.hpp).
  std::uint32_t most_sends_to_one = 0;
};

// Returns MPI_SUCCESS or the first error code; MPI_ERR_NO_MEM, before any message, when the
// workspace cannot grow to what the program needs.
int execute(const Prepared& prepared, const CollectiveCall& call, Workspace& workspace);

}  // namespace sibyl
