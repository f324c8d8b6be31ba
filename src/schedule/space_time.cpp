// Longest paths within each round, in topological order. Edges between rounds do not matter: rounds
// never decrease along a program.
#include "schedule/space_time.hpp"

#include <algorithm>
#include <limits>
#include <ranges>
#include <string>

#include "schedule/dependencies.hpp"
#include "schedule/matching.hpp"

namespace sibyl {
namespace {

constexpr std::uint32_t no_step = std::numeric_limits<std::uint32_t>::max();

class Placement {
 public:
  explicit Placement(const Plan& plan) : plan_(plan) {}

  SpaceTime place() {
    number_steps();
    if (!place_along(true)) place_along(false);
    return std::move(place_);
  }

 private:
  struct Edge {
    std::uint32_t from;
    std::uint32_t to;
  };

  void number_steps() {
    place_.first_step.push_back(0);
    for (const Program& program : plan_.programs) {
      place_.first_step.push_back(place_.first_step.back() +
                                  static_cast<std::uint32_t>(program.steps.size()));
      for (const Step& step : program.steps) {
        place_.rounds.push_back(step.round);
        is_send_.push_back(step.kind == StepKind::send);
      }
    }
    const std::vector<std::uint32_t> round_of_step = place_.rounds;
    std::ranges::sort(place_.rounds);
    const auto repeated = std::ranges::unique(place_.rounds);
    place_.rounds.erase(repeated.begin(), repeated.end());
    for (const std::uint32_t round : round_of_step) {
      const auto found = std::ranges::lower_bound(place_.rounds, round);
      place_.column.push_back(static_cast<std::uint32_t>(found - place_.rounds.begin()));
    }
    place_.levels.assign(place_.rounds.size(), 1);
    place_.partner.resize(place_.column.size(), no_step);
    Matcher matcher;
    std::uint32_t tags = 0;
    std::string problem;
    matcher.match(plan_.header, plan_.programs, place_.first_step, place_.partner, tags, problem);
  }

  void add(std::uint32_t from, std::uint32_t to) {
    if (from != no_step && place_.column[from] == place_.column[to]) edges_.push_back({from, to});
  }

  void collect_edges(bool one_port) {
    edges_.clear();
    DependencyDeriver deriver;
    Dependencies dependencies;
    for (std::size_t r = 0; r < plan_.programs.size(); ++r) {
      const Program& program = plan_.programs[r];
      deriver.derive(plan_.header, program, dependencies);
      std::uint32_t last_send = no_step;
      std::uint32_t last_receive = no_step;
      std::uint32_t last_local = no_step;
      for (StepIndex i = 0; i < program.steps.size(); ++i) {
        const std::uint32_t number = place_.first_step[r] + i;
        for (const StepIndex earlier : dependencies.all_of(i)) {
          add(place_.first_step[r] + earlier, number);
        }
        const bool sends = program.steps[i].kind == StepKind::send;
        const bool local = program.steps[i].peer == no_rank;
        if (!sends && !local) add(place_.partner[number], number);
        if (!one_port) continue;
        add(last_local, number);
        add(last_send, number);
        if (!sends) add(last_receive, number);
        (local ? last_local : sends ? last_send : last_receive) = number;
      }
    }
  }

  // False when the edges have a cycle.
  bool place_along(bool one_port) {
    collect_edges(one_port);
    const std::size_t steps = place_.column.size();
    std::sort(edges_.begin(), edges_.end(),
              [](const Edge& a, const Edge& b) { return a.from < b.from; });
    std::vector<std::uint32_t> first_edge(steps + 1, 0);
    std::vector<std::uint32_t> waits(steps, 0);
    for (const Edge& edge : edges_) {
      ++first_edge[edge.from + 1];
      ++waits[edge.to];
    }
    for (std::size_t i = 0; i < steps; ++i) first_edge[i + 1] += first_edge[i];
    place_.level.assign(steps, 0);
    std::fill(place_.levels.begin(), place_.levels.end(), 1);
    std::vector<std::uint32_t> placed;
    for (std::uint32_t i = 0; i < steps; ++i) {
      if (waits[i] == 0) placed.push_back(i);
    }
    for (std::size_t next = 0; next < placed.size(); ++next) {
      const std::uint32_t step = placed[next];
      std::uint32_t& levels = place_.levels[place_.column[step]];
      levels = std::max(levels, place_.level[step] + 1);
      for (std::uint32_t e = first_edge[step]; e < first_edge[step + 1]; ++e) {
        const std::uint32_t to = edges_[e].to;
        place_.level[to] = std::max(place_.level[to], place_.level[step] + 1);
        if (--waits[to] == 0) placed.push_back(to);
      }
    }
    if (placed.size() != steps) return false;
    for (const auto step : placed | std::views::reverse) {
      if (is_send_[step]) delay(step, first_edge[step], first_edge[step + 1]);
    }
    return true;
  }

  // A message moves when both ends are there: its send stands as late as what follows allows.
  void delay(std::uint32_t send, std::uint32_t begin, std::uint32_t end) {
    std::uint32_t latest = no_step;
    for (std::uint32_t e = begin; e < end; ++e) {
      latest = std::min(latest, place_.level[edges_[e].to] - 1);
    }
    if (latest != no_step) place_.level[send] = latest;
  }

  const Plan& plan_;
  SpaceTime place_;
  std::vector<bool> is_send_;
  std::vector<Edge> edges_;
};

}  // namespace

SpaceTime place_steps(const Plan& plan) { return Placement(plan).place(); }

}  // namespace sibyl
