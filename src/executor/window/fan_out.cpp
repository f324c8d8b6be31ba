// Data that go to several ranks alike; see node_window.hpp.
#include <algorithm>
#include <cstring>

#include "executor/window/slots.hpp"

namespace sibyl {
namespace {

// Shorter messages lie in the first lines of a slot, and cost no more than to name an outlet.
constexpr std::size_t least_written_once = 1024;

}  // namespace

NodeWindow::Outlet& NodeWindow::outlet(char* outlets, std::size_t number) const {
  const std::size_t lines = (slot_bytes_ + sizeof(Outlet) - 1) / sizeof(Outlet);
  return *reinterpret_cast<Outlet*>(outlets +
                                    number % outlets_of_a_rank * (lines + 1) * sizeof(Outlet));
}

void NodeWindow::touch_outlets(char* outlets, std::size_t bytes, std::size_t& touched,
                               bool writes) {
  const std::size_t needed = sizeof(Outlet) + bytes;
  if (needed <= touched) return;
  const std::size_t stride = static_cast<std::size_t>(reinterpret_cast<char*>(&outlet(outlets, 1)) -
                                                      reinterpret_cast<char*>(&outlet(outlets, 0)));
  touch(outlets, stride, needed, touched, writes);
}

const char* NodeWindow::data_of(const Peer& peer, const Slot& slot) const {
  return slot.outlet == 0 ? slot.data() : outlet(peer.outlets, slot.outlet - 1).data();
}

void NodeWindow::send(std::span<WindowSend> messages, WindowUser& user) {
  if (messages.front().bytes < least_written_once) {
    for (const WindowSend& message : messages) {
      if (send(message)) user.window_sent(message.key);
    }
    return;
  }
  messages.front().together = messages.size();
  const auto waits = [&](const WindowSend& message) { return peer_of(message.peer).sending != 0; };
  if (std::ranges::none_of(messages, waits) && put(messages)) {
    for (const WindowSend& message : messages) user.window_sent(message.key);
    return;
  }
  for (const WindowSend& message : messages) ++peer_of(message.peer).sending;
  open_ += messages.size();
  sends_.insert(sends_.end(), messages.begin(), messages.end());
}

bool NodeWindow::has_room(std::span<const WindowSend> messages) {
  return std::ranges::all_of(
      messages, [&](const WindowSend& message) { return has_room(peer_of(message.peer)); });
}

bool NodeWindow::next_outlet_is_free() const {
  return outlet(outlets_, written_).readers.load() == 0;
}

// At least a piece of each.
bool NodeWindow::can_put(std::span<const WindowSend> messages) {
  const bool has_place = messages.size() == 1 || next_outlet_is_free();
  return has_place && !must_wait(messages) && has_room(messages);
}

bool NodeWindow::put(std::span<WindowSend> messages) {
  WindowSend& first = messages.front();
  if (messages.size() == 1) return put(peer_of(first.peer), first);
  do {
    if (!has_room(messages) || !next_outlet_is_free()) return false;
    reader_is_late_ = false;
    Outlet& next = outlet(outlets_, written_);
    const std::size_t now = next_piece(first);
    touch_outlets(outlets_, now, outlet_pages_, true);
    std::memcpy(next.data(), first.data + first.done, now);
    next.readers.store(static_cast<std::uint32_t>(messages.size()));
    const auto name = static_cast<std::uint32_t>(written_++ % outlets_of_a_rank) + 1;
    for (const WindowSend& message : messages) fill(peer_of(message.peer), message, now, name);
    first.done += now;
    idle_ = 0;
  } while (first.done < first.bytes);
  return true;
}

// What is left goes to each by its own queue.
void NodeWindow::part(std::span<WindowSend> messages) {
  const std::size_t done = messages.front().done;
  for (WindowSend& message : messages) {
    message.together = 1;
    message.done = done;
  }
}

// A reader is so late that the others, who may be what it waits for, should not wait for it. Until
// it has caught up, put_all() parts at once what cannot go to all.
bool NodeWindow::part_all() {
  bool parted = false;
  for (std::size_t i = 0; i < sends_.size();) {
    const std::size_t count = sends_[i].together;
    if (count > 1) {
      part(std::span(sends_).subspan(i, count));
      parted = true;
    }
    i += count;
  }
  if (!parted) return false;
  reader_is_late_ = true;
  ++late_readers_;
  return true;
}

}  // namespace sibyl
