// The one thread that works in the background of a process.
//
// It sleeps on a condition variable while there is nothing to do. While there is, it asks every
// piece of work to progress without blocking, and sleeps in between: shortly after something has
// moved, four times as long after each round in which nothing has, until such rounds take a
// thousandth of the time. A round costs the more the busier the processors are, where other work
// has the caches. Where all work says when it expects something next, it sleeps until then, and
// looks closely from there on.
//
// To wake it takes longer than a small collective. Work that its submitter will most likely see to
// itself within microseconds is therefore submitted lazily: the thread finds it when it looks next,
// for which it dozes a while rather than sleeps after the last such work.
//
// Thread safety: every function may be called from any thread but the one that works.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace sibyl {

class BackgroundWork {
 public:
  enum class Outcome : std::uint8_t {
    ended,    // nothing is left to do until it is submitted again
    moved,    // something was complete; ask again soon
    waiting,  // nothing was
  };
  // Never blocks, and throws nothing.
  virtual Outcome progress() noexcept = 0;
  // When something is expected next, on the monotonic clock; the epoch: at any time.
  virtual std::chrono::steady_clock::time_point expected() const noexcept { return {}; }

 protected:
  ~BackgroundWork() = default;
};

class ProgressThread {
 public:
  // Throws std::system_error where the system gives no thread.
  ProgressThread();
  // Joins the thread. Work that is not withdrawn is forgotten.
  ~ProgressThread();
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  // For the work of one more request, so that to submit it needs no memory; may throw
  // std::bad_alloc. And where it is submitted no more.
  void make_room();
  void give_room_back();
  // Wakes the thread. Work that it has already is kept once.
  void submit(BackgroundWork& work);
  // Lets the thread find the work within `longest`, and wakes it only where it would not look.
  void submit_lazily(BackgroundWork& work);
  // Returns when the thread is not and will not be at this work.
  void withdraw(BackgroundWork& work);

  // Processor time that the thread has used.
  double processor_seconds();
  // How often it has asked its work to progress.
  std::uint64_t rounds();

 private:
  void add(BackgroundWork& work);
  void run();
  void rest(std::unique_lock<std::mutex>& lock);
  BackgroundWork::Outcome ask_all(std::unique_lock<std::mutex>& lock);
  std::chrono::steady_clock::time_point expected() const;

  static constexpr std::chrono::microseconds shortest{50};
  // Between these lies the longest pause where nothing is known of what is to come.
  static constexpr std::chrono::microseconds long_enough{4000};
  static constexpr std::chrono::microseconds longest{8000};
  static constexpr int pause_for_cost = 1000;
  // However late something is expected: a prediction may be wrong.
  static constexpr std::chrono::microseconds longest_wait{100000};
  static constexpr int most_dozes = 25;  // of `long_enough` each

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  std::vector<BackgroundWork*> works_;
  std::size_t room_ = 0;          // that was asked for
  BackgroundWork* at_ = nullptr;  // being asked now, without the lock
  std::uint64_t rounds_ = 0;
  bool again_ = false;       // that work has been submitted meanwhile
  bool woken_ = false;       // something has been submitted since the round began
  bool looks_soon_ = false;  // within `longest`, whatever comes
  int dozes_ = 0;            // how often to look for work before it sleeps
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace sibyl
