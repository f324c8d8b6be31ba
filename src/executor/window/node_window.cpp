// Queues of slots, and what is posted on them; see node_window.hpp.
#include "executor/window/node_window.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>
#include <new>
#include <utility>

namespace sibyl {

// The following lie in the shared memory, which is zero at first.

// The window itself.
struct alignas(64) NodeWindow::Head {
  std::uint64_t secret;  // shared_memory.hpp
  std::atomic<std::uint32_t> broken;
};

// Of a rank.
struct alignas(64) NodeWindow::Line {
  std::atomic<std::uint32_t> sleeps;
};

// From one rank to another; its slots follow.
struct alignas(64) NodeWindow::Queue {
  std::atomic<std::uint64_t> taken;  // slots, by the receiver
};

// Of slot number n, counted from 0: its turn is n + 1 when it is full. Its data follow.
struct NodeWindow::Slot {
  std::atomic<std::uint64_t> turn;
  std::uint64_t total;  // bytes of the message
  std::int32_t tag;
  std::uint32_t bytes;
  std::uint64_t by_mpi;

  char* data() { return reinterpret_cast<char*>(this + 1); }
  const char* data() const { return reinterpret_cast<const char*>(this + 1); }
};

namespace {

constexpr std::size_t slots_of_a_queue = 8;
constexpr std::size_t line = 64;
// Larger slots gain nothing, smaller ones cost more than MPI's own messages. A line more than a
// power of two, so that the heads of slots do not meet in one set of a cache.
constexpr std::size_t most_in_a_slot = 32768 + line;
constexpr std::size_t least_in_a_slot = 512;
constexpr std::size_t slot_head = 32;

// Looks before others have the processor, with a core for each rank and without; as many looks
// again give it to them before the rank sleeps.
constexpr std::uint32_t looks_alone = 4000;
constexpr std::uint32_t looks_among_many = 50;
constexpr std::uint32_t yields = 50;
constexpr std::uint32_t looks_before_mpi = 256;  // some microseconds
constexpr long sleeps_for = 500'000;             // nanoseconds

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// The word is shared with other processes, so these are not the private operations.
void sleep_while_set(std::atomic<std::uint32_t>& word) {
  const timespec limit{.tv_sec = 0, .tv_nsec = sleeps_for};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, 1, &limit, nullptr, 0);
}

void wake_sleeper(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

std::size_t queues_of(std::size_t ranks) { return ranks * (ranks - 1); }

// Of the queue from one of `ranks` ranks to another.
std::size_t queue_number(std::size_t from, std::size_t to, std::size_t ranks) {
  return from * (ranks - 1) + (to < from ? to : to - 1);
}

std::size_t bytes_of_queue(std::size_t slot_bytes) {
  return line + slots_of_a_queue * (slot_head + slot_bytes);
}

// Data of a slot in a window of so many bytes; 0 where they are too few. With their heads slots are
// whole lines.
std::size_t data_of_a_slot(std::size_t ranks, std::size_t bytes) {
  const std::size_t fixed = line * (1 + ranks + queues_of(ranks));
  if (bytes < fixed) return 0;
  const std::size_t room = (bytes - fixed) / (queues_of(ranks) * slots_of_a_queue) / line * line;
  if (room < least_in_a_slot) return 0;
  return std::min(room, most_in_a_slot) - slot_head;
}

}  // namespace

std::unique_ptr<NodeWindow> NodeWindow::make(MPI_Comm comm, int tag, std::span<const Rank> ranks,
                                             std::size_t bytes) {
  static_assert(sizeof(Head) == line && sizeof(Line) == line && sizeof(Queue) == line &&
                sizeof(Slot) == slot_head && std::atomic<std::uint64_t>::is_always_lock_free);
#ifdef SMPI_H
  return nullptr;  // its ranks share a process, and no simulated time passes while they wait
#endif
  const std::size_t slot_bytes = ranks.size() < 2 ? 0 : data_of_a_slot(ranks.size(), bytes);
  int all = 0;
  int own = 0;
  if (slot_bytes == 0 || PMPI_Comm_size(comm, &all) != MPI_SUCCESS ||
      PMPI_Comm_rank(comm, &own) != MPI_SUCCESS) {
    return nullptr;
  }
  std::unique_ptr<NodeWindow> made;
  try {
    made.reset(new NodeWindow(comm, own, all, ranks, slot_bytes));
  } catch (const std::bad_alloc&) {
    made = nullptr;  // the others are told
  }
  const std::size_t needed =
      line * (1 + ranks.size()) + queues_of(ranks.size()) * bytes_of_queue(slot_bytes);
  SharedMemory memory = SharedMemory::make(comm, tag, ranks, needed, made != nullptr);
  if (memory.begin() == nullptr) return nullptr;
  const auto at = std::ranges::find(ranks, static_cast<Rank>(own)) - ranks.begin();
  made->lay_out(std::move(memory), static_cast<std::size_t>(at), ranks.size());
  return made;
}

NodeWindow::NodeWindow(MPI_Comm comm, Rank own, Rank all, std::span<const Rank> ranks,
                       std::size_t slot_bytes)
    : comm_(comm),
      slot_bytes_(slot_bytes),
      index_(static_cast<std::size_t>(all), unreached),
      peers_(ranks.size()) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] == own) continue;
    index_[static_cast<std::size_t>(ranks[i])] = static_cast<std::uint16_t>(i);
  }
  const long cores = ::sysconf(_SC_NPROCESSORS_ONLN);
  looks_ = static_cast<long>(ranks.size()) <= cores ? looks_alone : looks_among_many;
}

NodeWindow::~NodeWindow() = default;

void NodeWindow::lay_out(SharedMemory memory, std::size_t own, std::size_t ranks) {
  memory_ = std::move(memory);
  char* const begin = memory_.begin();
  const auto line_of = [&](std::size_t i) {
    return reinterpret_cast<Line*>(begin + line * (1 + i));
  };
  const auto queue = [&](std::size_t from, std::size_t to) {
    return reinterpret_cast<Queue*>(begin + line * (1 + ranks) +
                                    queue_number(from, to, ranks) * bytes_of_queue(slot_bytes_));
  };
  head_ = reinterpret_cast<Head*>(begin);
  own_line_ = line_of(own);
  for (std::size_t i = 0; i < ranks; ++i) {
    peers_[i].line = line_of(i);
    if (i == own) continue;  // nobody writes to itself
    peers_[i].out = queue(own, i);
    peers_[i].in = queue(i, own);
  }
}

NodeWindow::Slot& NodeWindow::slot(Queue& queue, std::uint64_t number) const {
  char* const first = reinterpret_cast<char*>(&queue + 1);
  return *reinterpret_cast<Slot*>(first + number % slots_of_a_queue * (slot_head + slot_bytes_));
}

bool NodeWindow::is_broken() const { return head_->broken.load(std::memory_order_relaxed) != 0; }

void NodeWindow::give_up() {
  head_->broken.store(1);
  for (const Peer& peer : peers_) wake(peer);
}

void NodeWindow::begin(std::size_t messages) {
  abandon();
  sends_.reserve(messages);
  receives_.reserve(messages);
}

void NodeWindow::abandon() {
  if (std::ranges::any_of(sends_, [](const WindowSend& out) { return out.done != 0; })) give_up();
  sends_.clear();
  receives_.clear();
  open_ = 0;
  idle_ = 0;
  for (Peer& peer : peers_) {
    peer.sending = 0;
    peer.receiving = 0;
    if (peer.place == Place::receiver) peer.place = Place::nowhere;
  }
}

bool NodeWindow::send(WindowSend message) {
  Peer& peer = peer_of(message.peer);
  if (peer.sending == 0 && put(peer, message)) return true;
  ++peer.sending;
  ++open_;
  sends_.push_back(message);
  return false;
}

void NodeWindow::receive(const WindowReceive& message) {
  ++peer_of(message.peer).receiving;
  ++open_;
  receives_.push_back(message);
}

bool NodeWindow::has_room(Peer& peer) {
  if (peer.sent - peer.known_free < slots_of_a_queue) return true;
  peer.known_free = peer.out->taken.load(std::memory_order_acquire);
  return peer.sent - peer.known_free < slots_of_a_queue;
}

// True when all of it is sent.
bool NodeWindow::put(Peer& peer, WindowSend& message) {
  const std::size_t total = message.by_mpi ? 0 : message.bytes;
  const std::size_t most = message.element == 0 || message.element > slot_bytes_
                               ? slot_bytes_
                               : slot_bytes_ / message.element * message.element;
  do {
    if (!has_room(peer)) return false;
    Slot& next = slot(*peer.out, peer.sent);
    const std::size_t now = std::min(most, total - message.done);
    next.total = total;
    next.tag = message.tag;
    next.bytes = static_cast<std::uint32_t>(now);
    next.by_mpi = message.by_mpi ? 1 : 0;
    if (now != 0) std::memcpy(next.data(), message.data + message.done, now);
    next.turn.store(++peer.sent, std::memory_order_release);
    wake(peer);
    message.done += now;
    idle_ = 0;
  } while (message.done < total);
  return true;
}

bool NodeWindow::put_all(WindowUser& user) {
  if (sends_.empty()) return false;
  bool moved = false;
  for (Peer& peer : peers_) peer.full = false;
  for (std::size_t i = 0; i < sends_.size();) {
    Peer& peer = peer_of(sends_[i].peer);
    const std::size_t before = sends_[i].done;
    if (peer.full || !put(peer, sends_[i])) {
      peer.full = true;
      moved = moved || sends_[i].done != before;
      ++i;
      continue;
    }
    const std::uint32_t key = sends_[i].key;
    sends_.erase(sends_.begin() + static_cast<std::ptrdiff_t>(i));
    --peer.sending;
    --open_;
    moved = true;
    user.window_sent(key);
  }
  return moved;
}

bool NodeWindow::find_receive(const Peer& peer, int tag, std::size_t& at) const {
  for (at = 0; at < receives_.size(); ++at) {
    const WindowReceive& wanted = receives_[at];
    if (wanted.tag == tag && &peers_[index_[static_cast<std::size_t>(wanted.peer)]] == &peer) {
      return true;
    }
  }
  return false;
}

// Messages that have come whole, to who waits for them.
bool NodeWindow::hand_over_kept(Peer& peer, WindowUser& user) {
  bool moved = false;
  for (std::size_t i = 0; i < peer.kept.size();) {
    std::size_t at = 0;
    if (!find_receive(peer, peer.kept[i].tag, at)) {
      ++i;
      continue;
    }
    const Kept message = std::move(peer.kept[i]);
    const std::uint32_t key = receives_[at].key;
    peer.kept.erase(peer.kept.begin() + static_cast<std::ptrdiff_t>(i));
    receives_.erase(receives_.begin() + static_cast<std::ptrdiff_t>(at));
    --peer.receiving;
    --open_;
    moved = true;
    std::uint32_t note = 0;
    if (message.by_mpi) {
      user.window_names(key);
    } else {
      user.window_brings({key, message.data.get(), 0, message.bytes, message.bytes, note});
    }
  }
  return moved;
}

// Frees a slot at the end of the scope, also where a user's operator throws.
struct NodeWindow::Freed {
  NodeWindow& window;
  Peer& peer;
  ~Freed() {
    peer.in->taken.store(++peer.taken, std::memory_order_release);
    window.wake(peer);
  }
};

bool NodeWindow::take_from(Peer& peer, WindowUser& user) {
  bool moved = false;
  while (peer.receiving != 0) {
    if (peer.place == Place::none && !peer.kept.empty() && hand_over_kept(peer, user)) {
      moved = true;
      continue;
    }
    const Slot& next = slot(*peer.in, peer.taken);
    if (next.turn.load(std::memory_order_acquire) != peer.taken + 1) break;
    const Freed freed{*this, peer};
    take(peer, next, user);
    moved = true;
  }
  return moved;
}

void NodeWindow::begin_message(Peer& peer, const Slot& slot) {
  std::size_t at = 0;
  peer.begin = 0;
  peer.note = 0;
  const bool wanted = find_receive(peer, slot.tag, at);
  if (wanted && (!receives_[at].whole || slot.bytes == slot.total)) {
    peer.place = Place::receiver;
    peer.receive = receives_[at];
    receives_.erase(receives_.begin() + static_cast<std::ptrdiff_t>(at));
    return;
  }
  peer.place = keep(peer, slot) ? Place::kept : Place::nowhere;
  if (peer.place == Place::nowhere) give_up();  // no memory
}

bool NodeWindow::keep(Peer& peer, const Slot& slot) try {
  Kept& message = peer.kept.emplace_back();
  message.tag = slot.tag;
  message.by_mpi = slot.by_mpi != 0;
  message.bytes = slot.total;
  message.data = std::make_unique_for_overwrite<char[]>(slot.total);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

// One slot, of a message that begins or goes on.
void NodeWindow::take(Peer& peer, const Slot& slot, WindowUser& user) {
  if (peer.place == Place::none) begin_message(peer, slot);
  const std::size_t begin = peer.begin;
  peer.begin += slot.bytes;
  const Place place = peer.place;
  const bool is_last = peer.begin == slot.total;
  if (is_last) peer.place = Place::none;
  if (place == Place::kept && slot.bytes != 0) {
    std::memcpy(peer.kept.back().data.get() + begin, slot.data(), slot.bytes);
  }
  if (place != Place::receiver) return;
  if (is_last) {
    --peer.receiving;
    --open_;
  }
  if (slot.by_mpi != 0) {
    user.window_names(peer.receive.key);
  } else {
    user.window_brings({peer.receive.key, slot.data(), begin, slot.bytes, slot.total, peer.note});
  }
}

bool NodeWindow::progress(WindowUser& user) {
  bool moved = false;
  for (Peer& peer : peers_) {
    if (peer.receiving != 0) moved = take_from(peer, user) || moved;
  }
  moved = put_all(user) || moved;
  if (moved) idle_ = 0;
  return moved;
}

// Whether progress() would move something.
bool NodeWindow::has_work() {
  if (is_broken()) return true;
  return std::ranges::any_of(peers_, [&](Peer& peer) {
    if (peer.sending != 0 && has_room(peer)) return true;
    if (peer.receiving == 0) return false;
    return slot(*peer.in, peer.taken).turn.load(std::memory_order_acquire) == peer.taken + 1;
  });
}

// After a slot has been filled or freed. A rank that goes to sleep says so before it looks for the
// last time: one of the two sees what the other has done.
void NodeWindow::wake(const Peer& peer) const {
  std::atomic<std::uint32_t>& sleeps = peer.line->sleeps;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (sleeps.load(std::memory_order_relaxed) == 0) return;
  if (sleeps.exchange(0) != 0) wake_sleeper(sleeps);
}

void NodeWindow::sleep() {
  std::atomic<std::uint32_t>& sleeps = own_line_->sleeps;
  sleeps.store(1);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!has_work()) sleep_while_set(sleeps);
  sleeps.store(0);
}

int NodeWindow::pause(bool tests_mpi) {
  ++idle_;
  bool asks_mpi = false;
  if (idle_ <= looks_) {
    relax();
    asks_mpi = idle_ % looks_before_mpi == 0;
  } else if (tests_mpi || idle_ <= looks_ + yields) {
    ::sched_yield();
  } else {
    sleep();
    asks_mpi = true;
  }
  if (tests_mpi || !asks_mpi) return MPI_SUCCESS;
  int there = 0;
  return PMPI_Iprobe(MPI_ANY_SOURCE, 0, comm_, &there, MPI_STATUS_IGNORE);
}

}  // namespace sibyl
