// Text in JSON: whatever it holds, a parser finds it again, but for bytes that are no ASCII.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "base/json_text.hpp"
#include "fuzz/target.hpp"

namespace sibyl::fuzz {

void run(std::string_view text) {
  std::string wanted(text);
  std::replace_if(
      wanted.begin(), wanted.end(), [](char c) { return static_cast<unsigned char>(c) > 0x7F; },
      '?');
  const nlohmann::json read = nlohmann::json::parse(json_quoted(text), nullptr, false);
  require(read.is_string() && read.get<std::string>() == wanted);
}

}  // namespace sibyl::fuzz
