// Text as it stands in JSON, quotes included. What others wrote (the name of an MPI library) may
// hold quotes and control characters. By hand, so that the library that every program under the
// preload loads need not hold all of a JSON library for it.
#pragma once

#include <string>
#include <string_view>

namespace sibyl {

// Bytes that are no ASCII become question marks, since nobody says that they are UTF-8.
std::string json_quoted(std::string_view text);

}  // namespace sibyl
