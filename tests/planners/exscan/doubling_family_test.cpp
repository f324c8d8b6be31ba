// The exclusive-scan family: skips and coverage, closed forms, programs written out by hand.
#include "planners/exscan/doubling_family.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "planners/program_text.hpp"

namespace sibyl::exscan {
namespace {

constexpr std::string_view member_names[] = {"1-doubling", "123-doubling", "two-op-doubling",
                                             "hybrid"};

std::uint32_t applications(const Program& program) {
  return static_cast<std::uint32_t>(
      std::count_if(program.steps.begin(), program.steps.end(), [](const Step& step) {
        return step.kind == StepKind::combine || step.kind == StepKind::receive_combine;
      }));
}

std::uint32_t rounds_of(const Program& program) {
  return program.steps.empty() ? 0 : program.steps.back().round + 1;
}

// The smallest k with unit * 2^k >= target.
std::uint32_t log2_up(std::uint64_t unit, std::uint64_t target) {
  std::uint32_t k = 0;
  for (; unit < target; unit *= 2) ++k;
  return k;
}

struct ClosedForm {
  std::uint32_t rounds;
  std::uint32_t last;
  std::uint32_t any;
};

// The table of the published results, each column written in integer arithmetic.
ClosedForm published(std::string_view name, Rank ranks) {
  const auto p = static_cast<std::uint64_t>(ranks);
  const std::uint32_t q = log2_up(1, p);
  if (name == "1-doubling") {
    const std::uint32_t rounds = 1 + log2_up(1, p - 1);
    return {rounds, rounds - 1, rounds - 1};
  }
  if (name == "123-doubling") {
    const std::uint32_t rounds = log2_up(3, 4 * (p - 1));  // ceil(log2(p - 1) + log2(4/3))
    return {rounds, rounds - 1, rounds};
  }
  if (name == "two-op-doubling") return {q, q - 1, 2 * q - 2};
  // The smallest q' >= 1 with 2^(q - q') <= 2^q - p + 1.
  std::uint32_t operator_rounds = 1;
  while ((std::uint64_t{1} << (q - operator_rounds)) > (std::uint64_t{1} << q) - p + 1) {
    ++operator_rounds;
  }
  return {q, q - 1, q - 1 + operator_rounds - 1};
}

TEST(DoublingFamily, SkipsOfTheNamedMembersAreThePublishedOnes) {
  const auto skips = [](std::uint32_t operator_rounds) {
    std::vector<std::uint64_t> list(7);
    for (std::uint32_t round = 0; round < 7; ++round) list[round] = skip(round, operator_rounds);
    return list;
  };
  EXPECT_EQ(skips(1), (std::vector<std::uint64_t>{1, 1, 2, 4, 8, 16, 32}));
  EXPECT_EQ(skips(2), (std::vector<std::uint64_t>{1, 2, 3, 6, 12, 24, 48}));
  EXPECT_EQ(skips(3), (std::vector<std::uint64_t>{1, 2, 4, 7, 14, 28, 56}));
  EXPECT_EQ(skips(9), (std::vector<std::uint64_t>{1, 2, 4, 8, 16, 32, 64}));
}

TEST(DoublingFamily, EverySkipJoinsOntoWhatIsCoveredWithoutGapOrOverlap) {
  for (std::uint32_t operator_rounds = 1; operator_rounds <= 12; ++operator_rounds) {
    std::uint64_t coverage = 0;  // of W, in ranks below this one
    for (std::uint32_t round = 0; round < 20; ++round) {
      const bool with_value = round < operator_rounds;
      const std::uint64_t distance = skip(round, operator_rounds);
      // What arrives ends at rank r - distance (with V) or at r - distance - 1 (W alone); it must
      // end just below the ranks that are covered, r - coverage ... r - 1.
      EXPECT_EQ(with_value ? distance : distance + 1, coverage + 1);
      coverage += coverage + (with_value ? 1 : 0);
    }
  }
}

TEST(DoublingFamily, RoundsAreTheFewestThatCoverAllRanks) {
  for (std::uint32_t operator_rounds = 1; operator_rounds <= 14; ++operator_rounds) {
    for (Rank ranks = 1; ranks <= 5000; ++ranks) {
      std::uint32_t needed = 0;
      for (std::uint64_t coverage = 0; coverage + 1 < static_cast<std::uint64_t>(ranks); ++needed) {
        coverage += coverage + (needed < operator_rounds ? 1 : 0);
      }
      ASSERT_EQ(rounds(ranks, operator_rounds), needed)
          << ranks << " ranks, q' " << operator_rounds;
    }
  }
}

TEST(DoublingFamily, HybridHasTheSmallestParameterWithTheFewestRounds) {
  for (Rank ranks = 2; ranks <= 5000; ++ranks) {
    const std::uint32_t best = rounds(ranks, 31);
    const std::uint32_t chosen = operator_rounds_of(Member::hybrid, ranks);
    ASSERT_EQ(rounds(ranks, chosen), best) << ranks;
    if (chosen > 1) {
      ASSERT_GT(rounds(ranks, chosen - 1), best) << ranks;
    }
  }
}

class DoublingMembers : public testing::TestWithParam<std::string_view> {
 protected:
  const Algorithm& algorithm() const { return *find_algorithm(Collective::exscan, GetParam()); }
};

TEST_P(DoublingMembers, RoundsAndLastRanksApplicationsEqualThePublishedClosedForms) {
  Program program;
  for (Rank ranks = 2; ranks <= 5000; ++ranks) {
    const ClosedForm form = published(GetParam(), ranks);
    const PlanRequest request{.ranks = ranks};
    algorithm().plan(request, ranks - 1, program);
    ASSERT_EQ(algorithm().describe(request).rounds, form.rounds) << ranks;
    ASSERT_EQ(rounds_of(program), form.rounds) << ranks;
    ASSERT_EQ(applications(program), form.last) << ranks;
  }
}

TEST_P(DoublingMembers, NoRankAppliesTheOperatorMoreOftenThanPublished) {
  Program program;
  for (Rank ranks = 2; ranks <= 600; ++ranks) {
    const ClosedForm form = published(GetParam(), ranks);
    for (Rank rank = 0; rank < ranks; ++rank) {
      algorithm().plan({.ranks = ranks}, rank, program);
      ASSERT_LE(applications(program), form.any) << "rank " << rank << " of " << ranks;
      ASSERT_LE(rounds_of(program), form.rounds) << "rank " << rank << " of " << ranks;
    }
  }
  // Beyond, the ranks that receive in every round and send in every round that they can.
  for (Rank ranks = 601; ranks <= 5000; ++ranks) {
    const ClosedForm form = published(GetParam(), ranks);
    for (const Rank rank : {ranks / 4, ranks / 2 - 1, ranks / 2, ranks / 2 + 1, 3 * (ranks / 4)}) {
      algorithm().plan({.ranks = ranks}, rank, program);
      ASSERT_LE(applications(program), form.any) << "rank " << rank << " of " << ranks;
    }
  }
}

TEST_P(DoublingMembers, TheFunctionsBesideTheAlgorithmGiveThePublishedClosedForms) {
  const auto member =
      static_cast<Member>(std::find(std::begin(member_names), std::end(member_names), GetParam()) -
                          std::begin(member_names));
  for (Rank ranks = 2; ranks <= 5000; ++ranks) {
    const ClosedForm form = published(GetParam(), ranks);
    const std::uint32_t operator_rounds = operator_rounds_of(member, ranks);
    ASSERT_EQ(rounds(ranks, operator_rounds), form.rounds) << ranks;
    ASSERT_EQ(applications_at_last_rank(ranks, operator_rounds), form.last) << ranks;
    ASSERT_LE(most_applications(ranks, operator_rounds), form.any) << ranks;
  }
}

TEST_P(DoublingMembers, TagSpanIsTheLongestRunOfMessagesBetweenTwoRanks) {
  for (Rank ranks = 1; ranks <= 40; ++ranks) {
    const Plan plan = make_plan(algorithm(), {.ranks = ranks});
    std::int64_t longest = 1;
    for (const Program& program : plan.programs) {
      for (Rank peer = 0; peer < ranks; ++peer) {
        longest = std::max<std::int64_t>(
            longest, std::count_if(program.steps.begin(), program.steps.end(), [&](const Step& s) {
              return s.kind == StepKind::send && s.peer == peer;
            }));
      }
    }
    EXPECT_EQ(plan.header.tag_span, longest) << ranks;
  }
}

TEST_P(DoublingMembers, RankZeroTouchesItsReceiveBufferOnlyToReadItInPlace) {
  Program program;
  for (Rank ranks = 1; ranks <= 70; ++ranks) {
    for (const bool in_place : {false, true}) {
      algorithm().plan({.ranks = ranks, .in_place = in_place}, 0, program);
      EXPECT_EQ(program.in_place, in_place);
      for (const Step& step : program.steps) {
        EXPECT_EQ(step.kind, StepKind::send);
        EXPECT_EQ(step.slice.buffer, in_place ? Buffer::receive : Buffer::send);
      }
    }
  }
}

TEST_P(DoublingMembers, NoRankNeedsMoreThanTwoSlotsOfScratch) {
  Program program;
  for (Rank ranks = 1; ranks <= 70; ++ranks) {
    for (Rank rank = 0; rank < ranks; ++rank) {
      algorithm().plan({.ranks = ranks, .in_place = true}, rank, program);
      EXPECT_LE(program.scratch_units, 2U);
      algorithm().plan({.ranks = ranks}, rank, program);
      EXPECT_LE(program.scratch_units, 1U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Exscan, DoublingMembers, testing::ValuesIn(member_names),
                         [](const auto& name) {
                           std::string text(name.param);
                           std::replace(text.begin(), text.end(), '-', '_');
                           return "of_" + text;
                         });

TEST(DoublingFamily, AnyParameterCanBeAskedForAndTooLargeOnesMeanTheLargest) {
  const Algorithm& row = *find_algorithm(Collective::exscan, "1-doubling");
  const Algorithm& two_op = *find_algorithm(Collective::exscan, "two-op-doubling");
  for (Rank ranks = 1; ranks <= 40; ++ranks) {
    for (Rank rank = 0; rank < ranks; ++rank) {
      Program asked;
      Program own;
      row.plan({.ranks = ranks, .operator_rounds = 4000000000U}, rank, asked);
      two_op.plan({.ranks = ranks}, rank, own);
      EXPECT_EQ(text_of(asked), text_of(own));
    }
  }
  EXPECT_EQ(row.describe({.ranks = 100, .operator_rounds = 3}).rounds, rounds(100, 3));
}

Lines exscan_text(std::string_view name, const PlanRequest& request, Rank rank) {
  return text_of(program_of(Collective::exscan, name, request, rank));
}

TEST(DoublingFamily, OneRankDoesNothingAndTwoExchangeOneMessage) {
  for (const std::string_view name : member_names) {
    for (const bool in_place : {false, true}) {
      EXPECT_EQ(exscan_text(name, {.ranks = 1, .in_place = in_place}, 0), Lines{});
      const PlanRequest two{.ranks = 2, .in_place = in_place};
      EXPECT_EQ(exscan_text(name, two, 0),
                Lines{in_place ? "0: send receive[0] to 1" : "0: send send[0] to 1"});
      EXPECT_EQ(exscan_text(name, two, 1), Lines{"0: receive receive[0] from 0"});
    }
  }
}

TEST(DoublingFamily, Of123DoublingOnEightRanksIsAsWrittenByHand) {
  const PlanRequest request{.ranks = 8};
  EXPECT_EQ(exscan_text("123-doubling", request, 0),
            (Lines{"0: send send[0] to 1", "1: send send[0] to 2"}));
  EXPECT_EQ(
      exscan_text("123-doubling", request, 1),
      (Lines{"0: send send[0] to 2", "0: receive receive[0] from 0", "1: scratch[0] := send[0]",
             "1: scratch[0] := receive[0] (+) scratch[0]", "1: send scratch[0] to 3",
             "2: send receive[0] to 4", "3: send receive[0] to 7"}));
  EXPECT_EQ(
      exscan_text("123-doubling", request, 7),
      (Lines{"0: receive receive[0] from 6", "1: receive[0] := from 5 (+) receive[0]",
             "2: receive[0] := from 4 (+) receive[0]", "3: receive[0] := from 1 (+) receive[0]"}));
}

TEST(DoublingFamily, InPlaceValueIsSavedWhereItIsSentAndNowhereElse) {
  const PlanRequest request{.ranks = 8, .in_place = true};
  EXPECT_EQ(exscan_text("two-op-doubling", request, 3),
            (Lines{"0: scratch[0] := receive[0]", "0: send scratch[0] to 4",
                   "0: receive receive[0] from 2", "1: scratch[1] := scratch[0]",
                   "1: scratch[1] := receive[0] (+) scratch[1]", "1: send scratch[1] to 5",
                   "1: receive[0] := from 1 (+) receive[0]", "2: scratch[1] := scratch[0]",
                   "2: scratch[1] := receive[0] (+) scratch[1]", "2: send scratch[1] to 7"}));
  EXPECT_EQ(exscan_text("two-op-doubling", request, 7),
            (Lines{"0: receive receive[0] from 6", "1: receive[0] := from 5 (+) receive[0]",
                   "2: receive[0] := from 3 (+) receive[0]"}));
}

}  // namespace
}  // namespace sibyl::exscan
