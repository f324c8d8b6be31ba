// A plan as a picture of space and time: ranks as horizontal lines, rounds as columns, messages as
// arrows from sender to receiver, with the places of combinations and local steps marked.
#pragma once

#include <string>

#include "sibyl/schedule.hpp"

namespace sibyl {

// The plan must be one that verifies. Up to 12 ranks the arrows carry labels of what they move;
// beyond, lines become thinner and labels fewer.
std::string export_svg(const Plan& plan);

}  // namespace sibyl
