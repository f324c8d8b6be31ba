// Packs and unpacks the blocks of a mirror; see packed_mirror.hpp.
#include "executor/program/packed_mirror.hpp"

#include "executor/program/engines.hpp"

namespace sibyl {

void PackedMirror::open(UserBuffer& buffer, Rank first, Rank count, std::size_t block_bytes,
                        char* bytes) {
  original_ = buffer;
  first_ = first;
  count_ = count;
  block_bytes_ = block_bytes;
  bytes_ = bytes;
  buffer.base = bytes - static_cast<std::size_t>(first) * block_bytes;
  buffer.stride = static_cast<MPI_Aint>(block_bytes);
  buffer.count = static_cast<MPI_Count>(block_bytes);
  buffer.type = DatatypeInfo{MPI_BYTE, 1, 1, 0, 1, true, true};
}

int PackedMirror::move(MPI_Comm comm, Rank except, bool fill) {
  FirstError error;
  for (Rank block = first_; block < first_ + count_; ++block) {
    if (block == except) continue;
    char* packed = bytes_ + static_cast<std::size_t>(block - first_) * block_bytes_;
    char* user = original_.base + static_cast<MPI_Aint>(block) * original_.stride;
    error.add(fill ? pack(user, original_.count, original_.type, packed, comm)
                   : unpack(packed, user, original_.count, original_.type, comm));
  }
  return error.code();
}

}  // namespace sibyl
