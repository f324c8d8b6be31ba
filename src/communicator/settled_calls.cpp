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
constexpr unsigned slot_bits = 5;
constexpr std::size_t slot_count = std::size_t{1} << slot_bits;
thread_local constinit std::array<KnownCall, slot_count> slots{};
// Handles are no constants with every MPI, and memory that begins as zeros costs a thread nothing.
struct alignas(KnownRun) RoomForARun {
  std::array<std::byte, sizeof(KnownRun)> bytes;
};
static_assert(std::is_trivially_destructible_v<KnownRun>);
thread_local constinit std::array<RoomForARun, slot_count> runs{};

// Where the call is remembered, if it is: one place, taken over by whoever comes last.
std::size_t slot_of(const SettledCall& call) {
  std::uint64_t mixed = call.communicator;
  for (const std::uint64_t word : {call.what, call.count, call.type, call.op}) {
    mixed = mixed * SettledCall::odd ^ word;
  }
  return static_cast<std::size_t>(mixed * SettledCall::odd >> (64 - slot_bits));
}

}  // namespace

[[gnu::hot]] const KnownCall* SettledCalls::find(const SettledCall& call) {
  const KnownCall& known = slots[slot_of(call)];
  const SettledCall& held = known.call;
  const bool is_this = held.epoch == call.epoch && held.what == call.what &&
                       held.communicator == call.communicator && held.count == call.count &&
                       held.type == call.type && held.other_count == call.other_count &&
                       held.other_type == call.other_type && held.op == call.op;
  return is_this ? &known : nullptr;
}

void SettledCalls::add(const KnownCall& call) {
  if (ranks_share_threads) return;
  slots[slot_of(call.call)] = call;
  const bool is_librarys = call.kind == KnownCall::Kind::library;
  if (is_librarys && call.count == nullptr && told_of_known_ != nullptr) told_of_known_(call);
}

[[gnu::hot]] const KnownRun& SettledCalls::run_of(const KnownCall& call) {
  const RoomForARun& room = runs[static_cast<std::size_t>(&call - slots.data())];
  return *std::launder(reinterpret_cast<const KnownRun*>(room.bytes.data()));
}

KnownRun& SettledCalls::new_run_of(const SettledCall& call) {
  return *new (runs[slot_of(call)].bytes.data()) KnownRun;
}

}  // namespace sibyl
