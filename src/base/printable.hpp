// Text of others in a message: a value, a name or a file may hold escape sequences that steer the
// terminal which the message is printed on, or line ends in a message of one line.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

namespace sibyl {

// Control characters become question marks.
inline std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  return text;
}

}  // namespace sibyl
