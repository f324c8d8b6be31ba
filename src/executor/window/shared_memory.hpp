// Memory that ranks of one node share.
//
// It is an anonymous file of one of them (memfd), which the others open by way of /proc: it has no
// name in any directory, so that nothing is left behind wherever a process dies, and /dev/shm,
// which containers keep small, has no part in it. Pages that nobody touches take no memory.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

#include "sibyl/schedule.hpp"

namespace sibyl {

class SharedMemory {
 public:
  SharedMemory() = default;
  ~SharedMemory();
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;

  // Collective over `ranks` of `comm`, this one among them; all get it, zeroed but for the first 8
  // bytes, or none does: where it is not to be had, or one of them is not `able` to use it.
  // Messages with `tag` must be free for them.
  static SharedMemory make(MPI_Comm comm, int tag, std::span<const Rank> ranks, std::size_t bytes,
                           bool able);

  // nullptr: there is none.
  char* begin() const { return memory_; }

 private:
  SharedMemory(char* memory, std::size_t bytes) : memory_(memory), bytes_(bytes) {}

  char* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace sibyl
