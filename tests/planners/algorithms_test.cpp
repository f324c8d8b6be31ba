// The table of algorithms and what holds for every row; what is refused, and in which words.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "planners/program_text.hpp"
#include "planners/rows.hpp"

namespace sibyl {
namespace {

const Algorithm& row(Collective collective, std::string_view name) {
  return *find_algorithm(collective, name);
}

TEST(Algorithms, TableIsOrderedByCollectiveAndNamesEachAlgorithmOnce) {
  std::set<std::pair<Collective, std::string_view>> seen;
  Collective previous = Collective::exscan;
  for (const Algorithm& algorithm : algorithms()) {
    EXPECT_LE(previous, algorithm.collective);
    previous = algorithm.collective;
    EXPECT_TRUE(seen.emplace(algorithm.collective, algorithm.name).second) << algorithm.name;
  }
}

TEST(Algorithms, RowsOfACollectiveAreTheRowsOfTheTableThatHaveIt) {
  std::size_t total = 0;
  for (std::size_t i = 0; i < collective_count; ++i) {
    const auto collective = static_cast<Collective>(i);
    for (const Algorithm& algorithm : algorithms(collective)) {
      EXPECT_EQ(algorithm.collective, collective);
      EXPECT_EQ(find_algorithm(collective, algorithm.name), &algorithm);
      ++total;
    }
  }
  EXPECT_EQ(total, algorithms().size());
}

TEST(Algorithms, AnUnknownNameIsNotFoundNorOneOfAnotherCollective) {
  EXPECT_EQ(find_algorithm(Collective::exscan, "no-such-algorithm"), nullptr);
  EXPECT_EQ(find_algorithm(Collective::exscan, "linear"), nullptr);
  EXPECT_EQ(find_algorithm(Collective::exscan, ""), nullptr);
}

TEST(Algorithms, CollectivesThatMoveBlocksHaveALinearOneAndOthersNone) {
  for (const Collective collective :
       {Collective::gather, Collective::scatter, Collective::gatherv, Collective::scatterv}) {
    ASSERT_NE(find_linear(collective), nullptr) << name_of(collective);
    EXPECT_EQ(find_linear(collective), find_algorithm(collective, "linear"));
  }
  for (const Collective collective : {Collective::exscan, Collective::scan, Collective::reduce}) {
    EXPECT_EQ(find_linear(collective), nullptr) << name_of(collective);
  }
}

TEST(Algorithms, EveryRowSaysWhatItIsAndItsHeaderAgrees) {
  for (const Algorithm& algorithm : algorithms()) {
    for (const std::string_view text :
         {algorithm.name, algorithm.published, algorithm.idea, algorithm.cost, algorithm.source}) {
      EXPECT_FALSE(text.empty()) << algorithm.name;
    }
    const PlanHeader header = algorithm.describe({.ranks = 7});
    EXPECT_EQ(header.collective, algorithm.collective);
    EXPECT_EQ(header.algorithm, algorithm.name);
    EXPECT_EQ(header.ranks, 7);
    EXPECT_EQ(header.partition, partition_of(algorithm.collective));
    EXPECT_EQ(header.keeps_order, combines(algorithm.collective) && !algorithm.commutative_only);
  }
}

TEST(Algorithms, HeaderCountsTheRoundsOfTheMessagesExactly) {
  for (const Algorithm& algorithm : algorithms()) {
    for (Rank ranks = 1; ranks <= 40; ++ranks) {
      const Plan plan = make_plan(algorithm, {.ranks = ranks});
      std::set<std::uint32_t> rounds;
      for (const Program& program : plan.programs) {
        for (const Step& step : program.steps) {
          if (step.peer != no_rank) rounds.insert(step.round);
        }
      }
      EXPECT_EQ(rounds.size(), plan.header.rounds) << algorithm.name << " " << ranks;
      if (!rounds.empty()) {
        EXPECT_EQ(*rounds.rbegin() + 1, plan.header.rounds) << algorithm.name << " " << ranks;
      }
    }
  }
}

TEST(Algorithms, PlanningIntoAUsedProgramGivesTheSameProgram) {
  Program used;
  for (const Algorithm& algorithm : algorithms()) {
    for (const bool in_place : {true, false}) {
      for (Rank rank = 0; rank < 9; ++rank) {
        const PlanRequest request{.ranks = 9, .in_place = in_place};
        algorithm.plan(request, rank, used);
        const Program fresh = program_of(algorithm.collective, algorithm.name, request, rank);
        EXPECT_EQ(text_of(used), text_of(fresh));
        EXPECT_EQ(used.in_place, fresh.in_place);
        EXPECT_EQ(used.scratch_units, fresh.scratch_units);
      }
    }
  }
}

TEST(Algorithms, WhereOnlyTheRootUsesTheOrderNoOtherProgramDependsOnIt) {
  const std::array<Rank, 6> order{5, 3, 0, 1, 4, 2};
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.order != OrderUse::root_only) continue;
    for (const bool background : {false, algorithm.background}) {
      const Rank root = has_root(algorithm.collective) ? 3 : 0;
      PlanRequest without{.ranks = 6, .root = root, .background = background};
      PlanRequest with = without;
      with.order = order;
      for (Rank rank = 0; rank < 6; ++rank) {
        const auto text = [&](const PlanRequest& request) {
          return text_of(
              without_rounds(program_of(algorithm.collective, algorithm.name, request, rank)));
        };
        const bool same = text(with) == text(without);
        EXPECT_EQ(same, rank != root) << algorithm.name << " rank " << rank;
      }
    }
  }
}

TEST(Algorithms, BackgroundOpensAGateExactlyWhereTheRowSaysSo) {
  for (const Algorithm& algorithm : algorithms()) {
    for (const bool background : {false, true}) {
      std::size_t open = 0;
      for (const Program& program :
           make_plan(algorithm, {.ranks = 8, .background = background}).programs) {
        open += static_cast<std::size_t>(
            std::count_if(program.steps.begin(), program.steps.end(),
                          [](const Step& step) { return step.gate == Gate::on_start; }));
      }
      EXPECT_EQ(open > 0, background && algorithm.background) << algorithm.name;
    }
  }
}

TEST(Algorithms, InPlaceHoldsForAllRanksWhereNoneIsTheRoot) {
  for (const Algorithm& algorithm : algorithms()) {
    if (!algorithm.in_place) continue;
    const Rank root = has_root(algorithm) ? 2 : 0;
    const Plan plan = make_plan(algorithm, {.ranks = 5, .root = root, .in_place = true});
    for (Rank rank = 0; rank < 5; ++rank) {
      EXPECT_EQ(plan.programs[static_cast<std::size_t>(rank)].in_place,
                !has_root(algorithm) || rank == root)
          << algorithm.name;
    }
  }
}

TEST(CheckRequest, EveryAlgorithmTakesTheRequestsThatItsRowAllows) {
  const std::array<Rank, 5> all{4, 2, 0, 1, 3};
  const std::array<Rank, 4> others{4, 0, 1, 3};
  for (const Algorithm& algorithm : algorithms()) {
    PlanRequest request{.ranks = 5, .root = has_root(algorithm) ? 2 : 0};
    EXPECT_EQ(check_request(algorithm, request), "");
    request.background = algorithm.background;
    request.in_place = algorithm.in_place;
    EXPECT_EQ(check_request(algorithm, request), "");
    if (algorithm.order != OrderUse::none) {
      request.order = all;
      EXPECT_EQ(check_request(algorithm, request), "");
      request.order = others;
      EXPECT_EQ(check_request(algorithm, request).empty(), has_root(algorithm)) << algorithm.name;
    }
    EXPECT_EQ(check_request(algorithm, {.ranks = 1}), "");
  }
  EXPECT_EQ(check_request(row(Collective::exscan, "hybrid"), {.ranks = 9, .operator_rounds = 2}),
            "");
}

TEST(CheckRequest, RefusesRanksAndRootsThatDoNotExist) {
  const Algorithm& gather = row(Collective::gather, "linear");
  EXPECT_EQ(check_request(gather, {.ranks = 0}), "there are 0 ranks; ask for at least 1");
  EXPECT_EQ(check_request(gather, {.ranks = -3}), "there are -3 ranks; ask for at least 1");
  EXPECT_EQ(check_request(gather, {.ranks = 4, .root = 4}),
            "the root is 4; choose one of the ranks 0 to 3");
  EXPECT_EQ(check_request(gather, {.ranks = 4, .root = -1}),
            "the root is -1; choose one of the ranks 0 to 3");
  EXPECT_EQ(check_request(row(Collective::scan, "doubling"), {.ranks = 4, .root = 1}),
            "scan has no root; leave it at 0");
}

TEST(CheckRequest, RefusesOrdersThatAreNoPermutation) {
  const Algorithm& gather = row(Collective::gather, "binomial");
  const auto check = [&](std::vector<Rank> order) {
    return check_request(gather, {.ranks = 4, .root = 1, .order = order});
  };
  EXPECT_EQ(check({0, 2}),
            "the order has 2 entries; name all ranks 0 to 3 once, with or without root 1");
  EXPECT_EQ(check({0, 1, 2, 3, 3}),
            "the order has 5 entries; name all ranks 0 to 3 once, with or without root 1");
  EXPECT_EQ(check({0, 2, 4}), "the order names rank 4; there are 4 ranks, 0 to 3");
  EXPECT_EQ(check({0, 2, -1}), "the order names rank -1; there are 4 ranks, 0 to 3");
  EXPECT_EQ(check({0, 2, 0}), "the order names rank 0 twice; name every rank once");
  EXPECT_EQ(check({0, 1, 2}), "the order leaves out rank 3; only the root may be left out");
}

TEST(CheckRequest, RefusesWhatTheAlgorithmDoesNotTake) {
  const std::array<Rank, 4> order{0, 1, 2, 3};
  EXPECT_EQ(check_request(row(Collective::exscan, "hybrid"), {.ranks = 4, .order = order}),
            "exscan hybrid takes no order; leave it out");
  EXPECT_EQ(
      check_request(row(Collective::gather, "ordered-tree"), {.ranks = 4, .background = true}),
      "gather ordered-tree has no steps for the background; ask without it");
  EXPECT_EQ(check_request(row(Collective::scan, "doubling"), {.ranks = 4, .operator_rounds = 2}),
            "scan doubling has no operator rounds; leave them at 0");
  Algorithm without_in_place = row(Collective::scan, "doubling");
  without_in_place.in_place = false;
  EXPECT_EQ(check_request(without_in_place, {.ranks = 4, .in_place = true}),
            "scan doubling cannot work in place; give it a send buffer");
}

}  // namespace
}  // namespace sibyl
