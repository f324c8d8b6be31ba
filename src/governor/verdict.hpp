// What rank 0 tells all ranks of a call site, in words that travel as doubles.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "arrival/call_cycle.hpp"

namespace sibyl {

// Who serves a call of a governed site: the algorithm that was chosen, the MPI library, or the
// challenger, which comes next after the chosen one (selection/challenger.hpp).
enum class Arm : std::uint8_t { own, native, challenger };
inline constexpr std::size_t arm_count = 3;
inline constexpr std::array<std::string_view, arm_count> arm_names{"own", "native", "challenger"};

enum class Action : std::uint8_t {
  compare_more,  // the trial goes on
  keep,          // it is over, and the arm that was in force serves
  change,        // it is over, and the other one serves
  watch_on,      // what serves costs what it did
  try_again,     // it costs more than it did: a new trial, against the MPI library
};

struct SiteVerdict {
  Action action = Action::compare_more;
  std::int64_t next_trial = 0;  // in so many calls of the site
  std::int64_t next_watch = 0;  // likewise
  // Seconds that a call cost (judge.hpp): medians of the trial, of the arm that was
  // in force and of the one that was tried against it.
  double in_force = 0;
  double contender = 0;
  // Which line of the program makes which of the calls of this kind.
  CallTurns turns{};

  static constexpr std::size_t words = 6 + most_call_lines;
  // Counts stay far below 2^53, so they are exact.
  std::array<double, words> packed() const {
    std::array<double, words> all{static_cast<double>(action),
                                  static_cast<double>(next_trial),
                                  static_cast<double>(next_watch),
                                  in_force,
                                  contender,
                                  static_cast<double>(turns.period)};
    std::ranges::copy(turns.remainders, all.end() - most_call_lines);
    return all;
  }
  static SiteVerdict unpacked(const double* from) {
    SiteVerdict verdict{static_cast<Action>(static_cast<int>(from[0])),
                        static_cast<std::int64_t>(from[1]),
                        static_cast<std::int64_t>(from[2]),
                        from[3],
                        from[4],
                        {.period = static_cast<std::int64_t>(from[5])}};
    for (std::size_t i = 0; i < most_call_lines; ++i) {
      verdict.turns.remainders[i] = static_cast<std::uint32_t>(from[6 + i]);
    }
    return verdict;
  }
};

}  // namespace sibyl
