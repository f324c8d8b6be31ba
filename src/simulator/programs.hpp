// The programs of all ranks in the form in which the engine runs them: one row a step.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schedule/dependencies.hpp"
#include "sibyl/simulator.hpp"
#include "simulator/slice_bytes.hpp"

namespace sibyl::simulator {

struct SimStep {
  std::uint64_t bytes = 0;
  std::uint32_t partner = 0;     // the peer; once matched, the number of the other end
  std::uint32_t successors = 0;  // first of its list; the end is the first of the next step's
  std::uint32_t wait_post = 0;   // predecessors to complete before the step is posted or runs
  std::uint32_t wait_data = 0;   // further ones before a receive_combine combines
  std::uint32_t round = 0;
  Rank rank = 0;
  StepKind kind = StepKind::copy;
  Gate gate = Gate::on_arrival;

  bool local() const { return kind == StepKind::copy || kind == StepKind::combine; }
  bool receives() const { return kind == StepKind::receive || kind == StepKind::receive_combine; }
};

class Programs {
 public:
  Programs(const PlanHeader& header, const DataSizes& sizes);

  void add(const Program& program);
  // Once all programs are there: finds the other end of every message, and the bytes of those whose
  // sizes only the way of the blocks tells. One line, or empty.
  std::string finish();

  const PlanHeader& header() const { return header_; }
  std::uint32_t count() const { return static_cast<std::uint32_t>(steps_.size()) - 1; }
  const SimStep& step(std::uint32_t number) const { return steps_[number]; }
  // Steps of a rank: [first(rank), first(rank + 1)).
  std::uint32_t first(Rank rank) const { return first_[static_cast<std::size_t>(rank)]; }
  // Number of a step times 2, plus 1 where only its combination waits.
  std::span<const std::uint32_t> successors(std::uint32_t number) const {
    return {successors_.data() + steps_[number].successors,
            successors_.data() + steps_[number + 1].successors};
  }
  // Whether some step may run before its rank has arrived.
  bool background() const { return background_; }

 private:
  std::string match();
  std::string name_of_step(std::uint32_t number) const;

  PlanHeader header_;
  SliceBytes slice_bytes_;
  std::vector<SimStep> steps_;  // one more than there are, for the end of the last list
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> successors_;
  bool background_ = false;
  bool finished_ = false;
  std::string problem_;

  DependencyDeriver deriver_;
  Dependencies dependencies_;
  std::vector<std::uint32_t> cursor_;
};

}  // namespace sibyl::simulator
