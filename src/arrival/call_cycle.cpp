// Finds the period of a program's calls; see call_cycle.hpp.
#include "arrival/call_cycle.hpp"

#include <algorithm>

namespace sibyl {

void CallCycle::note(std::int64_t call, std::size_t kind, int line) {
  noted_[static_cast<std::size_t>(call) % kept] = {call, kind, line};
}

bool CallCycle::repeats(std::size_t kind, std::int64_t call, CallTurns& turns) const {
  const std::int64_t seen = std::max(periods_seen * turns.period, fewest_calls);
  if (seen > call) return false;
  std::array<int, longest_period> line_at{};
  line_at.fill(-1);
  for (std::int64_t earlier = call - seen + 1; earlier <= call; ++earlier) {
    const Noted& noted = noted_[static_cast<std::size_t>(earlier) % kept];
    if (noted.call != earlier || noted.kind != kind) continue;
    const std::int64_t remainder = earlier % turns.period;
    int& line = line_at[static_cast<std::size_t>(remainder)];
    if (line >= 0 && line != noted.line) return false;
    line = noted.line;
    if (line > 0) turns.remainders[static_cast<std::size_t>(line) - 1] |= 1U << remainder;
  }
  return true;
}

CallTurns CallCycle::turns(std::size_t kind, std::int64_t call) const {
  for (std::int64_t period = 1; period <= longest_period; ++period) {
    CallTurns turns{.period = period};
    if (repeats(kind, call, turns)) return turns;
  }
  return {};
}

}  // namespace sibyl
