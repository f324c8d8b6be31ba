// The common parts of the collectives; see call.hpp.
#include "collectives/call.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "collectives/operators.hpp"
#include "collectives/reduction_arguments.hpp"
#include "executor/faults.hpp"
#include "selection/model.hpp"

namespace sibyl {

int raise(MPI_Comm comm, int error_class) {
  error_class = as_users_error(comm, error_class);
  PMPI_Comm_call_errhandler(comm, error_class);
  return error_class;
}

int raise_class(MPI_Comm comm, int error) {
  int error_class = error;
  PMPI_Error_class(error, &error_class);
  return raise(comm, error_class);
}

bool library_raises = false;

int raise_nowhere(int error_class) {
  return Process::has_world() ? raise(MPI_COMM_WORLD, error_class) : error_class;
}

int code_with_text(std::string text) {
  if (text.size() >= MPI_MAX_ERROR_STRING) text.resize(MPI_MAX_ERROR_STRING - 1);
  int code = MPI_ERR_ARG;
  if (PMPI_Add_error_code(MPI_ERR_ARG, &code) != MPI_SUCCESS) return MPI_ERR_ARG;
  std::array<char, MPI_MAX_ERROR_STRING + 1> kept{};
  int length = 0;
  if (PMPI_Add_error_string(code, text.data()) != MPI_SUCCESS ||
      PMPI_Error_string(code, kept.data(), &length) != MPI_SUCCESS || text != kept.data()) {
    return MPI_ERR_ARG;
  }
  return code;
}

int raise_refusal(MPI_Comm comm, CommunicatorState& state) { return raise(comm, refusal(state)); }

int refusal(CommunicatorState& state) {
  if (state.refusal_code == MPI_SUCCESS) {  // the library's room for codes is limited
    const std::string& own = state.process().problem();
    state.refusal_code = code_with_text(
        "Sibyl: " +
        (own.empty() ? std::string("another rank's SIBYL_ environment is wrong") : own));
  }
  return state.refusal_code;
}

void (*on_served)() = nullptr;

namespace {

bool follows_arrivals(const Algorithm* algorithm) {
  return algorithm != nullptr && (algorithm->arrivals || algorithm->order != OrderUse::none);
}

}  // namespace

// What follows no arrivals costs the same whatever is known of them.
[[gnu::hot]] Governor::Call ask_governor(CommunicatorState& state, const Governor::Key& site,
                                         const CallPlace& place) {
  const std::int64_t line = state.rank() == 0 && site.is_long() ? place.number() : 0;
  std::uint64_t arrivals = state.arrivals.changes();
  if (arrivals != 0 && !follows_arrivals(site.own) && !follows_arrivals(site.challenger)) {
    arrivals = 0;
  }
  return state.governing()->enter(site, arrivals, line);
}

Governor::Key CountedCall::site_of(const CommunicatorState::CachedChoice& choice) const {
  return Governor::key_of(collective_, root_, choice.bytes, choice.operator_use, choice.commutes,
                          choice.algorithm, choice.challenger.algorithm, state_.size());
}

void CountedCall::settle_run(const CommunicatorState::CachedChoice& choice,
                             const Prepared& prepared, const CollectiveCall& call,
                             const ShortRunData& data) const {
  using Kind = KnownCall::Kind;
  const bool changes =
      choice.algorithm == nullptr || choice.operator_use == OperatorUse::user || is_challengers();
  if (key_.call == nullptr || timed_ || changes || !state_.settles_calls()) return;
  // Calls that do not come again are not worth making a run.
  Kind kind = Kind::seen;
  if (key_.known == Kind::unsettled) return;
  if (key_.known == Kind::seen) {
    KnownRun known;
    known.governed = choice.governed;
    if (choice.governed) known.site = site_of(choice);
    if (make_short_run(prepared, call, state_.workspace, data, known.run)) {
      kind = Kind::served;
    } else if (!call.leaves_empty_out) {  // where the key tells no sizes the next one may be short
      kind = Kind::unsettled;
    }
    if (kind != Kind::seen) SettledCalls::new_run_of(*key_.call) = known;
  }
  SettledCalls::add({.call = *key_.call, .kind = kind, .state = &state_});
}

void CountedCall::settle_site(const CommunicatorState::CachedChoice& choice) const {
  using Kind = KnownCall::Kind;
  const bool settles =
      choice.governed && choice.operator_use != OperatorUse::user && state_.settles_calls();
  if (key_.call == nullptr || timed_ || !settles || key_.known == Kind::unsettled) return;
  Kind kind = Kind::seen;
  if (key_.known == Kind::seen) {
    SettledCalls::new_run_of(*key_.call) = {.governed = true, .site = site_of(choice), .run = {}};
    kind = Kind::unsettled;
  }
  SettledCalls::add({.call = *key_.call, .kind = kind, .state = &state_});
}

CommunicatorState::Served CountedCall::ask_governor(const CommunicatorState::CachedChoice& choice) {
  if (!asked_) governed_ = sibyl::ask_governor(state_, site_of(choice), place_);
  if (left_by_governor()) return {};
  return is_challengers() ? choice.challenger
                          : CommunicatorState::Served{choice.algorithm, choice.segments};
}

namespace {

// Sums at all ranks may send several copies of the vector as one message.
bool joins_copies(Collective collective) {
  return collective == Collective::allreduce || scatters_sums(collective);
}

}  // namespace

bool programs_combine(const CommunicatorState& state, Collective collective, MPI_Count count,
                      const DatatypeInfo& type) {
  // Pack counts bytes in an int, and one element is not cut.
  constexpr std::size_t most = std::numeric_limits<int>::max();
  if (count > static_cast<MPI_Count>(most) || type.size > most || !state.combines()) return false;
  return !joins_copies(collective) || type.lie_side_by_side();
}

const CommunicatorState::CachedChoice& choose_for(CommunicatorState& state, Collective collective,
                                                  std::uint64_t bytes, OperatorUse use,
                                                  bool commutes, std::uint32_t elements,
                                                  std::uint64_t largest, bool gaps) {
  CommunicatorState::CachedChoice& known =
      state.cached_choice[static_cast<std::size_t>(collective)];
  if (!known.valid || known.bytes != bytes || known.operator_use != use ||
      known.commutes != commutes || known.elements != elements || known.largest != largest ||
      known.gaps != gaps) {
    known = {};
    known.bytes = bytes;
    known.elements = elements;
    known.operator_use = use;
    known.commutes = commutes;
    known.largest = largest;
    known.gaps = gaps;
    Situation now = state.situation(collective, bytes, use, commutes);
    now.largest = largest;
    now.by_window = now.by_window && !gaps;
    state.complete(known, now);
  }
  return known;
}

const CommunicatorState::CachedChoice& choose_reduction(CommunicatorState& state, Caller caller,
                                                        Collective collective, MPI_Count count,
                                                        const DatatypeInfo& type, MPI_Op op,
                                                        MPI_Count largest) {
  static constexpr CommunicatorState::CachedChoice native;
  const std::optional<OperatorUse> use = operator_use(state, op, type.handle, type.named);
  const std::size_t bytes = static_cast<std::size_t>(count) * type.size;
  if (!use.has_value() || bytes == 0) return native;
  const bool may_reorder = commutes(op, *use);
  find_costs(state, caller, collective, bytes, *use, may_reorder);
  if (!programs_combine(state, collective, count, type)) return native;
  return choose_for(state, collective, bytes, *use, may_reorder, static_cast<std::uint32_t>(count),
                    static_cast<std::uint64_t>(largest) * type.size, type.has_gaps());
}

const Prepared* program_for(CommunicatorState& state, const Algorithm* algorithm,
                            const SegmentPlan& cut, int root, bool in_place) {
  return program_for(state, algorithm, cut, root, in_place, state.arrivals.view());
}

const Prepared* program_for(CommunicatorState& state, const Algorithm* algorithm,
                            const SegmentPlan& cut, int root, bool in_place,
                            const SharedView& view) {
  if (algorithm == nullptr) return nullptr;
  const ProgramSpec spec{.algorithm = algorithm,
                         .root = root,
                         .outstanding = outstanding_in(state.settings(), algorithm->collective),
                         .in_place = in_place};
  const Prepared& prepared = state.programs.get(spec.cut_as(cut), view);
  return prepared.header.tag_span <= state.tags_of_a_call(algorithm->collective) ? &prepared
                                                                                 : nullptr;
}

void find_costs(CommunicatorState& state, Caller caller, Collective collective, std::uint64_t bytes,
                OperatorUse use, bool commutes) {
  if (state.costs_sought() || (caller.preload && !state.has_repaid_set_up())) return;
  CommunicatorState::CachedChoice& last = state.cached_choice[static_cast<std::size_t>(collective)];
  const bool as_last =
      last.valid && last.bytes == bytes && last.operator_use == use && last.commutes == commutes;
  if (as_last && last.wants_no_costs) return;
  const Situation now = state.situation(collective, bytes, use, commutes);
  if (wants_costs(state.settings(), now)) {
    state.find_costs(state.tags_of(collective));
  } else if (as_last) {
    last.wants_no_costs = true;
  }
}

int run_prepared(CommunicatorState& state, const Prepared& prepared, CollectiveCall& call) {
  call.comm = state.private_comm();
  call.progress_hook = state.progress_hook();
  if (call.piggyback == nullptr) call.window = state.window_for(prepared.header.collective);
  const PlanHeader& header = prepared.header;
  call.most_sends_to_one =
      most_sends_to_one(state.known_costs(), call.block_bytes, header.segments);
  const CallShape shape{header.collective, state.rank(), state.size(), header.root};
  return with_host_copies(state, shape, call,
                          [&] { return execute(prepared, call, state.workspace); });
}

}  // namespace sibyl
