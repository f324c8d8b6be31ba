// Proves plans for more ranks than verified_test.cpp does: every root of some numbers of ranks up
// to 128, with SIBYL_TEST_LONG of all; samples up to 2000, of the larger plans with SIBYL_TEST_LONG
// only. `sibyl verify COLLECTIVE --ranks 1..2000` proves all of them, in minutes. In segments and
// for arrivals some of 64 to 128 ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "planners/prove.hpp"
#include "planners/rows.hpp"
#include "sibyl/arrival.hpp"
#include "sibyl/planners.hpp"
#include "support/sanitized.hpp"

namespace sibyl {
namespace {

constexpr Collective proved[] = {Collective::exscan,
                                 Collective::scan,
                                 Collective::gather,
                                 Collective::scatter,
                                 Collective::allreduce,
                                 Collective::bcast,
                                 Collective::reduce_scatter,
                                 Collective::allgather,
                                 Collective::allgatherv,
                                 Collective::alltoall,
                                 Collective::alltoallv,
                                 Collective::barrier,
                                 Collective::reduce_scatter_block};

constexpr Rank most_in_every_run = 40;  // verified_test.cpp

bool is_long() { return std::getenv("SIBYL_TEST_LONG") != nullptr; }

class VerifiedLarge : public testing::TestWithParam<Collective> {
 protected:
  bool has_root() const { return sibyl::has_root(GetParam()); }
  void expect_proved(const Algorithm& algorithm, Rank ranks, Rank root, bool in_place) {
    const PlanRequest request{
        .ranks = ranks, .root = root, .in_place = in_place && algorithm.in_place};
    const VerifyResult result = verify_algorithm(algorithm, request, storage_);
    ASSERT_TRUE(result.ok) << algorithm.name << ", " << ranks << " ranks, root " << root << ": "
                           << result.problem;
    EXPECT_EQ(result.rounds, algorithm.describe(request).rounds);
  }
  // A proof takes room and time for all steps, what they move and what they move it through. In
  // thousands of ranks some plans have more than a test has room for: doubling keeps as many copies
  // of the vector as the largest prime of their number. Sanitizers see the same code on fewer.
  static bool fits(const Algorithm& algorithm, Rank ranks) {
    Program program;
    plan_one_rank(algorithm, {.ranks = ranks}, ranks - 1, program);  // no root's
    const std::size_t size = program.steps.size() + program.ranges.size() + program.scratch_units;
    constexpr std::size_t usual = sanitized ? 1U << 16 : 1U << 19;
    return size * static_cast<std::size_t>(ranks) < (is_long() ? 1U << 24 : usual);
  }
  ProofStorage storage_;
};

TEST_P(VerifiedLarge, EveryRootIsProvedOnAHundredRanksAndMore) {
  std::vector<Rank> numbers{63, 64, 65, 100, 127, 128};
  if (is_long() && !sanitized) {
    numbers.resize(128 - most_in_every_run);
    std::iota(numbers.begin(), numbers.end(), most_in_every_run + 1);
  }
  for (const Algorithm& algorithm : algorithms(GetParam())) {
    for (const Rank ranks : numbers) {
      if (sanitized && !fits(algorithm, ranks)) continue;
      const Rank roots = has_root() ? ranks : 1;
      for (Rank root = 0; root < roots; root += sanitized ? 9 : 1) {
        expect_proved(algorithm, ranks, root, root % 2 == 1);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(VerifiedLarge, SamplesUpToTwoThousandRanksAreProved) {
  std::mt19937 random(20261121);
  std::vector<Rank> sample{150};
  if (!sanitized) sample.insert(sample.end(), {1024, 2000});
  for (int i = 0; i < (sanitized ? 1 : 6); ++i)
    sample.push_back(static_cast<Rank>(129 + random() % 1871));
  for (const Algorithm& algorithm : algorithms(GetParam())) {
    int proofs = 0;
    for (const Rank ranks : sample) {
      if (!fits(algorithm, ranks)) continue;
      ++proofs;
      const auto root = static_cast<Rank>(random() % static_cast<unsigned>(ranks));
      expect_proved(algorithm, ranks, has_root() ? root : 0, random() % 2 == 0);
      if (HasFatalFailure()) return;
    }
    EXPECT_TRUE(proofs > 0 || !is_long()) << algorithm.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Table, VerifiedLarge, testing::ValuesIn(proved),
                         [](const auto& collective) {
                           return "of_" + std::string(name_of(collective.param));
                         });

class VerifiedLargeSegments : public testing::TestWithParam<const Algorithm*> {};

// More segments than a word has bits, but of blocks, of which there are as many as ranks.
TEST_P(VerifiedLargeSegments, OfRanksThatComeAtOnceOrLateAreProved) {
  const Algorithm& row = *GetParam();
  const std::uint32_t segments = partition_of(row.collective) == Partition::vector ? 70 : 3;
  ProofStorage storage;
  for (const Rank ranks : {64, 100, 128}) {
    if (sanitized && ranks > 64) break;
    for (const PatternShape shape :
         {PatternShape::flat, PatternShape::skewed, PatternShape::uniform}) {
      if (!row.arrivals && shape != PatternShape::flat) break;
      const ArrivalPattern pattern =
          make_pattern({.shape = shape, .ranks = ranks, .maximum = 2.0 * segments, .seed = 7})
              .pattern;
      PlanRequest request{.ranks = ranks,
                          .root = has_root(row) ? ranks / 3 : 0,
                          .in_place = row.in_place && ranks == 100,
                          .ranks_per_node = row.nodes ? 4 : 1,
                          .segments = segments};
      if (row.arrivals) request.arrivals = pattern.times;
      const VerifyResult result = verify_algorithm(row, request, storage);
      ASSERT_TRUE(result.ok) << ranks << " ranks, " << name_of(shape) << ": " << result.problem;
      const PlanHeader header = row.describe(request);
      EXPECT_EQ(result.rounds, header.rounds) << ranks << " ranks, " << name_of(shape);
      EXPECT_LE(result.tags_used, header.tag_span) << ranks << " ranks, " << name_of(shape);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, VerifiedLargeSegments,
                         rows([](const Algorithm& algorithm) { return algorithm.segments; }),
                         name_of_row);

}  // namespace
}  // namespace sibyl
