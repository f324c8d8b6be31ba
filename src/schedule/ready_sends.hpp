// The sends of a rank that are ready and wait for a place in its window, for whoever runs programs:
// the executor and the simulator take them in the same order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "sibyl/schedule.hpp"

namespace sibyl {

// Numbers of steps, the earliest of the program first. What is released in program order is added
// and taken in constant time.
class ReadySends {
 public:
  void clear() {
    numbers_.clear();
    taken_ = 0;
  }
  void reserve(std::size_t most) { numbers_.reserve(most); }
  void add(StepIndex number) {
    numbers_.insert(std::upper_bound(first(), numbers_.end(), number), number);
  }
  // Takes the earliest that may go, or, of the first alone, that one; empty: none.
  template <class MayGo>
  std::optional<StepIndex> take(bool first_alone, MayGo may_go) {
    if (taken_ == numbers_.size()) return std::nullopt;
    const auto end = first_alone ? first() + 1 : numbers_.end();
    const auto found = std::find_if(first(), end, may_go);
    if (found == end) return std::nullopt;
    const StepIndex number = *found;
    if (found != first()) {
      numbers_.erase(found);
    } else if (++taken_ == numbers_.size()) {
      clear();
    }
    return number;
  }

 private:
  std::vector<StepIndex>::iterator first() {
    return numbers_.begin() + static_cast<std::ptrdiff_t>(taken_);
  }

  std::vector<StepIndex> numbers_;
  std::size_t taken_ = 0;  // so many at the front are gone
};

}  // namespace sibyl
