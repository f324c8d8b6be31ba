// The frame around every blocking collective: arguments, state, set-up, errors, counting.
//
// A collective is a description of one call,
//
//   struct Call {
//     Collective collective;
//     int root;                                   // no_rank where there is none
//     Verdict judge(int rank, int ranks) const;   // of the arguments, without looking further
//     // Optional, of reductions: only the library knows whether it takes this operator and type.
//     bool library_judges(CommunicatorState&) const;
//     OwnData own_data(int rank, int ranks) const;  // what the report counts of a native call
//     int native() const;                           // the MPI library's own collective
//     std::optional<SettledCall> key() const;       // none: a few words do not tell calls apart
//     bool key_tells_bytes() const;                 // calls of one key count as many for the
//     report
//     // Optional: whether this rank has no buffer where its key does not tell if one is wanted.
//     bool lacks_buffer(int rank) const;
//     // Optional: of blocks of any sizes what the decision looks at, which the key does not tell.
//     std::optional<BlockSizes> sizes(int ranks) const;
//     // Where a short run finds the data of this call; false: it must go the whole way.
//     bool find_data(const ShortRun&, const CommunicatorState&, ShortRunData&) const;
//     // May throw std::bad_alloc. `wrong`: the class of what is wrong here, where this rank takes
//     // part all the same, without data (in the C API, where it is awaited).
//     Outcome serve(CommunicatorState&, CountedCall&, int wrong) const;
//     // Optional: whether others wait for this rank whatever its arguments are.
//     bool is_awaited(const CommunicatorState&) const;
//   };
//
// and the frame decides, in this order: what is known to be the library's goes there, as does who
// has no state; wrong arguments are refused, uncounted, by the library where it would, so that a
// program under the preload sees what it knows; what only the library can judge goes to it, and is
// counted if it was right; the call is counted, which may set the communicator up; it is served.
// The user's error handler, which may throw or jump, runs with nothing of Sibyl's left to do.
//
// The functions that a settled call runs through, from the preload's wrapper to the messages, are
// [[gnu::hot]]: the compiler puts them side by side, on half as many pages, which a program that
// has worked on data of its own since the last call has to fetch.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/own_failure.hpp"
#include "collectives/call.hpp"
#include "collectives/verdict.hpp"
#include "communicator/settled_calls.hpp"
#include "executor/irregular_blocks.hpp"
#include "selection/choose_within.hpp"

namespace sibyl {

struct OwnData {
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

// How a call was served: by the program of an algorithm (nullptr where there was nothing to move),
// with what error; or not, and the MPI library is to serve it.
struct Outcome {
  const Algorithm* algorithm = nullptr;
  std::uint64_t bytes = 0;
  int error = MPI_SUCCESS;
  std::optional<LeftNative> to_library = std::nullopt;
  bool settled = false;  // by its arguments: the library has it again when it comes again

  static Outcome library(std::uint64_t bytes, LeftNative why = LeftNative::by_choice) {
    return {nullptr, bytes, MPI_SUCCESS, why};
  }
  // Where no program serves a choice; one that is not valid was none, for what was to be chosen
  // for. `named`: all types of the call are predefined.
  static Outcome library(std::uint64_t bytes, const CommunicatorState::CachedChoice& choice,
                         bool named) {
    Outcome outcome = library(bytes, choice.valid ? LeftNative::by_choice : LeftNative::arguments);
    outcome.settled = named && choice.valid && choice.algorithm == nullptr &&
                      choice.operator_use != OperatorUse::user;
    return outcome;
  }
};

// The class of an error of Sibyl's own, raised by whoever is to raise it.
inline int fail(Caller caller, MPI_Comm comm, int error) {
  if (!caller.preload || !library_raises) return raise_class(comm, error);
  int error_class = error;
  PMPI_Error_class(error, &error_class);
  return as_users_error(comm, error_class);
}

// The words that all collectives have; see SettledCall.
inline SettledCall settled_call(Collective collective, int root, Caller caller, MPI_Comm comm,
                                const void* first = nullptr, const void* second = nullptr) {
  SettledCall call;
  call.epoch = SettledCalls::epoch(comm);  // before anything is decided
  call.communicator = SettledCall::word(comm);
  call.what = SettledCall::kind(collective, root, SettledCall::buffers(first, second)) |
              (caller.preload ? SettledCall::preload : 0);
  return call;
}

inline BlockSizes sizes_of(const Counts& counts, int ranks) {
  BlockSizes sizes;
  for (Rank rank = 0; rank < ranks; ++rank) {
    if (counts[rank] < 0) return {.all = -1};
    sizes.all += counts[rank];
    sizes.largest = std::max(sizes.largest, counts[rank]);
  }
  return sizes;
}

// Whether a call that the library has may go there unlooked at. Without a buffer it is right where
// there is nothing to move, which a key without counts does not tell.
template <class Call>
bool may_settle(const Call& call, const CountedCall::Key& key, int rank) {
  if (key.call == nullptr) return false;
  if constexpr (requires { call.lacks_buffer(rank); }) return !call.lacks_buffer(rank);
  return true;
}

// Of blocks of any sizes, those for which alone a call is settled: with others it may be served, or
// refused by Sibyl. Before a set-up it is neither.
template <class Call>
std::optional<BlockSizes> settled_sizes([[maybe_unused]] const Call& call,
                                        [[maybe_unused]] const CommunicatorState& state) {
  if constexpr (requires { call.sizes(0); }) {
    if (state.is_set_up()) return call.sizes(state.size());
  }
  return std::nullopt;
}

// Counted only where the library takes it: it may be made at this rank alone and refused there.
// `librarys`: it has all calls of this collective.
template <class Call>
int leave_judgement(const Call& call, Caller caller, CommunicatorState& state,
                    const CountedCall::Key& key, bool librarys) {
  const auto begin = std::chrono::steady_clock::now();
  const int result = call.native();
  if (result != MPI_SUCCESS) return result;  // whose handler may have freed the communicator
  CountedCall counted(state, call.collective, call.root, caller.place);
  counted.began_at(begin);
  const OwnData own = counted.is_timed() ? call.own_data(state.rank(), state.size()) : OwnData{};
  if (librarys && !counted.is_timed() && may_settle(call, key, state.rank())) {
    counted.settle(*key.call, 0, settled_sizes(call, state));
  }
  const LeftNative why = librarys ? LeftNative::by_choice : LeftNative::arguments;
  return counted.end_left(why, counted.bytes_of(own.count, own.type), result);
}

// Whether the library serves a call before it is asked who serves it best: this one, all that are
// as short, or all like it.
enum class LibraryServes : std::uint8_t { no, this_once, as_short, always };
template <class Call>
LibraryServes library_serves(const Call& call, CommunicatorState& state, MPI_Comm comm) {
  if (!state.waits_for_window(call.collective, comm)) return LibraryServes::no;
  const OwnData own = call.own_data(state.rank(), state.size());
  int size = 0;
  if (PMPI_Type_size(own.type, &size) == MPI_SUCCESS && size >= 0 &&
      static_cast<std::uint64_t>(own.count) * static_cast<std::uint64_t>(size) < least_within) {
    return LibraryServes::as_short;
  }
  return state.repays_window() ? LibraryServes::no : LibraryServes::this_once;
}

template <class Call>
bool others_await([[maybe_unused]] const Call& call,
                  [[maybe_unused]] const CommunicatorState& state) {
  if constexpr (requires { call.is_awaited(state); }) return call.is_awaited(state);
  return false;
}

// `governed`: what the governor has said of it already.
template <class Call>
[[gnu::noinline]] int serve_unsettled(const Call& call, Caller caller, MPI_Comm comm,
                                      const CountedCall::Key& key,
                                      const Governor::Call* governed = nullptr) {
  if (comm == MPI_COMM_NULL) return call.native();
  int raised = MPI_SUCCESS;
  CommunicatorState* const state = CommunicatorState::get(comm, raised);
  if (raised != MPI_SUCCESS) return raised;
  if (state == nullptr) return call.native();
  Verdict verdict;
  if (!state->between_groups()) verdict = call.judge(state->rank(), state->size());
  if (!verdict.right()) {
    if (verdict.library_refuses && caller.preload) return call.native();
    const bool may_take_part = !caller.preload && verdict.error_class != MPI_ERR_ROOT;
    if (!may_take_part || !others_await(call, *state))
      return fail(caller, comm, verdict.error_class);
  }
  const bool librarys = caller.preload && state->library_serves(call.collective, comm);
  if constexpr (requires { call.library_judges(*state); }) {
    if (!state->between_groups() && call.library_judges(*state)) {
      return leave_judgement(call, caller, *state, key, librarys);
    }
  }
  CountedCall counted(*state, call.collective, call.root, caller.place);
  if (governed != nullptr) counted.adopt(*governed);
  counted.known_by(key);
  const LibraryServes before = librarys         ? LibraryServes::always
                               : caller.preload ? library_serves(call, *state, comm)
                                                : LibraryServes::no;
  if (before != LibraryServes::no) {
    const int result = call.native();
    if (result != MPI_SUCCESS) return result;  // whose handler may have freed the communicator
    // The handle of a type that is not predefined may be another's later, of another size.
    const bool asks_size = counted.is_timed() || before == LibraryServes::as_short;
    const OwnData own = asks_size ? call.own_data(state->rank(), state->size()) : OwnData{};
    const std::uint64_t bytes = counted.bytes_of(own.count, own.type);
    const auto tells_size = [&] {
      DatatypeInfo type;
      return call.key_tells_bytes() && state->type_info(own.type, 1, type) == MPI_SUCCESS &&
             type.named;
    };
    const bool comes_again =
        before != LibraryServes::this_once && may_settle(call, key, state->rank());
    if (comes_again && (!asks_size || tells_size())) {
      counted.settle(*key.call, bytes, settled_sizes(call, *state));
    }
    return counted.end_left(LeftNative::by_choice, bytes, result);
  }
  bool served = false;
  Outcome outcome = guarded(
      [&] {
        served = state->serves(comm, !caller.preload);
        return served ? call.serve(*state, counted, verdict.error_class) : Outcome{};
      },
      {.error = MPI_ERR_NO_MEM});
  if (outcome.error != MPI_SUCCESS) {
    return counted.end(outcome.algorithm, outcome.bytes, fail(caller, comm, outcome.error));
  }
  if (!served) {
    if (state->refused() && !caller.preload) return raise_refusal(comm, *state);
    if (!verdict.right()) {  // nobody awaits this rank, and the library does not look at this
      return counted.end(nullptr, 0, fail(caller, comm, verdict.error_class));
    }
    // Between groups the arguments belong to the other one's ranks.
    const bool readable = counted.is_timed() && !state->between_groups();
    const OwnData own = readable ? call.own_data(state->rank(), state->size()) : OwnData{};
    const bool for_good = caller.preload && state->is_native() && !counted.is_timed();
    const int result = call.native();
    if (for_good && result == MPI_SUCCESS && may_settle(call, key, state->rank())) {
      counted.settle(*key.call, 0);
    }
    return counted.end_native(own.count, own.type, result);
  }
  if (outcome.to_library) {
    const bool countable = call.key_tells_bytes() || !counted.is_timed();
    const bool settled = outcome.settled && countable && state->settles_calls();
    const int result = call.native();
    if (settled && may_settle(call, key, state->rank()) && result == MPI_SUCCESS) {
      counted.settle(*key.call, outcome.bytes, settled_sizes(call, *state));
    }
    return counted.end_left(*outcome.to_library, outcome.bytes, result);
  }
  return counted.end(outcome.algorithm, outcome.bytes, MPI_SUCCESS);
}

// The library has it because the governor says so: there is nothing else to find out.
template <class Call>
int leave_to_library(const Call& call, CommunicatorState& state, const Governor::Call& governed) {
  const int result = call.native();
  // Not after an error, whose handler may have freed the communicator.
  if (governed.stay != nullptr && result == MPI_SUCCESS) state.governing()->leave(governed, true);
  return result;
}

// By a short run, where there is one, its data allow it, and the governor has Sibyl's own choice
// serve; by the library, where the governor says so.
template <class Call>
[[gnu::hot, gnu::noinline]] int serve_settled(const Call& call, Caller caller, MPI_Comm comm,
                                              const KnownCall& known, const CountedCall::Key& key) {
  CommunicatorState& state = *known.state;
  const KnownRun& settled = SettledCalls::run_of(known);
  ShortRunData data;
  const bool is_short = known.kind == KnownCall::Kind::served;
  const bool fits = is_short
                        ? call.find_data(settled.run, state, data) && may_run(settled.run, data)
                        : settled.governed && call.judge(state.rank(), state.size()).right();
  if (!fits || !state.serves(comm, true)) return serve_unsettled(call, caller, comm, key);
  Governor::Call governed;
  if (settled.governed) {
    const auto asked =
        guarded([&] { return std::optional(ask_governor(state, settled.site, caller.place)); },
                std::nullopt);
    if (!asked) return fail(caller, comm, MPI_ERR_NO_MEM);
    governed = *asked;
    if (governed.arm == Arm::native) return leave_to_library(call, state, governed);
    if (!is_short || governed.arm != Arm::own) {
      return serve_unsettled(call, caller, comm, key, &governed);
    }
  }
  const int error = execute(settled.run, data, state.workspace);
  if (error != MPI_SUCCESS) return fail(caller, comm, error);
  if (governed.stay != nullptr) state.governing()->leave(governed, true);
  if (on_served != nullptr) on_served();
  return MPI_SUCCESS;
}

// What is settled goes through no more than this and what it calls for it.
template <class Call>
[[gnu::hot]] int serve(const Call& call, Caller caller, MPI_Comm comm) {
  const std::optional<SettledCall> key = call.key();
  if (!key) return serve_unsettled(call, caller, comm, {});
  const KnownCall* const known = SettledCalls::find(*key);
  if (known == nullptr) return serve_unsettled(call, caller, comm, {&*key, std::nullopt});
  if (known->kind == KnownCall::Kind::library) {
    if constexpr (requires { call.sizes(0); }) {
      if (known->sizes && call.sizes(known->state->size()) != known->sizes) {
        return serve_unsettled(call, caller, comm, {&*key, std::nullopt});
      }
    }
    return CountedCall::count_settled(*known, [&] { return call.native(); });
  }
  const CountedCall::Key with{&*key, known->kind};
  if constexpr (requires(ShortRunData& data) { call.find_data(ShortRun{}, *known->state, data); }) {
    if (known->kind == KnownCall::Kind::served || known->kind == KnownCall::Kind::unsettled) {
      return serve_settled(call, caller, comm, *known, with);
    }
  }
  return serve_unsettled(call, caller, comm, with);
}

}  // namespace sibyl
