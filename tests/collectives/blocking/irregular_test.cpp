// SIBYL_Gatherv and SIBYL_Scatterv: every byte, for sizes with holes, permuted places with gaps,
// layouts that differ between root and ranks, direct and tree blocks, fresh and old trees.
#include <array>
#include <numeric>

#include "collectives/blocking/irregular_blocks.hpp"

namespace sibyl::test {
namespace {

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
  const Algorithm* const by = served.served_by();
  if (by == nullptr || by->name != "ordered-tree") GTEST_SKIP() << "needs more ranks for a tree";
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
