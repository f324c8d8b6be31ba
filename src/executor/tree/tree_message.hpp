// The messages of irregular gather and scatter: how sizes are written, and how pieces that lie
// apart become one message; see irregular.hpp.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "executor/tree/irregular.hpp"

namespace sibyl {

// In place of a size: the block goes direct; the sizes of all ranks follow.
inline constexpr std::uint32_t goes_direct = 0xFFFFFFFE;
inline constexpr std::uint32_t sizes_follow = 0xFFFFFFFF;

// Messages up to this size are put together by copying, which costs less than a datatype; MPI
// libraries copy them as well.
inline constexpr std::size_t copied_up_to = 16384;

inline std::uint32_t load_u32(const char* from) {
  std::uint32_t value = 0;
  std::memcpy(&value, from, sizeof value);
  return value;
}
inline char* store_u32(char* to, std::uint32_t value) {
  std::memcpy(to, &value, sizeof value);
  return to + sizeof value;
}

// The sizes of a message's blocks as they are written: one word where all are alike.
class WrittenSizes {
 public:
  explicit WrittenSizes(std::span<const std::uint32_t> sizes);
  std::size_t bytes() const { return (listed_ ? sizes_.size() + 1 : 1) * sizeof(std::uint32_t); }
  // `word_last`: behind the list (gather, read from the message's end) or before it.
  void write(char* to, bool word_last) const;

 private:
  std::span<const std::uint32_t> sizes_;
  bool listed_ = false;
};

// Reads the sizes of `count` blocks. `word` is where the word stands; the list lies before it if
// `word_last`. False when the message is too short for them.
bool read_sizes(const char* word, std::size_t room, bool word_last, std::span<std::uint32_t> sizes);

inline std::size_t in_tree(std::uint32_t size) { return size == goes_direct ? 0 : size; }

// At least `bytes` bytes, and not many more; throws std::bad_alloc.
char* reserved(Area& area, std::size_t bytes);

// A message of pieces, sent or received as one.
class Pieces {
 public:
  explicit Pieces(IrregularRoom& room) : room_(room) {
    room_.lengths.clear();
    room_.places.clear();
    room_.types.clear();
  }
  void add(const void* data, MPI_Count count, MPI_Datatype type);
  // A datatype of all pieces, to be used once with MPI_BOTTOM and freed.
  int make_type(MPI_Datatype& type);

 private:
  IrregularRoom& room_;
};

inline constexpr int tree_tag = 0;
inline constexpr int direct_tag = 1;
inline constexpr int construction_tag = 2;

// Copies the root's own block between its two buffers; MPI_ERR_TRUNCATE if it does not fit.
int copy_block(const char* from, MPI_Count from_count, const DatatypeInfo& from_type, char* to,
               MPI_Count to_count, const DatatypeInfo& to_type, const IrregularCall& call);

// Waits for a message of the tree; its source and its bytes.
int await_message(const IrregularCall& call, int source, int tag, Rank& from, std::size_t& bytes);
// Whether such a message of any source is there.
int look_for_message(const IrregularCall& call, int tag, bool& there, Rank& from,
                     std::size_t& bytes);
int receive_bytes(const IrregularCall& call, Rank from, int tag, std::size_t bytes, char* to);
// Takes a direct block that this rank did not expect out of the way, so that its sender can go on.
void receive_and_forget(const IrregularCall& call, Rank from, IrregularRoom& room);

}  // namespace sibyl
