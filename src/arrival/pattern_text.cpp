// Arrival patterns as text: files with one time per line, and the short forms of commands.
//
// Numbers go through std::from_chars and std::to_chars, which know no locale and round exactly.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <system_error>
#include <utility>

#include "base/input_file.hpp"
#include "base/printable.hpp"
#include "base/read_number.hpp"
#include "sibyl/arrival.hpp"

namespace sibyl {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\v\f";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

// Cuts the part before the first `separator` off `text`, the separator too.
std::string_view cut(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  const std::string_view head = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return head;
}

// A number of seconds; else what is wrong with it.
std::string_view read_seconds(std::string_view word, double& value) {
  if (!word.empty() && word.front() == '+') word.remove_prefix(1);  // from_chars takes no '+'
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool all = end == word.data() + word.size();
  if (error == std::errc::result_out_of_range && all) return "does not fit into a double";
  if (error != std::errc() || !all) return "is not a number";
  if (std::isnan(value)) return "is not a number";
  if (std::isinf(value)) return "is infinite";
  if (value < 0) return "is negative";
  return {};
}

bool is_drawn(PatternShape shape) {
  return shape == PatternShape::uniform || shape == PatternShape::normal ||
         shape == PatternShape::exponential;
}

PatternResult refused(std::string problem) {
  PatternResult result;
  result.problem = printable(std::move(problem));
  return result;
}

}  // namespace

namespace {

PatternResult read_times(std::string_view text, std::string_view name) {
  const std::string file(name);
  PatternResult result;
  std::size_t number = 0;
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    ++number;
    const std::string_view word = trimmed(cut(line, '#'));
    if (word.empty()) continue;
    double time = 0;
    if (const std::string_view wrong = read_seconds(word, time); !wrong.empty()) {
      return refused(file + ":" + std::to_string(number) + ": '" + std::string(word) + "' " +
                     std::string(wrong) + "; write one arrival time a line, in seconds, 0 or more");
    }
    result.pattern.times.push_back(time);
  }
  return result;
}

// A time has up to 24 digits and a line's end: enough for half a million ranks.
constexpr std::size_t most_pattern_bytes = std::size_t{16} << 20;

// The whole text of a file; else a problem.
PatternResult read_text(const std::string& path, FileKind kind, std::string& text) {
  InputFile file = read_input_file(path, most_pattern_bytes, kind);
  text = std::move(file.text);
  if (file.read) return {};
  return refused("cannot read the arrival pattern '" + path + "'" + file.why +
                 "; name a file, or one of flat, uniform:MAX:SEED, skewed:MAX, root-late:MAX, "
                 "fixed:MAX, normal:MAX:SEED, exponential:MAX:SEED");
}

bool names_shape(std::string_view text) {
  PatternShape shape{};
  return shape_from_name(cut(text, ':'), shape);
}

}  // namespace

PatternResult read_pattern(std::string_view text, Rank ranks, std::string_view name) {
  if (ranks < 1) {
    return refused("there are " + std::to_string(ranks) + " ranks; ask for at least 1");
  }
  PatternResult result = read_times(text, name);
  if (!result.ok()) return result;
  const std::size_t found = result.pattern.times.size();
  if (std::cmp_not_equal(found, ranks)) {
    return refused(std::string(name) + ": has " + std::to_string(found) + " arrival times for " +
                   std::to_string(ranks) + " ranks; write one a line for each rank");
  }
  return result;
}

PatternResult read_pattern_file(const std::string& path, Rank ranks) {
  std::string text;
  PatternResult read = read_text(path, FileKind::any, text);
  return read.ok() ? read_pattern(text, ranks, path) : read;
}

PatternResult given_arrivals(std::string_view text, Rank ranks) {
  PatternResult result;
  double spread = 0;
  if (names_shape(text)) {
    result = pattern_from_text(text, ranks, 0);
    std::string_view rest = text;
    cut(rest, ':');
    static_cast<void>(read_seconds(cut(rest, ':'), spread));  // flat has no maximum
  } else {
    std::string lines;
    result = read_text(std::string(text), FileKind::regular, lines);
    if (result.ok()) result = read_times(lines, text);
    const std::vector<double>& times = result.pattern.times;
    if (!times.empty()) spread = std::ranges::max(times) - std::ranges::min(times);
  }
  if (!result.ok()) return result;
  if (spread > longest_spread) {
    return refused("'" + std::string(text) + "': arrivals lie more than 1000000 seconds apart; " +
                   "give times in seconds");
  }
  if (std::cmp_not_equal(result.pattern.times.size(), ranks)) return {};
  return result;
}

std::string check_given_arrivals(std::string_view text) { return given_arrivals(text, 1).problem; }

std::string write_pattern(const ArrivalPattern& pattern) {
  std::string text;
  for (const double time : pattern.times) {
    char digits[32];  // the shortest form of a double has at most 24 characters
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, time);
    if (error == std::errc()) text.append(digits, end);
    text += '\n';
  }
  return text;
}

PatternResult pattern_from_text(std::string_view text, Rank ranks, Rank root) {
  std::string_view rest = text;
  PatternRequest request{.ranks = ranks, .root = root};
  if (!shape_from_name(cut(rest, ':'), request.shape)) {
    return read_pattern_file(std::string(text), ranks);
  }
  if (request.shape == PatternShape::flat) {
    if (text != "flat")
      return refused("flat takes no maximum; write flat, not " + std::string(text));
    return make_pattern(request);
  }
  const std::string name(name_of(request.shape));
  const std::string usage = is_drawn(request.shape) ? name + ":MAX:SEED" : name + ":MAX";
  const std::string_view maximum = cut(rest, ':');
  if (const std::string_view wrong = read_seconds(maximum, request.maximum); !wrong.empty()) {
    return refused("'" + std::string(text) + "': the maximum '" + std::string(maximum) + "' " +
                   std::string(wrong) + "; write " + usage + " with MAX in seconds");
  }
  if (!rest.empty()) {
    if (!is_drawn(request.shape) || !read_number(rest, request.seed)) {
      return refused("'" + std::string(text) + "' is no pattern; write " + usage +
                     (is_drawn(request.shape) ? " with a whole number as SEED" : ""));
    }
  }
  return make_pattern(request);
}

}  // namespace sibyl
