// Plan prefetch: the schedule of arrivals that are to come into force, made before its call: a
// round at a time, while this rank waits for the messages of another call, or by the progress
// thread.
//
// Whoever comes to need it makes what is left of it then, so a rank that never waited loses
// nothing.
//
// Thread safety: advance() from any thread at any time; the others from one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "executor/executor.hpp"
#include "sibyl/planners.hpp"

namespace sibyl {

class PlanPrefetch final : public ProgressHook {
 public:
  // Another one from now on, of an algorithm that plans for arrival times; none where the request
  // cannot be served or memory ends.
  void begin(const PlanRequest& request) noexcept;
  // Makes a round. False where none is left, or another thread makes one now.
  bool advance() noexcept override;
  // The schedule of this request, complete, until the next begin() or drop(); nullptr where it was
  // not begun, or memory ends.
  const ClairvoyantSchedule* find(const PlanRequest& request) noexcept;
  void drop();

  // One is begun, and not dropped.
  bool holds() const;
  // How many rounds advance() has made so far.
  std::uint64_t rounds_made() const;

 private:
  bool is_of(const PlanRequest& request) const;

  mutable std::mutex mutex_;
  std::vector<double> arrivals_;
  PlanRequest request_;
  std::unique_ptr<ClairvoyantRounds> rounds_;
  std::uint64_t made_ = 0;
};

}  // namespace sibyl
