// Text and numbers as they stand in JSON. What others wrote (the name of an MPI library) may hold
// quotes and control characters, and a program may have a locale with a decimal comma. By hand, so
// that the library that every program under the preload loads need not hold all of a JSON library
// for it.
#pragma once

#include <string>
#include <string_view>

namespace sibyl {

// Quotes included. Bytes that are no ASCII become question marks, since nobody says that they are
// UTF-8.
std::string json_quoted(std::string_view text);
// As few digits as read back as the same number.
std::string json_number(double number);

}  // namespace sibyl
