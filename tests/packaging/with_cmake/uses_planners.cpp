// The C++ interface of an installed Sibyl: plans an exclusive scan and counts its messages.
#include <cstdio>
#include <sibyl/planners.hpp>

int main() {
  const sibyl::Algorithm* algorithm =
      sibyl::find_algorithm(sibyl::Collective::exscan, "123-doubling");
  if (algorithm == nullptr) return 1;
  sibyl::PlanRequest request;
  request.ranks = 8;
  int sends = 0;
  for (const sibyl::Program& program : sibyl::make_plan(*algorithm, request).programs) {
    for (const sibyl::Step& step : program.steps) sends += step.kind == sibyl::StepKind::send;
  }
  std::printf("sends %d\n", sends);
  return sends >= 7 ? 0 : 1;
}
