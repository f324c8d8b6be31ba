// The ways to gather, by name; see gather_names.hpp.
#include "fft/gather_names.hpp"

#include <algorithm>
#include <array>

namespace sibyl::fft {
namespace {

// MPI is MPI_Gather as any program calls it, which a preloaded Sibyl may serve; native is the MPI
// library's own in any case.
// The rest are those of the paper; BLIN: blocks are received in the background as they come; and
// BLS: BSLS, told nothing of who is late; shuffled: told the times of other ranks.
constexpr std::array<GatherName, 14> names{{
    {"MPI", ""},
    {"native", ""},
    {"auto", "auto", true, true},
    {"LIN", "linear"},
    {"BLIN", "linear", false, true},
    {"LS", "linear-synchronised"},
    {"BLS", "linear-synchronised", false, true},
    {"SLS", "linear-synchronised", true},
    {"BSLS", "linear-synchronised", true, true},
    {"shuffled:SLS", "linear-synchronised", true, false, true},
    {"shuffled:BSLS", "linear-synchronised", true, true, true},
    {"BNOM", "binomial"},
    {"SBN", "binomial", true},
    {"BSBN", "binomial", true, true},
}};

}  // namespace

const GatherName* find_gather(std::string_view name) {
  const auto* found = std::find_if(names.begin(), names.end(),
                                   [&](const GatherName& one) { return one.name == name; });
  return found == names.end() ? nullptr : found;
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
    if (find_gather(part) == nullptr) {
      unknown = part;
      return {};
    }
    parts.emplace_back(part);
  }
  return parts;
}

}  // namespace sibyl::fft
