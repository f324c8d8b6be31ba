// Reads selection tables, and looks calls up in them; see table.hpp.
#include "selection/table.hpp"

#include <limits>
#include <vector>

#include "base/input_file.hpp"
#include "base/printable.hpp"
#include "base/read_number.hpp"
#include "sibyl/planners.hpp"

namespace sibyl {
namespace {

constexpr std::string_view heading = "sibyl-selection 1";

// FIRST-LAST, FIRST- where an end may be missing, or one number.
template <class Number>
bool read_range(std::string_view text, bool open, Number& least, Number& most) {
  const std::size_t dash = text.find('-');
  if (!read_number(text.substr(0, dash), least)) return false;
  most = least;
  if (dash == std::string_view::npos) return true;
  const std::string_view last = text.substr(dash + 1);
  if (last.empty()) {
    most = std::numeric_limits<Number>::max();
    return open;
  }
  return read_number(last, most) && least <= most;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  line = line.substr(0, line.find('#'));
  constexpr std::string_view blank = " \t\r";
  for (std::size_t begin = line.find_first_not_of(blank); begin != std::string_view::npos;) {
    const std::size_t end = line.find_first_of(blank, begin);
    words.push_back(line.substr(begin, end - begin));
    begin = end == std::string_view::npos ? end : line.find_first_not_of(blank, end);
  }
  return words;
}

bool find_row(Collective collective, std::string_view name, std::int32_t& row) {
  if (name == "native") row = serve_natively;
  if (name == "auto") row = choose_automatically;
  if (name == "native" || name == "auto") return true;
  const auto rows = algorithms(collective);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].name != name) continue;
    row = static_cast<std::int32_t>(i);
    return true;
  }
  return false;
}

// Empty, or what is wrong with the words of a rule.
std::string read_rule(const std::vector<std::string_view>& words, TableRule& rule) {
  if (words.size() != 4) return "a rule is COLLECTIVE RANKS BYTES ALGORITHM";
  Collective collective{};
  if (!collective_from_name(words[0], collective)) return "no collective " + std::string(words[0]);
  rule.collective = static_cast<std::int32_t>(collective);
  if (!read_range(words[1], false, rule.least_ranks, rule.most_ranks)) {
    return "ranks are N or FIRST-LAST, not " + std::string(words[1]);
  }
  const bool sizeless = collective == Collective::gatherv || collective == Collective::scatterv ||
                        collective == Collective::alltoallv || collective == Collective::barrier;
  if (words[2] == "*") {
    rule.most_bytes = std::numeric_limits<std::uint64_t>::max();
  } else if (sizeless) {
    return std::string(words[0]) + " has no size that all ranks know; write * for bytes";
  } else if (!read_range(words[2], true, rule.least_bytes, rule.most_bytes)) {
    return "bytes are FIRST-LAST, FIRST- or *, not " + std::string(words[2]);
  }
  if (!find_row(collective, words[3], rule.algorithm)) {
    return std::string(words[0]) + " has no algorithm " + std::string(words[3]);
  }
  return {};
}

}  // namespace

std::int32_t SelectionTable::find(Collective collective, Rank ranks, std::uint64_t bytes) const {
  for (std::uint32_t i = 0; i < count; ++i) {
    const TableRule& rule = rules[i];
    if (rule.collective == static_cast<std::int32_t>(collective) && rule.least_ranks <= ranks &&
        ranks <= rule.most_ranks && rule.least_bytes <= bytes && bytes <= rule.most_bytes) {
      return rule.algorithm;
    }
  }
  return choose_automatically;
}

std::string read_table(std::string_view text, const std::string& file, SelectionTable& table) {
  SelectionTable found;
  bool headed = false;
  std::size_t number = 0;
  const auto wrong = [&](const std::string& what) {
    return printable(file + ":" + std::to_string(number) + ": " + what);
  };
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    const std::vector<std::string_view> words = words_of(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (words.empty()) continue;
    if (!headed) {
      if (words.size() != 2 || words[0] != "sibyl-selection" || words[1] != "1") {
        return wrong("a selection table begins with the line " + std::string(heading));
      }
      headed = true;
      continue;
    }
    if (found.count == found.rules.size()) {
      return wrong("more than " + std::to_string(found.rules.size()) + " rules");
    }
    const std::string problem = read_rule(words, found.rules[found.count++]);
    if (!problem.empty()) return wrong(problem);
  }
  if (!headed) return file + ": a selection table begins with the line " + std::string(heading);
  table = found;
  return {};
}

std::string read_table_file(const std::string& file, SelectionTable& table) {
  const InputFile found = read_input_file(file, most_table_bytes, FileKind::regular);
  return found.read ? read_table(found.text, file, table) : "cannot read " + file + found.why;
}

}  // namespace sibyl
