// What a request does in the background: whom the root serves next, and when the thread is to look
// again; see request.hpp.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "collectives/persistent/request.hpp"

namespace sibyl {

// What the ranks have said, who has answered, and who is next.
void PersistentRequest::serve() {
  const std::vector<double>& arrivals = exchange_->arrivals();
  const double ahead = exchange_->ahead();
  for (Rank rank = 0; rank < ranks_; ++rank) {
    const double arrival = arrivals[static_cast<std::size_t>(rank)];
    if (rank != rank_ && !std::isnan(arrival)) queue_->expect(rank, arrival - ahead);
  }
  ordered_ = queue_->informed();
  if (queue_->all_served() || !(in_background() || stage_ == Stage::arrived)) return;
  const std::vector<Rank>& asked = queue_->unanswered();
  for (std::size_t i = asked.size(); i-- > 0;) {  // backwards: who has answered is dropped
    if (execution_.heard_from(asked[i])) queue_->answered(asked[i]);
  }
  const double now = seconds();
  for (Rank rank = queue_->next(now); rank != no_rank; rank = queue_->next(now)) {
    execution_.admit(rank);
  }
}

// There is something that the thread could find to do.
bool PersistentRequest::has_background() const {
  if (stage_ == Stage::inactive) return owes_verdicts();
  if (!runs_program() || ended()) return false;
  if (governing_ != nullptr && !governing_->settled()) return true;
  if (!execution_.bound()) {
    return error_ == MPI_SUCCESS && !(stage_ == Stage::computing && begins_late());
  }
  if (queue_ && !queue_->all_served()) return true;
  return execution_.waits() || (exchanging_ && !exchange_->settled());
}

void PersistentRequest::to_thread() {
  expected_ = 0;  // the thread may find the request held, and would wait as it was told last
  if (thread_ != nullptr) thread_->submit(*this);
}

// Once all have said when they will arrive, nothing moves before the first of them does; where they
// are served one by one, before the next one is.
void PersistentRequest::foresee() {
  if (stage_ == Stage::inactive) {  // what others have to tell may come at any time
    expected_ = 0;
    return;
  }
  double next = 0;
  if (queue_) {
    if (!execution_.waits()) next = queue_->quiet_until(seconds());
  } else if (exchanging_ && execution_.bound() && exchange_->all_known() && exchange_->settled()) {
    const std::vector<double>& arrivals = exchange_->arrivals();
    next = INFINITY;
    for (Rank rank = 0; rank < ranks_; ++rank) {
      const double arrival = arrivals[static_cast<std::size_t>(rank)];
      if (rank != rank_ && !std::isnan(arrival)) next = std::min(next, arrival);
    }
    next -= exchange_->ahead() + exchange_->clock_error();
  }
  expected_ = std::isfinite(next) ? next : 0;
}

std::chrono::steady_clock::time_point PersistentRequest::expected() const noexcept {
  const std::chrono::duration<double> since(expected_);
  return Clock::time_point(std::chrono::duration_cast<Clock::duration>(since));
}

BackgroundWork::Outcome PersistentRequest::progress() noexcept {
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return Outcome::waiting;
  if (gone_) return Outcome::ended;
  // Without memory this rank's next call says so.
  const bool moved = guarded([this] { return advance(); }, false);
  foresee();
  if (!has_background()) return Outcome::ended;
  return moved ? Outcome::moved : Outcome::waiting;
}

}  // namespace sibyl
