// A plan as Python holds it, and what the binding files share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sibyl/planners.hpp"
#include "sibyl/schedule.hpp"

namespace sibyl::python {

// What Python asks of a planner: PlanRequest with storage of its own for its lists.
struct Request {
  const Algorithm* algorithm = nullptr;
  PlanRequest request;
  std::vector<Rank> order;
  std::vector<double> arrivals;
  std::vector<std::uint64_t> sizes;
  std::vector<Rank> nodes;
};

// What make_plan and prove take in Python, besides collective and algorithm.
struct Asked {
  std::int64_t ranks = 1;
  std::int64_t root = 0;
  std::optional<std::vector<std::int64_t>> order;
  bool background = false;
  bool in_place = false;
  std::int64_t operator_rounds = 0;
  std::optional<std::vector<double>> arrivals;
  std::int64_t segments = 1;
  double round_time = 1;
  std::string generator = "fast";
  std::string root_order = "first";
  std::int64_t ranks_per_node = 1;
  std::optional<std::vector<std::int64_t>> sizes;
  std::optional<std::int64_t> direct_from;
  bool in_order = false;
  std::optional<std::vector<std::int64_t>> nodes;
  std::int64_t lanes = 1;
  bool constructed = false;
  std::int64_t outstanding = 1;
};

// Raises ValueError with one line when there is no such algorithm or it cannot plan this.
std::unique_ptr<Request> read_request(const std::string& collective, const std::string& algorithm,
                                      const Asked& asked);
// Raise ValueError when there is no generator or no root order of that name.
ClairvoyantGenerator read_generator(const std::string& name);
RootOrder read_root_order(const std::string& name);

// Defines a function of Python that takes a request, as make_plan and prove do: `call` gets it read
// and checked, or takes it.
template <class Call>
void define_on_request(nanobind::module_& module, const char* name, Call call) {
  namespace nb = nanobind;
  module.def(
      name,
      [call](const std::string& collective, const std::string& algorithm, std::int64_t ranks,
             std::int64_t root, std::optional<std::vector<std::int64_t>> order, bool background,
             bool in_place, std::int64_t operator_rounds,
             std::optional<std::vector<double>> arrivals, std::int64_t segments, double round_time,
             std::string generator, std::string root_order, std::int64_t ranks_per_node,
             std::optional<std::vector<std::int64_t>> sizes,
             std::optional<std::int64_t> direct_from, bool in_order,
             std::optional<std::vector<std::int64_t>> nodes, std::int64_t lanes, bool constructed,
             std::int64_t outstanding) {
        auto request =
            read_request(collective, algorithm,
                         {ranks, root, std::move(order), background, in_place, operator_rounds,
                          std::move(arrivals), segments, round_time, std::move(generator),
                          std::move(root_order), ranks_per_node, std::move(sizes), direct_from,
                          in_order, std::move(nodes), lanes, constructed, outstanding});
        if constexpr (std::is_invocable_v<Call, std::unique_ptr<Request>>) {
          return call(std::move(request));
        } else {
          return call(*request);
        }
      },
      nb::arg("collective"), nb::arg("algorithm"), nb::arg("ranks"), nb::arg("root") = 0,
      nb::arg("order") = nb::none(), nb::arg("background") = false, nb::arg("in_place") = false,
      nb::arg("operator_rounds") = 0, nb::arg("arrivals") = nb::none(), nb::arg("segments") = 1,
      nb::arg("round_time") = 1.0, nb::arg("generator") = "fast", nb::arg("root_order") = "first",
      nb::arg("ranks_per_node") = 1, nb::arg("sizes") = nb::none(),
      nb::arg("direct_from") = nb::none(), nb::arg("in_order") = false,
      nb::arg("nodes") = nb::none(), nb::arg("lanes") = 1, nb::arg("constructed") = false,
      nb::arg("outstanding") = 1);
}

// Raises ValueError when there is no collective of that name.
Collective read_collective(const std::string& name);

// Raises VerificationError with one line that says what is wrong with the plan.
void verify_or_throw(const Plan& plan);

void bind_clairvoyant(nanobind::module_& module);
void bind_algorithms(nanobind::module_& module);
void bind_plan(nanobind::module_& module);
void bind_predictors(nanobind::module_& module);
void bind_proof(nanobind::module_& module);
void bind_simulation(nanobind::module_& module);

}  // namespace sibyl::python
