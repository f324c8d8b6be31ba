// How a total is cut into blocks, one for each rank: the problems of paper 002, section 4, scaled
// so that the blocks add up to a given total.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sibyl::bench {

enum class CountShape : std::uint8_t {
  same,         // equal blocks
  random,       // drawn from 1 to 2b, b the mean block
  spikes,       // one rank in five holds nearly everything, the others one element
  decreasing,   // floor(2b (p-i) / p) + 1
  alternating,  // b + floor(b/2) and b - floor(b/2) in turns
  two_blocks,   // only the first and the last rank hold anything
};

// False when there is no shape of that name.
bool shape_from_name(std::string_view name, CountShape& shape);
std::string_view name_of(CountShape shape);

// The counts of ranks 0, 1, ...; their sum is `total`, whatever the shape. Equal blocks differ by
// one element where the total is no multiple of the ranks.
std::vector<int> block_counts(CountShape shape, int total, int ranks, std::uint64_t seed);

}  // namespace sibyl::bench
