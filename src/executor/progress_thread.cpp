// The loop of the progress thread; see progress_thread.hpp.
#include "executor/progress_thread.hpp"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <algorithm>

namespace sibyl {

// The program's signals are for its own threads.
ProgressThread::ProgressThread() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ProgressThread::~ProgressThread() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void ProgressThread::submit(BackgroundWork& work) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    submitted_ = true;
    if (std::ranges::find(works_, &work) == works_.end()) works_.push_back(&work);
  }
  wake_.notify_one();
}

void ProgressThread::withdraw(BackgroundWork& work) {
  std::unique_lock<std::mutex> lock(mutex_);
  std::erase(works_, &work);
  idle_.wait(lock, [&] { return at_ != &work; });
}

double ProgressThread::processor_seconds() {
  clockid_t clock{};
  timespec used{};
  if (pthread_getcpuclockid(thread_.native_handle(), &clock) != 0 ||
      clock_gettime(clock, &used) != 0) {
    return 0;
  }
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

BackgroundWork::Outcome ProgressThread::ask_all(std::unique_lock<std::mutex>& lock) {
  using Outcome = BackgroundWork::Outcome;
  bool moved = false;
  for (std::size_t i = 0; i < works_.size() && !ends_;) {
    BackgroundWork* work = works_[i];
    at_ = work;
    submitted_ = false;
    lock.unlock();
    const Outcome outcome = work->progress();
    lock.lock();
    at_ = nullptr;
    idle_.notify_all();
    moved = moved || outcome == Outcome::moved;
    // Meanwhile work may have been withdrawn, or this one submitted again.
    if (outcome == Outcome::ended && !submitted_) std::erase(works_, work);
    if (i < works_.size() && works_[i] == work) ++i;
  }
  return moved ? Outcome::moved : Outcome::waiting;
}

void ProgressThread::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  std::chrono::microseconds pause = shortest;
  while (!ends_) {
    if (works_.empty()) {
      wake_.wait(lock, [this] { return ends_ || !works_.empty(); });
      pause = shortest;
      continue;
    }
    const bool moved = ask_all(lock) == BackgroundWork::Outcome::moved;
    pause = moved ? shortest : std::min(2 * pause, longest);
    if (works_.empty()) continue;
    if (wake_.wait_for(lock, pause, [this] { return ends_ || submitted_; })) {
      submitted_ = false;
      pause = shortest;
    }
  }
}

}  // namespace sibyl
