// Takes programs over and matches their messages: the k-th send from one rank to another with the
// k-th receive there, in program order, as the tags of the executor do.
#include "simulator/programs.hpp"

#include <algorithm>
#include <limits>

#include "schedule/successors.hpp"

namespace sibyl::simulator {

Programs::Programs(const PlanHeader& header, const DataSizes& sizes)
    : header_(header), slice_bytes_(header, sizes), steps_(1), first_(1, 0) {
  first_.reserve(static_cast<std::size_t>(header.ranks) + 1);
}

void Programs::add(const Program& program) {
  if (!problem_.empty()) return;
  const std::size_t begin = steps_.size() - 1;
  if (begin + program.steps.size() >= std::numeric_limits<std::uint32_t>::max() / 2) {
    problem_ = "more than 2^31 steps; simulate fewer ranks or segments";
    return;
  }
  const auto first = static_cast<std::uint32_t>(begin);
  const auto rank = static_cast<Rank>(first_.size() - 1);
  slice_bytes_.begin(program);
  steps_.resize(begin + program.steps.size() + 1);
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    SimStep& row = steps_[begin + i];
    row = SimStep{};
    row.bytes = slice_bytes_.of(program, step.slice);
    row.partner = static_cast<std::uint32_t>(step.peer);
    row.round = step.round;
    row.rank = rank;
    row.kind = step.kind;
    row.gate = step.gate;
    background_ = background_ || step.gate == Gate::on_start;
  }
  deriver_.derive(header_, program, dependencies_);
  append_successors(dependencies_, program, first, cursor_, successors_,
                    [&](StepIndex i) -> SuccessorPlace {
                      SimStep& step = steps_[first + i];
                      return {step.successors, step.wait_post, step.wait_data};
                    });
  steps_.back().successors = static_cast<std::uint32_t>(successors_.size());
  first_.push_back(static_cast<std::uint32_t>(steps_.size() - 1));
}

std::string Programs::finish() {
  if (finished_ || !problem_.empty()) return problem_;
  if (first_.size() != static_cast<std::size_t>(header_.ranks) + 1) {
    return "there are programs of " + std::to_string(first_.size() - 1) + " ranks, not of " +
           std::to_string(header_.ranks);
  }
  problem_ = match();
  if (!problem_.empty()) return problem_;
  finished_ = true;
  slice_bytes_.resolve(steps_, first_);
  return "";
}

std::string Programs::name_of_step(std::uint32_t number) const {
  const SimStep& step = steps_[number];
  return "rank " + std::to_string(step.rank) + ", step " +
         std::to_string(number - first(step.rank)) + " (" + std::string(name_of(step.kind)) + ")";
}

std::string Programs::match() {
  const auto ranks = static_cast<std::uint32_t>(header_.ranks);
  // Sends by destination; there by source and program order, since they are counted in that order.
  std::vector<std::uint32_t> begin(std::size_t{ranks} + 1, 0);
  for (std::uint32_t i = 0; i < count(); ++i) {
    if (steps_[i].local()) continue;
    if (steps_[i].partner >= ranks) return name_of_step(i) + " names no rank as its peer";
    if (steps_[i].kind == StepKind::send) ++begin[steps_[i].partner + 1];
  }
  for (std::uint32_t r = 0; r < ranks; ++r) begin[r + 1] += begin[r];
  std::vector<std::uint32_t> sends(begin[ranks]);
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (std::uint32_t i = 0; i < count(); ++i) {
    if (steps_[i].kind == StepKind::send) sends[next[steps_[i].partner]++] = i;
  }
  std::vector<std::uint32_t> receives;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    receives.clear();
    for (std::uint32_t i = first_[r]; i < first_[r + 1]; ++i) {
      if (steps_[i].receives()) receives.push_back(i);
    }
    std::ranges::sort(receives, [&](std::uint32_t a, std::uint32_t b) {
      return steps_[a].partner != steps_[b].partner ? steps_[a].partner < steps_[b].partner : a < b;
    });
    const std::span<const std::uint32_t> here(sends.data() + begin[r], sends.data() + begin[r + 1]);
    for (std::size_t i = 0; i < std::max(here.size(), receives.size()); ++i) {
      const bool fits = i < here.size() && i < receives.size() &&
                        static_cast<Rank>(steps_[receives[i]].partner) == steps_[here[i]].rank;
      if (!fits) {
        return name_of_step(i < receives.size() ? receives[i] : here[i]) +
               " has no step at the other end of its message";
      }
    }
    for (std::size_t i = 0; i < here.size(); ++i) steps_[receives[i]].partner = here[i];
  }
  for (std::uint32_t i = 0; i < count(); ++i) {
    if (steps_[i].receives()) steps_[steps_[i].partner].partner = i;
  }
  return "";
}

}  // namespace sibyl::simulator
