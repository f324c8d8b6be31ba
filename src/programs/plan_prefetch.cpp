// Makes schedules ahead; see plan_prefetch.hpp.
#include "programs/plan_prefetch.hpp"

#include <algorithm>
#include <new>

#include "planners/reduce/clairvoyant.hpp"

namespace sibyl {

void PlanPrefetch::begin(const PlanRequest& request) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  rounds_.reset();
  try {
    arrivals_.assign(request.arrivals.begin(), request.arrivals.end());
    request_ = request;
    request_.arrivals = arrivals_;
    rounds_ = reduce::rounds_of(request_);
    if (!rounds_->schedule().ok()) rounds_.reset();
  } catch (const std::bad_alloc&) {
    rounds_.reset();
  }
}

bool PlanPrefetch::advance() noexcept {
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || rounds_ == nullptr || rounds_->complete()) return false;
  try {
    rounds_->next();
  } catch (const std::bad_alloc&) {
    rounds_.reset();
    return false;
  }
  ++made_;
  return true;
}

const ClairvoyantSchedule* PlanPrefetch::find(const PlanRequest& request) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (rounds_ == nullptr || !is_of(request)) return nullptr;
  try {
    while (!rounds_->next()) {
    }
  } catch (const std::bad_alloc&) {
    rounds_.reset();
    return nullptr;
  }
  return &rounds_->schedule();
}

void PlanPrefetch::drop() {
  const std::lock_guard<std::mutex> lock(mutex_);
  rounds_.reset();
}

bool PlanPrefetch::holds() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return rounds_ != nullptr;
}

std::uint64_t PlanPrefetch::rounds_made() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return made_;
}

bool PlanPrefetch::is_of(const PlanRequest& request) const {
  return request.ranks == request_.ranks && request.root == request_.root &&
         request.segments == request_.segments && request.round_time == request_.round_time &&
         request.generator == request_.generator && request.root_order == request_.root_order &&
         std::ranges::equal(request.arrivals, request_.arrivals);
}

}  // namespace sibyl
