// Messages that come in by a window; see node_window.hpp.
#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "executor/window/slots.hpp"

namespace sibyl {

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
  while (peer.receiving != 0) {
    if (peer.place == Place::none && !peer.kept.empty() && hand_over_kept(peer, user)) {
      moved = true;
      continue;
    }
    const Slot& next = slot(*peer.in, peer.taken);
    if (next.turn.load(std::memory_order_acquire) != peer.taken + 1) break;
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
