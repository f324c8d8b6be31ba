// The grammar of txt2bin: `num_ranks N`, then per rank `rank R {`, one operation or one `requires`
// a line, and `}`. A label must be defined before it is required; there are no separators but the
// ends of lines.
#include "schedule/export_goal.hpp"

#include <cmath>
#include <vector>

#include "schedule/dependencies.hpp"

namespace sibyl {
namespace {

class GoalWriter {
 public:
  GoalWriter(const Plan& plan, const GoalCosts& costs) : plan_(plan), costs_(costs) {}

  std::string write() {
    const PlanHeader& header = plan_.header;
    out_ = "num_ranks " + std::to_string(header.ranks) + "\n";
    for (std::size_t r = 0; r < plan_.programs.size(); ++r) {
      out_ += "\nrank " + std::to_string(r) + " {\n";
      program(plan_.programs[r]);
      out_ += "}\n";
    }
    return std::move(out_);
  }

 private:
  static bool is_local(StepKind kind) {
    return kind == StepKind::copy || kind == StepKind::combine;
  }

  // What is finished when step i is: m is a message, c a calculation.
  std::string done(const Program& program, StepIndex i) const {
    const StepKind kind = program.steps[i].kind;
    const bool calculates = is_local(kind) || kind == StepKind::receive_combine;
    return (calculates ? "c" : "m") + std::to_string(i);
  }

  void require(const std::string& label, const std::string& earlier) {
    out_ += label + " requires " + earlier + "\n";
  }

  void calculate(StepIndex i, const Step& step, double ns_per_byte) {
    const double bytes = static_cast<double>(step.slice.range.count * costs_.bytes_per_unit);
    out_ += "c" + std::to_string(i) + ": calc " +
            std::to_string(std::llround(std::ceil(bytes * ns_per_byte))) + "\n";
  }

  void message(StepIndex i, const Step& step) {
    const std::uint64_t bytes = step.slice.range.count * costs_.bytes_per_unit;
    out_ += "m" + std::to_string(i) + (step.kind == StepKind::send ? ": send " : ": recv ") +
            std::to_string(bytes == 0 ? 1 : bytes) + "b " +
            (step.kind == StepKind::send ? "to " : "from ") + std::to_string(step.peer) + " tag " +
            std::to_string(ordinals_[i]) + "\n";
  }

  // The place of the step in a chain of `places` is that of the one `places` before it.
  void chain(const Program& program, StepIndex i, std::vector<StepIndex>& chain,
             std::uint32_t places, bool until_combined) {
    if (places != 0 && chain.size() >= places) {
      const StepIndex earlier = chain[chain.size() - places];
      require("m" + std::to_string(i),
              until_combined ? done(program, earlier) : "m" + std::to_string(earlier));
    }
    chain.push_back(i);
  }

  void program(const Program& program) {
    deriver_.derive(plan_.header, program, dependencies_);
    message_ordinals(program, ordinals_);
    sends_.clear();
    receives_.clear();
    staged_.clear();
    const PlanHeader& header = plan_.header;
    for (StepIndex i = 0; i < program.steps.size(); ++i) {
      const Step& step = program.steps[i];
      const std::string number = std::to_string(i);
      if (is_local(step.kind)) {
        calculate(
            i, step,
            step.kind == StepKind::copy ? costs_.copy_ns_per_byte : costs_.combine_ns_per_byte);
        for (const StepIndex e : dependencies_.all_of(i)) require("c" + number, done(program, e));
        continue;
      }
      message(i, step);
      const bool combines = step.kind == StepKind::receive_combine;
      for (const StepIndex e : dependencies_.after_of(i)) require("m" + number, done(program, e));
      if (combines) {
        calculate(i, step, costs_.combine_ns_per_byte);
        require("c" + number, "m" + number);
      }
      for (const StepIndex e : dependencies_.data_of(i)) {
        require((combines ? "c" : "m") + number, done(program, e));
      }
      const bool sends = step.kind == StepKind::send;
      chain(program, i, sends ? sends_ : receives_,
            sends ? header.window.sends : header.window.receives, false);
      if (combines) chain(program, i, staged_, header.staging, true);
    }
  }

  const Plan& plan_;
  const GoalCosts& costs_;
  std::string out_;
  DependencyDeriver deriver_;
  Dependencies dependencies_;
  std::vector<std::uint32_t> ordinals_;
  std::vector<StepIndex> sends_;
  std::vector<StepIndex> receives_;
  std::vector<StepIndex> staged_;
};

}  // namespace

std::string export_goal(const Plan& plan, const GoalCosts& costs) {
  return GoalWriter(plan, costs).write();
}

}  // namespace sibyl
