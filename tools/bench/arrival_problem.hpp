// Who has how much in a cell of the measurement under arrival patterns.
#pragma once

#include "bench/data.hpp"
#include "bench/operation.hpp"
#include "bench/operators.hpp"
#include "bench/options.hpp"

namespace sibyl::bench {

Problem problem_of(Operation operation, const Options& options, const ArrivalCell& cell,
                   const Operator& op, int ranks);

}  // namespace sibyl::bench
