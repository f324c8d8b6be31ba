// Communicators that the program is freeing: MPI_Comm_free calls its delete callbacks, which may
// still make collectives there. These go to the MPI library on all ranks: whether Sibyl's own
// attribute has gone before the program's depends on which was set first, and a state that is made
// now would outlive its communicator, whose attributes MPI has looked through.
//
// Under the preload the wrapper of MPI_Comm_free tells, until it is over, or an error handler has
// left it by longjmp. In programs that are linked with the library nobody does, but from the
// deletion of the state on MPI_Comm_free is known to stand on the stack.
//
// Thread safety: each thread sees what it frees itself, and calls its callbacks in.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>

#include "communicator/settled_calls.hpp"
#include "communicator/stack_frames.hpp"

namespace sibyl {

class BeingFreed {
 public:
  explicit BeingFreed(MPI_Comm comm, const void* frame = __builtin_dwarf_cfa())
      : outer_(number_that_stand(frame)) {
    SettledCalls::forget(comm);  // what is known by its arguments would not ask
    add({comm, own_frame(frame), true});
  }
  ~BeingFreed() { number = outer_; }
  BeingFreed(const BeingFreed&) = delete;
  BeingFreed& operator=(const BeingFreed&) = delete;

  // The state of `comm` is deleted by a function of the MPI library, which goes on at `code`.
  static void note_end_of_state([[maybe_unused]] MPI_Comm comm, [[maybe_unused]] const void* code) {
#ifndef SMPI_H  // whose ranks share a thread
    number = number_that_stand(__builtin_dwarf_cfa());
    if (!holds(comm)) add({comm, outermost_frame_of(code), false});
#endif
  }

  static bool holds(MPI_Comm comm) {
    for (std::size_t i = number; i-- > 0;) {
      if (freed[i].comm != comm) continue;
      if (freed[i].stands_still(__builtin_dwarf_cfa())) return true;
      number = i;  // and those that were freed within it have gone before
    }
    return false;
  }

 private:
  struct Freed {
    MPI_Comm comm;
    StackFrame by;
    bool told;

    // What was told stands unless it is seen to have been left; else it must be seen.
    bool stands_still(const void* now) const { return told ? !was_left(by, now) : stands(by); }
  };
  static constexpr std::size_t most = 16;  // callbacks of one free another

  static std::size_t number_that_stand(const void* now) {
    std::size_t standing = number;
    while (standing > 0 && !freed[standing - 1].stands_still(now)) --standing;
    return standing;
  }
  static void add(const Freed& one) {
    if (number < most) freed[number++] = one;
  }

  std::size_t outer_;  // how many there were

  static inline constinit thread_local std::array<Freed, most> freed{};
  static inline constinit thread_local std::size_t number = 0;
};

}  // namespace sibyl
