// The persistent requests of a process: all of them, which are ended at MPI_Finalize, and those
// that have arrived, which any of them progresses while it waits.
//
// A rank that waits for one request may be what others wait for in another one: without a thread in
// the background nobody else would move it.
//
// Thread safety: any thread. A lock is held over progress(), which takes others' locks only where
// they are free.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "executor/progress_thread.hpp"

namespace sibyl {

class PersistentWork : public BackgroundWork {
 public:
  // MPI ends: whatever is under way is cancelled, and MPI is not called any more.
  virtual void end() noexcept = 0;
  // The program's communicator is revoked (executor/faults.hpp). From any thread, whatever this one
  // does meanwhile.
  virtual void revoke(MPI_Comm comm) noexcept = 0;

 protected:
  ~PersistentWork() = default;
};

class ActiveRequests {
 public:
  // May throw std::bad_alloc; later calls for it do not.
  void enter(PersistentWork& work) {
    const std::lock_guard<std::mutex> lock(mutex_);
    arrived_.reserve(all_.size() + 1);
    all_.push_back(&work);
  }
  void leave(PersistentWork& work) { remove(all_, work); }
  void arrived(PersistentWork& work) {
    const std::lock_guard<std::mutex> lock(mutex_);
    arrived_.push_back(&work);
  }
  void completed(PersistentWork& work) { remove(arrived_, work); }

  bool is_alone(const PersistentWork& work) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return arrived_.size() == 1 && arrived_.front() == &work;
  }
  // True when something has moved.
  bool progress_others(const PersistentWork& work) {
    const std::lock_guard<std::mutex> lock(mutex_);
    bool moved = false;
    for (PersistentWork* other : arrived_) {
      if (other != &work && other->progress() == BackgroundWork::Outcome::moved) moved = true;
    }
    return moved;
  }
  void revoke_all_of(MPI_Comm comm) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (PersistentWork* work : all_) work->revoke(comm);
  }
  void end_all() {
    std::vector<PersistentWork*> all;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      all.swap(all_);
      arrived_.clear();
    }
    for (PersistentWork* work : all) work->end();
  }

 private:
  void remove(std::vector<PersistentWork*>& list, PersistentWork& work) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::erase(list, &work);
  }

  std::mutex mutex_;
  std::vector<PersistentWork*> all_;
  std::vector<PersistentWork*> arrived_;
};

}  // namespace sibyl
