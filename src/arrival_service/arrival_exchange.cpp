// Estimates to the root and arrival patterns from it; see arrival_exchange.hpp.
#include "arrival_service/arrival_exchange.hpp"

#include <algorithm>
#include <chrono>

namespace sibyl {
namespace {

constexpr std::size_t arrivals_head = 2;
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

void cancel(MPI_Request& request) {
  if (request == MPI_REQUEST_NULL) return;
  PMPI_Cancel(&request);
  PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

}  // namespace

void ArrivalExchange::open(const Parties& parties) {
  parties_ = parties;
  opened_ = true;
  const auto ranks = static_cast<std::size_t>(parties.ranks);
  arrivals_.assign(ranks, unknown);
  said_.assign(ranks, false);
  pattern_.assign(ranks + arrivals_head, 0);
  if (!is_root()) return;
  incoming_.resize(ranks);
  pattern_sends_.reserve(ranks);
  listening_.resize(ranks, MPI_REQUEST_NULL);
  heard_.resize(ranks);
  for (Rank rank = 0; rank < parties.ranks; ++rank) {
    if (rank != parties.root) listen(rank);
  }
}

void ArrivalExchange::close() {
  if (!opened_) return;
  opened_ = false;
  for (MPI_Request& request : listening_) cancel(request);
  cancel(pattern_receive_);
  cancel(answer_receive_);
  // They are small: what is not received yet has left its buffer.
  const auto let_go = [](MPI_Request& request) {
    if (request != MPI_REQUEST_NULL) PMPI_Request_free(&request);
  };
  for (auto& outgoing : estimates_) let_go(outgoing.request);
  for (auto& outgoing : answers_) let_go(outgoing.request);
  for (MPI_Request& request : pattern_sends_) let_go(request);
  incoming_.clear();
  listening_.clear();
  estimates_.clear();
  answers_.clear();
  pattern_sends_.clear();
}

void ArrivalExchange::leave() {
  if (!opened_) return;
  if (is_root()) {
    iteration_ = farewell;  // whatever comes now is late
  } else {
    send({.iteration = farewell});
  }
}

bool ArrivalExchange::left() {
  if (!opened_ || error_ != MPI_SUCCESS) return true;
  if (!is_root()) {
    reclaim(estimates_);
    take_answer();
    return estimates_.empty() && answer_receive_ == MPI_REQUEST_NULL;
  }
  advance_root();
  for (Rank rank = 0; rank < parties_.ranks; ++rank) {
    if (rank != parties_.root && !incoming_[static_cast<std::size_t>(rank)].left) return false;
  }
  return pattern_sends_.empty() && answers_.empty();
}

void ArrivalExchange::listen(Rank rank) {
  Incoming& incoming = incoming_[static_cast<std::size_t>(rank)];
  note(PMPI_Irecv(&incoming.estimate, static_cast<int>(sizeof(Estimate)), MPI_BYTE, rank,
                  parties_.tag, parties_.comm, &listening_[static_cast<std::size_t>(rank)]));
}

void ArrivalExchange::begin(std::int64_t iteration) {
  iteration_ = iteration;
  reported_ = false;
  ended_ = false;
  missing_ = parties_.ranks;
  none_ = 0;
  clock_error_ = 0;
  std::ranges::fill(arrivals_, unknown);
  said_.assign(said_.size(), false);
  if (is_root() && !parties_.root_counts) {
    said_[static_cast<std::size_t>(parties_.root)] = true;
    --missing_;
  }
  reclaim(estimates_);
  if (!is_root() && parties_.everyone) {
    note(PMPI_Irecv(pattern_.data(), static_cast<int>(pattern_.size()), MPI_DOUBLE, parties_.root,
                    parties_.tag + 1, parties_.comm, &pattern_receive_));
  }
}

// What is said is said when it is on its way: who finds no memory for it says later that it does
// not know.
void ArrivalExchange::report(double arrival) {
  const LocalClock& local = parties_.clock.local();
  const std::chrono::nanoseconds since{static_cast<std::int64_t>(arrival * 1e9)};
  const std::int64_t at = local.at(std::chrono::steady_clock::time_point(since));
  Estimate estimate{.iteration = iteration_,
                    .arrival = parties_.clock.common(at),
                    .error = parties_.clock.error(local.now()),
                    .known = 1};
  if (is_root()) {
    record(parties_.rank, estimate);
  } else {
    ask(estimate);
    send(estimate);
  }
  reported_ = true;
}

void ArrivalExchange::report_none() {
  const Estimate estimate{.iteration = iteration_};
  if (is_root()) {
    record(parties_.rank, estimate);
  } else if (parties_.everyone) {
    send(estimate);
  }
  reported_ = true;
}

void ArrivalExchange::ask(Estimate& estimate) {
  const CommonClock& clock = parties_.clock;
  const std::int64_t now = clock.local().now();
  if (!clock.several_hosts() || answer_receive_ != MPI_REQUEST_NULL ||
      now - clock.compared_at() < parties_.ask_after) {
    return;
  }
  // The root's answers go the other way under the tag of the estimates.
  note(PMPI_Irecv(&answer_, static_cast<int>(sizeof answer_), MPI_BYTE, parties_.root, parties_.tag,
                  parties_.comm, &answer_receive_));
  estimate.asked = now;
}

void ArrivalExchange::answer(Rank rank) {
  const std::int64_t asked = incoming_[static_cast<std::size_t>(rank)].estimate.asked;
  if (asked == 0) return;
  const CommonClock& clock = parties_.clock;
  send_to(rank, Answer{asked, clock.common(clock.local().now())}, answers_);
}

void ArrivalExchange::take_answer() {
  if (answer_receive_ == MPI_REQUEST_NULL) return;
  int done = 0;
  note(PMPI_Test(&answer_receive_, &done, MPI_STATUS_IGNORE));
  if (done == 0) return;
  parties_.clock.narrow(answer_.asked, parties_.clock.local().now(), answer_.time);
}

template <class Message>
void ArrivalExchange::send_to(Rank rank, const Message& message, Sends<Message>& sends) {
  auto& outgoing = sends.emplace_back(message);
  note(PMPI_Isend(&outgoing.message, static_cast<int>(sizeof(Message)), MPI_BYTE, rank,
                  parties_.tag, parties_.comm, &outgoing.request));
}

template <class Message>
void ArrivalExchange::reclaim(Sends<Message>& sends) {
  while (!sends.empty()) {
    int done = 0;
    note(PMPI_Test(&sends.front().request, &done, MPI_STATUS_IGNORE));
    if (done == 0) return;
    sends.pop_front();
  }
}

void ArrivalExchange::send(const Estimate& estimate) {
  send_to(parties_.root, estimate, estimates_);
  if (!parties_.everyone) ended_ = true;
}

void ArrivalExchange::record(Rank rank, const Estimate& estimate) {
  const auto at = static_cast<std::size_t>(rank);
  if (said_[at]) return;
  said_[at] = true;
  --missing_;
  if (estimate.known == 0) {
    ++none_;
    return;
  }
  arrivals_[at] = static_cast<double>(estimate.arrival) * 1e-9;
  clock_error_ = std::max(clock_error_, 2 * estimate.error);
}

void ArrivalExchange::take(Rank rank) {
  Incoming& incoming = incoming_[static_cast<std::size_t>(rank)];
  const Estimate& estimate = incoming.estimate;
  incoming.left = estimate.iteration == farewell;
  if (incoming.left) return;
  incoming.early = estimate.iteration > iteration_;
  if (incoming.early) return;
  if (estimate.iteration == iteration_) record(rank, estimate);
  listen(rank);
}

bool ArrivalExchange::advance() {
  if (!opened_) return false;
  if (!is_root()) return advance_leaf();
  // What may still come is for the next iteration, but for questions of other hosts.
  const bool over = ended_ && settled() && answers_.empty() && !parties_.clock.several_hosts();
  return !over && advance_root();
}

bool ArrivalExchange::advance_root() {
  bool moved = false;
  for (Rank rank = 0; rank < parties_.ranks; ++rank) {
    const Incoming& incoming = incoming_[static_cast<std::size_t>(rank)];
    if (!incoming.early || incoming.estimate.iteration > iteration_) continue;
    take(rank);
    moved = true;
  }
  for (int count = 1; count > 0;) {
    note(PMPI_Testsome(static_cast<int>(listening_.size()), listening_.data(), &count,
                       heard_.data(), MPI_STATUSES_IGNORE));
    if (count == MPI_UNDEFINED || error_ != MPI_SUCCESS) break;
    for (int i = 0; i < count; ++i) {
      const Rank rank = heard_[static_cast<std::size_t>(i)];
      answer(rank);
      take(rank);
      moved = true;
    }
  }
  reclaim(answers_);
  if (!ended_ && missing_ == 0) {
    ended_ = true;
    if (parties_.everyone) send_pattern();
    moved = true;
  }
  if (!pattern_sends_.empty()) {
    int done = 0;
    note(PMPI_Testall(static_cast<int>(pattern_sends_.size()), pattern_sends_.data(), &done,
                      MPI_STATUSES_IGNORE));
    if (done != 0) pattern_sends_.clear();
  }
  return moved;
}

void ArrivalExchange::send_pattern() {
  pattern_[0] = none_ == 0 ? 1 : 0;
  pattern_[1] = clock_error_;
  std::ranges::copy(arrivals_, pattern_.begin() + arrivals_head);
  for (Rank rank = 0; rank < parties_.ranks; ++rank) {
    if (rank == parties_.root) continue;
    MPI_Request& request = pattern_sends_.emplace_back(MPI_REQUEST_NULL);
    note(PMPI_Isend(pattern_.data(), static_cast<int>(pattern_.size()), MPI_DOUBLE, rank,
                    parties_.tag + 1, parties_.comm, &request));
  }
}

bool ArrivalExchange::advance_leaf() {
  take_answer();
  if (pattern_receive_ == MPI_REQUEST_NULL) return false;
  int done = 0;
  note(PMPI_Test(&pattern_receive_, &done, MPI_STATUS_IGNORE));
  if (done == 0) return false;
  missing_ = 0;
  none_ = pattern_[0] == 0 ? 1 : 0;
  clock_error_ = pattern_[1];
  std::copy(pattern_.begin() + arrivals_head, pattern_.end(), arrivals_.begin());
  ended_ = true;
  return true;
}

SharedView ArrivalExchange::view() const {
  constexpr double tie = 10e-6;  // seconds: arrivals that are no further apart are ties
  return view_of({.times = arrivals_,
                  .version = static_cast<std::uint64_t>(iteration_),
                  .error = std::max(tie, clock_error_)});
}

}  // namespace sibyl
