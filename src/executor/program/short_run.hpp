// A short program with all of a call filled in but its buffers, to be run again for equal calls.
//
// What a lockstep run (lockstep.cpp) looks at to find where its messages lie - program, layout,
// types, the communicator's state - is spread over some hundred cache lines. A call of a few short
// messages takes no longer than to fetch them, where the program's own data has driven them out.
// So the operations of such a run are kept side by side, each with its place in the user's buffers.
// Of blocks of any sizes the call says where each lies.
//
// Runs send and receive what lockstep would, in its order.
//
// Thread safety: a plain value; one run at a time per Workspace.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "executor/executor.hpp"

namespace sibyl {

struct ShortRun {
  static constexpr std::size_t most_operations = 12;

  enum class Where : std::uint8_t {
    send,     // `at`: bytes from the beginning of that buffer of the call
    receive,  // likewise
    room,     // of the workspace
    blocks,   // of any size, at the root: that of rank `at`
    own,      // this rank's block in such a call
  };
  struct Place {
    std::int64_t at : 56 = 0;
    Where where = Where::send;
  };
  enum class Kind : std::uint8_t {
    send,
    post_send,  // finished by the next receive
    receive,
    copy,     // of `count` bytes, or of this rank's block
    combine,  // data := from (+) data
  };
  struct Operation {
    Kind kind = Kind::copy;
    int peer = 0;
    int tag = 0;
    int count = 0;  // of elements
    Place data;
    Place from;
  };

  MPI_Comm comm = MPI_COMM_NULL;  // private; returns its errors
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  std::uint32_t room = 0;  // bytes of workspace
  std::uint8_t used = 0;   // which places, by bits
  std::uint8_t operations = 0;
  std::array<Operation, most_operations> operation{};
  // Of blocks of any sizes: types that the call must have, and how long a block may be.
  std::size_t most_bytes = 0;
  DatatypeInfo own_type;
  DatatypeInfo blocks_type;

  std::span<const Operation> all() const { return {operation.data(), operations}; }
  bool uses(Where where) const { return (used >> static_cast<unsigned>(where) & 1U) != 0; }
};

// Where the data of one call are: its arguments by these names.
struct ShortRunData {
  char* send = nullptr;
  char* receive = nullptr;
  char* own = nullptr;  // `own` and `blocks` where blocks have any sizes
  MPI_Count own_count = 0;
  IrregularBlocks blocks{};
};

// The run of this program for calls like this one, which has just been run, with its data at
// `data`. False where it is not short, or not as simple: a window, messages that are put together
// from several places, types with gaps, what must see processes die.
bool make_short_run(const Prepared& prepared, const CollectiveCall& call, Workspace& workspace,
                    const ShortRunData& data, ShortRun& run);

// False where it must not be run with these data: what is to be copied lies where it is to go,
// which is the MPI library's to judge, or in a device's memory.
bool may_run(const ShortRun& run, const ShortRunData& data);

// Returns the error that execute() of the program would.
int execute(const ShortRun& run, const ShortRunData& data, Workspace& workspace);

}  // namespace sibyl
