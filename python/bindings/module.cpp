// sibyl._core: floors F0-F3 for Python. The package re-exports what is public; _core.pyi says what
// each function takes and gives.
#include <nanobind/nanobind.h>

#include "plan.hpp"

NB_MODULE(_core, module) {
  module.doc() = "Sibyl's planners, verifier and exporters";
  module.attr("__version__") = SIBYL_VERSION;
  sibyl::python::bind_algorithms(module);
  sibyl::python::bind_clairvoyant(module);
  sibyl::python::bind_plan(module);
  sibyl::python::bind_predictors(module);
  sibyl::python::bind_proof(module);
  sibyl::python::bind_simulation(module);
}
