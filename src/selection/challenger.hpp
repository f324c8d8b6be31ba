// Which algorithm takes turns with the one that was chosen, where the governor holds the choice
// against what it may have missed (governor/governor.hpp): the next one by the model, which is
// wrong where it was not measured - in what a message costs ranks that have no processor, say.
// Within a node, of which there is no model, the next one by measurement (choose_within.hpp).
#pragma once

#include "selection/choose.hpp"

namespace sibyl {

// nullptr where nothing comes near it: by the model the next one takes more than twice as long, a
// scan more than four times, or the model knows only one. Never one that the operator or the number
// of ranks excludes. What it looks at is what the choice looks at, so that it is the same on all
// ranks.
const Algorithm* challenger_to(const Algorithm& chosen, const Settings& settings,
                               const Situation& situation);

}  // namespace sibyl
