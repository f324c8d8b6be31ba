// Makes windows, and sends by them; see node_window.hpp.
#include "executor/window/node_window.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "executor/window/slots.hpp"

#ifndef MADV_POPULATE_READ  // glibc before 2.34 does not name what kernels from 5.14 on do
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

namespace sibyl {
namespace {

constexpr std::size_t line = 64;
// Larger slots gain nothing, smaller ones cost more than MPI's own messages. A line more than a
// power of two, so that the heads of slots do not meet in one set of a cache.
constexpr std::size_t most_in_a_slot = 32768 + line;
constexpr std::size_t least_in_a_slot = 512;
constexpr std::size_t slot_head = 32;
constexpr std::size_t least_in_a_piece = 8192;

std::size_t queues_of(std::size_t ranks) { return ranks * (ranks - 1); }

// Of the queue from one of `ranks` ranks to another.
std::size_t queue_number(std::size_t from, std::size_t to, std::size_t ranks) {
  return from * (ranks - 1) + (to < from ? to : to - 1);
}

std::size_t bytes_of_queue(std::size_t slot_bytes) {
  return line + slots_of_a_queue * (slot_head + slot_bytes);
}

std::size_t bytes_of_outlets(std::size_t slot_bytes) {
  return outlets_of_a_rank * (line + slot_head + slot_bytes);
}

// All but the data and heads of slots and outlets.
std::size_t fixed_bytes(std::size_t ranks) {
  return line * (1 + ranks + queues_of(ranks) + ranks * outlets_of_a_rank);
}

std::size_t pieces_of(std::size_t ranks) {
  return queues_of(ranks) * slots_of_a_queue + ranks * outlets_of_a_rank;
}

// Data of a slot, and of an outlet, in a window of so many bytes; 0 where they are too few. With
// their heads slots are whole lines.
std::size_t data_of_a_slot(std::size_t ranks, std::size_t bytes) {
  if (bytes < fixed_bytes(ranks)) return 0;
  const std::size_t room = (bytes - fixed_bytes(ranks)) / pieces_of(ranks) / line * line;
  if (room < least_in_a_slot) return 0;
  return std::min(room, most_in_a_slot) - slot_head;
}

}  // namespace

std::size_t NodeWindow::bytes_for(std::size_t ranks, std::size_t message) {
  const std::size_t piece = std::max(message / slots_of_a_queue, least_in_a_piece);
  const std::size_t data = std::clamp(std::min(message, piece), least_in_a_slot, most_in_a_slot);
  const std::size_t room = (data + slot_head + line - 1) / line * line;
  return fixed_bytes(ranks) + pieces_of(ranks) * room;
}

std::unique_ptr<NodeWindow> NodeWindow::make(MPI_Comm comm, int tag, std::span<const Rank> ranks,
                                             std::size_t bytes, bool crowded, bool able) {
  static_assert(sizeof(Head) == line && sizeof(Line) == line && sizeof(Queue) == line &&
                sizeof(Slot) == slot_head && sizeof(Outlet) == line &&
                std::atomic<std::uint64_t>::is_always_lock_free);
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
    if (able) made.reset(new NodeWindow(comm, own, all, ranks, slot_bytes, crowded));
  } catch (const std::bad_alloc&) {
    made = nullptr;  // the others are told
  }
  const std::size_t needed = line * (1 + ranks.size()) +
                             queues_of(ranks.size()) * bytes_of_queue(slot_bytes) +
                             ranks.size() * bytes_of_outlets(slot_bytes);
  SharedMemory memory = SharedMemory::make(comm, tag, ranks, needed, made != nullptr);
  if (memory.begin() == nullptr) return nullptr;
  const auto at = std::ranges::find(ranks, static_cast<Rank>(own)) - ranks.begin();
  made->lay_out(std::move(memory), static_cast<std::size_t>(at), ranks.size());
  return made;
}

NodeWindow::NodeWindow(MPI_Comm comm, Rank own, Rank all, std::span<const Rank> ranks,
                       std::size_t slot_bytes, bool crowded)
    : comm_(comm),
      slot_bytes_(slot_bytes),
      crowded_(crowded),
      index_(static_cast<std::size_t>(all), unreached),
      peers_(ranks.size()) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    peers_[i].rank = ranks[i];
    if (ranks[i] == own) continue;
    index_[static_cast<std::size_t>(ranks[i])] = static_cast<std::uint16_t>(i);
  }
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
  char* const outlets = begin + line * (1 + ranks) + queues_of(ranks) * bytes_of_queue(slot_bytes_);
  head_ = reinterpret_cast<Head*>(begin);
  own_line_ = line_of(own);
  outlets_ = outlets + own * bytes_of_outlets(slot_bytes_);
  for (std::size_t i = 0; i < ranks; ++i) {
    peers_[i].line = line_of(i);
    if (i == own) continue;  // nobody writes to itself
    peers_[i].out = queue(own, i);
    peers_[i].in = queue(i, own);
    peers_[i].outlets = outlets + i * bytes_of_outlets(slot_bytes_);
  }
}

bool NodeWindow::is_broken() const { return head_->broken.load() != 0; }

std::uint64_t NodeWindow::slots_filled() const {
  std::uint64_t filled = 0;
  for (const Peer& peer : peers_) filled += peer.sent;
  return filled;
}

std::uint64_t NodeWindow::slots_taken() const {
  std::uint64_t taken = 0;
  for (const Peer& peer : peers_) taken += peer.taken;
  return taken;
}

std::size_t NodeWindow::messages_kept() const {
  std::size_t kept = 0;
  for (const Peer& peer : peers_) kept += peer.kept.size();
  return kept;
}

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
  idle_ = 0;
  looks_ = false;
  if (open_ == 0) return;  // and so are what peers count
  open_ = 0;
  for (Peer& peer : peers_) {
    peer.sending = 0;
    peer.receiving = 0;
    if (peer.place == Place::receiver) peer.place = Place::nowhere;
  }
}

bool NodeWindow::abandon_one(std::uint32_t& key) {
  if (!sends_.empty()) {
    key = sends_.back().key;
    --peer_of(sends_.back().peer).sending;
    sends_.pop_back();
  } else if (!receives_.empty()) {
    key = receives_.back().key;
    --peer_of(receives_.back().peer).receiving;
    receives_.pop_back();
  } else {
    const auto begun = std::ranges::find(peers_, Place::receiver, &Peer::place);
    if (begun == peers_.end()) return false;
    key = begun->receive.key;
    begun->place = Place::nowhere;
    --begun->receiving;
  }
  --open_;
  return true;
}

bool NodeWindow::send(WindowSend message) {
  Peer& peer = peer_of(message.peer);
  if (peer.sending == 0 && put(peer, message)) return true;
  ++peer.sending;
  ++open_;
  sends_.push_back(message);
  return false;
}

bool NodeWindow::has_room(Peer& peer) {
  if (peer.sent - peer.known_free < slots_of_a_queue) return true;
  peer.known_free = peer.out->taken.load();
  return peer.sent - peer.known_free < slots_of_a_queue;
}

// The kernel makes a page when it is touched first, which takes longer than a short message. So the
// first message of a length has that of all slots made: else the next seven would each wait for
// their own, and whoever compares the first calls would take the window for slow.
void NodeWindow::touch(char* first, std::size_t stride, std::size_t bytes, std::size_t& touched,
                       bool writes) {
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  touched = (bytes + page - 1) / page * page;
  for (std::size_t i = 0; i < slots_of_a_queue; ++i) {
    char* const begin = first + i * stride;
    const std::size_t before = reinterpret_cast<std::uintptr_t>(begin) % page;
    // Older kernels know no such advice; then pages come one by one.
    ::madvise(begin - before, before + std::min(touched, stride),
              writes ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
  }
}

void NodeWindow::touch_slots(Queue* queue, std::size_t bytes, std::size_t& touched, bool writes) {
  const std::size_t needed = sizeof(Slot) + bytes;
  if (needed <= touched) return;
  char* const first = reinterpret_cast<char*>(queue + 1);
  touch(first, sizeof(Slot) + slot_bytes_, needed, touched, writes);
}

// Pieces that come while others are still copied in: no fewer than a queue has slots, unless they
// would be too small to be worth a slot each.
std::size_t NodeWindow::next_piece(const WindowSend& message) const {
  const std::size_t total = message.by_mpi ? 0 : message.bytes;
  const std::size_t wanted =
      std::clamp(total / slots_of_a_queue, std::min(least_in_a_piece, slot_bytes_), slot_bytes_);
  const std::size_t element = message.element;
  const std::size_t whole = element == 0 || element > slot_bytes_
                                ? wanted
                                : std::max(wanted / element, std::size_t{1}) * element;
  return std::min(whole, total - message.done);
}

void NodeWindow::fill(Peer& peer, const WindowSend& message, std::size_t bytes,
                      std::uint32_t outlet) {
  touch_slots(peer.out, outlet == 0 ? bytes : 0, peer.out_pages, true);
  Slot& next = slot(*peer.out, peer.sent);
  next.total = message.by_mpi ? 0 : message.bytes;
  next.tag = message.tag;
  next.bytes = static_cast<std::uint32_t>(bytes);
  next.by_mpi = message.by_mpi ? 1 : 0;
  next.outlet = outlet;
  if (bytes != 0 && outlet == 0) std::memcpy(next.data(), message.data + message.done, bytes);
  next.turn.store(++peer.sent);
  wake(peer);
}

// True when all of it is sent.
bool NodeWindow::put(Peer& peer, WindowSend& message) {
  const std::size_t total = message.by_mpi ? 0 : message.bytes;
  do {
    if (!has_room(peer)) return false;
    const std::size_t now = next_piece(message);
    fill(peer, message, now, 0);
    message.done += now;
    idle_ = 0;
  } while (message.done < total);
  return true;
}

// For others that were posted earlier and go to the same ranks; `full` is of this pass.
bool NodeWindow::must_wait(std::span<const WindowSend> messages) {
  return std::ranges::any_of(messages,
                             [&](const WindowSend& message) { return peer_of(message.peer).full; });
}

void NodeWindow::hold_back_behind(std::span<const WindowSend> messages) {
  for (const WindowSend& message : messages) peer_of(message.peer).full = true;
}

bool NodeWindow::put_all(WindowUser& user) {
  if (sends_.empty()) return false;
  bool moved = false;
  for (Peer& peer : peers_) peer.full = false;
  for (std::size_t i = 0; i < sends_.size();) {
    const std::size_t count = sends_[i].together;
    const std::span<WindowSend> messages = std::span(sends_).subspan(i, count);
    if (reader_is_late_ && count > 1 && !can_put(messages)) {
      part(messages);
      continue;
    }
    const std::size_t before = messages.front().done;
    if (must_wait(messages) || !put(messages)) {
      hold_back_behind(messages);
      moved = moved || messages.front().done != before;
      i += count;
      continue;
    }
    moved = true;
    for (const WindowSend& message : messages) {
      --peer_of(message.peer).sending;
      --open_;
      user.window_sent(message.key);
    }
    const auto begin = sends_.begin() + static_cast<std::ptrdiff_t>(i);
    sends_.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
  }
  return moved;
}

bool NodeWindow::progress(WindowUser& user) {
  bool moved = false;
  for (Peer& peer : peers_) {
    moved = take_from(peer, user) || moved;
  }
  moved = put_all(user) || moved;
  if (moved) idle_ = 0;
  return moved;
}

}  // namespace sibyl
