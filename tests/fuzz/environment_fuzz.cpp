// The process's environment, as lines NAME=VALUE, and the settings that follow from it.
#include <map>
#include <string>

#include "base/environment.hpp"
#include "fuzz/target.hpp"
#include "selection/settings.hpp"
#include "sibyl/planners.hpp"

namespace sibyl::fuzz {
namespace {

std::map<std::string, std::string>& variables() {
  static std::map<std::string, std::string> all;
  return all;
}

const char* look_up(const char* name) {
  const auto found = variables().find(name);
  return found == variables().end() ? nullptr : found->second.c_str();
}

}  // namespace

void run(std::string_view text) {
  variables().clear();
  while (!text.empty()) {
    const std::size_t end =
        text.find('\0') == std::string_view::npos ? text.find('\n') : text.find('\0');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string name(line.substr(0, equals));
    // What names a file is another target's, and the machine's files are nobody's.
    if (name == "SIBYL_TABLE" || name == "SIBYL_ARRIVALS") continue;
    variables()[name] = std::string(line.substr(equals + 1));
  }
  const Environment environment = read_environment(look_up);
  Settings settings;
  const std::string problem = settings_from(environment, settings);
  require(is_one_line(problem));
  for (const char c : problem) require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
  for (std::size_t c = 0; c < collective_count; ++c) {
    const auto rows = algorithms(static_cast<Collective>(c)).size();
    require(settings.algorithm[c] >= serve_natively &&
            settings.algorithm[c] < static_cast<std::int32_t>(rows));
  }
}

}  // namespace sibyl::fuzz
