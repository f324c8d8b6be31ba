// Proves the rivals of Clairvoyant for some hundred ranks, with roots sampled; verified_test.cpp
// proves them, as every row, up to 40 ranks with every root.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "planners/prove.hpp"

namespace sibyl {
namespace {

class VerifiedReduce : public testing::TestWithParam<const char*> {};

TEST_P(VerifiedReduce, OfSomeHundredRanksIsProvedForSampledRoots) {
  const Algorithm& row = *find_algorithm(Collective::reduce, GetParam());
  std::mt19937 random(20261121);
  ProofStorage storage;
  for (const Rank ranks : {63, 64, 65, 96, 100, 127, 128, 210, 243, 257}) {
    const auto any = static_cast<Rank>(random() % static_cast<unsigned>(ranks));
    for (const Rank root : {0, 1, ranks / 2, ranks - 1, any}) {
      const PlanRequest request{.ranks = ranks, .root = root, .in_place = random() % 2 == 0};
      const VerifyResult result = verify_algorithm(row, request, storage);
      ASSERT_TRUE(result.ok) << ranks << " ranks, root " << root << ": " << result.problem;
      ASSERT_EQ(result.rounds, row.describe(request).rounds);
      ASSERT_EQ(result.tags_used, row.describe(request).tag_span);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, VerifiedReduce,
                         testing::Values("binomial", "ordered-tree", "rabenseifner", "radix-k",
                                         "ring"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace sibyl
