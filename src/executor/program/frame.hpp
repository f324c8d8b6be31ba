// Where the slices of one run lie in memory, and the steps that need no message.
//
// The workspace is laid out as: scratch (packed units, or copies of the vector), staging slots (one
// per receive_combine under way), packed area (messages that are put together from several ranges),
// room for a copy between typed buffers.
#pragma once

#include <functional>

#include "executor/executor.hpp"

namespace sibyl {

// What one point-to-point call needs.
struct Piece {
  char* address = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_BYTE;
};

class Frame {
 public:
  Frame(const Prepared& prepared, const CollectiveCall& call, Workspace& workspace);

  // False when there was no memory.
  bool ready() const { return ready_; }

  // The memory of a message step: where its slice lies, or its place in the packed area.
  Piece message(StepIndex index) const;
  // False for a message without data in a call that leaves such out.
  bool is_sent(StepIndex index) const;
  // The memory into which receive_combine receives, in the given staging slot.
  Piece staged(StepIndex index, std::uint32_t slot) const;

  // Puts a packed message together before it is sent, or takes it apart after it has arrived;
  // nothing to do for a slice of one range.
  int gather_message(StepIndex index) const;
  int scatter_message(StepIndex index) const;
  // slice := staged message (+) slice.
  int combine_staged(StepIndex index, std::uint32_t slot) const;
  // A copy or combine step. `between` is called between the pieces of a long copy of bytes.
  int run_local(StepIndex index, const std::function<void()>& between) const;

 private:
  struct Elements {
    MPI_Count first = 0;
    MPI_Count count = 0;
  };
  const Step& step(StepIndex index) const { return prepared_.program.steps[index]; }
  bool moves_blocks() const { return prepared_.header.partition == Partition::blocks; }
  const UserBuffer& user(Buffer buffer) const {
    return buffer == Buffer::send ? call_.send : call_.receive;
  }
  const UserBuffer& vector_buffer() const;
  Elements elements_of(const Range& part) const;
  std::size_t block_offset(Unit unit) const;
  Piece locate(Buffer buffer, const Range& range) const;
  Piece packed_place(StepIndex index) const;
  int move_message(StepIndex index, bool into_packed) const;
  int combine(const Piece& from, const Piece& to) const;
  int copy(const Step& step, const std::function<void()>& between) const;

  const Prepared& prepared_;
  const CollectiveCall& call_;
  std::size_t scratch_bytes_ = 0;  // of a unit, or of a copy of the vector
  std::size_t staged_bytes_ = 0;   // of a staging slot
  char* scratch_ = nullptr;
  char* staging_ = nullptr;
  char* packed_ = nullptr;
  char* copy_room_ = nullptr;
  bool ready_ = false;
};

}  // namespace sibyl
