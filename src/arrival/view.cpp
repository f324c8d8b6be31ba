// Views of arrivals; see view.hpp.
#include "arrival/view.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sibyl/predictors.hpp"

namespace sibyl {

double lead_of(std::span<const double> times) {
  double last = -std::numeric_limits<double>::infinity();
  double before = last;
  for (const double time : times) {
    before = std::max(before, std::min(time, last));
    last = std::max(last, time);
  }
  return times.size() < 2 ? 0 : last - before;
}

SharedView view_of(ArrivalPattern pattern) {
  auto view = std::make_shared<ArrivalView>();
  view->version = pattern.version;
  view->error = pattern.error;
  double first = std::numeric_limits<double>::infinity();
  double last = -first;
  for (const double time : pattern.times) {
    if (std::isnan(time)) continue;
    first = std::min(first, time);
    last = std::max(last, time);
  }
  if (first > last) return view;
  view->times = std::move(pattern.times);
  for (double& time : view->times) time = (std::isnan(time) ? last + 1 : time) - first;
  view->order = order_of_arrival(view->times, view->error);
  view->spread = std::ranges::max(view->times);
  view->lead = lead_of(view->times);
  return view;
}

bool times_agree(const ArrivalView& former, const ArrivalView& later) {
  constexpr double share = 0.25;
  const double near = std::max({former.error, later.error, share * former.spread});
  return std::ranges::equal(former.times, later.times, [&](double one, double other) {
    return std::abs(one - other) <= near;
  });
}

}  // namespace sibyl
