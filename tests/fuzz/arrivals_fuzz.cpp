// Arrival patterns: the text of a file, and the short forms of shapes. The first byte says of how
// many ranks.
#include "arrival/view.hpp"
#include "fuzz/target.hpp"
#include "sibyl/arrival.hpp"

namespace sibyl::fuzz {
namespace {

void check(const PatternResult& result, Rank ranks) {
  require(is_one_line(result.problem));
  if (!result.ok()) return;
  require(check_times(result.pattern.times, ranks).empty());
  const PatternResult again = read_pattern(write_pattern(result.pattern), ranks, "again");
  require(again.ok() && again.pattern.times == result.pattern.times);
}

}  // namespace

void run(std::string_view text) {
  if (text.empty()) return;
  const Rank ranks = 1 + static_cast<unsigned char>(text.front()) % 64;
  text.remove_prefix(1);
  check(read_pattern(text, ranks, "delays.txt"), ranks);
  PatternShape shape{};
  // Any other text would name a file.
  if (shape_from_name(text.substr(0, text.find(':')), shape)) {
    check(pattern_from_text(text, ranks, 0), ranks);
    require(check_given_arrivals(text).empty() == given_arrivals(text, ranks).ok());
  }
}

}  // namespace sibyl::fuzz
