// The ways to gather, by name; see gather_names.hpp.
#include "fft/gather_names.hpp"

#include <array>

#include "at_a_time.hpp"

namespace sibyl::fft {
namespace {

// MPI is MPI_Gather as any program calls it, which a preloaded Sibyl may serve; native is the MPI
// library's own in any case.
// The rest are those of the paper, with one transfer of the root under way as there; BLIN: blocks
// are received in the background as they come; and BLS and BBNOM: BSLS and BSBN, told nothing of
// who is late; shuffled: told the times of other ranks.
constexpr std::array<GatherName, 17> names{{
    {"MPI", ""},
    {"native", ""},
    {"auto", "auto", true, true},
    {"LIN", "linear", false, false, false, 1},
    {"BLIN", "linear", false, true, false, 0},
    {"LS", "linear-synchronised", false, false, false, 1},
    {"BLS", "linear-synchronised", false, true, false, 1},
    {"SLS", "linear-synchronised", true, false, false, 1},
    {"BSLS", "linear-synchronised", true, true, false, 1},
    {"shuffled:SLS", "linear-synchronised", true, false, true, 1},
    {"shuffled:BSLS", "linear-synchronised", true, true, true, 1},
    {"BNOM", "binomial"},
    {"BBNOM", "binomial", false, true},
    {"SBN", "binomial", true},
    {"BSBN", "binomial", true, true},
    {"shuffled:SBN", "binomial", true, false, true},
    {"shuffled:BSBN", "binomial", true, true, true},
}};

}  // namespace

std::optional<GatherName> find_gather(std::string_view name) {
  const std::optional<AtATime> asked = read_at_a_time(name);
  for (GatherName one : names) {
    if (one.name != (asked ? asked->name : name)) continue;
    if (asked && one.algorithm.empty()) return {};  // the library's own
    if (asked && asked->transfers != 1 && asks_one_at_a_time(one.algorithm, one.by_arrival)) {
      return {};
    }
    one.name = name;
    if (asked) one.outstanding = asked->transfers;
    return one;
  }
  return {};
}

std::string gather_names() {
  std::string text;
  for (const GatherName& one : names) {
    if (!text.empty()) text += ", ";
    text += one.name;
  }
  return text;
}

std::vector<std::string> split_gathers(std::string_view text, std::string& unknown) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    if (!find_gather(part)) {
      unknown = part;
      return {};
    }
    parts.emplace_back(part);
  }
  return parts;
}

}  // namespace sibyl::fft
