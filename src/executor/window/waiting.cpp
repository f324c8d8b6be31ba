// How a rank waits for others on a window; see node_window.hpp.
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "executor/window/slots.hpp"

namespace sibyl {
namespace {

// Looks before a rank makes way for what others wait for, with a core for each rank of the node
// (0.2 ms where two ranks share a window) and without (3 us). Then it sleeps, after some looks that
// give the processor to others; where the whole job's ranks have cores it goes on looking for
// longer (22 ms), since to be woken takes some 30 us, and the MPI libraries' own ranks look for
// ever.
constexpr std::uint32_t looks_alone = 4000;
constexpr std::uint32_t looks_among_many = 50;
constexpr std::uint32_t times_as_long = 100;
constexpr std::uint32_t yields = 50;
constexpr std::uint32_t looks_before_mpi = 256;  // some 15 microseconds
// A pass counts for many looks, since more time lies between two of them.
constexpr std::uint32_t passes_before_way = 50;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// The word is shared with other processes, so these are not the private operations.
void sleep_while_set(std::atomic<std::uint32_t>& word, std::chrono::nanoseconds limit) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  const timespec most{.tv_sec = seconds.count(), .tv_nsec = (limit - seconds).count()};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, 1, &most, nullptr, 0);
}

void wake_sleeper(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace

bool NodeWindow::can_send() {
  for (Peer& peer : peers_) peer.full = false;
  for (std::size_t i = 0; i < sends_.size();) {
    const std::span<const WindowSend> messages = std::span(sends_).subspan(i, sends_[i].together);
    if (can_put(messages)) return true;
    hold_back_behind(messages);
    i += messages.size();
  }
  return false;
}

// Whether progress() would take something from it, or find() find it.
bool NodeWindow::can_take(const Peer& peer) const {
  if (peer.receiving == 0 && (!looks_ || peer.in == nullptr)) return false;
  const Slot& next = slot(*peer.in, peer.taken);
  if (next.turn.load() != peer.taken + 1) return false;
  return peer.receiving != 0 || makes_way(peer) || is_looked_for(peer, next);
}

// Whether progress() would move something.
bool NodeWindow::has_work() {
  if (is_broken() || can_send()) return true;
  return std::ranges::any_of(peers_, [&](const Peer& peer) { return can_take(peer); });
}

// After a slot has been filled or freed. A rank that goes to sleep says so before it looks for the
// last time: one of the two sees what the other has done, since all of these stores and loads are
// in one order. (By fences it would be the same, of which the thread sanitizer knows nothing.)
void NodeWindow::wake(const Peer& peer) const {
  std::atomic<std::uint32_t>& sleeps = peer.line->sleeps;
  if (sleeps.load() == 0) return;
  if (sleeps.exchange(0) != 0) wake_sleeper(sleeps);
}

void NodeWindow::sleep() {
  std::atomic<std::uint32_t>& sleeps = own_line_->sleeps;
  sleeps.store(1);
  if (!has_work()) {
    ++sleeps_;
    sleep_while_set(sleeps, longest_sleep_);
  }
  sleeps.store(0);
}

std::uint32_t NodeWindow::looks_before_way() const {
  return (crowded_ ? looks_among_many : looks_alone) + yields;
}

std::uint32_t NodeWindow::looks_before_sleep() const {
  return looks_for_long_ ? times_as_long * looks_alone + yields : looks_before_way();
}

int NodeWindow::pause(bool tests_mpi) {
  ++idle_;
  bool asks_mpi = false;
  if (idle_ + yields <= looks_before_sleep()) {
    relax();
    asks_mpi = idle_ % looks_before_mpi == 0;
    if (asks_mpi && idle_ > looks_before_way() && part_all()) return MPI_SUCCESS;
  } else if (idle_ > looks_before_sleep() && part_all()) {
    return MPI_SUCCESS;
  } else if (tests_mpi || idle_ <= looks_before_sleep()) {
    ::sched_yield();
  } else {
    sleep();
    asks_mpi = true;
  }
  return tests_mpi || !asks_mpi ? MPI_SUCCESS : ask_mpi();
}

int NodeWindow::pass(bool tests_mpi) {
  idle_ += looks_before_way() / passes_before_way;
  if (idle_ > looks_before_way() && part_all()) return MPI_SUCCESS;
  return tests_mpi ? MPI_SUCCESS : ask_mpi();
}

int NodeWindow::ask_mpi() const {
  int there = 0;
  return PMPI_Iprobe(MPI_ANY_SOURCE, 0, comm_, &there, MPI_STATUS_IGNORE);
}

}  // namespace sibyl
