// A packed copy of the user's blocks, or of a vector as one block, for a program that cuts between
// bytes where the datatype has gaps.
#pragma once

#include "executor/executor.hpp"

namespace sibyl {

class PackedMirror {
 public:
  PackedMirror() = default;
  PackedMirror(const PackedMirror&) = delete;
  PackedMirror& operator=(const PackedMirror&) = delete;

  // Packed bytes of the blocks [first, first + count) of `buffer`.
  static std::size_t bytes_of(const UserBuffer& buffer, Rank first, Rank count);
  // `buffer` means these blocks at `bytes` from now on, for as long as this is open. `arrays` is
  // for blocks of any sizes.
  void open(UserBuffer& buffer, Rank first, Rank count, char* bytes, MirroredBlocks& arrays);
  bool is_open() const { return bytes_ != nullptr; }
  void close() { bytes_ = nullptr; }
  // Return the first error code. `only`: this block alone, where it is one; `except`: all others.
  int fill(MPI_Comm comm, Rank only = no_rank);
  int empty(MPI_Comm comm, Rank except);

 private:
  template <class Act>
  void for_each_block(Act act) const;

  UserBuffer original_;
  char* bytes_ = nullptr;
  Rank first_ = 0;
  Rank count_ = 0;
  IrregularBlocks blocks_;
};

}  // namespace sibyl
