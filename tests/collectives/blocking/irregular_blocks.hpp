// Blocks of any sizes at any places, and one call of SIBYL_Gatherv or SIBYL_Scatterv with them
// whose buffers are looked at byte by byte.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>

#include "collectives/harness.hpp"

namespace sibyl::test {

inline std::int32_t irregular_value(std::uint64_t seed, int rank, int element, int component) {
  std::uint64_t x = seed + static_cast<std::uint64_t>(rank) * 0x9e3779b97f4a7c15ULL +
                    static_cast<std::uint64_t>(element * 4 + component) * 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 31;
  return static_cast<std::int32_t>(x >> 20) | 1;  // never the 0 of what nobody wrote
}

// The same on all ranks: who has how much, and where it lies at the root.
struct ScatteredBlocks {
  std::vector<int> counts;
  std::vector<int> places;
  int elements = 0;  // of the root's buffer
};

inline ScatteredBlocks random_blocks(Random& random, int size) {
  // Up to 96 KB a block: beyond, Open MPI 4.1 itself mixes up some pairs of derived datatypes.
  constexpr std::array<std::uint64_t, 5> scales{1, 2, 8, 65, 300};
  ScatteredBlocks blocks;
  const auto scale = scales[pick(random, scales.size())];
  const auto shape = pick(random, 4);
  int left = 30000;  // with gaps: beyond 32768 the elements of one layout overlap
  for (int r = 0; r < size; ++r) {
    const auto at_most = shape == 3 && pick(random, 5) == 0 ? 20 * scale : scale;
    const auto any = std::min(static_cast<int>(pick(random, at_most + 1)), left);
    blocks.counts.push_back(shape == 0   ? static_cast<int>(scale)
                            : shape == 1 ? (pick(random, 3) == 0 ? any : 0)
                                         : any);
    left -= blocks.counts.back();
  }
  std::vector<int> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  if (pick(random, 2) == 0) std::shuffle(order.begin(), order.end(), random);
  const bool gaps = pick(random, 2) == 0;
  blocks.places.assign(order.size(), 0);
  for (const int r : order) {
    if (gaps) blocks.elements += static_cast<int>(pick(random, 3));
    blocks.places[static_cast<std::size_t>(r)] = blocks.elements;
    blocks.elements += blocks.counts[static_cast<std::size_t>(r)];
  }
  return blocks;
}

class IrregularBlocksOverMpi : public testing::TestWithParam<Collective> {
 protected:
  bool up() const { return gathers(GetParam()); }

  void settings(Served& served, const Algorithm* row, std::uint32_t direct_from,
                std::uint32_t construct_every) {
    Settings now = forced(GetParam(), row);
    now.direct_from = direct_from;
    now.construct_every = construct_every;
    served.state().replace_settings(now);
  }

  int call(void* own, int own_count, MPI_Datatype own_type, void* all, const int* counts,
           const int* places, MPI_Datatype all_type, int root, MPI_Comm comm) {
    return up() ? SIBYL_Gatherv(own, own_count, own_type, all, counts, places, all_type, root, comm)
                : SIBYL_Scatterv(all, counts, places, all_type, own, own_count, own_type, root,
                                 comm);
  }

  // One call, with all buffers checked.
  void check(const ScatteredBlocks& blocks, const Layout& all_layout, const Layout& own_layout,
             int root, bool in_place, std::uint64_t seed, MPI_Comm comm) {
    const int rank = rank_in(comm);
    const bool is_root = rank == root;
    const int count = blocks.counts[static_cast<std::size_t>(rank)];
    GuardedBuffer own(own_layout, count);
    GuardedBuffer all(all_layout, is_root ? blocks.elements : 0);
    const auto fill = [&](int block) {
      for (int e = 0; e < blocks.counts[static_cast<std::size_t>(block)]; ++e) {
        for (int c = 0; c < 4; ++c) {
          all.set(blocks.places[static_cast<std::size_t>(block)] + e, c,
                  irregular_value(seed, block, e, c));
        }
      }
    };
    if (is_root) {
      for (int e = 0; e < blocks.elements; ++e) {
        for (int c = 0; c < 4; ++c) all.set(e, c, 0);
      }
      for (int block = 0; block < size_of(comm); ++block) {
        if (!up() || (in_place && block == rank)) fill(block);
      }
    }
    if (up()) {
      for (int e = 0; e < count; ++e) {
        for (int c = 0; c < 4; ++c) own.set(e, c, irregular_value(seed, rank, e, c));
      }
    }
    own.take_snapshot();
    all.take_snapshot();
    ASSERT_EQ(call(in_place ? MPI_IN_PLACE : own.base(), in_place ? -5 : count,
                   in_place ? MPI_DATATYPE_NULL : own_layout.type, is_root ? all.base() : wild(),
                   is_root ? blocks.counts.data() : static_cast<const int*>(wild()),
                   is_root ? blocks.places.data() : static_cast<const int*>(wild()),
                   is_root ? all_layout.type : MPI_DATATYPE_NULL, root, comm),
              MPI_SUCCESS);
    if (up() || in_place) {
      EXPECT_TRUE(own.unchanged());
    }
    if (!up()) {
      EXPECT_TRUE(all.unchanged());
      if (in_place) return;
      EXPECT_TRUE(own.surroundings_untouched());
      for (int e = 0; e < count; ++e) {
        for (int c = 0; c < 4; ++c) {
          ASSERT_EQ(own.get(e, c), irregular_value(seed, rank, e, c)) << "element " << e;
        }
      }
      return;
    }
    if (!is_root) return;
    EXPECT_TRUE(all.surroundings_untouched());
    std::vector<std::int32_t> expected(static_cast<std::size_t>(blocks.elements) * 4, 0);
    for (int block = 0; block < size_of(comm); ++block) {
      const auto at = static_cast<std::size_t>(blocks.places[static_cast<std::size_t>(block)]);
      for (int e = 0; e < blocks.counts[static_cast<std::size_t>(block)]; ++e) {
        for (int c = 0; c < 4; ++c) {
          expected[(at + static_cast<std::size_t>(e)) * 4 + static_cast<std::size_t>(c)] =
              irregular_value(seed, block, e, c);
        }
      }
    }
    for (int e = 0; e < blocks.elements; ++e) {
      for (int c = 0; c < 4; ++c) {
        ASSERT_EQ(all.get(e, c), expected[static_cast<std::size_t>(e * 4 + c)]) << "element " << e;
      }
    }
  }
};

}  // namespace sibyl::test
