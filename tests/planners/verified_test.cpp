// Proves the plans of every row of the table with the symbolic verifier: all rank counts up to 40,
// all roots, in place or not, open or closed gates, with and without orders. A new row is proved
// without a word here.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "planners/exscan/doubling_family.hpp"
#include "planners/program_text.hpp"
#include "planners/rows.hpp"
#include "schedule/verify.hpp"
#include "support/sanitized.hpp"

namespace sibyl {
namespace {

constexpr Rank most_ranks = sanitized ? 20 : 40;

std::string text_of(const PlanRequest& request) {
  std::string text = std::to_string(request.ranks) + " ranks, root " + std::to_string(request.root);
  if (request.background) text += ", background";
  if (request.in_place) text += ", in place";
  if (!request.order.empty()) text += ", order";
  for (const Rank rank : request.order) text += " " + std::to_string(rank);
  return text;
}

class VerifiedAlgorithms : public testing::TestWithParam<const Algorithm*> {
 protected:
  const Algorithm& algorithm() const { return *GetParam(); }
  Rank roots(Rank ranks) const { return has_root(algorithm()) ? ranks : 1; }

  std::vector<Rank> shuffled(Rank ranks) {
    std::vector<Rank> order(static_cast<std::size_t>(ranks));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    return order;
  }

  // Requires that the request can be planned and that its plan is proved.
  VerifyResult prove(const PlanRequest& request) {
    EXPECT_EQ(check_request(algorithm(), request), "") << text_of(request);
    return prove(make_plan(algorithm(), request), text_of(request));
  }
  VerifyResult prove(const Plan& plan, const std::string& what) {
    VerifyResult result = verifier_.verify(plan);
    EXPECT_TRUE(result.ok) << algorithm().name << ", " << what << ": " << result.problem;
    return result;
  }

  std::mt19937 random_{20261121};
  Verifier verifier_;
};

class VerifiedOrders : public VerifiedAlgorithms {};
class VerifiedSegments : public VerifiedAlgorithms {};
class VerifiedRootOrders : public VerifiedAlgorithms {};
class VerifiedScans : public VerifiedAlgorithms {};

TEST_P(VerifiedAlgorithms, EveryPlanWithoutAnOrderIsProved) {
  for (Rank ranks = 1; ranks <= most_ranks; ++ranks) {
    for (Rank root = 0; root < roots(ranks); ++root) {
      for (const bool background : {false, algorithm().background}) {
        for (const bool in_place : {false, algorithm().in_place}) {
          const PlanRequest request{
              .ranks = ranks, .root = root, .background = background, .in_place = in_place};
          const VerifyResult result = prove(request);
          ASSERT_TRUE(result.ok);
          const PlanHeader header = algorithm().describe(request);
          ASSERT_EQ(result.rounds, header.rounds) << text_of(request);
          if (algorithm().collective <= Collective::reduce) {
            ASSERT_EQ(std::max(result.tags_used, 1U), header.tag_span) << text_of(request);
          } else {
            ASSERT_LE(result.tags_used, header.tag_span) << text_of(request);
          }
        }
      }
    }
  }
}

TEST_P(VerifiedSegments, EveryPlanInSegmentsIsProved) {
  for (Rank ranks = 1; ranks <= most_ranks; ++ranks) {
    for (const std::uint32_t segments : {2U, 5U, 8U}) {
      const Rank root = has_root(algorithm()) ? ranks / 3 : 0;
      PlanRequest request{.ranks = ranks,
                          .root = root,
                          .background = algorithm().background,
                          .in_place = algorithm().in_place};
      request.segments = segments;
      const VerifyResult result = prove(request);
      ASSERT_TRUE(result.ok);
      const PlanHeader header = algorithm().describe(request);
      ASSERT_EQ(result.rounds, header.rounds) << text_of(request);
      ASSERT_LE(result.tags_used, header.tag_span) << text_of(request);
    }
  }
}

// As the executor has them where processes may die (ULFM): no message waits for a later one.
TEST_P(VerifiedAlgorithms, EveryPlanEndsWithOneMessageUnderWay) {
  for (const Rank ranks : {2, 3, 4, 5, 7, 8, 11, 13, 16, 24, 37}) {
    for (const std::uint32_t segments : {1U, 7U}) {
      for (const bool in_place : {false, algorithm().in_place}) {
        PlanRequest request{.ranks = ranks,
                            .root = has_root(algorithm()) ? ranks / 3 : 0,
                            .background = algorithm().background,
                            .in_place = in_place};
        request.segments = segments;
        if (!check_request(algorithm(), request).empty()) continue;
        Plan plan = make_plan(algorithm(), request);
        plan.header.window.sends = 1;
        ASSERT_TRUE(prove(plan, text_of(request)).ok);
      }
    }
  }
}

TEST_P(VerifiedOrders, EveryPlanWithARandomOrderIsProved) {
  for (Rank ranks = 2; ranks <= most_ranks; ++ranks) {
    for (Rank root = 0; root < roots(ranks); ++root) {
      for (const bool background : {false, algorithm().background}) {
        for (const bool without_root : {false, true}) {
          std::vector<Rank> order = shuffled(ranks);
          if (without_root) std::erase(order, root);
          const PlanRequest request{.ranks = ranks,
                                    .root = root,
                                    .order = order,
                                    .background = background,
                                    .in_place = without_root && algorithm().in_place};
          ASSERT_TRUE(prove(request).ok);
        }
      }
    }
  }
}

TEST_P(VerifiedRootOrders, AnOrderThatOnlyTheRootHoldsIsEnough) {
  for (Rank ranks = 2; ranks <= most_ranks; ++ranks) {
    for (Rank root = 0; root < roots(ranks); ++root) {
      const std::vector<Rank> order = shuffled(ranks);
      PlanRequest request{.ranks = ranks, .root = root};
      const Plan without = make_plan(algorithm(), request);
      request.order = order;
      const Plan with = make_plan(algorithm(), request);
      ASSERT_TRUE(prove(with, text_of(request)).ok);
      for (Rank leaf = 0; leaf < ranks; ++leaf) {
        if (leaf == root) continue;
        const auto at = static_cast<std::size_t>(leaf);
        ASSERT_EQ(text_of(without_rounds(without.programs[at])),
                  text_of(without_rounds(with.programs[at])))
            << text_of(request) << " rank " << leaf;
      }
    }
  }
}

TEST_P(VerifiedScans, InPlaceMayDifferFromRankToRank) {
  for (Rank ranks = 1; ranks <= most_ranks; ++ranks) {
    for (int sample = 0; sample < (sanitized ? 3 : 10); ++sample) {
      Plan plan = make_plan(algorithm(), {.ranks = ranks});
      std::string mixed = "in place at";
      for (Rank rank = 0; rank < ranks; ++rank) {
        if (random_() % 2 == 0) continue;
        algorithm().plan({.ranks = ranks, .in_place = true}, rank,
                         plan.programs[static_cast<std::size_t>(rank)]);
        mixed += " " + std::to_string(rank);
      }
      ASSERT_TRUE(prove(plan, mixed).ok);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, VerifiedAlgorithms, rows([](const Algorithm&) { return true; }),
                         name_of_row);
INSTANTIATE_TEST_SUITE_P(Table, VerifiedSegments,
                         rows([](const Algorithm& algorithm) { return algorithm.segments; }),
                         name_of_row);
INSTANTIATE_TEST_SUITE_P(Table, VerifiedOrders, rows([](const Algorithm& algorithm) {
                           return algorithm.order != OrderUse::none;
                         }),
                         name_of_row);
INSTANTIATE_TEST_SUITE_P(Table, VerifiedRootOrders, rows([](const Algorithm& algorithm) {
                           return algorithm.order == OrderUse::root_only;
                         }),
                         name_of_row);
INSTANTIATE_TEST_SUITE_P(Table, VerifiedScans, rows([](const Algorithm& algorithm) {
                           return !has_root(algorithm) && algorithm.in_place;
                         }),
                         name_of_row);

TEST(VerifiedFamily, EveryParameterOfTheExclusiveScanIsProvedWithItsCounts) {
  const Algorithm& algorithm = *find_algorithm(Collective::exscan, "hybrid");
  Verifier verifier;
  for (Rank ranks = 1; ranks <= 130; ++ranks) {
    for (std::uint32_t operator_rounds = 1; operator_rounds <= 9; ++operator_rounds) {
      for (const bool in_place : {false, true}) {
        const Plan plan = make_plan(
            algorithm, {.ranks = ranks, .in_place = in_place, .operator_rounds = operator_rounds});
        const VerifyResult result = verifier.verify(plan);
        ASSERT_TRUE(result.ok) << ranks << " ranks, q' " << operator_rounds << ": "
                               << result.problem;
        EXPECT_EQ(result.rounds, exscan::rounds(ranks, operator_rounds));
        EXPECT_EQ(result.last_rank_operator_applications,
                  exscan::applications_at_last_rank(ranks, operator_rounds));
        EXPECT_LE(result.max_operator_applications,
                  exscan::most_applications(ranks, operator_rounds));
      }
    }
  }
}

// The verifier must be able to say no to plans of this table, or its yes means nothing.
TEST(VerifiedFamily, APlanWithOneMessageToTheWrongRankIsRefused) {
  for (const Algorithm& algorithm : algorithms()) {
    Plan plan = make_plan(algorithm, {.ranks = 6});
    Step& step = *std::find_if(plan.programs[5].steps.begin(), plan.programs[5].steps.end(),
                               [](const Step& step) { return step.peer != no_rank; });
    step.peer = step.peer == 1 ? 2 : 1;
    EXPECT_FALSE(verify(plan).ok) << algorithm.name;
  }
}

// Both ranks put what they get on the left: the sums are complete, but not the same expression.
TEST(VerifiedEverywhere, AnAllreduceWhoseBitsMayDifferIsRefused) {
  Plan plan = make_plan(*find_algorithm(Collective::allreduce, "recursive-doubling"), {.ranks = 2});
  plan.header.keeps_order = false;
  ASSERT_TRUE(verify(plan).ok);
  for (Rank rank = 0; rank < 2; ++rank) {
    Program& program = plan.programs[static_cast<std::size_t>(rank)];
    program.clear();
    ProgramBuilder build(program);
    const Slice sum = ProgramBuilder::slice(Buffer::receive, 0);
    const Slice own = ProgramBuilder::slice(Buffer::send, 0);
    build.send(1 - rank, own, 0);
    build.copy(sum, own, 0);
    build.receive_combine(1 - rank, sum, 0);
  }
  EXPECT_NE(verify(plan).problem.find("bits may differ"), std::string::npos)
      << verify(plan).problem;
}

TEST(VerifiedEverywhere, ABarrierThatDoesNotWaitForWhatItWasToldIsRefused) {
  Plan plan = make_plan(*find_algorithm(Collective::barrier, "dissemination"), {.ranks = 5});
  ASSERT_TRUE(verify(plan).ok);
  for (Step& step : plan.programs[2].steps) step.after_size = 0;
  EXPECT_NE(verify(plan).problem.find("without having waited"), std::string::npos)
      << verify(plan).problem;
}

TEST(VerifiedEverywhere, AReduceScatterInPlaceMayNotReadWhatItsResultLiesOver) {
  Plan plan = make_plan(*find_algorithm(Collective::reduce_scatter, "pairwise"),
                        {.ranks = 3, .in_place = true});
  ASSERT_TRUE(verify(plan).ok);
  Program& program = plan.programs[1];
  ProgramBuilder build(program);
  build.copy(ProgramBuilder::slice(Buffer::scratch, 0), ProgramBuilder::slice(Buffer::send, 0),
             plan.header.rounds - 1);
  EXPECT_NE(verify(plan).problem.find("holds nothing"), std::string::npos) << verify(plan).problem;
}

}  // namespace
}  // namespace sibyl
