// Turns the environment into settings; see settings.hpp.
#include "selection/settings.hpp"

#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "base/hash.hpp"
#include "base/printable.hpp"
#include "sibyl/arrival.hpp"
#include "sibyl/planners.hpp"
#include "sibyl/version.h"

namespace sibyl {
namespace {

std::string known_names(Collective collective) {
  std::string names = "auto, native";
  for (const Algorithm& algorithm : algorithms(collective)) {
    names += ", ";
    names += algorithm.name;
  }
  return names;
}

std::string set_algorithm(Collective collective, const char* variable, const std::string& value,
                          Settings& settings) {
  std::int32_t& chosen = settings.algorithm[static_cast<std::size_t>(collective)];
  if (value == "auto") {
    chosen = choose_automatically;
    return {};
  }
  if (value == "native") {
    chosen = serve_natively;
    return {};
  }
  const auto rows = algorithms(collective);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].name == value) {
      chosen = static_cast<std::int32_t>(i);
      return {};
    }
  }
  return std::string(variable) + "=" + value + ": no such algorithm; use one of " +
         known_names(collective);
}

}  // namespace

std::string settings_from(const Environment& environment, Settings& settings) {
  settings.first_segment = environment.first_segment;
  settings.outstanding = environment.outstanding;
  settings.direct_from = environment.direct_from;
  settings.segments = environment.segments;
  settings.lanes = environment.lanes;
  settings.alpha = environment.alpha;
  settings.overhead = environment.overhead;
  settings.beta = environment.beta;
  settings.construct_every = environment.construct_every;
  settings.node_window = environment.node_window;
  settings.thread = environment.thread;
  settings.govern = environment.govern;
  settings.reproducible = environment.reproducible;
  settings.serves_on_node = environment.test_serve;
  std::string problem = environment.problem;
  static_assert(algorithm_variables.size() == collective_count);
  for (std::size_t i = 0; i < collective_count; ++i) {
    const std::string wrong = set_algorithm(static_cast<Collective>(i), algorithm_variables[i],
                                            environment.algorithm[i], settings);
    if (problem.empty()) problem = wrong;
  }
  if (environment.predict == "root-led") {
    settings.predict = PredictionMode::root_led;
  } else if (environment.predict == "periodic") {
    settings.predict = PredictionMode::periodic;
  } else if (environment.predict == "background") {
    settings.predict = PredictionMode::background;
  } else if (environment.predict == "piggyback") {
    settings.predict = PredictionMode::piggyback;
  } else if (environment.predict != "off" && problem.empty()) {
    problem = "SIBYL_PREDICT=" + environment.predict +
              ": use off, piggyback, root-led, periodic or background";
  }
  settings.device_native = environment.device == "native" ? 1 : 0;
  const bool known = environment.device == "auto" || environment.device == "off";
  if (settings.device_native == 0 && !known && problem.empty()) {
    problem = "SIBYL_DEVICE=" + environment.device + ": use auto, native or off";
  }
  if (!environment.table.empty()) {
    const std::string wrong = read_table_file(environment.table, settings.table);
    if (problem.empty() && !wrong.empty()) problem = "SIBYL_TABLE: " + wrong;
  }
  if (!environment.arrivals.empty()) {
    const std::string wrong = check_given_arrivals(environment.arrivals);
    if (problem.empty() && !wrong.empty()) problem = "SIBYL_ARRIVALS: " + wrong;
  }
  // The shim prints it as one line, whatever a value or a file's name holds.
  return printable(std::move(problem));
}

std::string_view data_representation() {
  static constexpr std::array<char, 12> numbers{
      std::endian::native == std::endian::little ? 'l' : 'b',
      sizeof(short),
      sizeof(int),
      sizeof(long),
      sizeof(long long),
      sizeof(float),
      sizeof(double),
      sizeof(long double),
      std::numeric_limits<long double>::digits,
      sizeof(wchar_t),
      sizeof(bool),
      sizeof(void*)};
  return {numbers.data(), numbers.size()};
}

std::uint64_t build_fingerprint(std::string_view representation) {
  std::uint64_t hash = fnv1a(representation, fnv1a(SIBYL_VERSION_STRING));
  for (const Algorithm& algorithm : algorithms()) {
    hash = fnv1a(name_of(algorithm.collective), hash);
    hash = fnv1a(algorithm.name, hash);
  }
  return hash >> 1;  // fits a signed 64-bit MPI type
}

}  // namespace sibyl
