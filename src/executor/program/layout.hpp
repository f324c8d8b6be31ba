// Where the units of a call's buffers lie in memory.
//
// There are three kinds of collectives. In a reduction the buffers are vectors of the user's
// elements, scratch is copies of the vector, and parts are cut between elements. In a broadcast the
// buffer is a vector that is cut between bytes, since the ranks' types may differ. In all others
// buffers are blocks; a block that is cut is cut between bytes, and scratch holds packed blocks.
// What is cut between bytes is of a type without gaps (packed_mirror.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "executor/executor.hpp"

namespace sibyl {

// What one point-to-point call needs.
struct Piece {
  char* address = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_BYTE;
};

// Blocks of any sizes are cut into segments of so many bytes at least: up to here MPICH sends a
// message at once rather than by rendezvous.
inline constexpr std::size_t least_segment = 16384;

constexpr std::size_t in_cache_lines(std::size_t bytes) {
  constexpr std::size_t line = 64;
  return (bytes + line - 1) / line * line;
}

class Layout {
 public:
  Layout(const PlanHeader& header, const Program& program, const CollectiveCall& call);

  // Bytes of scratch; it is at `place` from now on.
  std::size_t scratch_bytes() const { return scratch_bytes_; }
  void place_scratch(char* place) { scratch_ = place; }

  bool reduces() const { return combines(header_.collective); }
  bool is_irregular(Buffer buffer) const {
    return buffer != Buffer::scratch && user(buffer).irregular != nullptr;
  }
  const UserBuffer& user(Buffer buffer) const {
    return buffer == Buffer::send ? call_.send : call_.receive;
  }
  // The type of a reduction's elements, or of a vector.
  const UserBuffer& vector() const;
  // Elements of a slice of a reduction, in one piece.
  MPI_Count elements_of(const Range& range) const { return elements(range).count; }

  // A range in one piece: units of a reduction, or of blocks that lie one after the other.
  Piece locate(Buffer buffer, const Range& range) const {
    if (range.count == 0) return {};
    if (kind_ == Kind::reduction) return locate_elements(buffer, range);
    if (buffer == Buffer::scratch) return locate_in_scratch(range);
    return header_.segments == 1 ? locate_blocks(user(buffer), range) : locate_cut(buffer, range);
  }
  // Packed bytes of a range.
  std::size_t bytes_of(Buffer buffer, const Range& range) const;

 private:
  struct Elements {
    MPI_Count first = 0;
    MPI_Count count = 0;
  };
  enum class Kind : std::uint8_t { reduction, vector, blocks };

  MPI_Count begin_of(Unit unit) const;
  Elements elements(const Range& range) const;
  Piece locate_elements(Buffer buffer, const Range& range) const;
  Piece locate_in_scratch(const Range& range) const;
  static Piece locate_blocks(const UserBuffer& data, const Range& range);
  Piece locate_cut(Buffer buffer, const Range& range) const;
  std::size_t segment_begin(std::size_t block_bytes, Unit segment) const;
  MPI_Count slot_begin(Unit slot) const;

  const PlanHeader& header_;
  const CollectiveCall& call_;
  Kind kind_;
  Unit units_;               // of a vector, or of all blocks
  MPI_Aint copy_bytes_ = 0;  // from one copy of a reduction's vector to the next
  std::size_t scratch_bytes_ = 0;
  char* scratch_ = nullptr;
};

}  // namespace sibyl
