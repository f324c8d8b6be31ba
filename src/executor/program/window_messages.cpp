// From steps to the window and back; see window_messages.hpp.
#include "executor/program/window_messages.hpp"

#include <cstring>

namespace sibyl {

bool WindowMessages::goes_by_mpi(StepIndex index) const {
  const std::size_t element = frame_.element_bytes(index);
  const auto count = static_cast<std::size_t>(frame_.message(index).count);
  return element == 0 || count > most_in_window / element;
}

WindowSend WindowMessages::sent(StepIndex index) const {
  const Piece piece = frame_.message(index);
  WindowSend message{.peer = step(index).peer, .tag = frame_.tag_of(index), .key = index};
  message.data = piece.address;
  message.element = frame_.element_bytes(index);
  message.bytes = static_cast<std::size_t>(piece.count) * message.element;
  message.by_mpi = goes_by_mpi(index);
  return message;
}

WindowReceive WindowMessages::received(StepIndex index) const {
  const std::size_t element = frame_.element_bytes(index);
  const bool whole = element == 0 || element > call_.window->slot_bytes();
  return {step(index).peer, frame_.tag_of(index), index, whole};
}

WindowMessages::Treatment WindowMessages::choose(const WindowPiece& piece, const Piece& place,
                                                 bool may_combine) const {
  const std::size_t element = frame_.element_bytes(piece.key);
  const std::size_t size = element != 0 ? element : frame_.type_of(step(piece.key).slice).size;
  if (piece.total > static_cast<std::size_t>(place.count) * size) return Treatment::dropped;
  const bool combines = step(piece.key).kind == StepKind::receive_combine;
  return combines && may_combine && element != 0 ? Treatment::combined : Treatment::copied;
}

int WindowMessages::take(const WindowPiece& piece, std::uint32_t slot, bool may_combine) const {
  const Piece place = place_of(piece.key, slot);
  if (piece.is_first()) {
    piece.note = static_cast<std::uint32_t>(choose(piece, place, may_combine));
  }
  if (treatment(piece) == Treatment::dropped) return MPI_ERR_TRUNCATE;
  if (piece.bytes == 0 || place.count == 0) return MPI_SUCCESS;
  if (treatment(piece) == Treatment::combined) {
    return frame_.combine_part(piece.key, piece.data, piece.begin, piece.bytes);
  }
  if (frame_.element_bytes(piece.key) != 0) {
    std::memcpy(place.address + piece.begin, piece.data, piece.bytes);
    return MPI_SUCCESS;
  }
  const DatatypeInfo& type = frame_.type_of(step(piece.key).slice);
  return unpack(piece.data, place.address, static_cast<MPI_Count>(piece.bytes / type.size), type,
                call_.comm);
}

}  // namespace sibyl
