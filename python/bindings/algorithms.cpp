// The table of algorithms, and reading a request for a plan.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "plan.hpp"
#include "selection/settings.hpp"

namespace nb = nanobind;

namespace sibyl::python {
namespace {

std::string_view name_of_order(OrderUse use) {
  switch (use) {
    case OrderUse::none:
      return "none";
    case OrderUse::root_only:
      return "root_only";
    case OrderUse::all_ranks:
      return "all_ranks";
  }
  return "";
}

// A number that Python holds as it pleases, as the number type of the planners.
template <class Number>
Number narrow(std::int64_t value, const char* what) {
  if (!std::in_range<Number>(value)) {
    const std::string line = std::string(what) + " " + std::to_string(value) + " is out of range";
    throw nb::value_error(line.c_str());
  }
  return static_cast<Number>(value);
}

}  // namespace

Collective read_collective(const std::string& name) {
  Collective collective{};
  if (!collective_from_name(name, collective)) {
    throw nb::value_error(("unknown collective '" + name + "'").c_str());
  }
  return collective;
}

std::unique_ptr<Request> read_request(const std::string& collective, const std::string& algorithm,
                                      const Asked& asked) {
  auto result = std::make_unique<Request>();
  result->algorithm = find_algorithm(read_collective(collective), algorithm);
  if (result->algorithm == nullptr) {
    throw nb::value_error(("unknown algorithm '" + algorithm + "' for " + collective).c_str());
  }
  PlanRequest& request = result->request;
  request.ranks = narrow<Rank>(asked.ranks, "number of ranks");
  request.root = narrow<Rank>(asked.root, "root");
  if (asked.order) {
    result->order.reserve(asked.order->size());
    for (const std::int64_t rank : *asked.order) {
      result->order.push_back(narrow<Rank>(rank, "order: rank"));
    }
    request.order = result->order;
  }
  request.background = asked.background;
  request.in_place = asked.in_place;
  request.operator_rounds = narrow<std::uint32_t>(asked.operator_rounds, "operator rounds");
  if (asked.arrivals) {
    // An empty list is a wrong one, not "all at once".
    const std::string wrong = check_times(*asked.arrivals, request.ranks);
    if (!wrong.empty()) throw nb::value_error(wrong.c_str());
    result->arrivals = *asked.arrivals;
    request.arrivals = result->arrivals;
  }
  request.segments = narrow<std::uint32_t>(asked.segments, "number of segments");
  request.round_time = asked.round_time;
  request.in_order = asked.in_order;
  request.generator = read_generator(asked.generator);
  request.root_order = read_root_order(asked.root_order);
  request.ranks_per_node = narrow<Rank>(asked.ranks_per_node, "number of ranks per node");
  if (asked.nodes) {
    // An empty list is a wrong one, not "as ranks_per_node says".
    if (asked.nodes->empty())
      throw nb::value_error("there are no nodes; name the node of each rank");
    for (const std::int64_t node : *asked.nodes) {
      result->nodes.push_back(narrow<Rank>(node, "node"));
    }
    request.nodes = result->nodes;
  }
  request.lanes = narrow<std::uint32_t>(asked.lanes, "number of lanes");
  if (asked.sizes) {
    // An empty list is a wrong one, not "all alike".
    if (asked.sizes->empty()) throw nb::value_error("there are no sizes; give one per rank");
    for (const std::int64_t size : *asked.sizes) {
      result->sizes.push_back(narrow<std::uint64_t>(size, "size"));
    }
    request.sizes = result->sizes;
  }
  if (asked.direct_from) {
    request.direct_from = narrow<std::uint64_t>(*asked.direct_from, "least size of a direct block");
  }
  request.constructed = asked.constructed;
  request.outstanding = narrow<std::uint32_t>(asked.outstanding, "number of transfers");
  const std::string problem = check_request(*result->algorithm, request);
  if (!problem.empty()) throw nb::value_error(problem.c_str());
  return result;
}

void bind_algorithms(nb::module_& module) {
  nb::class_<Algorithm>(module, "Algorithm", "A row of the table of algorithms.")
      .def_prop_ro("collective", [](const Algorithm& row) { return name_of(row.collective); })
      .def_prop_ro("name", [](const Algorithm& row) { return row.name; })
      .def_prop_ro("published", [](const Algorithm& row) { return row.published; })
      .def_prop_ro("idea", [](const Algorithm& row) { return row.idea; })
      .def_prop_ro("cost", [](const Algorithm& row) { return row.cost; })
      .def_prop_ro("source", [](const Algorithm& row) { return row.source; })
      .def_prop_ro("order", [](const Algorithm& row) { return name_of_order(row.order); })
      .def_prop_ro("background", [](const Algorithm& row) { return row.background; })
      .def_prop_ro("commutative_only", [](const Algorithm& row) { return row.commutative_only; })
      .def_prop_ro("in_place", [](const Algorithm& row) { return row.in_place; })
      .def_prop_ro("nodes", [](const Algorithm& row) { return row.nodes; })
      .def_prop_ro("uneven_nodes", [](const Algorithm& row) { return row.uneven_nodes; })
      .def_prop_ro("any_placement", [](const Algorithm& row) { return row.any_placement; })
      .def_prop_ro("lanes", [](const Algorithm& row) { return row.lanes; })
      .def_prop_ro("segments", [](const Algorithm& row) { return row.segments; })
      .def_prop_ro("arrivals", [](const Algorithm& row) { return row.arrivals; })
      .def_prop_ro("rooted", [](const Algorithm& row) { return has_root(row.collective); })
      .def_prop_ro("combines", [](const Algorithm& row) { return combines(row.collective); })
      .def_prop_ro("sizes", [](const Algorithm& row) { return row.sizes; })
      .def("__repr__", [](const Algorithm& row) {
        return "Algorithm(" + std::string(name_of(row.collective)) + ", " + std::string(row.name) +
               ")";
      });
  module.def("collectives", [] {
    nb::list names;
    for (std::size_t i = 0; i < collective_count; ++i) {
      names.append(name_of(static_cast<Collective>(i)));
    }
    return nb::tuple(names);
  });
  module.def(
      "algorithms",
      [](const std::optional<std::string>& collective) {
        const auto rows = collective ? algorithms(read_collective(*collective)) : algorithms();
        nb::list result;
        for (const Algorithm& row : rows) {
          result.append(nb::cast(&row, nb::rv_policy::reference));
        }
        return result;
      },
      nb::arg("collective") = nb::none());
}

}  // namespace sibyl::python
