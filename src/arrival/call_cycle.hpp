// Which of several call sites the coming calls are made from, as far as the past tells.
//
// Calls that MPI cannot tell apart - the same collective, root and size - may stand on several
// lines of a program, with other late ranks at each. No rank can know from which line another one
// makes a call that is still to come; that would take a message. But programs go round in loops: so
// rank 0 notes the lines of its own calls by their numbers, which all ranks count alike, and where
// they repeat with a period it can say which numbers are whose. Ranks that follow this act alike
// whatever they call from, in the same binary or not; where the program leaves its loop they are
// wrong together, until rank 0 says otherwise.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sibyl {

// The call sites of equal calls are numbered from 1; 0 is all of them together.
inline constexpr int most_call_lines = 4;

// Calls whose number has a remainder by `period` that is in a line's set of bits are that line's;
// those in no set belong to none. No period: nothing is said.
struct CallTurns {
  std::int64_t period = 0;
  std::array<std::uint32_t, most_call_lines> remainders{};

  int line_of(std::int64_t call) const {
    if (period == 0) return 0;
    const auto remainder = static_cast<std::uint32_t>(call % period);
    for (std::size_t i = 0; i < remainders.size(); ++i) {
      if ((remainders[i] >> remainder & 1U) != 0) return static_cast<int>(i) + 1;
    }
    return 0;
  }
  bool operator==(const CallTurns&) const = default;
};

class CallCycle {
 public:
  static constexpr std::int64_t longest_period = 32;
  static constexpr std::int64_t periods_seen = 3;  // until it is believed
  static constexpr std::int64_t fewest_calls = 8;

  // The call of this number, counted from 1, is one of `kind` from its line.
  void note(std::int64_t call, std::size_t kind, int line);
  // The turns that the lines of a kind take of late, up to this call: by the shortest period with
  // which they repeat.
  CallTurns turns(std::size_t kind, std::int64_t call) const;

 private:
  struct Noted {
    std::int64_t call = 0;
    std::size_t kind = 0;
    int line = 0;
  };
  static constexpr std::size_t kept = periods_seen * longest_period;
  const Noted& noted(std::int64_t call) const {
    return noted_[static_cast<std::size_t>(call) % kept];
  }
  bool breaks_early(std::size_t kind, std::int64_t call, std::int64_t period) const;
  bool repeats(std::size_t kind, std::int64_t call, CallTurns& turns) const;

  std::array<Noted, kept> noted_{};
};

}  // namespace sibyl
