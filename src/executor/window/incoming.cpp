// Messages that come in by a window; see node_window.hpp.
#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "executor/window/slots.hpp"

namespace sibyl {
namespace {

// Of one rank: it may be calls ahead, and send on as long as there is room. Of the bytes the first
// one may be more.
constexpr std::size_t most_out_of_the_way = 64;
constexpr std::size_t most_bytes_out_of_the_way = std::size_t{1} << 26;

}  // namespace

void NodeWindow::receive(const WindowReceive& message) {
  ++peer_of(message.peer).receiving;
  ++open_;
  receives_.push_back(message);
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

bool NodeWindow::withdraw(Rank peer, int tag) {
  std::size_t at = 0;
  if (!find_receive(peer_of(peer), tag, at)) return false;
  receives_.erase(receives_.begin() + static_cast<std::ptrdiff_t>(at));
  --peer_of(peer).receiving;
  --open_;
  return true;
}

// The next slot of it.
bool NodeWindow::is_full(const Peer& peer) const {
  return slot(*peer.in, peer.taken).turn.load(std::memory_order_acquire) == peer.taken + 1;
}

bool NodeWindow::find(int tag, Rank& from, std::size_t& bytes) {
  looks_ = false;
  for (const Peer& peer : peers_) {
    if (peer.in == nullptr) continue;
    const auto whole =
        std::span(peer.kept).first(peer.kept.size() - (peer.place == Place::kept ? 1 : 0));
    const auto kept = std::ranges::find(whole, tag, &Kept::tag);
    if (kept != whole.end()) {
      from = peer.rank;
      bytes = kept->bytes;
      return true;
    }
    if (peer.place != Place::none || !is_full(peer)) continue;
    const Slot& next = slot(*peer.in, peer.taken);
    if (next.tag != tag) continue;
    from = peer.rank;
    bytes = next.total;
    return true;
  }
  looks_ = true;
  looked_for_ = tag;
  return false;
}

// It stays for whoever looks for it.
bool NodeWindow::is_looked_for(const Peer& peer, const Slot& slot) const {
  return looks_ && peer.place == Place::none && slot.tag == looked_for_;
}

// Before the message that is looked for may stand one that nobody takes: of a rank that is wrong
// about sizes, or that has left a call that failed. As a rule it is of a later call, and best left
// where it is, so nothing is kept elsewhere until this rank has looked for a while.
bool NodeWindow::makes_way(const Peer& peer) const {
  if (!looks_ || peer.in == nullptr) return false;
  return peer.place != Place::none || (idle_ > looks_before_way() && has_room_to_keep(peer));
}

bool NodeWindow::has_room_to_keep(const Peer& peer) const {
  if (peer.kept.empty()) return true;
  if (peer.kept.size() >= most_out_of_the_way || !is_full(peer)) return false;
  std::size_t bytes = slot(*peer.in, peer.taken).total;
  for (const Kept& message : peer.kept) bytes += message.bytes;
  return bytes <= most_bytes_out_of_the_way;
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
  std::uint32_t outlet;
  ~Freed() {
    if (outlet != 0) window.outlet(peer.outlets, outlet - 1).readers.fetch_sub(1);
    peer.in->taken.store(++peer.taken);
    window.wake(peer);
  }
};

bool NodeWindow::take_from(Peer& peer, WindowUser& user) {
  bool moved = false;
  while (peer.receiving != 0 || makes_way(peer)) {
    if (peer.place == Place::none && !peer.kept.empty() && hand_over_kept(peer, user)) {
      moved = true;
      continue;
    }
    const Slot& next = slot(*peer.in, peer.taken);
    if (!is_full(peer) || is_looked_for(peer, next)) break;
    if (next.outlet != 0) touch_outlets(peer.outlets, next.bytes, peer.outlet_pages, false);
    touch_slots(peer.in, next.outlet == 0 ? next.bytes : 0, peer.in_pages, false);
    const Freed freed{*this, peer, next.outlet};
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
  Kept message{slot.tag, slot.by_mpi != 0, slot.total,
               std::make_unique_for_overwrite<char[]>(slot.total)};
  peer.kept.push_back(std::move(message));
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
    std::memcpy(peer.kept.back().data.get() + begin, data_of(peer, slot), slot.bytes);
  }
  if (place != Place::receiver) return;
  if (is_last) {
    --peer.receiving;
    --open_;
  }
  if (slot.by_mpi != 0) {
    user.window_names(peer.receive.key);
  } else {
    user.window_brings(
        {peer.receive.key, data_of(peer, slot), begin, slot.bytes, slot.total, peer.note});
  }
}

}  // namespace sibyl
