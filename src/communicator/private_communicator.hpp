// The communicator on which Sibyl serves one of the user's, and the tags that are in use on it.
//
// Shared by the state of the user's communicator and by the persistent requests made on it, since
// these may outlive it: MPI lets a program free a communicator while operations are under way. So
// it also knows how much memory the windows of such requests take.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <mutex>

#include "communicator/process.hpp"
#include "communicator/tag_blocks.hpp"

namespace sibyl {

class PrivateCommunicator {
 public:
  // Takes over a communicator that counts in the process's budget.
  PrivateCommunicator(Process& process, MPI_Comm comm, int first_reserved_tag)
      : process_(process), comm_(comm), first_reserved_tag_(first_reserved_tag) {}
  ~PrivateCommunicator() {
    if (left_behind_) return;
    PMPI_Comm_free(&comm_);
    process_.give_back_private();
  }
  PrivateCommunicator(const PrivateCommunicator&) = delete;
  PrivateCommunicator& operator=(const PrivateCommunicator&) = delete;

  MPI_Comm get() const { return comm_; }
  // A message may still come that nobody receives: it is never freed, and stays in the budget, or
  // the message would pass for one of the next communicator, which the MPI library may give the
  // same context. It gives one to nobody as long as a single rank has it.
  void leave_behind() { left_behind_ = true; }
  int tag_of(int block) const { return first_reserved_tag_ + block * TagBlocks::tags_each; }

  TagBlocks tags;
  // Of the windows that this rank's requests have, on its node.
  std::atomic<std::uint64_t> bytes_of_windows = 0;

 private:
  Process& process_;
  MPI_Comm comm_;
  int first_reserved_tag_;
  bool left_behind_ = false;
};

// What a persistent request knows of the user's communicator: whether it has gone, with its state.
// Another thread may be freeing it.
struct CommunicatorLink {
  MPI_Comm comm = MPI_COMM_NULL;
  std::atomic<bool> alive = true;

  // Uses the state, which stays as long as that takes.
  template <class Use>
  void while_alive(Use use) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (alive) use();
  }
  void end() {
    const std::lock_guard<std::mutex> lock(mutex_);
    alive = false;
  }

 private:
  std::mutex mutex_;
};

}  // namespace sibyl
