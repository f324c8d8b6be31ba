// Numbers the lines of equal calls; see call_lines.hpp.
#include "arrival/call_lines.hpp"

#include <algorithm>

namespace sibyl {

int CallLines::line_of(std::int64_t place) {
  if (place == 0) return 0;
  const auto end = places_.begin() + static_cast<std::ptrdiff_t>(seen_);
  const auto known = std::find(places_.begin(), end, place);
  if (known == end) {
    if (seen_ == places_.size()) return 0;
    places_[seen_++] = place;
  }
  return static_cast<int>(known - places_.begin()) + 1;
}

int CallLines::note(std::int64_t call, std::int64_t place) {
  const int line = line_of(place);
  cycle_.note(call, 0, line);
  return line;
}

}  // namespace sibyl
