// Who waited for whom: the gaps between what a rank did, each with whom the rank went on.
#include <algorithm>
#include <limits>

#include "sibyl/simulator.hpp"

namespace sibyl {
namespace {

struct Activity {
  Rank rank;
  Rank peer;  // no_rank: the rank's own work
  double begin;
  double end;
};

}  // namespace

std::vector<SimulatedWait> waits_of(const SimulationResult& result,
                                    std::span<const double> arrivals) {
  std::vector<Activity> activities;
  activities.reserve(2 * result.events.size() + result.work.size());
  for (const SimulatedMessage& message : result.events) {
    activities.push_back({message.source, message.destination, message.begin, message.end});
    activities.push_back({message.destination, message.source, message.begin, message.end});
  }
  for (const SimulatedWork& work : result.work) {
    activities.push_back({work.rank, no_rank, work.begin, work.end});
  }
  std::ranges::sort(activities, [](const Activity& a, const Activity& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.begin < b.begin;
  });
  std::vector<SimulatedWait> waits;
  Rank rank = no_rank;
  double busy_until = 0;
  for (const Activity& activity : activities) {
    if (activity.rank != rank) {
      rank = activity.rank;
      busy_until = arrivals.empty() ? 0 : arrivals[static_cast<std::size_t>(rank)];
    }
    if (activity.begin > busy_until && activity.peer != no_rank) {
      waits.push_back({rank, activity.peer, busy_until, activity.begin});
    }
    busy_until = std::max(busy_until, activity.end);
  }
  return waits;
}

}  // namespace sibyl
