// Right and wrong predictions; see prediction.hpp.
#include "bench/prediction.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <utility>

namespace sibyl::bench {
namespace {

constexpr std::array<std::pair<std::string_view, Prediction>, 6> prediction_names{{
    {"right", Prediction::right},
    {"none", Prediction::none},
    {"flat", Prediction::flat},
    {"shuffled", Prediction::shuffled},
    {"one-late", Prediction::one_late},
    {"false-late", Prediction::false_late},
}};

}  // namespace

bool prediction_from_name(std::string_view name, Prediction& prediction) {
  for (const auto& [known, value] : prediction_names) {
    if (known != name) continue;
    prediction = value;
    return true;
  }
  return false;
}

std::vector<double> predicted(Prediction prediction, std::span<const double> times,
                              double computation, std::uint64_t seed) {
  std::vector<double> told(times.begin(), times.end());
  switch (prediction) {
    case Prediction::right:
      break;
    case Prediction::none:
      told.clear();
      break;
    case Prediction::flat:
      std::ranges::fill(told, 0.0);
      break;
    case Prediction::shuffled: {
      std::mt19937_64 random(seed);
      const bool alike =
          std::ranges::adjacent_find(told, std::ranges::not_equal_to{}) == told.end();
      do {
        std::shuffle(told.begin(), told.end(), random);
      } while (!alike && std::ranges::equal(told, times));  // which would be the truth
      break;
    }
    case Prediction::one_late:
      if (!told.empty()) *std::ranges::max_element(told) /= 10;
      break;
    case Prediction::false_late:
      if (!told.empty()) told.back() += computation;
      break;
  }
  return told;
}

}  // namespace sibyl::bench
