// Plans: make one, ask it for its measures, prove it, export it.
#include "plan.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <utility>

#include "schedule/export_goal.hpp"
#include "schedule/export_json.hpp"
#include "schedule/export_svg.hpp"

namespace nb = nanobind;

namespace sibyl::python {
namespace {

std::uint64_t messages_of(const Plan& plan) {
  std::uint64_t messages = 0;
  for (const Program& program : plan.programs) {
    for (const Step& step : program.steps) messages += step.kind == StepKind::send ? 1 : 0;
  }
  return messages;
}

std::uint64_t steps_of(const Plan& plan) {
  std::uint64_t steps = 0;
  for (const Program& program : plan.programs) steps += program.steps.size();
  return steps;
}

std::unique_ptr<Plan> make(const Request& asked) {
  const nb::gil_scoped_release others_may_run;
  return std::make_unique<Plan>(make_plan(*asked.algorithm, asked.request));
}

// A unit is a part of the vector or a segment of a block; the larger one where they are uneven.
std::string to_goal(const Plan& plan, std::uint64_t count, std::uint64_t element_bytes) {
  if (element_bytes != 0 && count > std::numeric_limits<std::uint64_t>::max() / element_bytes) {
    throw nb::value_error("the bytes of a vector or block exceed 2^64");
  }
  GoalCosts costs;
  const std::uint64_t bytes = count * element_bytes;
  const std::uint64_t segments = plan.header.segments;
  costs.bytes_per_unit = bytes / segments + (bytes % segments != 0 ? 1 : 0);
  const nb::gil_scoped_release others_may_run;
  return export_goal(plan, costs);
}

}  // namespace

void bind_plan(nb::module_& module) {
  nb::class_<Plan>(module, "Plan", "The programs of all ranks.")
      .def_prop_ro("collective", [](const Plan& plan) { return name_of(plan.header.collective); })
      .def_prop_ro("algorithm", [](const Plan& plan) { return plan.header.algorithm; })
      .def_prop_ro("ranks", [](const Plan& plan) { return plan.header.ranks; })
      .def_prop_ro("root", [](const Plan& plan) { return plan.header.root; })
      .def_prop_ro("partition", [](const Plan& plan) { return name_of(plan.header.partition); })
      .def_prop_ro("segments", [](const Plan& plan) { return plan.header.segments; })
      .def_prop_ro("rounds", [](const Plan& plan) { return plan.header.rounds; })
      .def_prop_ro("one_ported", [](const Plan& plan) { return plan.header.one_ported; })
      .def_prop_ro("keeps_order", [](const Plan& plan) { return plan.header.keeps_order; })
      .def_prop_ro("messages", messages_of)
      .def_prop_ro("steps", steps_of)
      .def("verify", verify_or_throw)
      .def("to_json", export_json, nb::call_guard<nb::gil_scoped_release>())
      .def("to_svg", export_svg, nb::call_guard<nb::gil_scoped_release>())
      .def("to_goal", to_goal, nb::arg("count") = 1, nb::arg("element_bytes") = 8);
  define_on_request(module, "make_plan", make);
}

}  // namespace sibyl::python
