// Algorithms by what the model says that they cost: the best and the next.
#pragma once

#include "sibyl/planners.hpp"

namespace sibyl {

class Ranking {
 public:
  // Ties go to who came first. `row` may be nullptr: there is none.
  void offer(const Algorithm* row, double cost) {
    if (row == nullptr) return;
    if (best_ == nullptr || cost < cost_) {
      next_ = best_;
      cost_of_next_ = cost_;
      best_ = row;
      cost_ = cost;
    } else if (next_ == nullptr || cost < cost_of_next_) {
      next_ = row;
      cost_of_next_ = cost;
    }
  }
  const Algorithm* best() const { return best_; }
  double cost() const { return cost_; }
  // nullptr: there is none.
  const Algorithm* next() const { return next_; }
  double cost_of_next() const { return cost_of_next_; }

 private:
  const Algorithm* best_ = nullptr;
  const Algorithm* next_ = nullptr;
  double cost_ = 0;
  double cost_of_next_ = 0;
};

}  // namespace sibyl
