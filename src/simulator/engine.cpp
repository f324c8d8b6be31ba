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
    start_messages();
    if (queue_.empty()) break;
    queue_.take(batch_);
    now_ = batch_.front().time;
    for (const Event& event : batch_) handle(event);
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
  window_ = options_->blocking ? PortWindow{1, 1} : header.window;
  now_ = 0;
  queue_.clear();
  transfers_.reset(network_);
  released_.clear();
  arrived_.clear();
  result_ = SimulationResult{};
  const ComputeModel& compute = options_->compute;
  const bool costs = compute.combine_per_byte > 0 || compute.copy_per_byte > 0;
  const bool windows = window_.sends != 0 && !window_.in_order && !options_->blocking;
  sendable_.assign(windows ? static_cast<std::size_t>(header.ranks) : 0, {});
  computable_.assign(costs ? static_cast<std::size_t>(header.ranks) : 0, {});
  steps_.resize(programs_->count());
  flags_.assign(programs_->count(), 0);
  for (std::uint32_t i = 0; i < programs_->count(); ++i) {
    // One more for the gate.
    steps_[i] = {programs_->step(i).wait_post + 1, programs_->step(i).wait_data};
  }
  if (options_->record) {
    posted_at_.assign(programs_->count(), 0);
    record_of_.assign(programs_->count(), 0);
  }
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
    if (!sendable_.empty()) {
      auto& heap = sendable_[static_cast<std::size_t>(step.rank)];
      heap.push_back(number);
      std::ranges::push_heap(heap, std::greater<>{});
    }
    post_sends(step.rank);
  }
}

// Those first that come first in the program; as in the executor, and unless the window asks for
// that order, one that waits for data holds up no other, and the first that is not complete needs
// no place.
void Engine::post_sends(Rank rank) {
  if (sendable_.empty()) return post_sends_in_program_order(rank);
  RankState& state = ranks_[static_cast<std::size_t>(rank)];
  auto& heap = sendable_[static_cast<std::size_t>(rank)];
  const auto complete_or_none = [this](std::uint32_t number) {
    return programs_->step(number).kind != StepKind::send || (flags_[number] & done) != 0;
  };
  while (!heap.empty()) {
    if (state.sending >= window_.sends) {
      while (complete_or_none(state.next_send)) ++state.next_send;
      if (heap.front() != state.next_send) return;
    }
    ++state.sending;
    released_.push_back(heap.front());
    std::ranges::pop_heap(heap, std::greater<>{});
    heap.pop_back();
  }
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

void Engine::post(std::uint32_t number) {
  const SimStep& step = programs_->step(number);
  flags_[number] |= posted;
  if (options_->record) posted_at_[number] = now_;
  const std::uint32_t send = step.kind == StepKind::send ? number : step.partner;
  const std::uint32_t receive = step.kind == StepKind::send ? step.partner : number;
  if ((flags_[receive] & come) != 0) return received(receive);
  if ((flags_[send] & ready) != 0 || (flags_[send] & posted) == 0) return;
  const bool waits = window_.until_taken || !network_.eager(programs_->step(send).bytes);
  if ((flags_[receive] & posted) == 0 && waits) return;
  flags_[send] |= ready;
  arrived_.push_back(send);
}

void Engine::start_messages() {
  if (arrived_.empty() && !transfers_.anything_freed()) return;
  if (arrived_.size() > 1) {
    // By round, then by number; the keys lie together, since there may be millions.
    keys_.clear();
    for (const std::uint32_t send : arrived_) {
      keys_.push_back(std::uint64_t{programs_->step(send).round} << 32 | send);
    }
    std::ranges::sort(keys_);
    std::ranges::transform(keys_, arrived_.begin(),
                           [](std::uint64_t key) { return static_cast<std::uint32_t>(key); });
  }
  transfers_.start_all(
      arrived_,
      [this](std::uint32_t send) {
        const SimStep& step = programs_->step(send);
        return network_.resources_of(step.rank, programs_->step(step.partner).rank);
      },
      [this](std::uint32_t send) { start(send); });
  arrived_.clear();
}

void Engine::start(std::uint32_t send) {
  const SimStep& step = programs_->step(send);
  const Rank destination = programs_->step(step.partner).rank;
  const MessageCost cost = network_.cost(step.rank, destination, step.bytes);
  ++result_.messages;
  result_.bytes += step.bytes;
  if (options_->record) {
    record_of_[send] = static_cast<std::uint32_t>(result_.events.size());
    result_.events.push_back(
        {step.rank, destination, step.round, step.bytes, 0, 0, now_, now_ + cost.received});
  }
  if (cost.sent == cost.received && cost.sent == cost.ports && cost.sent == cost.links) {
    queue_.push({now_ + cost.sent, send, EventKind::message_over});
    return;
  }
  const auto taken = network_.resources_of(step.rank, destination);
  queue_.push({now_ + cost.sent, send, EventKind::sent});
  queue_.push({now_ + cost.received, send, EventKind::received});
  queue_.push({now_ + cost.ports, send, EventKind::ports_free});
  if (!taken.link_ids().empty()) queue_.push({now_ + cost.links, send, EventKind::links_free});
}

void Engine::sent(std::uint32_t send) {
  const Rank rank = programs_->step(send).rank;
  complete(send);
  if (window_.sends == 0) return;
  --ranks_[static_cast<std::size_t>(rank)].sending;
  post_sends(rank);
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
  if (!ranks_[static_cast<std::size_t>(rank)].computing) compute_next(rank);
}

void Engine::compute_next(Rank rank) {
  auto& heap = computable_[static_cast<std::size_t>(rank)];
  RankState& state = ranks_[static_cast<std::size_t>(rank)];
  state.computing = !heap.empty();
  if (heap.empty()) return;
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
  if (!computable_.empty()) compute_next(step.rank);
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

void Engine::add_up() {
  double latest_exit = 0;
  double latest_arrival = 0;
  double earliest_arrival = arrival(0);
  double elapsed = 0;
  result_.exits.reserve(ranks_.size());
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const double arrived = arrival(static_cast<Rank>(r));
    result_.exits.push_back(ranks_[r].exit);
    latest_exit = std::max(latest_exit, ranks_[r].exit);
    latest_arrival = std::max(latest_arrival, arrived);
    earliest_arrival = std::min(earliest_arrival, arrived);
    elapsed += ranks_[r].exit - arrived;
  }
  result_.run_time = latest_exit - earliest_arrival;
  result_.absorbed = latest_exit - latest_arrival;
  result_.elapsed = elapsed / static_cast<double>(ranks_.size());
}

std::string Engine::explain_deadlock() const {
  for (std::uint32_t i = 0; i < programs_->count(); ++i) {
    if ((flags_[i] & done) != 0) continue;
    const SimStep& step = programs_->step(i);
    return "the programs cannot end: rank " + std::to_string(step.rank) + " waits forever with a " +
           std::string(name_of(step.kind)) + " of round " + std::to_string(step.round);
  }
  return "the programs cannot end";
}

std::uint64_t Engine::memory() const {
  return steps_.capacity() * sizeof(StepState) + flags_.capacity() +
         ranks_.capacity() * sizeof(RankState);
}

}  // namespace sibyl::simulator
