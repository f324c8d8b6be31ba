// A selection table: which algorithm serves which calls, as it was measured
// (`sibyl guidelines --tables`). Plain bytes like the settings that it is part of.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sibyl/schedule.hpp"

namespace sibyl {

// What serves a collective: a row of algorithms(collective), or one of these.
inline constexpr std::int32_t choose_automatically = -1;
inline constexpr std::int32_t serve_natively = -2;

// Both ends are included.
struct TableRule {
  std::int32_t collective = 0;
  std::int32_t algorithm = choose_automatically;
  std::int64_t least_ranks = 0;
  std::int64_t most_ranks = 0;
  std::uint64_t least_bytes = 0;
  std::uint64_t most_bytes = 0;
};

struct SelectionTable {
  std::array<TableRule, 64> rules{};
  std::uint32_t count = 0;

  // The first rule that fits decides; choose_automatically where none does. `bytes` as in
  // Situation, whatever it is where a collective has no size that all ranks know.
  std::int32_t find(Collective collective, Rank ranks, std::uint64_t bytes) const;
};

// Reads a table from the text of its file. Empty, or one line that names `file`, says what is wrong
// with it and in which line; `table` is as it was then.
//
// A text; `#` begins a comment. The first line is "sibyl-selection 1", every other one a rule:
//   COLLECTIVE RANKS BYTES ALGORITHM
// RANKS is N or FIRST-LAST, BYTES is FIRST-LAST or FIRST- (of a block, or of a vector), or `*`;
// ALGORITHM a name from the table of algorithms, native or auto. gatherv, scatterv, alltoallv
// and barrier want `*`: they have no size that all ranks know.
std::string read_table(std::string_view text, const std::string& file, SelectionTable& table);
// The same from the file itself, which may be missing. It must be a regular file of at most
// most_table_bytes: enough for all rules and a long comment beside each.
inline constexpr std::size_t most_table_bytes = std::size_t{1} << 20;
std::string read_table_file(const std::string& file, SelectionTable& table);

}  // namespace sibyl
