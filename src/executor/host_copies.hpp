// Buffers of a call that lie in device memory, by way of copies in host memory.
//
// A copy has the layout of what it stands for, so that datatypes, counts and displacements hold for
// it as they are and only addresses change. What the call reads is brought before, what it writes
// is delivered after: those bytes alone, so that gaps and blocks of others are left untouched, also
// where a kernel writes to them meanwhile. Where a buffer lies is this rank's matter alone:
// programs and messages are the same, and so a rank may have device memory where another has host
// memory.
//
// A rank whose copy fails takes part all the same, since others wait for its messages, and has the
// error in the end.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <vector>

#include "device/owner.hpp"
#include "executor/executor.hpp"

namespace sibyl {

// What a call's buffers hold at this rank follows from this.
struct CallShape {
  Collective collective;
  Rank rank = 0;
  Rank ranks = 1;
  Rank root = 0;
};

class HostCopies {
 public:
  HostCopies() = default;
  HostCopies(const HostCopies&) = delete;
  HostCopies& operator=(const HostCopies&) = delete;

  // Whether no buffer of the call can lie in device memory, as in most calls, at once.
  static bool are_surely_needless(const CallShape& shape, const CollectiveCall& call) {
    const auto is_host = [&](const UserBuffer& buffer) {
      const char* const within = buffer.base + static_cast<MPI_Aint>(shape.rank) * buffer.stride;
      return buffer.type.dense && (buffer.base == nullptr || device::is_surely_host(within));
    };
    return call.send.irregular == nullptr && call.receive.irregular == nullptr &&
           is_host(call.send) && is_host(call.receive);
  }
  // Whether any buffer of the call lies in device memory.
  static bool are_needed(const CallShape& shape, const CollectiveCall& call);
  // Copies take the place of such buffers in the call, until `call` ends or the next redirect().
  // MPI_SUCCESS, or MPI_ERR_NO_MEM before anything has changed. `comm` is for packing.
  int redirect(const CallShape& shape, CollectiveCall& call, MPI_Comm comm);
  // Both, where they are needed; and bring().
  int take(const CallShape& shape, CollectiveCall& call, MPI_Comm comm) {
    if (!are_needed(shape, call)) return MPI_SUCCESS;
    const int error = redirect(shape, call, comm);
    return error != MPI_SUCCESS ? error : bring();
  }
  // Whether bring() brings gaps, too, of types that cannot be taken apart: what has come into the
  // copies before would be lost.
  bool bring_gaps() const;
  // What a mask may span that is mostly gaps; else types are not taken apart. For tests to change.
  static std::size_t small_span;
  // Return MPI_SUCCESS or the class of an error.
  int bring();
  int deliver();
  // Bytes from the program's buffer to its copy since redirect(); 0 where it has none.
  std::ptrdiff_t shift_of_send() const { return sides_[0].shift; }
  std::ptrdiff_t shift_of_receive() const { return sides_[1].shift; }

 private:
  // Elements that a call reads or writes.
  struct Piece {
    char* address;
    MPI_Count count;
    const DatatypeInfo* type;
  };
  struct Run {
    char* begin;
    device::Rows rows;
    bool with_gaps = false;  // of a type that cannot be taken apart
  };
  struct Side {
    device::Runtime* owner = nullptr;  // null: the host's, or nothing is read or written
    bool moved = false;
    std::ptrdiff_t shift = 0;
    std::vector<Piece> pieces;
    std::vector<Run> runs;
    char* low = nullptr;
    char* high = nullptr;
    Area memory;
    IrregularBlocks blocks;  // as the call is given them
  };

  template <class Add>
  static bool each_read(const CallShape& shape, const CollectiveCall& call, Add add);
  template <class Add>
  static bool each_written(const CallShape& shape, const CollectiveCall& call, Add add);
  static device::Runtime* owner_of(const Piece& piece);
  static void measure(Side& side);
  int place(bool in_place);
  static void move(Side& side, UserBuffer& buffer);
  void find_runs(Side& side, MPI_Comm comm);
  void add_runs_of_mask(const char* mask, std::size_t bytes, char* begin, std::vector<Run>& runs);

  std::array<Side, 2> sides_;  // what is read of `send`, what is written of `receive`
  Area mask_;
  std::vector<char> ones_;
};

}  // namespace sibyl
