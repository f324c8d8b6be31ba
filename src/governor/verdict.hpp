// What rank 0 tells all ranks of a call site, in words that travel as doubles.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sibyl {

// Who serves a call of a governed site: the algorithm that was chosen, or the MPI library.
enum class Arm : std::uint8_t { own, native };

enum class Action : std::uint8_t {
  compare_more,  // the trial goes on
  hold_own,      // it is over, and this arm serves
  hold_native,
  watch_on,   // what serves costs what it did
  try_again,  // it costs more than it did: a new trial
};

struct SiteVerdict {
  Action action = Action::compare_more;
  std::int64_t next_trial = 0;  // in so many calls of the site
  std::int64_t next_watch = 0;  // likewise
  // Seconds of a call at the rank that was longest in it: medians of the trial.
  double own = 0;
  double native = 0;

  static constexpr std::size_t words = 5;
  // Counts stay far below 2^53, so they are exact.
  std::array<double, words> packed() const {
    return {static_cast<double>(action), static_cast<double>(next_trial),
            static_cast<double>(next_watch), own, native};
  }
  static SiteVerdict unpacked(const double* from) {
    return {static_cast<Action>(static_cast<int>(from[0])), static_cast<std::int64_t>(from[1]),
            static_cast<std::int64_t>(from[2]), from[3], from[4]};
  }
};

}  // namespace sibyl
