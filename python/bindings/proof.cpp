// Proving plans: one that Python holds, or one after the other without keeping them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <utility>

#include "plan.hpp"
#include "planners/prove.hpp"
#include "schedule/verify.hpp"

namespace nb = nanobind;

namespace sibyl::python {
namespace {

struct VerificationFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The number of steps, where the plan is proven.
std::uint64_t steps_of(const VerifyResult& result) {
  if (!result.ok) throw VerificationFailed(result.problem);
  return result.steps;
}

std::uint64_t prove(const std::string& collective, const std::string& algorithm, std::int64_t ranks,
                    std::int64_t root, std::optional<std::vector<std::int64_t>> order,
                    bool background, bool in_place, std::int64_t operator_rounds,
                    std::optional<std::vector<double>> arrivals, std::int64_t segments,
                    double round_time, std::string generator, std::string root_order,
                    std::int64_t ranks_per_node) {
  const auto asked = read_request(
      collective, algorithm,
      {ranks, root, std::move(order), background, in_place, operator_rounds, std::move(arrivals),
       segments, round_time, std::move(generator), std::move(root_order), ranks_per_node});
  std::uint64_t steps = 0;
  {
    const nb::gil_scoped_release others_may_run;
    thread_local ProofStorage storage;  // kept from plan to plan
    steps = steps_of(verify_algorithm(*asked->algorithm, asked->request, storage));
  }
  // A loop over many plans would otherwise hear Ctrl-C only when Python gets its turn.
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  return steps;
}

}  // namespace

void verify_or_throw(const Plan& plan) {
  const nb::gil_scoped_release others_may_run;
  steps_of(sibyl::verify(plan));
}

void bind_proof(nb::module_& module) {
  nb::exception<VerificationFailed>(module, "VerificationError");
  module.def("prove", prove, nb::arg("collective"), nb::arg("algorithm"), nb::arg("ranks"),
             nb::arg("root") = 0, nb::arg("order") = nb::none(), nb::arg("background") = false,
             nb::arg("in_place") = false, nb::arg("operator_rounds") = 0,
             nb::arg("arrivals") = nb::none(), nb::arg("segments") = 1, nb::arg("round_time") = 1.0,
             nb::arg("generator") = "fast", nb::arg("root_order") = "first",
             nb::arg("ranks_per_node") = 1);
}

}  // namespace sibyl::python
