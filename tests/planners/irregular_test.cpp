// Gatherv and scatterv over the ordered tree: proved by the verifier, with the volume that every
// link may carry, on the six problems of the paper and on random sizes with holes.
//
// SIBYL_TEST_LONG proves every root up to 300 ranks; otherwise roots are sampled.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "planners/irregular_sizes.hpp"
#include "schedule/verify.hpp"
#include "sibyl/planners.hpp"
#include "support/sanitized.hpp"

namespace sibyl {
namespace {

class Irregular : public testing::TestWithParam<Collective> {
 protected:
  const Algorithm& tree() const { return *find_algorithm(GetParam(), "ordered-tree"); }

  void prove(const Sizes& sizes, Rank root, std::uint64_t direct_from, Rank per_node) {
    const PlanRequest request = irregular_request(sizes, root, direct_from, per_node);
    const std::string what = std::to_string(sizes.size()) + " ranks, root " + std::to_string(root) +
                             ", direct from " + std::to_string(direct_from) + ", " +
                             std::to_string(per_node) + " a node";
    ASSERT_EQ(check_request(tree(), request), "") << what;
    plan_.programs.resize(sizes.size());
    plan_.header = plan_all_ranks(tree(), request, plan_.programs);
    const VerifyResult result = verifier_.verify(plan_);
    ASSERT_TRUE(result.ok) << what << ": " << result.problem;
    expect_linear_volume(sizes, root, direct_from, what);
  }

  // Nobody sends or receives more than all blocks once, and what the root moves is every block but
  // its own exactly once.
  void expect_linear_volume(const Sizes& sizes, Rank root, std::uint64_t direct_from,
                            const std::string& what) {
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (static_cast<Rank>(i) != root) all += sizes[i];
    }
    const bool up = gathers(GetParam());
    std::uint64_t at_root = 0;
    for (const Step& step : plan_.programs[static_cast<std::size_t>(root)].steps) {
      if (step.peer == no_rank) continue;
      const auto& program = plan_.programs[static_cast<std::size_t>(root)];
      for (const Range& range : program.ranges_of(step.slice)) {
        for (Unit u = range.first; u < range.first + range.count; ++u) at_root += sizes[u];
      }
      if (step.slice.range.count > 0) {
        ASSERT_EQ(step.kind == StepKind::receive, up) << what;
      }
    }
    ASSERT_EQ(at_root, all) << what;
    // A block that goes direct is nobody else's.
    for (Rank rank = 0; rank < static_cast<Rank>(sizes.size()); ++rank) {
      const auto own = static_cast<std::size_t>(rank);
      if (rank == root || sizes[own] < direct_from) continue;
      std::uint32_t direct = 0;
      for (const Step& step : plan_.programs[own].steps) {
        const Buffer mine = up ? Buffer::send : Buffer::receive;
        if (step.peer == root && step.slice.buffer == mine && step.slice.range.count == 1) ++direct;
      }
      ASSERT_EQ(direct, 1U) << what;
    }
  }

  std::mt19937_64 random_{20261121};
  Verifier verifier_;
  Plan plan_;
};

TEST_P(Irregular, EveryProblemIsProvedWithItsVolume) {
  const bool all_roots = std::getenv("SIBYL_TEST_LONG") != nullptr;
  for (Rank ranks = 1; ranks <= (sanitized ? 53 : 300); ranks += all_roots || ranks < 34 ? 1 : 19) {
    const Rank step = all_roots || ranks < 12 ? 1 : ranks / 5;
    for (Rank root = 0; root < ranks; root += step) {
      for (const Sizes& sizes : problems(ranks, 100, static_cast<std::uint32_t>(random_()))) {
        const std::uint64_t direct_from = random_() % 3 == 0 ? ~std::uint64_t{0} : random_() % 300;
        const Rank per_node = random_() % 2 == 0 ? 1 : 1 + static_cast<Rank>(random_() % 9);
        ASSERT_NO_FATAL_FAILURE(prove(sizes, root, direct_from, per_node));
      }
    }
  }
}

TEST_P(Irregular, SamplesUpTo1100RanksAreProved) {
  for (const Rank ranks : {511, 560, 1099, 1100}) {
    const auto all = problems(ranks, 1000, static_cast<std::uint32_t>(random_()));
    const Sizes& sizes = all[random_() % all.size()];
    const auto root = static_cast<Rank>(random_() % static_cast<std::uint64_t>(ranks));
    ASSERT_NO_FATAL_FAILURE(prove(sizes, root, 900, ranks == 560 ? 16 : 1));
  }
}

TEST_P(Irregular, SizesOfTheWrongNumberOrBeyond64BitsAreRefused) {
  PlanRequest request;
  request.ranks = 3;
  const Sizes two{1, 2};
  request.sizes = two;
  EXPECT_NE(check_request(tree(), request).find("2 sizes for 3 ranks"), std::string::npos);
  const Sizes large{1, ~std::uint64_t{0}, 0};
  request.sizes = large;
  EXPECT_NE(check_request(tree(), request).find("2^64"), std::string::npos);
  const Algorithm* regular = find_algorithm(Collective::gather, "ordered-tree");
  const Sizes three{1, 2, 3};
  request.sizes = three;
  EXPECT_NE(check_request(*regular, request).find("leave sizes out"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(BothWays, Irregular,
                         testing::Values(Collective::gatherv, Collective::scatterv),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace sibyl
