// Attaches state to communicators and takes it down; see communicator_state.hpp.
#include "communicator/communicator_state.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "communicator/being_freed.hpp"
#include "communicator/membership.hpp"
#include "executor/faults.hpp"
#include "executor/mpi_library.hpp"
#include "selection/challenger.hpp"
#include "selection/lanes.hpp"
#include "selection/reproducible.hpp"

namespace sibyl {
namespace {

int rank_in(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 1;
  PMPI_Comm_size(comm, &size);
  return size;
}

// The largest tag that may be used. Without a world the least that MPI allows, unless the library
// tells it of any communicator.
std::int64_t largest_tag(MPI_Comm comm) {
  constexpr std::int64_t least = 32767;
  void* value = nullptr;
  int found = 0;
  const MPI_Comm asked = Process::has_world() ? MPI_COMM_WORLD : comm;
  const bool known = PMPI_Comm_get_attr(asked, MPI_TAG_UB, &value, &found) == MPI_SUCCESS &&
                     found != 0 && value != nullptr;
  return known ? *static_cast<int*>(value) : least;
}

// Where the same arguments must give the same bits, no call may be another library's.
std::uint32_t first_served_call(const Environment& environment) {
  constexpr std::uint32_t third = 3;
  const std::uint32_t call = environment.serve_from.value_or(third);
  return environment.reproducible != 0 && call != 0 ? 1 : call;
}

}  // namespace

CommunicatorState::CommunicatorState(Process& process, MPI_Comm comm)
    : arrivals(*this),
      programs(rank_in(comm), size_of(comm)),
      process_(process),
      rank_(rank_in(comm)),
      size_(size_of(comm)),
      set_up_call_(first_served_call(process.environment())),
      link_(std::make_shared<CommunicatorLink>()) {
  link_->comm = comm;
  int inter = 0;
  between_groups_ = PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter != 0;
  if (between_groups_) mode_ = Mode::native;
  tags_.limit(largest_tag(comm) + 1 - TagBlocks::tags - ArrivalService::tags - Governing::tags);
  for (DatatypeInfo& type : types_) type.named = false;
  if (process_.records() && !between_groups_ && Process::has_world()) {
    recording.room = &process_.recording_room();
    recording.group = ranks_in_other(comm, MPI_COMM_WORLD);
    recording.ordinal = process_.ordinal_of(recording.group);
  }
}

CommunicatorState::~CommunicatorState() {
  SettledCalls::forget(link_->comm);  // the next communicator may have the same handle
  end_prediction();                   // and its messages
  end_governing();
  drop_window();
  link_->end();
}

void CommunicatorState::drop_window() {
  node_window_.reset();
  process_.give_back_for_window(std::exchange(window_share_, 0));
}

namespace {

std::atomic<bool> begin_before_the_program = false;  // those of several ranks of one group

// Of which no state can begin then.
bool has_none_before(MPI_Comm comm) {
  int size = 0;
  int inter = 0;
  return (PMPI_Comm_size(comm, &size) == MPI_SUCCESS && size == 1) ||
         (PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter != 0);
}

// MPICH 5 returns no error that a handler has taken, but then gives no answer either.
constexpr int nothing_found = -1;
int outcome(int error, int answer) {
  return error == MPI_SUCCESS && answer == nothing_found ? MPI_ERR_COMM : error;
}

}  // namespace

CommunicatorState* CommunicatorState::get(MPI_Comm comm, int& raised) {
  raised = MPI_SUCCESS;
  if (BeingFreed::holds(comm)) return nullptr;
  Process::look_for_world();
  if (Process::communicator_key() != MPI_KEYVAL_INVALID) {
    void* value = nullptr;
    int found = nothing_found;
    const int error = PMPI_Comm_get_attr(comm, Process::communicator_key(), &value, &found);
    raised = outcome(error, found);
    if (raised != MPI_SUCCESS) return nullptr;
    if (found != 0) return static_cast<CommunicatorState*>(value);
  }
  // Before MPI_Init and after MPI_Finalize the library refuses the call that was made, by its name.
  const bool of_world = comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF;
  if (of_world && !Process::has_world()) return nullptr;
  if (!of_world && begin_before_the_program && !has_none_before(comm)) return nullptr;
  return make(comm, raised);
}

void CommunicatorState::begin_early(MPI_Comm comm) {
  begin_before_the_program = true;
  int raised = MPI_SUCCESS;
  make(comm, raised);  // or else the library serves it
}

CommunicatorState* CommunicatorState::make(MPI_Comm comm, int& raised) try {
  Process* process = Process::get();
  if (process == nullptr) return nullptr;
  int size = nothing_found;  // of which the first call of all has asked for nothing yet
  const int error = PMPI_Comm_size(comm, &size);
  raised = outcome(error, size);
  if (raised != MPI_SUCCESS) return nullptr;
  auto state = std::make_unique<CommunicatorState>(*process, comm);
  process->enter(comm, state.get());  // first, since it may throw
  if (PMPI_Comm_set_attr(comm, Process::communicator_key(), state.get()) != MPI_SUCCESS) {
    process->retract(comm);
    return nullptr;
  }
  return state.release();
} catch (const std::bad_alloc&) {
  return nullptr;
}

int CommunicatorState::on_delete(MPI_Comm comm, int, void* value, void*) try {
  BeingFreed::note_end_of_state(comm, __builtin_return_address(0));
  const std::unique_ptr<CommunicatorState> state(static_cast<CommunicatorState*>(value));
  state->link_->end();  // a request that ends meanwhile adds nothing to the report
  state->report_governed();
  state->process_.leave(comm, state->report, state->size_, std::move(state->recording));
  return MPI_SUCCESS;
} catch (const std::bad_alloc&) {
  return MPI_SUCCESS;  // the report lacks some lines, the communicator is gone all the same
}

bool CommunicatorState::serves_after_all(MPI_Comm comm, bool at_once) {
  if (mode_ == Mode::served) {
    // Where a process has died, too, calls are served: their messages fail. The library need not
    // know of the death yet, and would be alone in a call that the others have left.
    if (is_revoked(comm)) revoke(private_comm());
    last_used_ = process_.tick();
    return true;
  }
  const bool now = at_once && !gave_private_back_;
  if (mode_ != Mode::counting || (!has_repaid_set_up() && !now)) return false;
  set_up(comm);
  return mode_ == Mode::served;
}

bool CommunicatorState::is_within_world(MPI_Comm comm) {
  if (!within_world_.has_value()) {
    within_world_ = !between_groups_ && Process::has_world() && holds_all_of(MPI_COMM_WORLD, comm);
  }
  return *within_world_;
}

void CommunicatorState::give_private_back() {
  SettledCalls::forget(link_->comm);
  end_prediction();
  report_governed();
  end_governing();
  drop_window();
  private_.reset();
  cached_choice = {};
  mode_ = Mode::counting;
  calls_ = 0;
  set_up_call_ = std::max(set_up_call_, calls_until_asked_again);
  gave_private_back_ = true;
}

double lead_of_nodes(const ArrivalView& view, const Placement& places) {
  if (!view.known()) return 0;
  const auto last = static_cast<Rank>(std::ranges::max_element(view.times) - view.times.begin());
  bool elsewhere = false;
  double before = 0;
  for (Rank rank = 0; rank < static_cast<Rank>(view.times.size()); ++rank) {
    if (places.node_of(rank) == places.node_of(last)) continue;
    elsewhere = true;
    before = std::max(before, view.times[static_cast<std::size_t>(rank)]);
  }
  return elsewhere ? view.spread - before : view.lead;
}

Situation CommunicatorState::situation(Collective collective, std::uint64_t bytes, OperatorUse use,
                                       bool commutes) const {
  Situation now;
  now.collective = collective;
  now.ranks = size_;
  now.bytes = bytes;
  now.operator_use = use;
  now.commutes = commutes;
  now.ranks_per_node = ranks_per_node();
  now.nodes = placement().count;
  now.largest_run = largest_run_;
  now.by_window = by_window_ && now.node_count() == 1;
  now.crowded = short_of_processors_ && now.node_count() == 1;
  if (!window_asked_for_) now.library = process_.library();
  now.spread = arrivals.view()->spread;
  now.lead = lead_of_nodes(*arrivals.view(), placement());
  now.costs = costs_;
  return now;
}

SegmentPlan CommunicatorState::cut(const Algorithm& algorithm, const Situation& now,
                                   std::uint64_t elements) const {
  return segments_within(settings_, algorithm, now, elements, placement(),
                         tags_of_a_call(now.collective));
}

void CommunicatorState::complete(CachedChoice& choice, const Situation& now) const {
  choice.algorithm = choose(settings_, now);
  choice.segments = {};
  if (choice.algorithm != nullptr) {
    choice.segments = cut(*choice.algorithm, now, choice.elements);
  }
  choice.valid = true;
  // What was asked for by name is what the user wants. Where bits must be the same in every run, no
  // call may be another library's.
  choice.challenger = {};
  choice.governed = choice.algorithm != nullptr && governing_ != nullptr &&
                    wanted_algorithm(settings_, now) == choose_automatically &&
                    !is_reproducible(settings_, now.collective);
  const auto blocks = static_cast<std::uint64_t>(blocks_of_a_call(now.collective, now.ranks));
  if (choice.governed && now.bytes * blocks >= governed_from) {
    choice.challenger = challenger_to(choice, now);
  }
  choose_by_arrivals(choice, now);
}

CommunicatorState::Served CommunicatorState::challenger_to(const CachedChoice& choice,
                                                           const Situation& now) const {
  const Algorithm* const other = sibyl::challenger_to(*choice.algorithm, settings_, now);
  if (other == nullptr) return {};
  return {other, cut(*other, now, choice.elements)};
}

// For what is learnt from messages (arrival_service/late_ranks.hpp).
void CommunicatorState::choose_by_arrivals(CachedChoice& choice, Situation now) const {
  choice.by_arrivals = nullptr;
  const bool learns = settings_.predict == PredictionMode::piggyback &&
                      now.collective == Collective::allreduce && choice.algorithm != nullptr;
  if (!learns || now.spread > 0 || is_reproducible(settings_, now.collective)) return;
  now.spread = longest_spread;
  const Algorithm* const other = choose(settings_, now);
  if (other == nullptr || !other->arrivals) return;
  choice.by_arrivals = other;
  choice.segments_by_arrivals = cut(*other, now, choice.elements);
}

// The choice for a reduce like the last one where ranks arrive so; not valid where there was none,
// or costs are to be measured first.
CommunicatorState::CachedChoice CommunicatorState::reduce_like_last(const ArrivalView& view) const {
  CachedChoice choice = cached_choice[static_cast<std::size_t>(Collective::reduce)];
  if (!choice.valid) return {};
  Situation then =
      situation(Collective::reduce, choice.bytes, choice.operator_use, choice.commutes);
  then.spread = view.spread;
  then.lead = lead_of_nodes(view, placement());
  then.by_window = then.by_window && !choice.gaps;
  if (!costs_sought_ && wants_costs(settings_, then)) return {};
  choice.valid = false;
  complete(choice, then);
  return choice;
}

void CommunicatorState::arrivals_expected(const CallSite& site, const SharedView& coming) {
  const CachedChoice choice = reduce_like_last(*coming);
  if (!choice.follows_arrivals() || choice.bytes != site.bytes) return;
  const ProgramSpec spec{.algorithm = choice.algorithm, .root = site.root};
  programs.prefetch(spec.cut_as(choice.segments), coming);
}

void CommunicatorState::arrivals_changed(const SharedView& before) {
  SettledCalls::forget(link_->comm);
  programs.drop(before);
  const SharedView& now = arrivals.view();
  const CachedChoice choice = reduce_like_last(*now);
  cached_choice = {};
  cached_choice[static_cast<std::size_t>(Collective::reduce)] = choice;
  if (choice.follows_arrivals()) programs.plan_last_again(*choice.algorithm, choice.segments, now);
}

void CommunicatorState::other_view_followed() {
  cached_choice[static_cast<std::size_t>(Collective::reduce)] = {};
  cached_choice[static_cast<std::size_t>(Collective::allreduce)] = {};
}

void CommunicatorState::site_predicted(const CallSite& site, const ArrivalPattern& pattern,
                                       const SharedView& before) {
  programs.drop(before);
  recording.add(RecordedPattern{site.collective, site.root, site.bytes, pattern});
}

void CommunicatorState::replace_settings(const Settings& settings) {
  SettledCalls::forget(link_->comm);
  const Settings before = settings_;
  settings_ = settings;
  cached_choice = {};
  if (mode_ != Mode::served) return;
  if (settings.predict != before.predict) {
    end_prediction();
    begin_prediction();
  }
  if (settings.govern != before.govern) {
    report_governed();
    end_governing();
    begin_governing();
  }
}

void CommunicatorState::begin_prediction() {
  const PredictionMode mode = settings_.predict;
  if (mode == PredictionMode::off || size_ == 1) return;
  if (mode == PredictionMode::piggyback) {
    std::vector<Rank> nodes;
    nodes.reserve(static_cast<std::size_t>(size_));
    for (Rank rank = 0; rank < size_; ++rank) nodes.push_back(placement().node_of(rank));
    arrivals.learn_late_ranks(std::move(nodes));
    return;
  }
  find_costs(tags_of(Collective::gather));  // how long a message takes tells what lateness weighs
  const bool threaded = mode == PredictionMode::background;
  arrivals.predict(mode, threaded ? process_.progress_thread() : nullptr, programs.prefetched());
}

void CommunicatorState::begin_governing() {
  if (settings_.govern == 0 || size_ == 1) return;
  const bool one_clock = is_on_one_node() && mpi_library() != MpiLibrary::simgrid;
  governing_ = std::make_unique<Governing>(
      Governing::Parties{.comm = private_comm(),
                         .rank = rank_,
                         .ranks = size_,
                         .tag = static_cast<int>(tags_.end()) + ArrivalService::tags,
                         .id = id_,
                         .one_clock = one_clock});
}

void CommunicatorState::end_governing() {
  if (governing_ != nullptr && !governing_->finish()) private_->leave_behind();
  governing_.reset();
}

void CommunicatorState::report_governed() try {
  if (governing_ == nullptr || !process_.reports()) return;
  governing_->add_to(report, false);
} catch (const std::bad_alloc&) {
  return;  // the report lacks some lines
}

void CommunicatorState::end_prediction() {
  if (arrivals.predictor() != nullptr) process_.withdraw(*arrivals.predictor());
  if (!arrivals.end_prediction()) private_->leave_behind();
}

}  // namespace sibyl
