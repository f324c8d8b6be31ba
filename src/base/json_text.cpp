// Writes text and numbers for JSON; see json_text.hpp.
#include "base/json_text.hpp"

#include <array>
#include <charconv>

namespace sibyl {

std::string json_quoted(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      quoted += "\\u00";
      quoted += digits[byte >> 4];
      quoted += digits[byte & 15];
    } else if (byte > 0x7F) {
      quoted += '?';
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string json_number(double number) {
  std::array<char, 32> digits{};
  char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return {digits.data(), end};
}

}  // namespace sibyl
