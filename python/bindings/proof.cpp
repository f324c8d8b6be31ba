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

std::uint64_t prove(const Request& asked) {
  std::uint64_t steps = 0;
  {
    const nb::gil_scoped_release others_may_run;
    thread_local ProofStorage storage;  // kept from plan to plan
    steps = steps_of(verify_algorithm(*asked.algorithm, asked.request, storage));
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
  define_on_request(module, "prove", prove);
}

}  // namespace sibyl::python
