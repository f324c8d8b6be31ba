// What a process keeps of its communicators: who is served, their costs, numbers that are drawn for
// them; see process.hpp.
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <tuple>
#include <utility>

#include "base/hash.hpp"
#include "communicator/communicator_state.hpp"
#include "communicator/deferred_release.hpp"
#include "communicator/make_private.hpp"
#include "communicator/membership.hpp"
#include "communicator/process.hpp"
#include "cost/placement.hpp"

namespace sibyl {

void Process::enter(MPI_Comm comm, CommunicatorState* state) {
  const std::lock_guard<std::mutex> lock(mutex_);
  attached_.push_back({comm, state});
  if (ends_with_world_ || state->size() <= size_) return;
  rank_ = state->rank();
  size_ = state->size();
}

bool Process::has(const CommunicatorState* state) {
  Process* const process = get();
  if (process == nullptr) return false;
  const std::lock_guard<std::mutex> lock(process->mutex_);
  return std::ranges::find(process->attached_, state, &Attached::state) != process->attached_.end();
}

// No lock is held while it is made: the MPI library may finish a communicator of the program's
// meanwhile, which enters here. What asks for it on this thread then goes without.
MPI_Comm Process::make_own_self() {
  static thread_local bool makes_it = false;
  if (!has_world()) return MPI_COMM_NULL;
  Making untried = Making::not_tried;
  if (own_self_made_.compare_exchange_strong(untried, Making::under_way)) {
    makes_it = true;
    const ReturnErrors quiet(MPI_COMM_SELF);
    own_self_.store(make_private(MPI_COMM_SELF), std::memory_order_release);
    makes_it = false;
    own_self_made_ = Making::over;
  }
  while (own_self_made_ == Making::under_way && !makes_it) std::this_thread::yield();
  return own_self_;
}

void Process::retract(MPI_Comm comm) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(attached_, [&](const Attached& one) { return one.comm == comm; });
}

void Process::leave(MPI_Comm comm, const CommunicatorReport& report, int communicator_size,
                    CommunicatorRecording recording) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(attached_, [&](const Attached& one) { return one.comm == comm; });
  if (reports()) report_.merge(report, communicator_size);
  if (!recording.group.empty()) recording_.take(std::move(recording));
}

void Process::add_to_report(const CommunicatorReport& report, int communicator_size) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (reports()) report_.merge(report, communicator_size);
}

void Process::count_native(std::string_view collective, int communicator_size,
                           std::chrono::nanoseconds took) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (reports()) report_.count_native(collective, communicator_size, took);
}

std::uint64_t Process::ordinal_of(const std::vector<int>& group) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return recording_.ordinal_of(group);
}

void Process::note_world(const Settings& settings, bool one_node, bool by_window) {
  for (std::size_t c = 0; c < collective_count; ++c) {
    const auto collective = static_cast<Collective>(c);
    left_native_[c] = one_node && is_left_native_on_one_node(settings, collective, by_window);
    waits_for_window_[c] = one_node && !left_native_[c] && !environment_.serve_from &&
                           settings.node_window == window_where_it_pays &&
                           is_left_native_on_one_node(settings, collective, false);
  }
}

bool Process::take_private() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (no_more_privates_ || privates_ >= environment_.communicators) return false;
  ++privates_;
  return true;
}

void Process::give_back_private() {
  const std::lock_guard<std::mutex> lock(mutex_);
  --privates_;
}

std::uint32_t Process::privates_in_use() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return privates_;
}

std::vector<CommunicatorState*> Process::served_within(MPI_Comm comm) const {
  std::vector<Attached> all;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    all = attached_;
  }
  std::vector<CommunicatorState*> found;
  for (const Attached& one : all) {
    if (one.state->private_comm() != MPI_COMM_NULL && holds_all_of(comm, one.comm)) {
      found.push_back(one.state);
    }
  }
  return found;
}

std::uint64_t Process::least_recently_used_within(MPI_Comm comm) const {
  std::vector<CommunicatorState*> all = served_within(comm);
  std::erase_if(all, [](const CommunicatorState* state) {
    return state->is_world() || !state->private_is_idle();
  });
  const auto oldest = std::ranges::min_element(all, {}, &CommunicatorState::last_used);
  return oldest == all.end() ? 0 : (*oldest)->id();
}

void Process::give_back_all_within(MPI_Comm comm) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    no_more_privates_ = true;
  }
  deferred_release().sweep();
  for (CommunicatorState* state : served_within(comm)) state->give_private_back();
}

CommunicatorState* Process::state_of(std::uint64_t id) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found =
      std::ranges::find_if(attached_, [&](const Attached& one) { return one.state->id() == id; });
  return found == attached_.end() ? nullptr : found->state;
}

namespace {

// Communicators of one kind: where ranks lie anyhow the number of nodes says as much as is needed,
// and how many share the largest, since these are measured together.
std::tuple<int, Rank, Rank, bool> kind_of(int ranks, const Placement& placement, bool combines) {
  if (placement.nodes.empty()) return {ranks, 0, placement.ranks_per_node, combines};
  std::vector<Rank> of_nodes(static_cast<std::size_t>(placement.count));
  for (const Rank node : placement.nodes) ++of_nodes[static_cast<std::size_t>(node)];
  return {ranks, placement.count, std::ranges::max(of_nodes), combines};
}

}  // namespace

Costs Process::known_costs(int ranks, const Placement& placement, bool combines) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = costs_.find(kind_of(ranks, placement, combines));
  return found == costs_.end() ? Costs{} : found->second;
}

void Process::keep_costs(int ranks, const Placement& placement, bool combines, const Costs& costs) {
  const std::lock_guard<std::mutex> lock(mutex_);
  costs_[kind_of(ranks, placement, combines)] = costs;
  if (!reports()) return;
  const Rank nodes = placement.nodes.empty() ? placement.node_of(ranks - 1) + 1 : placement.count;
  report_.note_costs(ranks, nodes, costs);
}

std::int64_t Process::next_tag_start() {
  const std::lock_guard<std::mutex> lock(mutex_);
  // Multiples of the golden ratio spread evenly, whatever they are taken modulo.
  return static_cast<std::int64_t>(++tag_starts_ * 0x9E3779B97F4A7C15ULL >> 2);
}

std::uint64_t Process::next_id() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::string place = std::to_string(host_number()) + " " + std::to_string(::getpid()) + " " +
                            std::to_string(rank_) + " " + std::to_string(++ids_);
  return fnv1a(place) | 1U;
}

}  // namespace sibyl
