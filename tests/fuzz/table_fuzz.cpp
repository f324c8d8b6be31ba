// Selection tables (SIBYL_TABLE): whatever a file holds, it is read or refused with one line, and
// what is read can be asked for any call.
#include <cstdlib>
#include <limits>

#include "fuzz/target.hpp"
#include "selection/table.hpp"
#include "sibyl/planners.hpp"

namespace sibyl::fuzz {

void run(std::string_view text) {
  SelectionTable table;
  const std::string problem = read_table(text, "table", table);
  require(problem.empty() || table.count == 0);
  require(is_one_line(problem));
  require(table.count <= table.rules.size());
  for (std::size_t c = 0; c < collective_count; ++c) {
    const auto collective = static_cast<Collective>(c);
    for (const Rank ranks : {1, 2, 48, std::numeric_limits<Rank>::max()}) {
      for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{4096}, ~std::uint64_t{0}}) {
        const std::int32_t found = table.find(collective, ranks, bytes);
        require(found >= serve_natively &&
                found < static_cast<std::int32_t>(algorithms(collective).size()));
      }
    }
  }
}

}  // namespace sibyl::fuzz
