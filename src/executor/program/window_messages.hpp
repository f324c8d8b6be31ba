// Messages of a program as the node's window takes and brings them: what both engines have in
// common.
//
// The sender alone says whether a message goes by the window: types may differ at its two ends, and
// the receiver unpacks what its own wants unpacked. Elements with gaps, and what is very large, go
// by MPI.
#pragma once

#include "executor/program/frame.hpp"
#include "executor/window/node_window.hpp"

namespace sibyl {

// MPI may move larger ones with one copy; and what a receiver has to keep of them stays small.
inline constexpr std::size_t most_in_window = std::size_t{1} << 26;

class WindowMessages {
 public:
  WindowMessages(const Prepared& prepared, const CollectiveCall& call, const Frame& frame)
      : prepared_(prepared), call_(call), frame_(frame) {}

  bool goes_by_mpi(StepIndex index) const;
  // The step's own number is the key.
  WindowSend sent(StepIndex index) const;
  WindowReceive received(StepIndex index) const;

  // What becomes of a message that comes in: it is copied to where it belongs, or into the given
  // staging slot; combined with what it is for; or dropped, since it is too long.
  enum class Treatment : std::uint8_t { copied, combined, dropped };
  // Takes one piece; `may_combine` is looked at when the message begins. Returns an error code.
  int take(const WindowPiece& piece, std::uint32_t slot, bool may_combine) const;
  static Treatment treatment(const WindowPiece& piece) {
    return static_cast<Treatment>(piece.note);
  }

 private:
  const Step& step(StepIndex index) const { return prepared_.program.steps[index]; }
  Piece place_of(StepIndex index, std::uint32_t slot) const {
    return step(index).kind == StepKind::receive_combine ? frame_.staged(index, slot)
                                                         : frame_.message(index);
  }
  Treatment choose(const WindowPiece& piece, const Piece& place, bool may_combine) const;

  const Prepared& prepared_;
  const CollectiveCall& call_;
  const Frame& frame_;
};

}  // namespace sibyl
