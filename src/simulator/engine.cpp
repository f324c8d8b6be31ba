// The event loop; see engine.hpp.
#include "simulator/engine.hpp"
#include "schedule/successors.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace sibyl::simulator {

SimulationResult Engine::run(const Programs& programs, const SimulationOptions& options) {
  programs_ = &programs;
  options_ = &options;
  prepare();
  while (true) {
    run_released();
    use_ready();
    start_messages();
    if (flows_.changed()) share_anew();
    if (queue_.empty()) break;
    queue_.take(batch_);
    now_ = batch_.front().time;
    for (const Event& event : batch_) handle(event);
    answer_announced();
  }
  if (open_ranks_ != 0) {
    result_.problem = explain_deadlock();
  } else {
    add_up();
  }
  return std::move(result_);
}

void Engine::prepare() {
  const PlanHeader& header = programs_->header();
  network_ = Network(options_->network, header.ranks);
  window_ = options_->blocking ? PortWindow{.sends = 1, .receives = 1} : header.window;
  now_ = 0;
  queue_.clear();
  transfers_.reset(network_);
  flows_.reset(network_, network_.at_switch());
  losses_.assign(network_.at_switch().queue_bytes == 0 ? 0 : programs_->count(), 0);
  released_.clear();
  ready_.clear();
  arrived_.clear();
  announced_.clear();
  result_ = SimulationResult{};
  const ComputeModel& compute = options_->compute;
  const bool costs = compute.combine_per_byte > 0 || compute.copy_per_byte > 0;
  const bool windows = window_.sends != 0 && !window_.in_order && !options_->blocking;
  sendable_.assign(windows ? static_cast<std::size_t>(header.ranks) : 0, {});
  sending_to_.assign(windows && window_.sends_to_one != 0
                         ? static_cast<std::size_t>(header.ranks) * header.ranks
                         : 0,
                     0);
  computable_.assign(costs ? static_cast<std::size_t>(header.ranks) : 0, {});
  steps_.resize(programs_->count());
  flags_.assign(programs_->count(), 0);
  for (std::uint32_t i = 0; i < programs_->count(); ++i) {
    // One more for the gate.
    steps_[i] = {programs_->step(i).wait_post + 1, programs_->step(i).wait_data};
  }
  posted_at_.assign(options_->record || network_.handshake() ? programs_->count() : 0, 0);
  if (options_->record) record_of_.assign(programs_->count(), 0);
  connections_.clear();
  ranks_.assign(static_cast<std::size_t>(header.ranks), RankState{});
  open_ranks_ = 0;
  for (Rank rank = 0; rank < header.ranks; ++rank) {
    RankState& state = ranks_[static_cast<std::size_t>(rank)];
    state.next_send = state.next_receive = programs_->first(rank);
    state.open = programs_->first(rank + 1) - programs_->first(rank);
    state.exit = arrival(rank);
    if (state.open == 0) continue;
    ++open_ranks_;
    const auto id = static_cast<std::uint32_t>(rank);
    if (programs_->background()) queue_.push({options_->start, id, EventKind::start});
    queue_.push({arrival(rank) + compute.planning, id, EventKind::arrival});
  }
}

void Engine::handle(const Event& event) {
  switch (event.kind) {
    case EventKind::start:
      return open_gate(static_cast<Rank>(event.id), Gate::on_start);
    case EventKind::arrival:
      return open_gate(static_cast<Rank>(event.id), Gate::on_arrival);
    case EventKind::computed:
      return computed(event.id);
    case EventKind::announced:
      return announced_.push_back(event.id);
    case EventKind::body_begins:
      return begin_body(event.id);
    case EventKind::flows_turn:
      return end_bodies(event.id);
    default:
      break;
  }
  const SimStep& send = programs_->step(event.id);
  const bool all = event.kind == EventKind::message_over;
  if (all || event.kind == EventKind::ports_free || event.kind == EventKind::links_free) {
    const auto taken = network_.resources_of(send.rank, programs_->step(send.partner).rank);
    transfers_.free(all                                   ? taken.all_ids()
                    : event.kind == EventKind::ports_free ? taken.port_ids()
                                                          : taken.link_ids());
  }
  if (all || event.kind == EventKind::sent) sent(event.id);
  if (all || event.kind == EventKind::received) received(send.partner);
}

void Engine::open_gate(Rank rank, Gate gate) {
  for (std::uint32_t i = programs_->first(rank); i < programs_->first(rank + 1); ++i) {
    if (programs_->step(i).gate == gate && --steps_[i].wait_post == 0) release(i);
  }
}

bool Engine::in_order(const SimStep& step) const {
  switch (step.kind) {
    case StepKind::send:
      return window_.sends != 0;
    case StepKind::receive:
      return window_.receives != 0;
    case StepKind::receive_combine:
      return true;  // places in the staging pool are given out in program order
    default:
      return false;
  }
}

// A step that waits for nothing more: posted or run next, unless it is another one's turn.
void Engine::release(std::uint32_t number) {
  const SimStep& step = programs_->step(number);
  if (!in_order(step)) {
    released_.push_back(number);
  } else if (step.kind != StepKind::send) {
    post_receives(step.rank);
  } else {
    if (!sendable_.empty()) sendable_[static_cast<std::size_t>(step.rank)].add(number);
    may_send(step.rank);
  }
}

void Engine::may_send(Rank rank) {
  if (sendable_.empty()) return post_sends_in_program_order(rank);
  ready_.push_back(rank);
}

// As in the executor: those first that come first in the program; unless the window asks for that
// order one that waits for data holds up no other, and the first that is not complete needs no
// place. Only where no more than some may go to one rank can a later one go before the earliest.
void Engine::post_sends(Rank rank) {
  RankState& state = ranks_[static_cast<std::size_t>(rank)];
  auto& sendable = sendable_[static_cast<std::size_t>(rank)];
  const auto complete_or_none = [this](std::uint32_t number) {
    return programs_->step(number).kind != StepKind::send || (flags_[number] & done) != 0;
  };
  const auto has_place = [&](std::uint32_t number) {
    while (complete_or_none(state.next_send)) ++state.next_send;
    if (number == state.next_send) return true;
    return state.sending < window_.sends &&
           (window_.sends_to_one == 0 || sending_to(number) < window_.sends_to_one);
  };
  while (true) {
    const bool first_alone = window_.sends_to_one == 0 || state.sending >= window_.sends;
    const auto next = sendable.take(first_alone, has_place);
    if (!next) return;
    ++state.sending;
    if (!sending_to_.empty()) ++sending_to(*next);
    released_.push_back(*next);
  }
}

// How many messages are under way from a send's rank to the one that it goes to.
std::uint32_t& Engine::sending_to(std::uint32_t send) {
  const SimStep& step = programs_->step(send);
  const auto ranks = static_cast<std::size_t>(programs_->header().ranks);
  return sending_to_[static_cast<std::size_t>(step.rank) * ranks +
                     static_cast<std::size_t>(programs_->step(step.partner).rank)];
}

void Engine::post_sends_in_program_order(Rank rank) {
  RankState& state = ranks_[static_cast<std::size_t>(rank)];
  for (; state.next_send < programs_->first(rank + 1); ++state.next_send) {
    if (programs_->step(state.next_send).kind != StepKind::send) continue;
    if (steps_[state.next_send].wait_post != 0 || state.sending >= window_.sends) return;
    ++state.sending;
    released_.push_back(state.next_send);
  }
}

void Engine::post_receives(Rank rank) {
  RankState& state = ranks_[static_cast<std::size_t>(rank)];
  const std::uint32_t staging = programs_->header().staging;
  for (; state.next_receive < programs_->first(rank + 1); ++state.next_receive) {
    const SimStep& step = programs_->step(state.next_receive);
    if (!step.receives() || !in_order(step)) continue;
    const bool combines = step.kind == StepKind::receive_combine;
    if (steps_[state.next_receive].wait_post != 0) return;
    if (window_.receives != 0 && state.receiving >= window_.receives) return;
    if (combines && staging != 0 && state.staged >= staging) return;
    ++state.receiving;
    state.staged += combines ? 1 : 0;
    released_.push_back(state.next_receive);
  }
}

void Engine::run_released() {
  while (!released_.empty()) {
    const std::uint32_t number = released_.back();
    released_.pop_back();
    if (programs_->step(number).local() || (flags_[number] & (posted | come)) == (posted | come)) {
      compute(number);
    } else {
      post(number);
    }
  }
}

// When all is known that is ready at this time: of a rank's sends that wait for a place, and of its
// computations, those begin that come first in the program.
void Engine::use_ready() {
  for (const Rank rank : ready_) {
    if (!sendable_.empty()) post_sends(rank);
    if (!computable_.empty()) compute_next(rank);
  }
  ready_.clear();
  run_released();
}

void Engine::post(std::uint32_t number) {
  const SimStep& step = programs_->step(number);
  flags_[number] |= posted;
  if (!posted_at_.empty()) posted_at_[number] = now_;
  const std::uint32_t send = step.kind == StepKind::send ? number : step.partner;
  const std::uint32_t receive = step.kind == StepKind::send ? step.partner : number;
  if ((flags_[receive] & come) != 0) return received(receive);
  if ((flags_[send] & ready) != 0 || (flags_[send] & posted) == 0) return;
  const bool waits = window_.until_taken || !network_.eager(programs_->step(send).bytes);
  if ((flags_[receive] & posted) == 0 && waits) return;
  flags_[send] |= ready;
  arrived_.push_back(send);
}

void Engine::sent(std::uint32_t send) {
  const Rank rank = programs_->step(send).rank;
  complete(send);
  if (window_.sends == 0) return;
  --ranks_[static_cast<std::size_t>(rank)].sending;
  if (!sending_to_.empty()) --sending_to(send);
  may_send(rank);
}

// The message has come; an eager one may be there before its receive.
void Engine::received(std::uint32_t receive) {
  flags_[receive] |= come;
  if ((flags_[receive] & posted) == 0) return;
  const SimStep& step = programs_->step(receive);
  if (options_->record) {
    SimulatedMessage& message = result_.events[record_of_[step.partner]];
    message.send_posted = posted_at_[step.partner];
    message.receive_posted = posted_at_[receive];
  }
  const bool counted = in_order(step);
  if (counted) --ranks_[static_cast<std::size_t>(step.rank)].receiving;
  if (step.kind == StepKind::receive) {
    complete(receive);
  } else if (steps_[receive].wait_data == 0) {
    compute(receive);
  }
  if (counted) post_receives(step.rank);
}

double Engine::seconds_of(std::uint32_t number) const {
  const SimStep& step = programs_->step(number);
  const ComputeModel& compute = options_->compute;
  return static_cast<double>(step.bytes) *
         (step.kind == StepKind::copy ? compute.copy_per_byte : compute.combine_per_byte);
}

void Engine::compute(std::uint32_t number) {
  const Rank rank = programs_->step(number).rank;
  if (computable_.empty()) return computed(number);
  auto& heap = computable_[static_cast<std::size_t>(rank)];
  heap.push_back(number);
  std::ranges::push_heap(heap, std::greater<>{});
  ready_.push_back(rank);
}

void Engine::compute_next(Rank rank) {
  auto& heap = computable_[static_cast<std::size_t>(rank)];
  RankState& state = ranks_[static_cast<std::size_t>(rank)];
  if (state.computing || heap.empty()) return;
  state.computing = true;
  std::ranges::pop_heap(heap, std::greater<>{});
  const std::uint32_t number = heap.back();
  heap.pop_back();
  const double end = now_ + seconds_of(number);
  if (options_->record && end > now_) {
    result_.work.push_back({rank, programs_->step(number).kind, now_, end});
  }
  queue_.push({end, number, EventKind::computed});
}

void Engine::computed(std::uint32_t number) {
  const SimStep& step = programs_->step(number);
  complete(number);
  if (step.kind == StepKind::receive_combine) {
    --ranks_[static_cast<std::size_t>(step.rank)].staged;
    post_receives(step.rank);
  }
  if (computable_.empty()) return;
  ranks_[static_cast<std::size_t>(step.rank)].computing = false;
  ready_.push_back(step.rank);
}

void Engine::complete(std::uint32_t number) {
  flags_[number] |= done;
  for (const std::uint32_t entry : programs_->successors(number)) {
    const std::uint32_t successor = Release::step(entry);
    if (!Release::of_combination(entry)) {
      if (--steps_[successor].wait_post == 0) release(successor);
    } else if (--steps_[successor].wait_data == 0 &&
               (flags_[successor] & (posted | come)) == (posted | come)) {
      released_.push_back(successor);  // else it is computed when it is posted, or has come
    }
  }
  const Rank rank = programs_->step(number).rank;
  RankState& state = ranks_[static_cast<std::size_t>(rank)];
  if (--state.open != 0) return;
  state.exit = std::max(state.exit, now_);
  --open_ranks_;
}

}  // namespace sibyl::simulator
