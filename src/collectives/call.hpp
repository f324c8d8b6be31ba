// What every collective does around its algorithm: checks, state, choice, timing, errors.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/own_failure.hpp"
#include "collectives/collectives.hpp"
#include "communicator/communicator_state.hpp"
#include "executor/executor.hpp"
#include "executor/host_copies.hpp"
#include "selection/choose.hpp"

namespace sibyl {

// Raises `error_class` through the communicator's error handler and returns it.
int raise(MPI_Comm comm, int error_class);
// The same for an error code that may be of a library's own making: its class is raised.
int raise_class(MPI_Comm comm, int error);
// Whether what a call that came from the MPI library (Caller::preload) returns is raised by that
// library, as where Sibyl is a component of Open MPI: then it is not raised here.
extern bool library_raises;
// Runs `body`, which raises errors of its own, and raises MPI_ERR_NO_MEM where Sibyl runs out of
// memory: outside of all handlers of exceptions, since the program's error handler may jump.
template <class Body>
int raising_lack_of_memory(MPI_Comm comm, Body body) {
  const std::optional<int> result =
      guarded([&] { return std::optional<int>(body()); }, std::nullopt);
  return result ? *result : raise(comm, MPI_ERR_NO_MEM);
}
// Raises where there is no communicator: on the world, if there is one.
int raise_nowhere(int error_class);
// An error code of class MPI_ERR_ARG with this text; the class itself where the MPI library loses
// the texts of codes that are added to its own classes (MPICH 4.0 does). Its room for codes is
// limited: make each once.
int code_with_text(std::string text);
// Raises the error of a communicator that was refused at set-up: a wrong environment variable. The
// error's text names the variable, where it was wrong on this rank and the MPI library keeps texts.
int raise_refusal(MPI_Comm comm, CommunicatorState& state);
// Its code, which is not raised.
int refusal(CommunicatorState& state);

// Counts one call in the communicator's report, with its time, and records when this rank joined
// it, where these are wanted.
class CountedCall {
 public:
  CountedCall(CommunicatorState& state, Collective collective, int root = no_rank,
              const CallPlace& place = {})
      : state_(state),
        collective_(collective),
        root_(root),
        place_(place),
        timed_(state.process().times_calls()) {
    if (timed_) {
      begin_ = std::chrono::steady_clock::now();
      number_ = state.number_call();
    }
  }
  bool is_timed() const { return timed_; }
  // Earlier than it was counted.
  void began_at(std::chrono::steady_clock::time_point begin) { begin_ = begin; }
  // A call that the MPI library has served. Its arguments are looked at only now that the library
  // has found them right, and not at all where they belong to another group of ranks.
  int end_native(MPI_Count count, MPI_Datatype datatype, int result) {
    const bool readable = result == MPI_SUCCESS && !state_.between_groups();
    return end_left(LeftNative::not_served, readable ? bytes_of(count, datatype) : 0, result);
  }
  // Where calls are timed; else 0.
  std::uint64_t bytes_of(MPI_Count count, MPI_Datatype datatype) const {
    int size = 0;
    if (!timed_ || PMPI_Type_size(datatype, &size) != MPI_SUCCESS || size <= 0) return 0;
    return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
  }
  // A call that Sibyl could have served, or not with these arguments, and the MPI library has.
  int end_left(LeftNative why, std::uint64_t bytes, int result) {
    left_ = true;
    if (!is_there_after(result)) return result;
    if (departing_) state_.arrivals.predictor()->leave(*departing_);
    if (left_by_governor() && why == LeftNative::by_choice) why = LeftNative::governor;
    if (timed_) {
      CallCount& line = state_.report.line(collective_, nullptr);
      ++line.left_native[static_cast<std::size_t>(why)];
    }
    return end(nullptr, bytes, result);
  }
  // The library has it whenever it comes again (communicator/settled_calls.hpp); called before it
  // is over. Those that are recorded all go the whole way.
  void settle(const SettledCall& call, std::uint64_t bytes,
              const std::optional<BlockSizes>& sizes = std::nullopt) const {
    if (!timed_) {
      SettledCalls::add({.call = call, .state = &state_, .sizes = sizes});
    } else if (!state_.process().records()) {
      SettledCalls::add(
          {.call = call, .count = &state_.report.line(collective_, nullptr), .bytes = bytes});
    }
  }
  // A settled call, with its time where calls are timed.
  template <class Native>
  static int count_settled(const KnownCall& known, Native native) {
    CallCount* const line = known.count;
    const std::uint64_t bytes = known.bytes;
    if (line == nullptr) return native();
    const auto begin = std::chrono::steady_clock::now();
    const int result = native();
    if (result != MPI_SUCCESS) return result;  // whose handler may have freed the communicator
    ++line->left_native[static_cast<std::size_t>(LeftNative::by_choice)];
    line->add(bytes, std::chrono::steady_clock::now() - begin);
    return result;
  }
  // What is to serve a call for which this was chosen: that, or the MPI library where the governor
  // says so (nullptr). May throw std::bad_alloc.
  CommunicatorState::Served govern(const CommunicatorState::CachedChoice& choice) {
    if (choice.governed) return ask_governor(choice);
    return {choice.algorithm, choice.segments};
  }
  // The governor has been asked already, and has said this.
  void adopt(const Governor::Call& governed) {
    governed_ = governed;
    asked_ = true;
  }
  // By what it is known when it comes again, and what is known of it by now.
  struct Key {
    const SettledCall* call = nullptr;  // nullptr: it is not to be known
    std::optional<KnownCall::Kind> known;
  };
  void known_by(const Key& key) { key_ = key; }
  // It has been served by this program, with its data at `data`, and will be whenever it comes
  // again unless the governor says otherwise: so a short run may do it then. Its types and operator
  // are predefined.
  void settle_run(const CommunicatorState::CachedChoice& choice, const Prepared& prepared,
                  const CollectiveCall& call, const ShortRunData& data) const;
  // At what site the governor has it, of which nothing but its arguments decides: when it comes
  // again the governor is asked before anything else. As above.
  void settle_site(const CommunicatorState::CachedChoice& choice) const;
  bool left_by_governor() const { return governed_.arm == Arm::native; }
  bool is_challengers() const { return governed_.arm == Arm::challenger; }
  // How prediction has the call served.
  void predicted(Service service, std::uint64_t version) {
    service_ = service;
    version_ = version;
  }
  // It goes to the MPI library, and is over for prediction when that has served it.
  void departs_later(const ArrivalPredictor::Call& call) { departing_ = call; }
  int end(const Algorithm* algorithm, std::uint64_t bytes, int result) {
    // Not after an error, whose handler may have freed the communicator.
    if (governed_.stay != nullptr && result == MPI_SUCCESS) {
      state_.governing()->leave(governed_, left_ == left_by_governor());
    }
    if (algorithm != nullptr && on_served != nullptr) on_served();
    if (timed_ && is_there_after(result)) {
      const auto now = std::chrono::steady_clock::now();
      state_.report.line(collective_, algorithm).add(bytes, now - begin_);
      state_.recording.add({number_, collective_, root_, bytes, begin_, now, service_, version_});
    }
    return result;
  }

 private:
  // After an error, whose handler may have freed the communicator.
  bool is_there_after(int result) const { return result == MPI_SUCCESS || Process::has(&state_); }
  CommunicatorState::Served ask_governor(const CommunicatorState::CachedChoice& choice);
  Governor::Key site_of(const CommunicatorState::CachedChoice& choice) const;

  CommunicatorState& state_;
  Collective collective_;
  int root_;
  CallPlace place_;
  bool timed_;
  bool left_ = false;   // to the MPI library
  bool asked_ = false;  // the governor
  Governor::Call governed_;
  Key key_;
  std::uint64_t number_ = 0;
  std::chrono::steady_clock::time_point begin_;
  std::optional<Service> service_;
  std::uint64_t version_ = 0;
  std::optional<ArrivalPredictor::Call> departing_;
};

// What the governor says of a call of this site, which all ranks are making. May throw
// std::bad_alloc.
Governor::Call ask_governor(CommunicatorState& state, const Governor::Key& site,
                            const CallPlace& place);

// The algorithm for a call of this communicator and its segments, no more than `elements`; the last
// choice of each collective is remembered. `commutes` says whether the operator does, `largest` is
// that of Situation; `gaps`: the elements of a reduction have some.
const CommunicatorState::CachedChoice& choose_for(CommunicatorState& state, Collective collective,
                                                  std::uint64_t bytes, OperatorUse use,
                                                  bool commutes = true, std::uint32_t elements = 1,
                                                  std::uint64_t largest = 0, bool gaps = false);

// Into how many parts a vector or block can be cut that is cut between bytes.
constexpr std::uint32_t parts_of_bytes(std::uint64_t bytes) {
  constexpr std::uint64_t most = 1U << 16;
  return static_cast<std::uint32_t>(bytes < most ? bytes : most);
}

// Whether a program can combine so many elements of this type: applies an operator to them, counts
// them, and sends them as it does. The same on all ranks.
bool programs_combine(const CommunicatorState& state, Collective collective, MPI_Count count,
                      const DatatypeInfo& type);

// What choose_for finds for a reduction or a scan of `count` > 0 elements, `largest` of them in a
// block; costs are measured before where the choice looks at them. The MPI library serves where
// nothing is known of the operator or programs do not combine these.
const CommunicatorState::CachedChoice& choose_reduction(CommunicatorState& state, Caller caller,
                                                        Collective collective, MPI_Count count,
                                                        const DatatypeInfo& type, MPI_Op op,
                                                        MPI_Count largest = 0);

// The program of a chosen algorithm; nullptr where there is none, or where it has more messages
// than a call has tags, which all ranks find alike. Follows the arrivals that all ranks know.
const Prepared* program_for(CommunicatorState& state, const Algorithm* algorithm,
                            const SegmentPlan& cut, int root, bool in_place);
// The same by this view.
const Prepared* program_for(CommunicatorState& state, const Algorithm* algorithm,
                            const SegmentPlan& cut, int root, bool in_place,
                            const SharedView& view);

// Measures what messages and operators cost before the first call whose choice looks at it; under
// the preload once the communicator is used often enough. All ranks make the call.
void find_costs(CommunicatorState& state, Caller caller, Collective collective, std::uint64_t bytes,
                OperatorUse use, bool commutes);

// Where blocks begin that lie one after the other, and where the last one ends: `size_of(rank)`
// each. In the state's memory, until the next call.
template <class Size>
std::span<const MPI_Count> begins_of_blocks(CommunicatorState& state, Size size_of) {
  std::vector<MPI_Count>& begins = state.block_begins;
  begins.assign(1, 0);
  for (Rank rank = 0; rank < state.size(); ++rank) {
    begins.push_back(begins.back() + size_of(rank));
  }
  return begins;
}

// Runs a program of this communicator with buffers that are filled in. Returns its error.
int run_prepared(CommunicatorState& state, const Prepared& prepared, CollectiveCall& call);

// Runs `run`, which returns an error, with copies in host memory in the place of those buffers of
// the call that lie in a device's.
template <class Run>
int with_host_copies(CommunicatorState& state, const CallShape& shape, CollectiveCall& call,
                     Run run) {
  if (HostCopies::are_surely_needless(shape, call) || !HostCopies::are_needed(shape, call)) {
    return run();
  }
  HostCopies& copies = state.host_copies;
  if (const int error = copies.redirect(shape, call, state.private_comm()); error != MPI_SUCCESS) {
    return error;
  }
  const int brought = copies.bring();  // others wait for this rank, whatever it is
  const int error = run();
  if (error != MPI_SUCCESS) return error;
  const int delivered = copies.deliver();
  return brought != MPI_SUCCESS ? brought : delivered;
}

}  // namespace sibyl
