// The simulator: programs of all ranks, made one after the other, and runs of them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "plan.hpp"
#include "schedule/semantics.hpp"
#include "sibyl/simulator.hpp"

namespace nb = nanobind;

namespace sibyl::python {
namespace {

using Times = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using TimeArray = nb::ndarray<nb::numpy, double, nb::ndim<1>>;
using RowArray = nb::ndarray<nb::numpy, double, nb::ndim<2>>;

// Hands a vector's storage to NumPy.
template <class Array>
Array to_array(std::vector<double>&& values, std::initializer_list<std::size_t> shape) {
  auto held = std::make_unique<std::vector<double>>(std::move(values));
  double* const data = held->data();
  const nb::capsule owner(held.release(), [](void* pointer) noexcept {
    delete static_cast<std::vector<double>*>(pointer);
  });
  return Array(data, shape.size(), shape.begin(), owner);
}

// The programs of a request with the arrival times that it was planned for.
struct Prepared {
  Prepared(const PlanHeader& header, const DataSizes& sizes)
      : simulation(header, sizes), ranks(header.ranks), rounds(header.rounds) {}
  Simulation simulation;
  Rank ranks;
  std::uint32_t rounds;
  std::uint64_t steps = 0;
};

// Many ranks take long; Ctrl-C would otherwise be heard only at the end.
void hear_interrupts() {
  const nb::gil_scoped_acquire python;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

std::unique_ptr<Prepared> prepare(const Request& asked, std::uint64_t bytes,
                                  std::uint64_t element_bytes, std::uint64_t first_segment,
                                  std::span<const std::uint64_t> blocks) {
  DataSizes sizes;
  sizes.bytes = bytes;
  sizes.element_bytes = element_bytes;
  sizes.first_segment = first_segment;
  sizes.block_bytes = blocks.empty() ? std::span<const std::uint64_t>(asked.sizes) : blocks;
  const Algorithm& algorithm = *asked.algorithm;
  if (algorithm.plan_all != nullptr) {
    std::vector<Program> programs(static_cast<std::size_t>(asked.request.ranks));
    auto prepared =
        std::make_unique<Prepared>(plan_all_ranks(algorithm, asked.request, programs), sizes);
    for (const Program& program : programs) {
      prepared->simulation.add(program);
      prepared->steps += program.steps.size();
    }
    return prepared;
  }
  Program program;
  auto prepared =
      std::make_unique<Prepared>(plan_one_rank(algorithm, asked.request, 0, program), sizes);
  for (Rank rank = 0; rank < asked.request.ranks; ++rank) {
    if (rank != 0) plan_one_rank(algorithm, asked.request, rank, program);
    if (rank % 4096 == 4095) hear_interrupts();
    prepared->simulation.add(program);
    prepared->steps += program.steps.size();
  }
  return prepared;
}

// About what all ranks have together: counted at the root and at up to 64 others.
template <class Count>
double estimate(const PlanRequest& request, Count count) {
  const double at_root = count(request.root);
  const Rank sampled = std::min<Rank>(request.ranks, 64);
  double others = 0;
  for (Rank i = 0; i < sampled; ++i) {
    const auto rank = static_cast<Rank>(std::int64_t{i} * request.ranks / sampled);
    if (rank != request.root || sampled == 1) others += count(rank);
  }
  return at_root + others / std::max(1, sampled - 1) * static_cast<double>(request.ranks);
}

// Whether each rank's program is made from one schedule of all: to make it for a few would take as
// long as for all. A reduce on two levels goes by one of the nodes.
bool is_scheduled(const Algorithm& algorithm) {
  const bool between_nodes = algorithm.collective == Collective::reduce;
  return algorithm.plan_all != nullptr && (algorithm.name == "clairvoyant" || between_nodes);
}

double estimate_steps(const Request& asked) {
  const Algorithm& algorithm = *asked.algorithm;
  const PlanRequest& request = asked.request;
  if (is_scheduled(algorithm)) {
    // A segment of every rank is sent and received once and little more; twice in an allreduce.
    const double messages = algorithm.collective == Collective::allreduce ? 2 : 1;
    return 2.1 * messages * static_cast<double>(request.ranks) * request.segments;
  }
  Program program;
  return estimate(request, [&](Rank rank) {
    plan_one_rank(algorithm, request, rank, program);
    return static_cast<double>(program.steps.size());
  });
}

// Of programs that are made together those in scratch are left out: there are few for their steps.
double estimate_units(const Request& asked) {
  const Algorithm& algorithm = *asked.algorithm;
  const PlanRequest& request = asked.request;
  const bool together = is_scheduled(algorithm);
  Program program;
  PlanHeader header;
  if (together) header = algorithm.describe(request);
  return estimate(request, [&](Rank rank) {
    if (!together) header = plan_one_rank(algorithm, request, rank, program);
    double units = 0;
    for (const Buffer buffer : {Buffer::send, Buffer::receive, Buffer::scratch}) {
      units += extent_of(header, rank, program, buffer).count;
    }
    return units;
  });
}

SimulationResult run(Prepared& prepared, const SimulationOptions& options) {
  SimulationResult result;
  {
    const nb::gil_scoped_release others_may_run;
    result = prepared.simulation.run(options);
  }
  if (!result.ok()) throw nb::value_error(result.problem.c_str());
  return result;
}

RowArray message_rows(const SimulationResult& result) {
  std::vector<double> rows;
  rows.reserve(8 * result.events.size());
  for (const SimulatedMessage& message : result.events) {
    rows.insert(rows.end(),
                {static_cast<double>(message.source), static_cast<double>(message.destination),
                 static_cast<double>(message.round), static_cast<double>(message.bytes),
                 message.send_posted, message.receive_posted, message.begin, message.end});
  }
  return to_array<RowArray>(std::move(rows), {result.events.size(), 8});
}

RowArray work_of(const SimulationResult& result) {
  std::vector<double> rows;
  for (const SimulatedWork& work : result.work) {
    rows.insert(rows.end(), {static_cast<double>(work.rank),
                             work.kind == StepKind::copy ? 0.0 : 1.0, work.begin, work.end});
  }
  return to_array<RowArray>(std::move(rows), {result.work.size(), 4});
}

}  // namespace

void bind_simulation(nb::module_& module) {
  nb::class_<SimulationOptions>(module, "SimulationOptions")
      .def(nb::init<>())
      .def("set_loggp",
           [](SimulationOptions& options, double latency, double overhead, double gap,
              double gap_per_byte) {
             options.network.kind = NetworkKind::loggp;
             options.network.loggp = {latency, overhead, gap, gap_per_byte};
           })
      .def("set_hockney",
           [](SimulationOptions& options, double alpha, double beta) {
             options.network.kind = NetworkKind::hockney;
             options.network.hockney = {alpha, beta};
           })
      .def("set_nodes",
           [](SimulationOptions& options, Rank ranks, double alpha, double beta, bool shared_link,
              double link_beta, std::vector<Rank> of_each) {
             options.network.nodes = std::move(of_each);
             options.network.ranks_per_node = ranks;
             options.network.inside = {alpha, beta};
             options.network.shared_link = shared_link;
             options.network.link_beta = link_beta;
           })
      .def("set_eager", [](SimulationOptions& options,
                           std::uint64_t bytes) { options.network.eager_bytes = bytes; })
      .def("set_sharing",
           [](SimulationOptions& options, std::uint64_t queue, std::uint64_t window,
              double timeout) {
             options.network.sharing = true;
             options.network.at_switch = {queue, window, timeout};
           })
      .def("set_compute", [](SimulationOptions& options, double combine, double copy,
                             double planning) { options.compute = {combine, copy, planning}; })
      .def_prop_rw(
          "full_duplex", [](const SimulationOptions& o) { return o.network.full_duplex; },
          [](SimulationOptions& o, bool value) { o.network.full_duplex = value; })
      .def_prop_rw(
          "handshake", [](const SimulationOptions& o) { return o.network.handshake; },
          [](SimulationOptions& o, bool value) { o.network.handshake = value; })
      .def_rw("start", &SimulationOptions::start)
      .def_rw("blocking", &SimulationOptions::blocking)
      .def_rw("record", &SimulationOptions::record);

  nb::class_<SimulationResult>(module, "SimulationResult")
      .def_ro("run_time", &SimulationResult::run_time)
      .def_ro("absorbed", &SimulationResult::absorbed)
      .def_ro("elapsed", &SimulationResult::elapsed)
      .def_ro("messages", &SimulationResult::messages)
      .def_ro("bytes", &SimulationResult::bytes)
      .def_ro("lost", &SimulationResult::lost)
      .def("exits",
           [](const SimulationResult& result) {
             return to_array<TimeArray>(std::vector<double>(result.exits), {result.exits.size()});
           })
      .def("message_rows", message_rows)
      .def("work_rows", work_of)
      .def("wait_rows", [](const SimulationResult& result, const std::vector<double>& arrivals) {
        std::vector<double> rows;
        const auto waits = waits_of(result, arrivals);
        for (const SimulatedWait& wait : waits) {
          rows.insert(rows.end(), {static_cast<double>(wait.rank),
                                   static_cast<double>(wait.awaited), wait.begin, wait.end});
        }
        return to_array<RowArray>(std::move(rows), {waits.size(), 4});
      });

  nb::class_<Prepared>(module, "Simulation")
      .def_prop_ro("ranks", [](const Prepared& prepared) { return prepared.ranks; })
      .def_prop_ro("rounds", [](const Prepared& prepared) { return prepared.rounds; })
      .def_prop_ro("steps", [](const Prepared& prepared) { return prepared.steps; })
      .def(
          "run",
          [](Prepared& prepared, SimulationOptions options, std::optional<Times> arrivals) {
            if (arrivals) options.arrivals = {arrivals->data(), arrivals->size()};
            return run(prepared, options);
          },
          nb::arg("options"), nb::arg("arrivals") = nb::none());

  nb::class_<Request>(module, "Request").def_prop_ro("ranks", [](const Request& asked) {
    return asked.request.ranks;
  });
  define_on_request(module, "plan_request",
                    [](std::unique_ptr<Request> request) { return request; });
  module.def(
      "simulation",
      [](const Request& request, std::uint64_t bytes, std::uint64_t element_bytes,
         std::uint64_t first_segment, const std::vector<std::uint64_t>& blocks) {
        const auto ranks = static_cast<std::size_t>(request.request.ranks);
        const bool rows = exchanges_all(request.algorithm->collective);
        if (!blocks.empty() && blocks.size() != (rows ? ranks * ranks : ranks)) {
          throw nb::value_error(rows ? "blocks: give the sizes of each rank's, rank by rank"
                                     : "blocks: give the size of each rank's");
        }
        const nb::gil_scoped_release others_may_run;
        return prepare(request, bytes, element_bytes, first_segment, blocks);
      },
      nb::arg("request"), nb::arg("bytes"), nb::arg("element_bytes") = 1,
      nb::arg("first_segment") = 0, nb::arg("blocks") = std::vector<std::uint64_t>{});
  module.def("estimate_steps", estimate_steps, nb::call_guard<nb::gil_scoped_release>());
  module.def("estimate_units", estimate_units, nb::call_guard<nb::gil_scoped_release>());
  module.def("simulation_memory", simulation_memory);
}

}  // namespace sibyl::python
