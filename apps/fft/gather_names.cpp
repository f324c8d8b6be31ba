// The ways to gather, by name; see gather_names.hpp.
#include "fft/gather_names.hpp"

#include <algorithm>
#include <array>

namespace sibyl::fft {
namespace {

constexpr std::array<std::string_view, 2> names{"MPI", "native"};

}  // namespace

std::string gather_names() {
  std::string text;
  for (const std::string_view name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

std::vector<std::string> split_gathers(std::string_view text, std::string& unknown) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    if (std::find(names.begin(), names.end(), part) == names.end()) {
      unknown = part;
      return {};
    }
    parts.emplace_back(part);
  }
  return parts;
}

}  // namespace sibyl::fft
