// The choice keeps to what algorithms and messages can carry, and to what it was told.
#include "selection/choose.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "selection/model.hpp"

namespace sibyl {
namespace {

constexpr Collective collectives[] = {Collective::exscan, Collective::scan, Collective::gather,
                                      Collective::scatter};
constexpr Rank rank_counts[] = {1, 2, 3, 4, 5, 8, 9, 16, 17, 36, 100, 1000, 4097};
constexpr std::uint64_t message_limit = (std::uint64_t{1} << 31) - 1;
constexpr std::uint64_t sizes[] = {
    1, 8, 4095, 4096, 4097, 1 << 20, message_limit, message_limit + 1, 1ULL << 40};

bool moves_blocks(Collective collective) {
  return collective == Collective::gather || collective == Collective::scatter;
}

Situation situation(Collective collective, Rank ranks, std::uint64_t bytes, OperatorUse use) {
  Situation now;
  now.collective = collective;
  now.ranks = ranks;
  now.bytes = bytes;
  now.operator_use = use;
  return now;
}

Settings force(Collective collective, std::int32_t row) {
  Settings settings;
  settings.algorithm[static_cast<std::size_t>(collective)] = row;
  return settings;
}

TEST(Choose, OneMessageANodeWhereAllOfItGoesAtOnce) {
  const auto name = [](std::uint64_t bytes, Rank ranks, Rank per_node) {
    Situation now = situation(Collective::gather, ranks, bytes, OperatorUse::none);
    now.ranks_per_node = per_node;
    return choose(Settings{}, now)->name;
  };
  EXPECT_EQ(name(1024, 560, 16), "two-level");
  EXPECT_EQ(name(1025, 560, 16), "binomial");  // a node's blocks are too many bytes
  EXPECT_EQ(name(1023, 560, 16), "binomial");  // start-ups are what counts
  EXPECT_EQ(name(4096, 32, 4), "two-level");
  EXPECT_EQ(name(4097, 32, 4), "linear");
  EXPECT_EQ(name(1024, 16, 16), "binomial");  // one node
  EXPECT_EQ(name(1024, 16, 1), "binomial");
  Situation dealt_out = situation(Collective::scatter, 560, 1024, OperatorUse::none);
  dealt_out.nodes = 35;
  EXPECT_EQ(choose(Settings{}, dealt_out)->name, "two-level");
  dealt_out.nodes = 34;  // 17 ranks on some
  EXPECT_EQ(choose(Settings{}, dealt_out)->name, "binomial");
}

TEST(Choose, NeverBreaksARestriction) {
  for (const Collective collective : collectives) {
    for (const Rank ranks : rank_counts) {
      for (const std::uint64_t bytes : sizes) {
        for (const OperatorUse use : {OperatorUse::predefined, OperatorUse::user}) {
          const Algorithm* row = choose(Settings{}, situation(collective, ranks, bytes, use));
          if (moves_blocks(collective) && bytes > message_limit) {
            EXPECT_EQ(row, nullptr) << "a block is a message";
            continue;
          }
          ASSERT_NE(row, nullptr);
          EXPECT_EQ(row->collective, collective);
          PlanRequest request;
          request.ranks = ranks;
          EXPECT_EQ(check_request(*row, request), "");
          if (!moves_blocks(collective)) {
            EXPECT_FALSE(row->commutative_only);
            EXPECT_TRUE(row->describe(request).keeps_order);
          } else if (row->name != "linear") {
            EXPECT_LE(bytes * static_cast<std::uint64_t>(ranks), message_limit);
          }
        }
      }
    }
  }
}

std::string_view irregular_choice(Collective collective, Rank ranks, Rank per_node,
                                  Costs costs = {}) {
  Situation now = situation(collective, ranks, 0, OperatorUse::none);
  now.ranks_per_node = per_node;
  now.costs = costs;
  const Algorithm* const chosen = choose(Settings{}, now);
  return chosen == nullptr ? "native" : chosen->name;
}

// docs/how-to/irregular.md states these numbers.
TEST(Choose, TakesTheTreeOfIrregularBlocksFromWhereItSavesStartUps) {
  const auto switches = [](Collective collective, Rank per_node) {
    Rank first = 1;
    while (irregular_choice(collective, first, std::min(per_node, first)) != "ordered-tree") {
      ++first;
    }
    return first;
  };
  constexpr Rank one_node = 1000;
  EXPECT_EQ(switches(Collective::gatherv, one_node), 8);
  EXPECT_EQ(switches(Collective::gatherv, 1), 27);
  EXPECT_EQ(switches(Collective::scatterv, one_node), 32);
  EXPECT_EQ(switches(Collective::scatterv, 1), 103);
}

TEST(Choose, LeavesOneBlockThatGoesToARootToTheLibrary) {
  for (const Rank per_node : {1, 2}) {
    EXPECT_EQ(irregular_choice(Collective::gatherv, 2, per_node), "native");
    EXPECT_EQ(irregular_choice(Collective::gatherv, 3, per_node), "linear");
    EXPECT_EQ(irregular_choice(Collective::scatterv, 2, per_node),
              per_node == 1 ? "linear" : "native");
  }
}

// docs/results/never-slower.md has what they took.
TEST(Choose, LeavesToTheLibraryOnOneNodeWhatNoAlgorithmShortens) {
  const auto serves = [](Collective collective, Rank ranks, std::uint64_t bytes, bool crowded) {
    Situation now = situation(collective, ranks, bytes, OperatorUse::predefined);
    now.ranks_per_node = ranks;
    now.crowded = crowded;
    return choose({}, now) != nullptr;
  };
  for (const Collective collective :
       {Collective::exscan, Collective::scan, Collective::gather, Collective::scatter}) {
    const Rank blocks = blocks_of_a_call(collective, 8);
    for (const std::uint64_t bytes : {8U, 512U, 100'000U}) {
      EXPECT_FALSE(serves(collective, 2, bytes, false)) << name_of(collective) << bytes;
      EXPECT_TRUE(serves(collective, 8, bytes, false)) << name_of(collective) << bytes;
      EXPECT_EQ(serves(collective, 8, bytes, true), bytes * static_cast<unsigned>(blocks) >= 4096)
          << name_of(collective) << bytes;
    }
  }
  for (const Collective collective : {Collective::gatherv, Collective::scatterv}) {
    EXPECT_TRUE(serves(collective, 8, 0, false));
    EXPECT_FALSE(serves(collective, 8, 0, true));
  }
  // Through a window that was asked for messages cost something else.
  Situation now = situation(Collective::scan, 2, 8, OperatorUse::predefined);
  now.ranks_per_node = 2;
  now.by_window = true;
  EXPECT_NE(choose({}, now), nullptr);
}

TEST(Choose, SendsToEachNodeWhereALatencyIsWorthMoreMessages) {
  const auto star = [](Rank nodes, Rank per_node, Costs costs = {},
                       Collective collective = Collective::scatterv) {
    Situation now = situation(collective, nodes * per_node, 0, OperatorUse::none);
    now.ranks_per_node = per_node;
    now.costs = costs;
    return star_saves(now);
  };
  EXPECT_TRUE(star(35, 16));
  EXPECT_TRUE(star(102, 16));  // docs/how-to/irregular.md
  EXPECT_FALSE(star(103, 16));
  EXPECT_FALSE(star(1, 16));
  EXPECT_FALSE(star(35, 1));
  EXPECT_FALSE(star(35, 16, {}, Collective::gatherv));
  EXPECT_TRUE(star(35, 16, {.alpha = 100e-6, .overhead = 1e-6, .beta = 1e-9}));
  EXPECT_FALSE(star(35, 16, {.alpha = 1e-6, .overhead = 1e-6, .beta = 1e-9}));
}

TEST(Choose, WeighsMeasuredLatencyOfIrregularBlocksAgainstWhatAMessageAdds) {
  const Costs far{.alpha = 100e-6, .overhead = 1e-6, .beta = 1e-9};
  const Costs busy{.alpha = 100e-6, .overhead = 90e-6, .beta = 1e-9};
  EXPECT_EQ(irregular_choice(Collective::gatherv, 48, 1, far), "linear");
  EXPECT_EQ(irregular_choice(Collective::gatherv, 48, 1, busy), "ordered-tree");
  // What a root alone was measured to need counts for more than what all ranks need at once.
  Costs root_alone = busy;
  root_alone.gathered = 5e-6;
  EXPECT_EQ(irregular_choice(Collective::gatherv, 48, 1, root_alone), "linear");
  EXPECT_EQ(irregular_choice(Collective::scatterv, 1000, 1, root_alone), "ordered-tree");
  root_alone.scattered = 1e-6;
  EXPECT_EQ(irregular_choice(Collective::scatterv, 1000, 1, root_alone), "linear");
}

TEST(Choose, MeasuresLatencyOnlyWhereItDecidesOnIrregularBlocks) {
  const auto wants = [](Rank ranks, Rank per_node, const Settings& settings, Costs costs = {}) {
    Situation now = situation(Collective::gatherv, ranks, 0, OperatorUse::none);
    now.ranks_per_node = per_node;
    now.costs = costs;
    return wants_costs(settings, now);
  };
  EXPECT_TRUE(wants(48, 1, {}));
  EXPECT_FALSE(wants(8, 1, {})) << "too few ranks for a tree";
  EXPECT_FALSE(wants(2, 1, {})) << "the library's";
  EXPECT_FALSE(wants(48, 48, {})) << "one node";
  EXPECT_FALSE(wants(48, 1, force(Collective::gatherv, 1))) << "somebody chose";
  EXPECT_FALSE(wants(48, 1, {}, {.alpha = 1e-6, .overhead = 1e-6, .beta = 1e-9})) << "it is known";
}

TEST(Choose, TakesWhatIsForced) {
  for (const Collective collective : collectives) {
    const auto rows = algorithms(collective);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Settings settings = force(collective, static_cast<std::int32_t>(i));
      for (const Rank ranks : rank_counts) {
        const auto now = situation(collective, ranks, 1000, OperatorUse::predefined);
        EXPECT_EQ(choose(settings, now), &rows[i]);
      }
    }
    for (const std::uint64_t bytes : sizes) {
      const auto now = situation(collective, 4, bytes, OperatorUse::user);
      EXPECT_EQ(choose(force(collective, serve_natively), now), nullptr);
    }
  }
}

TEST(Choose, ATableDecidesWhatIsLeftToChooseAndNothingElse) {
  const std::string text =
      "sibyl-selection 1\n"
      "gather 4 0-99 linear\n"
      "gather 4 100- native\n"
      "scan 4 * auto\n";
  Settings settings;
  ASSERT_EQ(read_table(text, "table", settings.table), "");
  const auto small = situation(Collective::gather, 4, 8, OperatorUse::none);
  const auto large = situation(Collective::gather, 4, 100, OperatorUse::none);
  const auto others = situation(Collective::gather, 5, 8, OperatorUse::none);
  const auto scan = situation(Collective::scan, 4, 8, OperatorUse::predefined);
  EXPECT_EQ(choose(settings, small), find_algorithm(Collective::gather, "linear"));
  EXPECT_NE(choose(Settings{}, small), choose(settings, small));
  EXPECT_EQ(choose(settings, large), nullptr);
  EXPECT_EQ(choose(settings, others), choose(Settings{}, others));
  EXPECT_EQ(choose(settings, scan), choose(Settings{}, scan));
  Settings forced = force(Collective::gather, serve_natively);
  forced.table = settings.table;
  EXPECT_EQ(choose(forced, small), nullptr);
}

TEST(Choose, ForcedAlgorithmsThatPackGoNativeBeyondAMessage) {
  for (const Collective collective : {Collective::gather, Collective::scatter}) {
    const auto rows = algorithms(collective);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Settings settings = force(collective, static_cast<std::int32_t>(i));
      const auto now = situation(collective, 4, message_limit / 2, OperatorUse::none);
      EXPECT_EQ(choose(settings, now), rows[i].name == "linear" ? &rows[i] : nullptr);
      const auto beyond = situation(collective, 4, message_limit + 1, OperatorUse::none);
      EXPECT_EQ(choose(settings, beyond), nullptr);
    }
  }
}

TEST(Choose, ReduceTakesNoAlgorithmThatReordersForOperatorsThatDoNotCommute) {
  const auto rows = algorithms(Collective::reduce);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Settings settings = force(Collective::reduce, static_cast<std::int32_t>(i));
    for (const Rank ranks : rank_counts) {
      auto now = situation(Collective::reduce, ranks, 100000, OperatorUse::user);
      EXPECT_EQ(choose(settings, now), &rows[i]);
      now.commutes = false;
      EXPECT_EQ(choose(settings, now), rows[i].commutative_only ? nullptr : &rows[i]);
    }
  }
}

TEST(Choose, ReduceStaysNativeUnlessItIsAskedFor) {
  for (const std::uint64_t bytes : {8, 65536, 1 << 24}) {
    const auto now = situation(Collective::reduce, 48, bytes, OperatorUse::predefined);
    EXPECT_EQ(choose(Settings{}, now), nullptr) << bytes;
  }
}

TEST(Choose, ReduceGoesNativeWhereRanksAreMoreThanPartsCanBe) {
  const auto rows = algorithms(Collective::reduce);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Settings settings = force(Collective::reduce, static_cast<std::int32_t>(i));
    const bool fits = check_request(rows[i], {.ranks = 40000}).empty();
    const auto now = situation(Collective::reduce, 40000, 1 << 20, OperatorUse::predefined);
    EXPECT_EQ(choose(settings, now), fits ? &rows[i] : nullptr) << rows[i].name;
  }
}

// The fewest rounds win while messages are short; applications count when operators are dear.
TEST(Choose, WeighsRoundsAgainstApplicationsOfTheOperator) {
  const auto name = [](Rank ranks, std::uint64_t bytes, OperatorUse use) {
    return choose(Settings{}, situation(Collective::exscan, ranks, bytes, use))->name;
  };
  for (const Rank ranks : rank_counts) {
    PlanRequest request;
    request.ranks = ranks;
    const Algorithm& small =
        *find_algorithm(Collective::exscan, name(ranks, 8, OperatorUse::predefined));
    std::uint32_t fewest = ~0U;
    for (const Algorithm& row : algorithms(Collective::exscan)) {
      fewest = std::min(fewest, row.describe(request).rounds);
    }
    EXPECT_EQ(small.describe(request).rounds, fewest) << ranks << " ranks";
    EXPECT_NE(name(ranks, 1 << 24, OperatorUse::user), "two-op-doubling") << ranks << " ranks";
  }
}

TEST(Choose, MindsWhereRanksLie) {
  const auto name = [](Rank ranks, Rank per_node, std::uint64_t bytes) {
    auto now = situation(Collective::exscan, ranks, bytes, OperatorUse::predefined);
    now.ranks_per_node = per_node;
    return choose(Settings{}, now)->name;
  };
  // Short messages: the fewest rounds, and start-ups of shifts overlap.
  EXPECT_NE(name(1152, 32, 8), "recursive-doubling");
  EXPECT_NE(name(384, 24, 8), "recursive-doubling");
  // Longer ones: shifts crowd the nodes' connections, exchanges stay within nodes while they can,
  // even where the blocks of the last such rounds straddle nodes.
  EXPECT_EQ(name(256, 32, 800), "recursive-doubling");
  EXPECT_EQ(name(384, 24, 8000), "recursive-doubling");
  EXPECT_EQ(name(240, 12, 8000), "recursive-doubling");
  // A vector leaves a node once a round; long ones are cut into segments.
  EXPECT_EQ(name(1152, 32, 8192), "two-level");
  EXPECT_EQ(name(1152, 24, 8192), "two-level");
  EXPECT_EQ(name(1152, 32, 800000), "two-tree");
  // One rank a node, or one node: nothing to gain for short ones.
  for (const std::uint64_t bytes : {8, 800, 8000}) {
    EXPECT_EQ(name(36, 1, bytes), name(36, 36, bytes));
    EXPECT_EQ(name(36, 100, bytes), name(36, 36, bytes));
  }
}

TEST(Choose, CutsLongVectorsOfScansIntoSegments) {
  for (const Collective collective : {Collective::exscan, Collective::scan}) {
    for (const Rank ranks : rank_counts) {
      auto now = situation(collective, ranks, 1 << 24, OperatorUse::predefined);
      const Algorithm* longest = choose(Settings{}, now);
      EXPECT_EQ(longest->segments, ranks >= 4) << ranks << " ranks";
      if (longest->segments) {
        EXPECT_GT(segments_for(Settings{}, *longest, now).segments, 1U);
      }
      now.bytes = 1024;
      EXPECT_FALSE(choose(Settings{}, now)->segments) << ranks << " ranks";
    }
  }
}

TEST(Choose, FewLongSegmentsAreUnderWayOverSlowLinks) {
  constexpr std::uint64_t mebi = 1 << 20;
  const Costs slow{.alpha = 50e-6, .overhead = 150e-6, .beta = 8e-8};
  const Costs fast{.alpha = 3e-6, .overhead = 1e-6, .beta = 2e-10};
  EXPECT_EQ(most_sends_to_one(slow, mebi, 16), 2U);
  EXPECT_EQ(most_sends_to_one(slow, mebi, 64), 0U);  // sent at once
  EXPECT_EQ(most_sends_to_one(slow, mebi, 1), 0U);
  EXPECT_EQ(most_sends_to_one(fast, mebi, 16), 0U);
  EXPECT_EQ(most_sends_to_one(fast, 16 * mebi, 16), 2U);
  EXPECT_EQ(most_sends_to_one({}, mebi, 16), 0U);
}

// By rendezvous a rank passes nothing on while it waits (model.hpp), and links of 100 Mbit/s take
// as long for many messages as for few.
TEST(Choose, SegmentsOfScansAreSentAtOnceOverSlowLinks) {
  for (const Collective collective : {Collective::exscan, Collective::scan}) {
    for (const std::uint64_t bytes : {1ULL << 18, 1ULL << 20, 1ULL << 23}) {
      auto now = situation(collective, 8, bytes, OperatorUse::predefined);
      now.costs = {.alpha = 50e-6, .overhead = 150e-6, .beta = 8e-8, .gamma = 1e-10};
      const Algorithm& row = *choose(Settings{}, now);
      ASSERT_TRUE(row.segments) << row.name;
      const std::uint64_t segments = segments_for(Settings{}, row, now).segments;
      EXPECT_LE(bytes, 16384 * segments) << row.name << " of " << bytes << " bytes";
    }
  }
}

}  // namespace
}  // namespace sibyl
