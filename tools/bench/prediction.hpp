// What Sibyl is told about the arrivals of a turn: the truth, or what a wrong prediction would say.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sibyl::bench {

enum class Prediction : std::uint8_t {
  right,       // the times of the turn
  none,        // nothing
  flat,        // all at once
  shuffled,    // the times of the turn, at other ranks: never the truth
  one_late,    // the last rank is told at a tenth of its time
  false_late,  // the rank of the highest number is told later than it comes, by a computation
};

// False when there is no prediction of that name ("one-late").
bool prediction_from_name(std::string_view name, Prediction& prediction);

// The same on all ranks for the same arguments. `computation`: seconds.
std::vector<double> predicted(Prediction prediction, std::span<const double> times,
                              double computation, std::uint64_t seed);

}  // namespace sibyl::bench
