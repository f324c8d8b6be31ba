// SIBYL_Gatherv and SIBYL_Scatterv: every byte, for sizes with holes, permuted places with gaps,
// layouts that differ between root and ranks, direct and tree blocks, fresh and old trees; and what
// happens when sizes do not match.
#include <algorithm>
#include <array>
#include <numeric>

#include "collectives/harness.hpp"

namespace sibyl::test {
namespace {

std::int32_t irregular_value(std::uint64_t seed, int rank, int element, int component) {
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

ScatteredBlocks random_blocks(Random& random, int size) {
  // Up to 96 KB a block: beyond, Open MPI 4.1 itself mixes up some pairs of derived datatypes.
  constexpr std::array<std::uint64_t, 5> scales{1, 2, 8, 65, 300};
  ScatteredBlocks blocks;
  const auto scale = scales[pick(random, scales.size())];
  const auto shape = pick(random, 4);
  for (int r = 0; r < size; ++r) {
    const auto at_most = shape == 3 && pick(random, 5) == 0 ? 20 * scale : scale;
    const auto any = static_cast<int>(pick(random, at_most + 1));
    blocks.counts.push_back(shape == 0   ? static_cast<int>(scale)
                            : shape == 1 ? (pick(random, 3) == 0 ? any : 0)
                                         : any);
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

TEST_P(IrregularBlocksOverMpi, MovesEveryBlockToItsPlace) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 30);
  const Layouts layouts;
  Served served(GetParam(), nullptr);
  const int rank = rank_in();
  for (const Algorithm* row : rows_and_auto(GetParam())) {
    SCOPED_TRACE(name_or_auto(row));
    for (int i = 0; i < cases(60); ++i) {
      constexpr std::array<std::uint32_t, 5> thresholds{0, 16, 4096, 20000, 1 << 30};
      constexpr std::array<std::uint32_t, 3> every{0, 1, 4};
      const std::uint32_t direct_from = thresholds[pick(random, thresholds.size())];
      settings(served, row, direct_from, every[pick(random, every.size())]);
      const ScatteredBlocks blocks = random_blocks(random, size_of());
      const auto root = static_cast<int>(pick(random, static_cast<std::uint64_t>(size_of())));
      const bool in_place = pick(random, 3) == 0 && rank == root;
      const std::uint64_t seed = random();
      const Layout& all_layout = layouts.any(random);
      Random own(seed + static_cast<std::uint64_t>(rank));
      SCOPED_TRACE("case " + std::to_string(i) + ", root " + std::to_string(root) +
                   ", direct from " + std::to_string(direct_from));
      check(blocks, all_layout, layouts.any(own), root, in_place, seed, served.get());
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// Latencies that are worth many messages, at which a root sends to each node itself, and others.
constexpr std::array<Costs, 2> far_and_near{
    {{.alpha = 1e-5, .overhead = 1e-7, .beta = 1e-9, .gamma = 1e-10},
     {.alpha = 1e-6, .overhead = 1e-6, .beta = 1e-9, .gamma = 1e-10, .scattered = 1e-4}}};

TEST_P(IrregularBlocksOverMpi, MovesEveryBlockWhereNodesHaveSeveralRanks) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 33);
  const Layouts layouts;
  for (int i = 0; i < cases(40); ++i) {
    Served served(GetParam(), nullptr);
    const auto per_node =
        static_cast<Rank>(1 + pick(random, static_cast<std::uint64_t>(size_of())));
    Placement placement{.ranks_per_node = per_node};
    if (i % 2 != 0) {  // ranks lie anyhow, or are dealt out in turn
      placement = {.count = (size_of() + per_node - 1) / per_node};
      for (Rank rank = 0; rank < size_of(); ++rank) {
        const auto nodes = static_cast<std::uint64_t>(placement.count);
        placement.nodes.push_back(i % 4 == 1 ? rank % placement.count
                                             : static_cast<Rank>(pick(random, nodes)));
      }
    }
    served.state().set_placement(placement);
    served.state().replace_costs(far_and_near[pick(random, 2)]);
    settings(served, find_algorithm(GetParam(), "ordered-tree"), 4096, 1);
    const auto root = static_cast<int>(pick(random, static_cast<std::uint64_t>(size_of())));
    for (int call = 0; call < 3; ++call) {
      SCOPED_TRACE("case " + std::to_string(i) + ", root " + std::to_string(root) +
                   ", ranks per node " + std::to_string(per_node) + " or " +
                   std::to_string(placement.count) + " nodes");
      check(random_blocks(random, size_of()), layouts.any(random), layouts.all().front(), root,
            false, random(), served.get());
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// A tree that was built for other sizes, or for none, serves as well.
TEST_P(IrregularBlocksOverMpi, ServesNewSizesAlongAnOldTree) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 31);
  const Layouts layouts;
  const Layout& plain = layouts.all().front();
  Served served(GetParam(), nullptr);
  settings(served, find_algorithm(GetParam(), "ordered-tree"), 4096, 5);
  const int root = size_of() / 2;
  ScatteredBlocks blocks = random_blocks(random, size_of());
  for (int i = 0; i < cases(40); ++i) {
    if (i % 3 == 2) blocks = random_blocks(random, size_of());
    check(blocks, plain, plain, root, false, random(), served.get());
    if (testing::Test::HasFatalFailure()) return;
  }
}

// Two blocks of many ranks are two messages, once the root has said so: nobody else takes part any
// more, and new sizes find their places whatever the last ones were.
TEST_P(IrregularBlocksOverMpi, FewBlocksGoStraightOnceTheRootHasSaidSo) {
  SIBYL_TRACE_SEED();
  const int size = size_of();
  Random random(run_seed() + 32);
  const Layouts layouts;
  const Layout& plain = layouts.all().front();
  Served served(GetParam(), nullptr);
  // On so slow a network blocks from 300 bytes on go past the tree.
  served.state().replace_costs({1e-6, 1e-3, 1e-7, 1e-10});
  Settings now = forced(GetParam(), nullptr);
  now.construct_every = 4;
  served.state().replace_settings(now);
  const int rank = rank_in();
  const int root = size / 2;
  ScatteredBlocks two;
  two.elements = size;
  for (int r = 0; r < size; ++r) {
    two.counts.push_back(r == root || r == 1 ? 1 : 0);
    two.places.push_back(r);
  }
  const auto serve = [&](const ScatteredBlocks& blocks) {
    check(blocks, plain, plain, root, false, random(), served.get());
    return !testing::Test::HasFatalFailure();
  };
  if (!serve(two)) return;
  if (served.served_by()->name != "ordered-tree") GTEST_SKIP() << "needs more ranks for a tree";
  for (int call = 2; call <= 3; ++call) {
    if (!serve(two)) return;
  }
  const int idle = size - 1;
  if (rank == idle) MPI_Recv(nullptr, 0, MPI_INT, root, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (!serve(two)) return;
  if (rank == root) MPI_Send(nullptr, 0, MPI_INT, idle, 5, MPI_COMM_WORLD);
  for (int i = 0; i < cases(30); ++i) {
    if (!serve(i % 7 < 3 ? two : random_blocks(random, size))) return;
  }
}

// Ranks and root differ in a size, in the tree and beyond the threshold, or on its two sides: who
// has too little room says so, the others get what is theirs, and nobody hangs.
TEST_P(IrregularBlocksOverMpi, SaysWhoHasTooLittleRoomAndHangsNobody) {
  const int size = size_of();
  if (size < 2) GTEST_SKIP() << "needs another rank";
  Served served(GetParam(), nullptr);
  settings(served, find_algorithm(GetParam(), "ordered-tree"), 4096, 1);
  MPI_Comm_set_errhandler(served.get(), MPI_ERRORS_RETURN);
  const int rank = rank_in();
  const int root = size / 2;
  const int victim = (root + 1) % size;
  constexpr std::array<std::array<int, 2>, 6> cases{
      {{8, 3}, {5000, 3000}, {5000, 3}, {1024, 1023}, {0, 0}, {9000, 0}}};
  for (const auto& [sent, room] : cases) {
    SCOPED_TRACE(std::to_string(sent) + " elements for room of " + std::to_string(room));
    std::vector<int> counts(static_cast<std::size_t>(size), 7);
    std::vector<int> places;
    const int at_root = up() ? room : sent;
    const int at_victim = up() ? sent : room;
    counts[static_cast<std::size_t>(victim)] = at_root;
    for (int r = 0; r < size; ++r) places.push_back(r * 10000);
    std::vector<int> all(static_cast<std::size_t>(size) * 10000, up() ? -1 : rank);
    const int own_count = rank == victim ? at_victim : 7;
    std::vector<int> own(10000, up() ? rank : -1);
    const int result = call(own.data(), own_count, MPI_INT, all.data(), counts.data(),
                            places.data(), MPI_INT, root, served.get());
    int error_class = MPI_SUCCESS;
    MPI_Error_class(result, &error_class);
    // Open MPI 4.1 itself writes on beyond the room of a message that it cuts off.
    const bool cut_by_the_library = room >= 1024;
    const bool concerned = sent > room && rank == (up() ? root : victim);
    EXPECT_EQ(error_class, concerned ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    if (up() && rank == root) {
      for (int r = 0; r < size; ++r) {
        if (r == victim) continue;
        EXPECT_EQ(all[static_cast<std::size_t>(r) * 10000 + 6], r);
      }
    }
    if (!up() && rank != victim) {
      EXPECT_EQ(own[6], root);
    }
    if (rank == victim && !up() && !cut_by_the_library) {
      EXPECT_EQ(own[static_cast<std::size_t>(room)], -1) << "written beyond its room";
    }
    if (rank == root && up() && !cut_by_the_library) {
      EXPECT_EQ(all[static_cast<std::size_t>(victim) * 10000 + static_cast<std::size_t>(room)], -1);
    }
  }
}

// Going linear, who has nothing to send or to get is nobody's partner.
TEST_P(IrregularBlocksOverMpi, NobodyWaitsForARankWithoutDataGoingLinear) {
  const int size = size_of();
  if (size < 3) GTEST_SKIP() << "needs two ranks besides the root";
  Served served(GetParam(), nullptr);
  settings(served, find_algorithm(GetParam(), "linear"), 4096, 1);
  const int rank = rank_in();
  const int root = size - 1;
  const int late = up() ? 0 : root;  // comes when the other is done
  const int early = up() ? root : 0;
  for (const int elements : {3, 9000}) {
    std::vector<int> counts(static_cast<std::size_t>(size), elements);
    counts.front() = 0;
    std::vector<int> places;
    for (int r = 0; r < size; ++r) places.push_back(r * elements);
    const std::size_t room = static_cast<std::size_t>(size) * static_cast<std::size_t>(elements);
    std::vector<int> all(room, up() ? -1 : root);
    std::vector<int> own(static_cast<std::size_t>(elements), up() ? rank : -1);
    if (rank == late) {
      MPI_Recv(nullptr, 0, MPI_INT, early, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    ASSERT_EQ(call(own.data(), counts[static_cast<std::size_t>(rank)], MPI_INT, all.data(),
                   counts.data(), places.data(), MPI_INT, root, served.get()),
              MPI_SUCCESS);
    if (rank == early) MPI_Send(nullptr, 0, MPI_INT, late, 5, MPI_COMM_WORLD);
    if (up() && rank == root) {
      for (int r = 0; r < size; ++r) {
        EXPECT_EQ(all[static_cast<std::size_t>(r) * static_cast<std::size_t>(elements)],
                  r == 0 ? -1 : r);
      }
    }
    if (!up()) {
      EXPECT_EQ(own.front(), rank == 0 ? -1 : root);
    }
  }
}

// Sending less than there is room for is an error of the program, too, but every MPI lets it pass.
TEST_P(IrregularBlocksOverMpi, LetsABlockBeShorterThanItsRoom) {
  const int size = size_of();
  Served served(GetParam(), nullptr);
  settings(served, find_algorithm(GetParam(), "ordered-tree"), 4096, 1);
  const int rank = rank_in();
  for (const auto& [sent, room] : {std::array{3, 8}, std::array{3, 5000}, std::array{5000, 6000}}) {
    std::vector<int> counts(static_cast<std::size_t>(size), up() ? room : sent);
    std::vector<int> places;
    for (int r = 0; r < size; ++r) places.push_back(r * 6000);
    std::vector<int> all(static_cast<std::size_t>(size) * 6000, up() ? -1 : 5);
    std::vector<int> own(6000, up() ? rank : -1);
    ASSERT_EQ(call(own.data(), up() ? sent : room, MPI_INT, all.data(), counts.data(),
                   places.data(), MPI_INT, 0, served.get()),
              MPI_SUCCESS);
    if (up() && rank == 0) {
      for (int r = 0; r < size; ++r) {
        EXPECT_EQ(all[static_cast<std::size_t>(r * 6000 + sent - 1)], r);
        EXPECT_EQ(all[static_cast<std::size_t>(r * 6000 + sent)], -1);
      }
    }
    if (!up()) {
      EXPECT_EQ(own[static_cast<std::size_t>(sent - 1)], 5);
      EXPECT_EQ(own[static_cast<std::size_t>(sent)], -1);
    }
  }
}

// A rank that is wrong about its own arguments raises its error; it does not leave others waiting.
TEST_P(IrregularBlocksOverMpi, WrongArgumentsOfOneRankHangNobody) {
  const int size = size_of();
  Served served(GetParam(), nullptr);
  settings(served, find_algorithm(GetParam(), "ordered-tree"), 4096, 1);
  MPI_Comm_set_errhandler(served.get(), MPI_ERRORS_RETURN);
  const int rank = rank_in();
  std::vector<int> counts(static_cast<std::size_t>(size), 2);
  std::vector<int> places;
  for (int r = 0; r < size; ++r) places.push_back(2 * r);
  std::vector<int> all(static_cast<std::size_t>(size) * 2, 1);
  std::array<int, 2> own{rank, rank};
  for (int culprit = 0; culprit < size; ++culprit) {
    const int root = 0;
    const bool wrong = rank == culprit;
    const int result = call(own.data(), wrong ? -1 : 2, MPI_INT, all.data(), counts.data(),
                            places.data(), MPI_INT, root, served.get());
    if (wrong) {
      EXPECT_EQ(class_of(result), MPI_ERR_COUNT);
    }
  }
  counts[0] = -3;
  const int result = call(own.data(), 2, MPI_INT, all.data(), counts.data(), places.data(), MPI_INT,
                          0, served.get());
  if (rank == 0) {
    EXPECT_EQ(class_of(result), MPI_ERR_COUNT);
  }
  counts[0] = 2;
  EXPECT_EQ(class_of(call(own.data(), 2, MPI_INT, all.data(), counts.data(), places.data(), MPI_INT,
                          size, served.get())),
            MPI_ERR_ROOT);
  EXPECT_EQ(call(own.data(), 2, MPI_INT, all.data(), counts.data(), places.data(), MPI_INT, 0,
                 served.get()),
            MPI_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(BothWays, IrregularBlocksOverMpi,
                         testing::Values(Collective::gatherv, Collective::scatterv),
                         [](const auto& info) { return std::string(name_of(info.param)); });

// Whatever the settings say; and the tree of a gather is built at every call.
TEST(IrregularNames, OfThePaperRunItsTree) {
  const int rank = rank_in();
  const int size = size_of();
  std::vector<int> counts(static_cast<std::size_t>(size), 1);
  std::vector<int> places(static_cast<std::size_t>(size));
  std::iota(places.begin(), places.end(), 0);
  const Served gathers(Collective::gatherv, find_linear(Collective::gatherv));
  const Served scatters(Collective::scatterv, find_linear(Collective::scatterv));
  for (int call = 0; call < 3; ++call) {
    std::vector<int> all(static_cast<std::size_t>(size), -1);
    ASSERT_EQ(TUW_Gatherv(&rank, 1, MPI_INT, all.data(), counts.data(), places.data(), MPI_INT, 0,
                          gathers.get()),
              MPI_SUCCESS);
    if (rank == 0) {
      EXPECT_EQ(all, places);
    }
    int own = -1;
    ASSERT_EQ(TUW_Scatterv(all.data(), counts.data(), places.data(), MPI_INT, &own, 1, MPI_INT, 0,
                           scatters.get()),
              MPI_SUCCESS);
    EXPECT_EQ(own, rank);
  }
  if (size == 1) return;
  const TreeCache::Entry* const gathered =
      CommunicatorState::get(gathers.get())->gather_trees.last();
  const TreeCache::Entry* const scattered =
      CommunicatorState::get(scatters.get())->scatter_trees.last();
  ASSERT_TRUE(gathered != nullptr && scattered != nullptr);
  EXPECT_EQ(gathered->calls, 3U);
  EXPECT_EQ(scattered->calls, 3U);
}

}  // namespace
}  // namespace sibyl::test
