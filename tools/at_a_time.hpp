// NAME@K, by which the benchmark and the transform say how many transfers the root of an algorithm
// has under way at a time.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace sibyl {

struct AtATime {
  std::string_view name;
  std::uint32_t transfers = 0;  // 0: no limit
};

// Nothing where no @ stands in `text`, or no whole number behind it.
inline std::optional<AtATime> read_at_a_time(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) return {};
  AtATime found{text.substr(0, at)};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + at + 1, end, found.transfers);
  if (error != std::errc{} || rest != end) return {};
  return found;
}

// Unsorted, the synchronised gather asks a rank when the one before has answered, whatever K.
inline bool asks_one_at_a_time(std::string_view algorithm, bool by_arrival) {
  return !by_arrival && algorithm == "linear-synchronised";
}

}  // namespace sibyl
