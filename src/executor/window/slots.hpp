// What of a window lies in the shared memory, which is zero at first; see node_window.hpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "executor/window/node_window.hpp"

namespace sibyl {

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
  std::uint32_t by_mpi;
  std::uint32_t outlet;  // 1 + the number of the sender's outlet that the data are in; 0: here

  char* data() { return reinterpret_cast<char*>(this + 1); }
  const char* data() const { return reinterpret_cast<const char*>(this + 1); }
};

// Of a rank, for a piece that several others read. Its data follow.
struct alignas(64) NodeWindow::Outlet {
  std::atomic<std::uint32_t> readers;  // who have not taken it yet

  char* data() { return reinterpret_cast<char*>(this + 1); }
};

constexpr std::size_t slots_of_a_queue = 8;
constexpr std::size_t outlets_of_a_rank = 8;
static_assert(outlets_of_a_rank == slots_of_a_queue);  // touch()

inline NodeWindow::Slot& NodeWindow::slot(Queue& queue, std::uint64_t number) const {
  char* const first = reinterpret_cast<char*>(&queue + 1);
  return *reinterpret_cast<Slot*>(first + number % slots_of_a_queue * (sizeof(Slot) + slot_bytes_));
}

}  // namespace sibyl
