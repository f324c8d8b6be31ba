// Calls of which it is known how they are served, so that nothing is looked at again.
//
// Most calls of most programs are short. What says how they are served - the state of the
// communicator, its types, its last choices, a program and its layout - lies in many places, which
// a program that has worked on data of its own between two calls has driven out of the processor's
// caches: then the decision takes longer than the call. So a call that was left to the library, and
// will be whenever it comes again, is remembered in one cache line by all of its arguments that the
// decision looked at, and one that Sibyl serves by a few short messages beside these messages. Of
// a longer gather, scatter or scan it is remembered at what site the governor has it, who may leave
// it to the library.
//
// Where calls are counted for the report, it is remembered besides where to count it.
//
// Settled is a call that was decided by its arguments and by what its communicator agreed on at
// set-up alone: nothing is learnt at it (serve.hpp says which those are), and the governor is asked
// as ever. Ranks may remember different calls, since it makes no difference. Where what decisions
// rest on changes, or a communicator ends, all threads forget the calls on that communicator, and
// those on the few that share its number here: programs make and free communicators in loops.
//
// Thread safety: any number of threads; each remembers calls of its own.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "executor/program/short_run.hpp"
#include "governor/governor.hpp"
#include "sibyl/planners.hpp"
#include "telemetry/report.hpp"

namespace sibyl {

// The arguments of one call: all words are equal, or it is another one. What a collective has not
// is left 0. Where a type or an operator has had a part in the decision, or in what is counted, it
// is predefined, which is never freed.
struct alignas(64) SettledCall {
  std::uint64_t epoch = 0;  // in which it was decided
  std::uint64_t communicator = 0;
  std::uint64_t what = 0;  // collective, caller, root, and which buffers are none or the same
  std::uint64_t count = 0;
  std::uint64_t type = 0;
  std::uint64_t other_count = 0;
  std::uint64_t other_type = 0;
  std::uint64_t op = 0;

  static constexpr std::uint64_t odd = 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio
  // MPI's handles are numbers or pointers.
  template <class Handle>
  static std::uint64_t word(Handle handle) {
    if constexpr (std::is_pointer_v<Handle>) {
      return reinterpret_cast<std::uintptr_t>(handle);
    } else {
      return static_cast<std::uint64_t>(handle);
    }
  }
  // Fill in what the collective has.
  SettledCall& with(MPI_Count elements, MPI_Datatype datatype) {
    count = word(elements);
    type = word(datatype);
    return *this;
  }
  SettledCall& with_other(MPI_Count elements, MPI_Datatype datatype) {
    other_count = word(elements);
    other_type = word(datatype);
    return *this;
  }
  SettledCall& by(MPI_Op operation) {
    op = word(operation);
    return *this;
  }
  // What is looked at of two buffers.
  static std::uint64_t buffers(const void* first, const void* second) {
    const auto kind = [](const void* buffer) {
      return buffer == MPI_IN_PLACE ? 2U : buffer == nullptr ? 1U : 0U;
    };
    return kind(first) | kind(second) << 2U | (first == second ? 1U : 0U) << 4U;
  }
  // As `what` has it; the preload's bit is set by settled_call().
  Collective collective() const { return static_cast<Collective>(what >> 8U & 0xFFU); }
  std::uint32_t root() const { return static_cast<std::uint32_t>(what >> 32U); }
  static constexpr std::uint64_t preload = 1U << 7U;
  bool is_preloads() const { return (what & preload) != 0; }
  // Of the first buffer, and of the second one.
  bool is_null(unsigned buffer) const { return (what >> 2 * buffer & 3U) == 1; }
  bool is_in_place(unsigned buffer) const { return (what >> 2 * buffer & 3U) == 2; }
  bool has_one_buffer_twice() const { return (what >> 4U & 1U) != 0; }
  static std::uint64_t kind(Collective collective, int root, std::uint64_t buffers) {
    return static_cast<std::uint64_t>(collective) << 8U | buffers |
           static_cast<std::uint64_t>(static_cast<std::uint32_t>(root)) << 32U;
  }
};
static_assert(sizeof(SettledCall) == 64);

class CommunicatorState;

// What a decision looks at of blocks of any sizes, where all ranks know all of them.
struct BlockSizes {
  MPI_Count all = 0;  // elements; negative where a count is
  MPI_Count largest = 0;
  bool operator==(const BlockSizes&) const = default;
};

// What is remembered of one.
struct KnownCall {
  enum class Kind : std::uint8_t {
    library,    // the MPI library has it
    seen,       // it has been served once, and a short run may serve it
    served,     // a short run serves it
    unsettled,  // none can; the governor is asked first, who may leave it to the library
  };
  SettledCall call;
  Kind kind = Kind::library;
  CallCount* count = nullptr;  // nullptr: it is not to be counted
  std::uint64_t bytes = 0;     // of one call, for the report
  CommunicatorState* state = nullptr;
  std::optional<BlockSizes> sizes = std::nullopt;  // for which alone the library has it
};

// What serves one, unless the governor says otherwise; an unsettled one has no run.
struct KnownRun {
  bool governed = false;
  Governor::Key site;
  ShortRun run;
};

class SettledCalls {
 public:
  // nullptr: it is not known to be one. Valid until this thread's next call.
  static const KnownCall* find(const SettledCall& call);
  static void add(const KnownCall& call);
  // Of a call that was found to be `served` or `unsettled`; and of one that is to be added as such.
  static const KnownRun& run_of(const KnownCall& call);
  static KnownRun& new_run_of(const SettledCall& call);
  // Of decisions on calls of this communicator that begin now; never 0.
  static std::uint64_t epoch(MPI_Comm comm) {
    return 1 + forgotten(comm).load(std::memory_order_acquire);
  }
  // Decisions on these may turn out otherwise from now on.
  static void forget(MPI_Comm comm) {
    forgotten(comm).fetch_add(1, std::memory_order_acq_rel);
    if (told_of_forgotten_ != nullptr) told_of_forgotten_(SettledCall::word(comm));
  }
  // Those on any.
  static void forget_all() {
    for (auto& times : forgotten_) times.fetch_add(1, std::memory_order_acq_rel);
    if (told_of_forgotten_ != nullptr) told_of_forgotten_(0);
  }
  // From now on `known` is told of calls that the library has whatever is counted, and `forgotten`
  // of communicators (0: all) whose calls may be others' from then on, after is_current() is false.
  // Called before the first call of any.
  static void tell(void (*known)(const KnownCall&), void (*forgotten)(std::uint64_t)) {
    told_of_known_ = known;
    told_of_forgotten_ = forgotten;
  }
  static bool is_current(const SettledCall& call) {
    return call.epoch == 1 + forgotten_[place_of(call.communicator)].load();
  }

 private:
  static constexpr unsigned number_bits = 6;  // of a communicator
  static std::size_t place_of(std::uint64_t communicator) {
    return static_cast<std::size_t>(communicator * SettledCall::odd >> (64 - number_bits));
  }
  static std::atomic<std::uint64_t>& forgotten(MPI_Comm comm) {
    return forgotten_[place_of(SettledCall::word(comm))];
  }
  static inline void (*told_of_known_)(const KnownCall&) = nullptr;
  static inline void (*told_of_forgotten_)(std::uint64_t) = nullptr;
  static inline std::array<std::atomic<std::uint64_t>, std::size_t{1} << number_bits> forgotten_{};
};

}  // namespace sibyl
