// The lines of JSON that the benchmark prints, one object each, at once: whoever reads them shows
// how far it is.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace sibyl::bench {

using Json = nlohmann::ordered_json;

// At rank 0 of MPI_COMM_WORLD; the others print nothing.
void print_at_rank_0(const Json& line);

}  // namespace sibyl::bench
