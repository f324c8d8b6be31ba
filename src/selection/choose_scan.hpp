// The choice among scans, a part of choose.hpp.
#pragma once

#include "selection/choose.hpp"

namespace sibyl {

// The exclusive scan that the model takes to be the fastest; never nullptr.
const Algorithm* choose_exscan(const Situation& situation);

}  // namespace sibyl
