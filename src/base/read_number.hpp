// Numbers in texts that people write: all of the text or nothing, in no locale's way.
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace sibyl {

// False where the text is no number, or one that the type does not hold, or goes on after it; then
// `number` may have changed.
template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace sibyl
