// The ways to gather, by name. No MPI here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sibyl::fft {

// All names, separated by commas, for people.
std::string gather_names();

// "A,B" as a list; a name that there is not goes to `unknown`.
std::vector<std::string> split_gathers(std::string_view text, std::string& unknown);

}  // namespace sibyl::fft
