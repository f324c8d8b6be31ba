// Clairvoyant schedules and arrival patterns as arrays; python/sibyl/schedules.py gives the events
// their field names.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <time.h>

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "plan.hpp"
#include "sibyl/arrival.hpp"
#include "sibyl/clairvoyant.hpp"

namespace nb = nanobind;

namespace sibyl::python {
namespace {

// Four numbers a row: round, sender, receiver, segment.
using EventArray = nb::ndarray<nb::numpy, std::uint32_t, nb::ndim<2>>;
using TimeArray = nb::ndarray<nb::numpy, double, nb::ndim<1>>;
using Times = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void raise_if(const std::string& problem) {
  if (!problem.empty()) throw nb::value_error(problem.c_str());
}

EventArray generate(const Times& arrivals, std::int64_t segments, double round_time,
                    std::int64_t root, const std::string& algorithm, const std::string& root_order,
                    const std::optional<std::int64_t>& rank) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (segments < 0 || segments > most) raise_if("the number of segments is out of range");
  if (root < 0 || root > most) {
    raise_if("the root is " + std::to_string(root) + "; choose one of the ranks");
  }
  if (rank && (*rank < 0 || *rank > most))
    raise_if("rank " + std::to_string(*rank) + " is no rank");
  ClairvoyantRequest request;
  request.arrivals = {arrivals.data(), arrivals.size()};
  request.segments = static_cast<std::uint32_t>(segments);
  request.round_time = round_time;
  request.root = static_cast<Rank>(root);
  request.root_order = read_root_order(root_order);
  const ClairvoyantGenerator generator = read_generator(algorithm);
  auto schedule = std::make_unique<ClairvoyantSchedule>();
  {
    const nb::gil_scoped_release others_may_run;
    *schedule = rank ? make_clairvoyant(generator, request, static_cast<Rank>(*rank))
                     : make_clairvoyant(generator, request);
  }
  raise_if(schedule->problem);
  // The array keeps the events; they are not copied.
  ClairvoyantEvents& events = schedule->events;
  const std::size_t shape[2] = {events.size(), 4};
  auto* const data = reinterpret_cast<std::uint32_t*>(events.room(1) - events.size());
  const nb::capsule owner(schedule.release(), [](void* held) noexcept {
    delete static_cast<ClairvoyantSchedule*>(held);
  });
  return EventArray(data, 2, shape, owner);
}

// Seconds of processor time that generating takes, and the number of events.
nb::tuple seconds(const Times& arrivals, std::uint32_t segments, double round_time, Rank root,
                  const std::string& algorithm, const std::optional<Rank>& rank) {
  const ClairvoyantRequest request{
      {arrivals.data(), arrivals.size()}, segments, round_time, root, RootOrder::first};
  const ClairvoyantGenerator generator = read_generator(algorithm);
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double begin = now();
  const ClairvoyantSchedule schedule =
      rank ? make_clairvoyant(generator, request, *rank) : make_clairvoyant(generator, request);
  const double end = now();
  raise_if(schedule.problem);
  return nb::make_tuple(end - begin, schedule.events.size());
}

TimeArray pattern(const std::string& text, std::int64_t ranks, std::int64_t root) {
  constexpr std::int64_t most = std::numeric_limits<Rank>::max();
  if (ranks > most || root < 0 || root > most) raise_if("ranks or root are out of range");
  PatternResult read = pattern_from_text(text, static_cast<Rank>(std::max<std::int64_t>(ranks, 0)),
                                         static_cast<Rank>(root));
  raise_if(read.problem);
  auto times = std::make_unique<std::vector<double>>(std::move(read.pattern.times));
  const std::size_t shape[1] = {times->size()};
  double* const data = times->data();
  const nb::capsule owner(
      times.release(), [](void* held) noexcept { delete static_cast<std::vector<double>*>(held); });
  return TimeArray(data, 1, shape, owner);
}

}  // namespace

ClairvoyantGenerator read_generator(const std::string& name) {
  ClairvoyantGenerator generator{};
  if (!generator_from_name(name, generator)) {
    raise_if("unknown generator '" + name +
             "'; there are linear, pairing-heap, segment-tree and fast");
  }
  return generator;
}

RootOrder read_root_order(const std::string& name) {
  RootOrder order{};
  if (!root_order_from_name(name, order)) {
    raise_if("unknown root order '" + name + "'; there are first and availability");
  }
  return order;
}

void bind_clairvoyant(nb::module_& module) {
  module.def("clairvoyant_events", generate, nb::arg("arrivals"), nb::arg("segments"),
             nb::arg("round_time"), nb::arg("root"), nb::arg("algorithm"), nb::arg("root_order"),
             nb::arg("rank").none());
  module.def("clairvoyant_seconds", seconds, nb::arg("arrivals"), nb::arg("segments"),
             nb::arg("round_time"), nb::arg("root"), nb::arg("algorithm"),
             nb::arg("rank").none() = nb::none());
  module.def("clairvoyant_memory", [](const std::string& algorithm, double ranks, double segments) {
    return clairvoyant_memory(read_generator(algorithm), ranks, segments);
  });
  module.def("arrival_pattern", pattern, nb::arg("pattern"), nb::arg("ranks"), nb::arg("root") = 0);
}

}  // namespace sibyl::python
