// The problems of Traeff 2017, section 5: how large each rank's block is, from the average block b
// as there, or scaled so that the blocks add up to a given total.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sibyl::bench {

enum class CountShape : std::uint8_t {
  same,         // equal blocks
  random,       // drawn from 1 to 2b
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
std::vector<int> block_counts(CountShape shape, long long total, int ranks, std::uint64_t seed);

// The counts as the paper defines them for the average block `block`. Spikes are drawn with
// probability 1/5, and there is at least one; two_blocks has `block` at both ends.
std::vector<int> problem_counts(CountShape shape, int block, int ranks, std::uint64_t seed);

}  // namespace sibyl::bench
