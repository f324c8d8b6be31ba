// Whose memory an address is: the host's, or that of a device runtime which the program has loaded.
//
// A program without one pays a comparison for what lies on its stack or in its heap, and else a
// look at how many libraries it has loaded so far (some 20 ns); only when that has grown are their
// names looked at. A runtime is asked for an address unless it lies in an allocation that it has
// named as its own; what is the host's is asked for anew, since it may have become a device's.
#pragma once

#include <atomic>
#include <cstdint>

#include "device/runtime.hpp"

namespace sibyl::device {

// Where the program begins, whose heap follows it, how far the heap went when it was last asked for
// (0 where there is a device), and where the main thread's stack ends.
struct HostMemory {
  std::uintptr_t program = 0;
  std::uintptr_t stack_end = 0;
  std::atomic<std::uintptr_t> heap_end = 0;
};
extern HostMemory host_memory;

// Whether an address is the host's without a look at anything: the main thread's stack, and the
// program with its heap, as far as it grows by sbrk. The kernel keeps 128 MiB below the stack free
// of anything else, and gives nobody what the heap has given back, but on demand: where there is a
// device the heap's end is asked for each time.
inline bool is_surely_host(const void* address) {
  constexpr std::uintptr_t room = std::uintptr_t{64} << 20;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const HostMemory& known = host_memory;
  return (at < known.stack_end && at >= known.stack_end - room) ||
         (at >= known.program && at < known.heap_end.load(std::memory_order_relaxed));
}

// The runtime of the device whose memory lies at `address`; nullptr: the host's, as memory that
// both may touch (managed, pinned). Thread safety: any thread.
Runtime* owner_of(const void* address) noexcept;

// Copies between host memory and what lies at `place`, one of the two ends, whose `owner` was found
// before. Where that refuses it is asked for again, since freed memory may have become the host's,
// or another device's, and is changed then. False where the copy fails all the same.
bool copy(Runtime*& owner, const void* place, void* to, const void* from,
          const Rows& rows) noexcept;

// Whether a device runtime is loaded.
bool any_loaded() noexcept;

// SIBYL_DEVICE=off: nobody asks, and all memory is the host's.
void ask(bool whether) noexcept;

}  // namespace sibyl::device
