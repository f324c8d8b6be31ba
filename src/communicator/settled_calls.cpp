// A small table for each thread; see settled_calls.hpp.
#include "communicator/settled_calls.hpp"

#include <array>
#include <cstddef>
#include <new>
#include <type_traits>

namespace sibyl {
namespace {

#ifdef SMPI_H
constexpr bool ranks_share_threads = true;
#else
constexpr bool ranks_share_threads = false;
#endif
constexpr unsigned place_bits = 4;
constexpr std::size_t place_count = std::size_t{1} << place_bits;
constexpr std::size_t slot_count = 2 * place_count;
thread_local constinit std::array<KnownCall, slot_count> slots{};
// Of the two slots of each place the one that was filled first.
thread_local constinit std::array<std::uint8_t, place_count> older{};
// Handles are no constants with every MPI, and memory that begins as zeros costs a thread nothing.
struct alignas(KnownRun) RoomForARun {
  std::array<std::byte, sizeof(KnownRun)> bytes;
};
static_assert(std::is_trivially_destructible_v<KnownRun>);
thread_local constinit std::array<RoomForARun, slot_count> runs{};

// Where the call is remembered, if it is: in one of two slots.
std::size_t place_for(const SettledCall& call) {
  std::uint64_t mixed = call.communicator;
  for (const std::uint64_t word : {call.what, call.count, call.type, call.op}) {
    mixed = mixed * SettledCall::odd ^ word;
  }
  return static_cast<std::size_t>(mixed * SettledCall::odd >> (64 - place_bits));
}

bool holds(std::size_t slot, const SettledCall& call) {
  const SettledCall& held = slots[slot].call;
  return held.epoch == call.epoch && held.what == call.what &&
         held.communicator == call.communicator && held.count == call.count &&
         held.type == call.type && held.other_count == call.other_count &&
         held.other_type == call.other_type && held.op == call.op;
}

// The slot that has the call, or is to have it in the place of the older one.
std::size_t slot_for(const SettledCall& call) {
  const std::size_t place = place_for(call);
  for (const std::size_t slot : {2 * place, 2 * place + 1}) {
    if (holds(slot, call)) return slot;
  }
  return 2 * place + older[place];
}

}  // namespace

[[gnu::hot]] const KnownCall* SettledCalls::find(const SettledCall& call) {
  const std::size_t first = 2 * place_for(call);
  if (holds(first, call)) return &slots[first];
  return holds(first + 1, call) ? &slots[first + 1] : nullptr;
}

void SettledCalls::add(const KnownCall& call) {
  if (ranks_share_threads) return;
  const std::size_t slot = slot_for(call.call);
  slots[slot] = call;
  older[slot / 2] = static_cast<std::uint8_t>(1 - slot % 2);
  const bool is_librarys = call.kind == KnownCall::Kind::library;
  if (is_librarys && call.count == nullptr && told_of_known_ != nullptr) told_of_known_(call);
}

[[gnu::hot]] const KnownRun& SettledCalls::run_of(const KnownCall& call) {
  const RoomForARun& room = runs[static_cast<std::size_t>(&call - slots.data())];
  return *std::launder(reinterpret_cast<const KnownRun*>(room.bytes.data()));
}

KnownRun& SettledCalls::new_run_of(const SettledCall& call) {
  return *new (runs[slot_for(call)].bytes.data()) KnownRun;
}

}  // namespace sibyl
