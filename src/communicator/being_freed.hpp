// Communicators that the program is freeing: MPI_Comm_free calls its delete callbacks, which may
// still make collectives there. These go to the MPI library on all ranks: whether Sibyl's own
// attribute has gone before the program's depends on which was set first, and a state that is made
// now would outlive its communicator, whose attributes MPI has looked through.
//
// Thread safety: each thread sees what it frees itself, and calls its callbacks in.
#pragma once

#include <mpi.h>

#include <atomic>

#include "communicator/settled_calls.hpp"

namespace sibyl {

class BeingFreed {
 public:
  explicit BeingFreed(MPI_Comm comm) : comm_(comm), outer_(innermost) {
    SettledCalls::forget(comm);  // what is known by its arguments would not ask
    innermost = this;
    ++under_way;
  }
  ~BeingFreed() {
    --under_way;
    innermost = outer_;
  }
  BeingFreed(const BeingFreed&) = delete;
  BeingFreed& operator=(const BeingFreed&) = delete;

  static bool holds(MPI_Comm comm) {
    if (under_way.load(std::memory_order_relaxed) == 0) return false;
    for (const BeingFreed* one = innermost; one != nullptr; one = one->outer_) {
      if (one->comm_ == comm) return true;
    }
    return false;
  }

 private:
  MPI_Comm comm_;
  const BeingFreed* outer_;  // the one whose callback frees this one

  static inline std::atomic<int> under_way = 0;
  static inline thread_local const BeingFreed* innermost = nullptr;
};

}  // namespace sibyl
