// Estimates to the root and patterns from it; see arrival_exchange.hpp.
#include "communicator/arrival_exchange.hpp"

#include <algorithm>

namespace sibyl {
namespace {

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
  pattern_.assign(ranks + 1, 0);
  if (!is_root()) return;
  incoming_.resize(ranks);
  for (Rank rank = 0; rank < parties.ranks; ++rank) {
    if (rank != parties.root) listen(rank);
  }
}

void ArrivalExchange::close() {
  if (!opened_) return;
  opened_ = false;
  for (Incoming& incoming : incoming_) cancel(incoming.request);
  cancel(pattern_receive_);
  // They are small: what is not received yet has left its buffer.
  for (Outgoing& outgoing : outgoing_) {
    if (outgoing.request != MPI_REQUEST_NULL) PMPI_Request_free(&outgoing.request);
  }
  for (MPI_Request& request : pattern_sends_) {
    if (request != MPI_REQUEST_NULL) PMPI_Request_free(&request);
  }
  incoming_.clear();
  outgoing_.clear();
  pattern_sends_.clear();
}

void ArrivalExchange::leave() {
  if (!opened_) return;
  if (is_root()) {
    iteration_ = farewell;  // whatever comes now is late
  } else {
    send({farewell, 0, 0});
  }
}

bool ArrivalExchange::left() {
  if (!opened_ || error_ != MPI_SUCCESS) return true;
  if (!is_root()) {
    reclaim_sends();
    return outgoing_.empty();
  }
  advance_root(0);
  for (Rank rank = 0; rank < parties_.ranks; ++rank) {
    if (rank != parties_.root && !incoming_[static_cast<std::size_t>(rank)].left) return false;
  }
  return pattern_sends_.empty();
}

void ArrivalExchange::listen(Rank rank) {
  Incoming& incoming = incoming_[static_cast<std::size_t>(rank)];
  note(PMPI_Irecv(&incoming.estimate, static_cast<int>(sizeof(Estimate)), MPI_BYTE, rank,
                  parties_.tag, parties_.comm, &incoming.request));
}

void ArrivalExchange::begin(std::int64_t iteration) {
  iteration_ = iteration;
  reported_ = false;
  ended_ = false;
  missing_ = parties_.ranks;
  none_ = 0;
  std::ranges::fill(arrivals_, unknown);
  said_.assign(said_.size(), false);
  if (is_root() && !parties_.root_counts) {
    said_[static_cast<std::size_t>(parties_.root)] = true;
    --missing_;
  }
  reclaim_sends();
  if (!is_root() && parties_.everyone) {
    note(PMPI_Irecv(pattern_.data(), static_cast<int>(pattern_.size()), MPI_DOUBLE, parties_.root,
                    parties_.tag + 1, parties_.comm, &pattern_receive_));
  }
}

void ArrivalExchange::report(double arrival, double now) {
  reported_ = true;
  Estimate estimate{iteration_, arrival, 1};
  if (is_root()) {
    record(parties_.rank, estimate, 0);
    return;
  }
  if (!parties_.one_clock) estimate.arrival -= now;
  send(estimate);
}

void ArrivalExchange::report_none() {
  reported_ = true;
  const Estimate estimate{iteration_, 0, 0};
  if (is_root()) {
    record(parties_.rank, estimate, 0);
  } else if (parties_.everyone) {
    send(estimate);
  }
}

void ArrivalExchange::send(const Estimate& estimate) {
  Outgoing& outgoing = outgoing_.emplace_back();
  outgoing.estimate = estimate;
  note(PMPI_Isend(&outgoing.estimate, static_cast<int>(sizeof(Estimate)), MPI_BYTE, parties_.root,
                  parties_.tag, parties_.comm, &outgoing.request));
  if (!parties_.everyone) ended_ = true;
}

void ArrivalExchange::reclaim_sends() {
  while (!outgoing_.empty()) {
    int done = 0;
    note(PMPI_Test(&outgoing_.front().request, &done, MPI_STATUS_IGNORE));
    if (done == 0) return;
    outgoing_.pop_front();
  }
}

void ArrivalExchange::record(Rank rank, const Estimate& estimate, double now) {
  const auto at = static_cast<std::size_t>(rank);
  if (said_[at]) return;
  said_[at] = true;
  --missing_;
  if (estimate.known == 0) {
    ++none_;
    return;
  }
  const bool counted_down = rank != parties_.rank && !parties_.one_clock;
  arrivals_[at] = counted_down ? estimate.arrival + now : estimate.arrival;
}

void ArrivalExchange::take(Rank rank, double now) {
  Incoming& incoming = incoming_[static_cast<std::size_t>(rank)];
  const Estimate& estimate = incoming.estimate;
  incoming.left = estimate.iteration == farewell;
  if (incoming.left) return;
  incoming.early = estimate.iteration > iteration_;
  if (incoming.early) return;
  if (estimate.iteration == iteration_) record(rank, estimate, now);
  listen(rank);
}

bool ArrivalExchange::advance(double now) {
  if (!opened_) return false;
  return is_root() ? advance_root(now) : advance_leaf();
}

bool ArrivalExchange::advance_root(double now) {
  bool moved = false;
  for (Rank rank = 0; rank < parties_.ranks; ++rank) {
    Incoming& incoming = incoming_[static_cast<std::size_t>(rank)];
    if (rank == parties_.root) continue;
    if (incoming.early) {
      if (incoming.estimate.iteration > iteration_) continue;
      take(rank, now);
      moved = true;
    }
    int done = 0;
    while (!incoming.early && !incoming.left && incoming.request != MPI_REQUEST_NULL) {
      note(PMPI_Test(&incoming.request, &done, MPI_STATUS_IGNORE));
      if (done == 0) break;
      take(rank, now);
      moved = true;
    }
  }
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
  std::ranges::copy(arrivals_, pattern_.begin() + 1);
  for (Rank rank = 0; rank < parties_.ranks; ++rank) {
    if (rank == parties_.root) continue;
    MPI_Request& request = pattern_sends_.emplace_back(MPI_REQUEST_NULL);
    note(PMPI_Isend(pattern_.data(), static_cast<int>(pattern_.size()), MPI_DOUBLE, rank,
                    parties_.tag + 1, parties_.comm, &request));
  }
}

bool ArrivalExchange::advance_leaf() {
  if (pattern_receive_ == MPI_REQUEST_NULL) return false;
  int done = 0;
  note(PMPI_Test(&pattern_receive_, &done, MPI_STATUS_IGNORE));
  if (done == 0) return false;
  missing_ = 0;
  none_ = pattern_[0] == 0 ? 1 : 0;
  std::copy(pattern_.begin() + 1, pattern_.end(), arrivals_.begin());
  ended_ = true;
  return true;
}

}  // namespace sibyl
