// The steps of a run: what depends on what, and in which order they start; see dataflow.hpp.
#include "executor/program/dataflow.hpp"

#include <algorithm>
#include <functional>

#include "executor/messages.hpp"
#include "schedule/successors.hpp"

namespace sibyl {

namespace {

// A message to a process that has died keeps a buffer of the MPI library, also one that it calls
// complete (dataflow_messages.cpp). So where many go to one rank, no more are under way until they
// are taken. Every plan ends with one under way (tests/planners/verified_test.cpp).
constexpr std::uint32_t most_sends_where_ranks_die = 32;

PortWindow window_of(const PlanHeader& header, const CollectiveCall& call) {
  PortWindow window = header.window;
  const bool cuts_a_vector = header.partition == Partition::vector && header.segments > 1;
  if (cuts_a_vector && window.sends == 0 && call.most_sends_to_one != 0) {
    window.sends = call.most_sends_to_one * static_cast<std::uint32_t>(header.ranks);
    window.sends_to_one = call.most_sends_to_one;
  }
  if (survives_faults() && header.tag_span > most_sends_where_ranks_die) {
    const std::uint32_t sends = window.sends == 0 ? most_sends_where_ranks_die : window.sends;
    window.sends = std::min(sends, most_sends_where_ranks_die);
    window.until_taken = true;
  }
  return window;
}

}  // namespace

Dataflow::Dataflow(const Prepared& prepared, const CollectiveCall& call, const Frame& frame,
                   Workspace& workspace)
    : prepared_(prepared),
      call_(call),
      frame_(frame),
      work_(workspace),
      port_(window_of(prepared.header, call)),
      window_(call.window),
      in_window_(prepared, call, frame),
      piggybacks_(prepared, call, workspace),
      watch_(call.comm) {
  const std::size_t steps = prepared.program.steps.size();
  work_.posting_waits.assign(prepared.posting_waits.begin(), prepared.posting_waits.end());
  work_.combining_waits.assign(prepared.combining_waits.begin(), prepared.combining_waits.end());
  work_.arrived.assign(steps, 0);
  work_.staging_slot.resize(steps);
  // Room for all now: how much of a queue is used depends on who is late.
  const auto empty = [steps](auto& queue) {
    queue.clear();
    queue.reserve(steps);
  };
  empty(work_.requests);
  empty(work_.request_step);
  empty(work_.finished);
  empty(work_.statuses);
  empty(work_.ready);
  empty(work_.computable);
  empty(work_.sendable);
  const bool limited = port_.sends_to_one != 0;
  work_.sending_to.assign(limited ? static_cast<std::size_t>(prepared.header.ranks) : 0, 0);
  empty(work_.batch);
  work_.fan_out.clear();
  empty(work_.free_slots);
  for (std::uint32_t slot = prepared.staging_slots; slot > 0; --slot) {
    work_.free_slots.push_back(slot - 1);
  }
  if constexpr (!posts_receives_at_once) {
    work_.expected.begin(prepared.header.ranks, prepared.receives.size());
  }
  if (window_ != nullptr) window_->begin(steps);
  open_ = steps;
}

Dataflow::~Dataflow() {
  if (open_ == 0) return;
  for (std::size_t i = 0; i < work_.requests.size(); ++i) {
    const bool receives = step(work_.request_step[i]).kind != StepKind::send;
    if (receives) take_back(work_.requests[i], call_.comm);
  }
  std::erase(work_.requests, MPI_REQUEST_NULL);
  abandon(MPI_ERR_OTHER);
}

int Dataflow::run() {
  release_all();
  post_and_await();
  return error_.code();
}

void Dataflow::start(bool arrived, bool held) {
  if (held) hold();
  if (!arrived) {
    for (StepIndex i = 0; i < prepared_.program.steps.size(); ++i) {
      if (step(i).gate == Gate::on_arrival) ++work_.posting_waits[i];
    }
  }
  release_all();
  post();
}

void Dataflow::hold() {
  port_ = prepared_.header.window;  // whoever admits peers decides who goes first
  work_.first_with.assign(static_cast<std::size_t>(prepared_.header.ranks), gone);
  for (StepIndex i = 0; i < prepared_.program.steps.size(); ++i) {
    if (step(i).peer == no_rank) continue;
    ++work_.posting_waits[i];
    StepIndex& first = work_.first_with[static_cast<std::size_t>(step(i).peer)];
    first = std::min(first, i);
  }
}

void Dataflow::admit(Rank peer) {
  if (open_ == 0) return;
  StepIndex i = work_.first_with[static_cast<std::size_t>(peer)];
  for (; i < prepared_.program.steps.size() && step(i).peer == peer; ++i) {
    if (--work_.posting_waits[i] == 0) release(i);
  }
  post();
}

bool Dataflow::heard_from(Rank peer) const {
  return work_.arrived[work_.first_with[static_cast<std::size_t>(peer)]] != 0;
}

void Dataflow::arrive() {
  if (open_ == 0) return;
  for (StepIndex i = 0; i < prepared_.program.steps.size(); ++i) {
    if (step(i).gate == Gate::on_arrival && --work_.posting_waits[i] == 0) release(i);
  }
  post();
}

bool Dataflow::progress() {
  if (open_ == 0) return true;
  if (!waits()) return false;
  if (!test()) watch_.look();
  const std::size_t before = open_;
  post();
  if (open_ == before && waits_for_window()) error_.add(window_->pass(waits_for_mpi()));
  return open_ == 0;
}

void Dataflow::finish() { post_and_await(); }

void Dataflow::post_and_await() {
  while (true) {
    post();
    if (open_ == 0) return;
    await();
  }
}

void Dataflow::release_all() {
  for (StepIndex i = 0; i < prepared_.program.steps.size(); ++i) {
    if (work_.posting_waits[i] == 0) release(i);
  }
}

// A step whose predecessors are complete: queued, unless its lane takes it in program order.
void Dataflow::release(StepIndex index) {
  const StepKind kind = step(index).kind;
  if (kind == StepKind::send && limits_sends()) {
    if (port_.in_order) return;
    work_.sendable.add(index);
    return;
  }
  if (kind == StepKind::receive_combine) return;
  if (kind == StepKind::receive && receives_in_order(index)) return;
  if (step(index).peer == no_rank) {
    compute_later(index);
  } else {
    work_.ready.push_back(index);
  }
}

void Dataflow::complete(StepIndex index) {
  --open_;
  for (std::uint32_t i = prepared_.successor_offset[index];
       i < prepared_.successor_offset[index + 1]; ++i) {
    const std::uint32_t entry = prepared_.successor[i];
    const StepIndex next = Release::step(entry);
    if (Release::of_combination(entry)) {
      if (--work_.combining_waits[next] == 0 && work_.arrived[next] != 0) compute_later(next);
    } else if (--work_.posting_waits[next] == 0) {
      release(next);
    }
  }
}

// A heap with the earliest step of the program on top.
void Dataflow::compute_later(StepIndex index) {
  work_.computable.push_back(index);
  std::push_heap(work_.computable.begin(), work_.computable.end(), std::greater<>{});
}

bool Dataflow::compute_one() {
  if (work_.computable.empty()) return false;
  std::pop_heap(work_.computable.begin(), work_.computable.end(), std::greater<>{});
  const StepIndex index = work_.computable.back();
  work_.computable.pop_back();
  if (step(index).kind == StepKind::receive_combine) {
    combine(index);
  } else {
    error_.add(frame_.run_local(index, [this] { let_messages_move(); }));
    complete(index);
  }
  return true;
}

void Dataflow::combine(StepIndex index) {
  const std::uint32_t slot = work_.staging_slot[index];
  if (work_.arrived[index] == arrived_whole) error_.add(frame_.combine_staged(index, slot));
  work_.free_slots.push_back(slot);
  complete(index);
}

// Posts and runs everything that may start now. Of a run that has been given up something may still
// be released, but nothing starts any more.
void Dataflow::post() {
  if (open_ == 0) return;
  if (fault_ == MPI_SUCCESS) fault_ = fault_of(call_.comm);
  bool progress = true;
  while (progress) {
    // In the order in which they were released, which is that of the program at the start:
    // receivers look for messages in that order, too. Posting one that is not sent may release
    // others.
    std::size_t posted = 0;
    while (posted < work_.ready.size()) posted += post_ready(posted);
    progress = posted != 0;
    work_.ready.clear();
    progress = (port_.in_order ? post_sends_in_program_order() : post_earliest_sends()) || progress;
    progress = post_receives_in_order() || progress;
    if (!progress) progress = compute_one();
    if (waits_for_window() && !window_->is_broken() && window_->progress(*this)) progress = true;
  }
}

bool Dataflow::post_sends_in_program_order() {
  bool progress = false;
  while (next_send_ < prepared_.sends.size() && sending_ < port_.sends &&
         work_.posting_waits[prepared_.sends[next_send_]] == 0) {
    post_message(prepared_.sends[next_send_++]);
    progress = true;
  }
  return progress;
}

// Of those that are ready only the earliest may go beyond the window, and only where no more than
// some may go to one rank can a later one go before it.
bool Dataflow::post_earliest_sends() {
  bool progress = false;
  while (true) {
    const bool first_alone = port_.sends_to_one == 0 || sending_ >= port_.sends;
    const auto next =
        work_.sendable.take(first_alone, [this](StepIndex index) { return may_send(index); });
    if (!next) return progress;
    post_message(*next);
    progress = true;
  }
}

bool Dataflow::may_send(StepIndex index) {
  if (index == earliest_send()) return true;
  return sending_ < port_.sends &&
         (port_.sends_to_one == 0 || sending_to(index) < port_.sends_to_one);
}

StepIndex Dataflow::earliest_send() {
  while (work_.arrived[prepared_.sends[next_send_]] != 0) ++next_send_;
  return prepared_.sends[next_send_];
}

bool Dataflow::post_receives_in_order() {
  bool progress = false;
  const std::uint32_t window = port_.receives;
  while (next_receive_ < prepared_.receives.size()) {
    const StepIndex index = prepared_.receives[next_receive_];
    if (!receives_in_order(index)) {
      ++next_receive_;
      continue;
    }
    const bool combines = step(index).kind == StepKind::receive_combine;
    if ((window != 0 && receiving_ >= window) || work_.posting_waits[index] != 0 ||
        (combines && work_.free_slots.empty())) {
      break;
    }
    if (combines) {
      work_.staging_slot[index] = work_.free_slots.back();
      work_.free_slots.pop_back();
    }
    ++next_receive_;
    post_message(index);
    progress = true;
  }
  return progress;
}

int run_dataflow(const Prepared& prepared, const CollectiveCall& call, const Frame& frame,
                 Workspace& workspace) {
  return Dataflow(prepared, call, frame, workspace).run();
}

}  // namespace sibyl
