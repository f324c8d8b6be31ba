// The memory of one run, and the steps that need no message.
//
// The workspace is laid out as: scratch (packed blocks, or copies of the vector), staging slots
// (one per receive_combine under way), packed area (messages that are put together from several
// places), room for a copy between typed buffers.
#pragma once

#include <functional>

#include "executor/program/layout.hpp"

namespace sibyl {

class Frame {
 public:
  Frame(const Prepared& prepared, const CollectiveCall& call, Workspace& workspace);

  // False when there was no memory.
  bool ready() const { return ready_; }
  // All of it.
  struct Room {
    char* memory = nullptr;
    std::size_t bytes = 0;
  };
  const Room& room() const { return room_; }
  const Layout& layout() const { return layout_; }

  int tag_of(StepIndex index) const {
    return call_.tag_base + static_cast<int>(prepared_.tag[index]);
  }
  // The memory of a message step: where its slice lies, or its place in the packed area.
  Piece message(StepIndex index) const {
    const Slice& slice = step(index).slice;
    return is_packed(index) ? packed_message(index) : layout_.locate(slice.buffer, slice.range);
  }
  // Several ranges always are put together, several blocks where they may lie anywhere.
  bool is_packed(StepIndex index) const {
    if (prepared_.packed_ordinal[index] == Prepared::not_packed) return false;
    const Slice& slice = step(index).slice;
    return slice.list_size > 1 || layout_.is_irregular(slice.buffer);
  }
  // Bytes of an element of that memory; 0 where its type has gaps or is not in order.
  std::size_t element_bytes(StepIndex index) const;
  const DatatypeInfo& type_of(const Slice& slice) const;
  // False for a message without data in a call that leaves such out.
  bool is_sent(StepIndex index) const { return !call_.leaves_empty_out || has_data(index); }
  // The memory into which receive_combine receives, in the given staging slot.
  Piece staged(StepIndex index, std::uint32_t slot) const;

  // Puts a packed message together before it is sent, or takes it apart after it has arrived;
  // nothing to do for one that lies in one piece.
  int gather_message(StepIndex index) const {
    return is_packed(index) ? move_message(index, true) : MPI_SUCCESS;
  }
  int scatter_message(StepIndex index) const {
    return is_packed(index) ? move_message(index, false) : MPI_SUCCESS;
  }
  // slice := staged message (+) slice.
  int combine_staged(StepIndex index, std::uint32_t slot) const;
  // The same with a part of the message, which lies at `from` and begins with byte `begin` of it;
  // of elements without gaps.
  int combine_part(StepIndex index, const char* from, std::size_t begin, std::size_t bytes) const;
  // A copy or combine step. `between`, if given, is called between the pieces of a long copy of
  // bytes.
  int run_local(StepIndex index, const std::function<void()>& between = {}) const;

 private:
  const Step& step(StepIndex index) const { return prepared_.program.steps[index]; }
  std::size_t bytes_of(const Slice& slice) const;
  bool has_data(StepIndex index) const;
  Piece packed_message(StepIndex index) const;
  char* staging_place(std::uint32_t slot, MPI_Count elements) const;
  std::size_t place_packed_messages();
  std::size_t bytes_to_stage() const;
  int move_message(StepIndex index, bool into_packed) const;
  int move_block(Buffer buffer, const Range& range, bool into_packed, char* packed) const;
  int combine(const Piece& from, const Piece& to) const;
  int copy(const Step& step, const std::function<void()>& between) const;

  const Prepared& prepared_;
  const CollectiveCall& call_;
  Layout layout_;
  std::vector<PackedPlace>& packed_places_;  // of each message that may be packed
  std::size_t staged_bytes_ = 0;             // of a staging slot
  char* staging_ = nullptr;
  char* packed_ = nullptr;
  char* copy_room_ = nullptr;
  Room room_;
  bool ready_ = false;
};

}  // namespace sibyl
