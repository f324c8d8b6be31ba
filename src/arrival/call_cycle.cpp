// Finds the period of a program's calls; see call_cycle.hpp.
#include "arrival/call_cycle.hpp"

#include <algorithm>

namespace sibyl {

void CallCycle::note(std::int64_t call, std::size_t kind, int line) {
  noted_[static_cast<std::size_t>(call) % kept] = {call, kind, line};
}

// Whether the last calls of the kind already say that they do not repeat so. Where lines take no
// turns that is seen at the first or second of them, and all periods are through at once.
bool CallCycle::breaks_early(std::size_t kind, std::int64_t call, std::int64_t period) const {
  constexpr std::int64_t looked_at = 8;
  for (std::int64_t later = call; later > call - looked_at && later > period; --later) {
    const Noted& one = noted(later);
    const Noted& other = noted(later - period);
    const bool comparable =
        one.call == later && one.kind == kind && other.call == later - period && other.kind == kind;
    if (comparable && one.line != other.line) return true;
  }
  return false;
}

bool CallCycle::repeats(std::size_t kind, std::int64_t call, CallTurns& turns) const {
  const std::int64_t seen = std::max(periods_seen * turns.period, fewest_calls);
  if (seen > call || breaks_early(kind, call, turns.period)) return false;
  std::array<int, longest_period> line_at{};
  line_at.fill(-1);
  for (std::int64_t earlier = call - seen + 1; earlier <= call; ++earlier) {
    const Noted& now = noted(earlier);
    if (now.call != earlier || now.kind != kind) continue;
    const std::int64_t remainder = earlier % turns.period;
    int& line = line_at[static_cast<std::size_t>(remainder)];
    if (line >= 0 && line != now.line) return false;
    line = now.line;
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
