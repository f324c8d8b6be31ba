// Packs and unpacks the blocks of a mirror; see packed_mirror.hpp.
#include "executor/program/packed_mirror.hpp"

#include "executor/program/engines.hpp"

namespace sibyl {
namespace {

const DatatypeInfo bytes_info{
    .handle = MPI_BYTE, .named = true, .size = 1, .extent = 1, .true_extent = 1};

}  // namespace

std::size_t PackedMirror::bytes_of(const UserBuffer& buffer, Rank first, Rank count) {
  std::size_t bytes = 0;
  for (Rank block = first; block < first + count; ++block) bytes += buffer.bytes_of(block);
  return bytes;
}

void PackedMirror::open(UserBuffer& buffer, Rank first, Rank count, char* bytes,
                        MirroredBlocks& arrays) {
  original_ = buffer;
  first_ = first;
  count_ = count;
  bytes_ = bytes;
  buffer.type = bytes_info;
  if (original_.irregular == nullptr) {
    const std::size_t each = original_.bytes_of(first);
    buffer.base = bytes - static_cast<std::size_t>(first) * each;
    buffer.stride = static_cast<MPI_Aint>(each);
    buffer.count = static_cast<MPI_Count>(each);
    return;
  }
  const auto end = static_cast<std::size_t>(first) + static_cast<std::size_t>(count);
  arrays.counts.assign(end, 0);
  arrays.places.assign(end, 0);
  for_each_block([&](Rank block, char* packed, std::size_t size) {
    arrays.counts[static_cast<std::size_t>(block)] = static_cast<MPI_Count>(size);
    arrays.places[static_cast<std::size_t>(block)] = packed - bytes;
  });
  blocks_ = {bytes, bytes_info, arrays.counts.data(), arrays.places.data()};
  buffer.irregular = &blocks_;
}

template <class Act>
void PackedMirror::for_each_block(Act act) const {
  char* packed = bytes_;
  for (Rank block = first_; block < first_ + count_; ++block) {
    const std::size_t size = original_.bytes_of(block);
    act(block, packed, size);
    packed += size;
  }
}

int PackedMirror::fill(MPI_Comm comm, Rank only) {
  FirstError error;
  for_each_block([&](Rank block, char* packed, std::size_t size) {
    if (size == 0 || (only != no_rank && block != only)) return;
    const auto [user, count] = original_.block(block);
    error.add(pack(user, count, original_.type, packed, comm));
  });
  return error.code();
}

int PackedMirror::empty(MPI_Comm comm, Rank except) {
  FirstError error;
  for_each_block([&](Rank block, char* packed, std::size_t size) {
    if (size == 0 || block == except) return;
    const auto [user, count] = original_.block(block);
    error.add(unpack(packed, user, count, original_.type, comm));
  });
  return error.code();
}

}  // namespace sibyl
