// The loop of the progress thread; see progress_thread.hpp.
#include "executor/progress_thread.hpp"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <algorithm>

namespace sibyl {
namespace {

std::chrono::nanoseconds own_processor_time() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

}  // namespace

// The program's signals are for its own threads, but for those that the thread itself gives rise
// to, as where it writes to a page that the program has protected.
ProgressThread::ProgressThread() {
  sigset_t others;
  sigset_t before;
  sigfillset(&others);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) {
    sigdelset(&others, own);
  }
  pthread_sigmask(SIG_SETMASK, &others, &before);
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

void ProgressThread::add(BackgroundWork& work) {
  if (at_ == &work) again_ = true;
  if (std::ranges::find(works_, &work) == works_.end()) works_.push_back(&work);
}

void ProgressThread::make_room() {
  const std::lock_guard<std::mutex> lock(mutex_);
  works_.reserve(room_ + 1);
  ++room_;
}

void ProgressThread::give_room_back() {
  const std::lock_guard<std::mutex> lock(mutex_);
  --room_;
}

void ProgressThread::submit(BackgroundWork& work) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    woken_ = true;
    add(work);
  }
  wake_.notify_one();
}

void ProgressThread::submit_lazily(BackgroundWork& work) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    dozes_ = most_dozes;
    add(work);
    if (looks_soon_) return;
    woken_ = true;
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

std::uint64_t ProgressThread::rounds() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return rounds_;
}

BackgroundWork::Outcome ProgressThread::ask_all(std::unique_lock<std::mutex>& lock) {
  using Outcome = BackgroundWork::Outcome;
  ++rounds_;
  bool moved = false;
  for (std::size_t i = 0; i < works_.size() && !ends_;) {
    BackgroundWork* work = works_[i];
    at_ = work;
    again_ = false;
    lock.unlock();
    const Outcome outcome = work->progress();
    lock.lock();
    at_ = nullptr;
    idle_.notify_all();
    moved = moved || outcome == Outcome::moved;
    // Meanwhile work may have been withdrawn, or this one submitted again.
    if (outcome == Outcome::ended && !again_) std::erase(works_, work);
    if (i < works_.size() && works_[i] == work) ++i;
  }
  return moved ? Outcome::moved : Outcome::waiting;
}

std::chrono::steady_clock::time_point ProgressThread::expected() const {
  auto earliest = std::chrono::steady_clock::time_point::max();
  for (const BackgroundWork* work : works_) earliest = std::min(earliest, work->expected());
  return earliest;
}

// While there is no work.
void ProgressThread::rest(std::unique_lock<std::mutex>& lock) {
  woken_ = false;
  looks_soon_ = dozes_ > 0;
  if (!looks_soon_) {
    wake_.wait(lock, [this] { return ends_ || woken_; });
    return;
  }
  --dozes_;
  wake_.wait_for(lock, long_enough, [this] { return ends_ || woken_; });
}

void ProgressThread::run() {
  using std::chrono::nanoseconds;
  std::unique_lock<std::mutex> lock(mutex_);
  nanoseconds pause = shortest;
  nanoseconds before = own_processor_time();
  while (!ends_) {
    if (works_.empty()) {
      rest(lock);
      pause = shortest;
      before = own_processor_time();
      continue;
    }
    woken_ = false;
    const bool moved = ask_all(lock) == BackgroundWork::Outcome::moved;
    // Of the round, and of the waking before it.
    const nanoseconds after = own_processor_time();
    const nanoseconds cost = after - before;
    before = after;
    const nanoseconds most = std::clamp<nanoseconds>(pause_for_cost * cost, long_enough, longest);
    pause = moved ? shortest : std::min<nanoseconds>(4 * pause, most);
    if (works_.empty()) continue;
    const auto now = std::chrono::steady_clock::now();
    const auto until = expected();
    const bool foreseen = !moved && until > now + pause;
    const auto end = foreseen ? std::min(until, now + longest_wait) : now + pause;
    looks_soon_ = end <= now + longest;
    const bool woken = wake_.wait_until(lock, end, [this] { return ends_ || woken_; });
    if (woken || (foreseen && end == until)) pause = shortest;
  }
}

}  // namespace sibyl
