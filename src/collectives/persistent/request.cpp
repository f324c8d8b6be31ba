// The stages of an iteration; see request.hpp.
#include "collectives/persistent/request.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/own_failure.hpp"
#include "communicator/make_private.hpp"
#include "executor/faults.hpp"
#include "selection/choose_reduce.hpp"
#include "sibyl/predictors.hpp"

namespace sibyl {
namespace {

constexpr std::int64_t longest_pause = 1024;
// Seconds; an edge after a tiny fraction says any number.
constexpr double longest_foreseen = 1e6;

// All ranks must know the arrivals.
bool needs_arrivals(const Algorithm& algorithm) {
  return algorithm.order == OrderUse::all_ranks || algorithm.arrivals;
}

}  // namespace

PersistentRequest::PersistentRequest(CommunicatorState& state, PersistentCall call)
    : state_(&state),
      process_(&state.process()),
      link_(state.link()),
      bound_(std::move(call)),
      rank_(state.rank()),
      ranks_(state.size()),
      programs_(rank_, ranks_, bound_.challenger == nullptr ? 1 : 2) {
  programs_.set_placement(state.placement());
  if (!bound_.counts.empty()) {
    bound_.blocks.counts = Counts(bound_.counts.data());
    bound_.blocks.displacements = Displacements(bound_.displacements.data());
    CollectiveCall& call = bound_.call;
    (scatters(bound_.collective) ? call.send : call.receive).irregular = &bound_.blocks;
    if (bound_.in_place && gathers_everywhere(bound_.collective)) call.send = call.receive;
  }
  if (bound_.progress != PersistentCall::Progress::calls) thread_ = process_->progress_thread();
  if (bound_.tags) {
    bound_.call.comm = bound_.tags.home().get();
    bound_.call.tag_base = bound_.tags.first_tag();
    if (exchanges()) {
      const int last = bound_.tags.first_tag() + bound_.tags.tags() - PersistentCall::tags_besides;
      exchange_ = std::make_unique<ArrivalExchange>();
      exchange_->open({bound_.call.comm, rank_, ranks_, bound_.root, last, everyone(),
                       bound_.algorithm->arrivals, bound_.clock});
      if (takes_turns()) queue_.emplace(ranks_, bound_.root, bound_.outstanding);
    }
    if (bound_.challenger != nullptr) govern(state.id());
  }
  process_->deferred_release().sweep();
  if (thread_ != nullptr) thread_->make_room();
  process_->requests.enter(*this);
}

void PersistentRequest::govern(std::uint64_t communicator) {
  governing_ = std::make_unique<Governing>(
      Governing::Parties{.comm = bound_.call.comm,
                         .rank = rank_,
                         .ranks = ranks_,
                         .tag = bound_.tags.first_tag() + bound_.tags.tags() - Governing::tags,
                         .id = communicator});
  site_ = Governor::key_of(bound_.collective, bound_.root, bound_.bytes, OperatorUse::none, true,
                           bound_.algorithm, bound_.challenger, ranks_);
  site_.library = false;
}

PersistentRequest::~PersistentRequest() {
  if (gone_) return;
  process_->requests.leave(*this);
  if (thread_ != nullptr) {
    thread_->withdraw(*this);
    thread_->give_room_back();
  }
  release();
}

void PersistentRequest::release() {
  bound_.types.free();
  MPI_Comm native = native_comm_.exchange(MPI_COMM_NULL);
  if (native != MPI_COMM_NULL) PMPI_Comm_free(&native);
  if (!bound_.tags) return;
  report_governed();
  if (window_ != nullptr) bound_.tags.home().bytes_of_windows -= bound_.window_bytes;
  window_.reset();
  farewell_.front().exchange = std::move(exchange_);
  farewell_.front().governing = std::move(governing_);
  farewell_.front().tags = std::move(bound_.tags);
  process_->deferred_release().add(farewell_);
  process_->deferred_release().sweep();
}

// In the process's own report, since the communicator may have gone before. Without memory it
// lacks that line.
void PersistentRequest::report_governed() {
  if (governing_ == nullptr || !process_->reports()) return;
  guarded(
      [&] {
        CommunicatorReport found;
        governing_->add_to(found, true);
        process_->add_to_report(found, ranks_);
        return true;
      },
      false);
}

int PersistentRequest::open_native(CommunicatorState& state, MPI_Comm comm) {
  const MPI_Comm parent = state.private_comm() != MPI_COMM_NULL ? state.private_comm() : comm;
  const ReturnErrors quiet(parent);
  native_comm_ = make_private(parent);
  return native_comm_ == MPI_COMM_NULL ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int PersistentRequest::reserve() {
  if (!runs_program()) return MPI_SUCCESS;
  const auto bind_once = [&](Arm arm) {
    governed_.arm = arm;
    const int error = execution_.bind(find_program(nullptr), bound_.call, workspace_);
    execution_.unbind();
    return error;
  };
  if (queue_) workspace_.first_with.reserve(static_cast<std::size_t>(ranks_));
  const int other = bound_.challenger == nullptr ? MPI_SUCCESS : bind_once(Arm::challenger);
  const int own = bind_once(Arm::own);
  return other != MPI_SUCCESS ? other : own;
}

void PersistentRequest::open_window() {
  if (bound_.window_bytes == 0) return;
  window_ = NodeWindow::make(bound_.call.comm, bound_.call.tag_base, bound_.node,
                             bound_.window_bytes, bound_.crowded);
  if (window_ == nullptr) return;
  bound_.tags.home().bytes_of_windows += bound_.window_bytes;
  bound_.call.window = window_.get();
}

// The thread has been joined.
void PersistentRequest::end() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (execution_.bound()) execution_.abandon(MPI_ERR_PENDING);
  execution_.unbind();
  release();
  stage_ = Stage::inactive;
  thread_ = nullptr;
  gone_ = true;
}

// Others run on the private communicator, which is revoked with the program's.
void PersistentRequest::revoke(MPI_Comm comm) noexcept {
  if (link_->alive && link_->comm == comm) sibyl::revoke(native_comm_);
}

bool PersistentRequest::everyone() const {
  return runs_program() && needs_arrivals(*bound_.algorithm);
}

// In two ranks there is no order.
bool PersistentRequest::exchanges() const {
  if (!bound_.by_arrival || !runs_program() || ranks_ < 3) return false;
  // Without a thread a rank that waits for the arrival pattern would wait until the root has
  // arrived.
  if (everyone()) return bound_.progress != PersistentCall::Progress::calls;
  return bound_.algorithm->order == OrderUse::root_only;
}

// With one rank at a time the order is decided before, as published; and so it is where the root
// deals with nodes.
bool PersistentRequest::takes_turns() const {
  return rank_ == bound_.root && !everyone() && bound_.collective == Collective::gather &&
         !bound_.algorithm->nodes && bound_.outstanding != 1;
}

double PersistentRequest::seconds() const {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

int PersistentRequest::begin_iteration() {
  if (gone_ || stage_ != Stage::inactive) return MPI_ERR_REQUEST;
  ++iteration_;
  stage_ = Stage::computing;
  error_ = MPI_SUCCESS;
  started_ = seconds();
  predicted_ = -1;
  asked_ = 0;
  if (governing_ != nullptr) governed_ = governing_->start(site_);
  if (!runs_program()) return MPI_SUCCESS;
  exchanging_ = exchanges() && (!everyone() || iteration_ >= resume_);
  if (exchanging_) exchange_->begin(iteration_);
  depends_ = exchanging_ && !queue_ && (everyone() || rank_ == bound_.root);
  if (queue_) {
    queue_->set_window(outstanding());
    queue_->begin(started_);
  }
  if (!depends_ && !begins_late()) begin_program(false);
  if (execution_.bound() &&
      (execution_.waits() || (queue_ && in_background() && queue_->expects())))
    to_thread();
  // Others may wait for what this rank has to tell, and it for something of theirs before it comes.
  if (governing_ != nullptr && !governing_->settled()) to_thread();
  if (governing_ != nullptr) in_calls_ = seconds() - started_;
  return MPI_SUCCESS;
}

int PersistentRequest::predict(double fraction) {
  if (stage_ != Stage::computing || predicted_ >= 0) return MPI_ERR_REQUEST;
  if (!(fraction > 0 && fraction < 1)) return MPI_ERR_ARG;
  const double now = seconds();
  predicted_ = std::min(extrapolate_edge(started_, now, fraction), now + longest_foreseen);
  if (!exchanging_) return MPI_SUCCESS;
  exchange_->report(predicted_);
  if (everyone() || rank_ == bound_.root) to_thread();
  return MPI_SUCCESS;
}

int PersistentRequest::join() {
  if (stage_ != Stage::computing) return MPI_ERR_REQUEST;
  stage_ = Stage::arrived;
  arrived_ = seconds();
  if (predicted_ >= 0) prediction_error_ = std::abs(predicted_ - arrived_);
  process_->requests.arrived(*this);
  // Others wait for this rank, whatever becomes of its copies.
  brought_ = bound_.host_copies != nullptr ? bound_.host_copies->bring() : MPI_SUCCESS;
  if (native()) note(bound_.native(native_comm_, &native_request_));
  if (!runs_program()) return MPI_SUCCESS;
  if (exchanging_ && !exchange_->reported()) exchange_->report_none();
  if (execution_.bound()) {
    execution_.arrive();
  } else if (!depends_ && begins_late()) {
    begin_program(false);
  }
  if (execution_.bound() && queue_) queue_->join();
  if (!execution_.bound() || queue_) advance();
  // Others wait for what this rank still has to do, and it may call for something of theirs first.
  if (thread_ != nullptr && has_background()) thread_->submit_lazily(*this);
  if (governing_ != nullptr) in_calls_ += seconds() - arrived_;
  return MPI_SUCCESS;
}

bool PersistentRequest::begins_late() const {
  return bound_.host_copies != nullptr && bound_.host_copies->bring_gaps();
}

// What the program of an iteration is made for.
ProgramSpec PersistentRequest::spec_for(const ArrivalView* view) const {
  const Algorithm& algorithm = serving();
  const ProgramSpec spec{.algorithm = &algorithm,
                         .root = bound_.root,
                         .outstanding = queue_ ? 0 : outstanding(),
                         .in_place = bound_.in_place,
                         .background = in_background()};
  const bool told = algorithm.arrivals && view != nullptr && view->known();
  // Rounds by arrivals are Clairvoyant's alone: in other plans a round is what a segment takes.
  const bool by_rounds = told && bound_.collective == Collective::reduce;
  if (!by_rounds) return spec.cut_as(bound_.cut);
  if (!algorithm.any_placement) {
    return spec.cut_as(at_arrivals(bound_.cut, ranks_, view->spread, view->lead));
  }
  const Placement& places = programs_.placement();
  return spec.cut_as(
      at_arrivals(bound_.cut, places.nodes_of(ranks_), view->spread, lead_of_nodes(*view, places)));
}

// One that has more messages than this request has tags gives way to the one for ranks that come at
// once. How many it has stands in the header of the program, which is the same on all ranks.
const Prepared& PersistentRequest::find_program(const SharedView& view) {
  const ProgramSpec spec = spec_for(view.get());
  const Prepared& found = programs_.get(spec, view);
  followed_ = view;
  ordered_ = view != nullptr && view->known() && follows_arrivals(spec);
  const int tags = bound_.tags.tags() - PersistentCall::tags_besides;
  if (!ordered_ || std::cmp_less_equal(found.header.tag_span, tags)) return found;
  ordered_ = false;
  return programs_.get(spec_for(nullptr));
}

std::vector<Rank> PersistentRequest::last_order() const {
  if (!ordered_) return {};
  return queue_ ? queue_->served() : followed_->order;
}

void PersistentRequest::begin_program(bool with_arrivals) {
  note(guarded(
      [&] {
        const SharedView view = with_arrivals ? exchange_->view() : nullptr;
        const int error = execution_.bind(find_program(view), bound_.call, workspace_);
        if (execution_.bound()) execution_.start(stage_ == Stage::arrived, queue_.has_value());
        return error;
      },
      MPI_ERR_NO_MEM));
}

void PersistentRequest::exchange_ended() {
  const bool known = exchange_->all_known();
  if (everyone()) {
    if (known) {
      pause_ = 1;
    } else {
      resume_ = iteration_ + 1 + pause_;
      pause_ = std::min(2 * pause_, longest_pause);
    }
  }
  begin_program(known || !everyone());
}

// One look at everything that may have moved. True when something has.
bool PersistentRequest::advance() {
  if (stage_ == Stage::inactive) {
    if (!owes_verdicts()) return false;
    governing_->progress(false);
    return !owes_verdicts();
  }
  if (native()) {
    int done = 0;
    if (native_request_ != MPI_REQUEST_NULL) {
      note(PMPI_Test(&native_request_, &done, MPI_STATUS_IGNORE));
    }
    return done != 0;
  }
  if (!runs_program()) return false;
  if (exchanging_) {
    // That one rank has said when it will arrive does not mean that another is about to.
    exchange_->advance();
    note(exchange_->error());
  }
  if (governing_ != nullptr) governing_->progress(execution_.bound() && execution_.ended());
  if (!execution_.bound()) {
    if (error_ != MPI_SUCCESS || (stage_ == Stage::computing && begins_late())) return false;
    const bool alone_decides = !everyone() && stage_ == Stage::arrived;
    if (!exchange_->ended() && !alone_decides) return false;
    exchange_ended();
    return true;
  }
  const std::size_t open = execution_.open();
  execution_.progress();
  if (queue_) serve();
  return execution_.open() != open;
}

bool PersistentRequest::ended() const {
  if (stage_ != Stage::arrived) return false;
  if (native()) return native_request_ == MPI_REQUEST_NULL;
  if (!runs_program()) return true;
  if (!execution_.bound()) return error_ != MPI_SUCCESS;
  return execution_.ended() && (!exchanging_ || exchange_->settled()) &&
         (governing_ == nullptr || governing_->settled());
}

int PersistentRequest::complete() {
  process_->requests.completed(*this);
  if (execution_.bound()) note(execution_.error());
  execution_.unbind();
  if (bound_.host_copies != nullptr) {
    const int delivered = error_ == MPI_SUCCESS ? bound_.host_copies->deliver() : MPI_SUCCESS;
    note(brought_);
    note(delivered);
  }
  stage_ = Stage::inactive;
  if (governing_ != nullptr && error_ == MPI_SUCCESS) {
    governing_->complete(governed_, in_calls_ + seconds() - asked_);
  }
  if (owes_verdicts()) to_thread();
  if (process_->times_calls()) {
    link_->while_alive([this] {
      const Algorithm* served_by = runs_program() ? &serving() : bound_.algorithm;
      state_->report.count_persistent(bound_.collective, served_by, bound_.bytes,
                                      seconds() - arrived_);
    });
  }
  if (error_ == MPI_SUCCESS) return MPI_SUCCESS;
  int error_class = error_;
  PMPI_Error_class(error_, &error_class);
  return error_class;
}

int PersistentRequest::look(int* flag) {
  *flag = 1;
  if (stage_ == Stage::inactive) return MPI_SUCCESS;
  ask();
  advance();
  *flag = ended() ? 1 : 0;
  if (*flag != 0) return complete();
  // A rank that asks rather than waits has other things to do.
  if (has_background()) to_thread();
  return MPI_SUCCESS;
}

int PersistentRequest::wait() {
  bool inactive = false;
  const int wrong = held([&] {
    ask();
    inactive = stage_ == Stage::inactive;
    return stage_ == Stage::computing ? MPI_ERR_REQUEST : MPI_SUCCESS;
  });
  if (wrong != MPI_SUCCESS || inactive) return wrong;
  if (thread_ != nullptr) thread_->withdraw(*this);
  return held([this] { return finish(); });
}

int PersistentRequest::finish() {
  // Where nothing works in the background, another thread may start one that waits for this call.
  const bool stays_alone = thread_ != nullptr || !Process::has_threads();
  while (!ended()) {
    if (stays_alone && process_->requests.is_alone(*this)) {
      if (native()) {
        note(PMPI_Wait(&native_request_, MPI_STATUS_IGNORE));
        continue;
      }
      if (execution_.bound() && !execution_.ended() && (!queue_ || queue_->all_served())) {
        execution_.finish();
        continue;
      }
    }
    const bool moved = advance();
    if (!process_->requests.progress_others(*this) && !moved) sched_yield();
  }
  return complete();
}

}  // namespace sibyl
