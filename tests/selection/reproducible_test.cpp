// Where bits must be the same in every run, the choice looks at nothing that a run may find
// otherwise, and keeps a reduction with Sibyl.
#include "selection/reproducible.hpp"
#include "support/sanitized.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sibyl::test {
namespace {

constexpr Collective combining[] = {Collective::reduce, Collective::scan, Collective::exscan};
constexpr Collective for_all_ranks[] = {Collective::allreduce, Collective::reduce_scatter,
                                        Collective::reduce_scatter_block};
constexpr Rank rank_counts[] = {1, 2, 3, 4, 5, 8, 12, 17, 36, 48, 1000, 4097, 40000};
constexpr std::uint64_t sizes[] = {1, 8, 65536, 65537, 1 << 20, 1ULL << 33};

Settings reproducible() {
  Settings settings;
  settings.reproducible = 1;
  return settings;
}

Settings forced(Collective collective, std::int32_t row, std::uint32_t on = 1) {
  Settings settings;
  settings.reproducible = on;
  settings.algorithm[static_cast<std::size_t>(collective)] = row;
  return settings;
}

Situation plain(Collective collective, Rank ranks, std::uint64_t bytes) {
  Situation now;
  now.collective = collective;
  now.ranks = ranks;
  now.bytes = bytes;
  now.operator_use = OperatorUse::predefined;
  return now;
}

// What one run measures, predicts or finds of its nodes, and another one otherwise.
Situation of_a_moment(Situation now, std::mt19937_64& random) {
  const auto number = [&](double most) {
    return std::uniform_real_distribution<double>(most * 1e-3, most)(random);
  };
  now.spread = random() % 2 == 0 ? 0 : number(10);
  now.lead = random() % 2 == 0 ? 0 : now.spread;
  now.costs = {.alpha = number(1e-3),
               .overhead = number(1e-4),
               .beta = number(1e-6),
               .gamma = number(1e-9),
               .fifo_links = random() % 2 == 0,
               .gathered = number(1e-4),
               .scattered = number(1e-4)};
  const auto some = [&] {
    return 1 + static_cast<Rank>(random() % static_cast<std::uint64_t>(now.ranks));
  };
  now.ranks_per_node = some();
  if (random() % 2 == 0) {  // nodes that lie anyhow
    now.ranks_per_node = 1;
    now.nodes = some();
    now.largest_run = random() % 2 == 0 ? 0 : some();
  }
  now.by_window = random() % 2 == 0;
  return now;
}

void expect_the_same(const Settings& settings, const Situation& now, const Situation& moment) {
  const Algorithm* const row = choose(settings, now);
  EXPECT_EQ(choose(settings, moment), row);
  if (row == nullptr) return;
  const SegmentPlan cut = segments_for(settings, *row, now);
  const SegmentPlan other = segments_for(settings, *row, moment);
  EXPECT_EQ(other.segments, cut.segments);
  EXPECT_EQ(other.round_time, cut.round_time);
  EXPECT_EQ(other.together, cut.together);
  EXPECT_TRUE(!row->arrivals || cut.together) << "the plan must not follow arrivals";
  EXPECT_FALSE(wants_costs(settings, moment));
}

TEST(Reproducible, TheChoiceLooksAtNothingOfTheMoment) {
  std::mt19937_64 random(1);
  std::vector<Collective> all(std::begin(combining), std::end(combining));
  all.insert(all.end(), std::begin(for_all_ranks), std::end(for_all_ranks));
  for (const Collective collective : all) {
    const auto rows = static_cast<std::int32_t>(algorithms(collective).size());
    for (const Rank ranks : rank_counts) {
      for (const std::uint64_t bytes : sizes) {
        const Situation now = plain(collective, ranks, bytes);
        for (std::int32_t row = choose_automatically; row < rows; ++row) {
          SCOPED_TRACE(std::string(name_of(collective)) + " row " + std::to_string(row) + ", " +
                       std::to_string(ranks) + " ranks, " + std::to_string(bytes) + " bytes");
          for (int i = 0; i < (sanitized ? 1 : 5); ++i) {
            expect_the_same(forced(collective, row), now, of_a_moment(now, random));
          }
        }
      }
    }
  }
}

// The test above can fail: without the setting all of these show.
TEST(Reproducible, WithoutTheSettingTheMomentShows) {
  std::mt19937_64 random(2);
  for (const Collective collective : combining) {
    int differ = 0;
    for (int i = 0; i < 50; ++i) {
      const Situation now = plain(collective, 36, 1 << 20);
      const Situation moment = of_a_moment(now, random);
      const Settings open;
      const Algorithm* const row = choose(open, now);
      const Algorithm* const other = choose(open, moment);
      differ += row != other || (row != nullptr && segments_for(open, *row, now).segments !=
                                                       segments_for(open, *row, moment).segments);
    }
    EXPECT_GT(differ, 0) << name_of(collective);
  }
  const auto* const clairvoyant = find_algorithm(Collective::reduce, "clairvoyant");
  const auto row = static_cast<std::int32_t>(clairvoyant - algorithms(Collective::reduce).data());
  EXPECT_TRUE(wants_costs(forced(Collective::reduce, row, 0), plain(Collective::reduce, 8, 8)));
}

TEST(Reproducible, SibylServesWhatItCanInTheOrderOfTheRanks) {
  for (const Collective collective : combining) {
    for (const Rank ranks : rank_counts) {
      for (const std::uint64_t bytes : sizes) {
        for (const OperatorUse use : {OperatorUse::predefined, OperatorUse::user}) {
          for (const bool commutes : {false, true}) {
            Situation now = plain(collective, ranks, bytes);
            now.operator_use = use;
            now.commutes = commutes;
            const Algorithm* const row = choose(reproducible(), now);
            ASSERT_NE(row, nullptr);
            EXPECT_FALSE(row->commutative_only) << row->name;
            EXPECT_FALSE(row->nodes) << row->name << " would follow the placement";
            EXPECT_TRUE(row->check == nullptr || row->check({.ranks = ranks}).empty());
          }
        }
      }
    }
  }
}

TEST(Reproducible, AReduceIsCutWhereThatPays) {
  const auto name = [](Rank ranks, std::uint64_t bytes) {
    return choose(reproducible(), plain(Collective::reduce, ranks, bytes))->name;
  };
  EXPECT_EQ(name(8, 65536), "binomial");
  EXPECT_EQ(name(8, 65537), "radix-k");
  EXPECT_EQ(name(13, 65537), "radix-k");
  EXPECT_EQ(name(17, 65537), "rabenseifner");
  EXPECT_EQ(name(34, 65537), "rabenseifner");
  EXPECT_EQ(name(48, 65537), "radix-k");
  EXPECT_EQ(name(40000, 65537), "binomial");  // more parts than a plan can number
}

// In as many segments whatever messages cost, and no more messages than there are tags for.
TEST(Reproducible, LongVectorsForAllRanksGoAroundARingWhereOrderIsFree) {
  using Chosen = std::pair<std::string_view, std::uint32_t>;
  for (const Collective collective : for_all_ranks) {
    const bool scatters = collective != Collective::allreduce;
    const auto chosen = [&](Rank ranks, std::uint64_t bytes, bool commutes) {
      Situation now = plain(collective, ranks, bytes);
      now.commutes = commutes;
      const Algorithm* const row = choose(reproducible(), now);
      return Chosen(row->name, segments_for(reproducible(), *row, now).segments);
    };
    const std::string_view in_order = scatters ? "pairwise" : "radix-k";
    EXPECT_EQ(chosen(8, 1 << 20, true), Chosen("ring", scatters ? 8U : 64U));
    EXPECT_EQ(chosen(8, 65537, true), Chosen("ring", scatters ? 1U : 8U));
    EXPECT_EQ(chosen(8, 1 << 30, true), Chosen("ring", scatters ? 64U : 512U));
    EXPECT_EQ(chosen(36, 1 << 20, true), Chosen("ring", scatters ? 1U : 36U));
    EXPECT_EQ(chosen(8, 1 << 20, false).first, in_order);
    EXPECT_EQ(chosen(8, 40000, true).first, in_order) << "parts of 5000 bytes";
    EXPECT_EQ(chosen(8, 8192, true).first, scatters ? "doubling" : "recursive-doubling");
    EXPECT_EQ(chosen(48, 1 << 18, true).first, in_order) << "parts of 5 KiB";
    EXPECT_EQ(chosen(1000, 1 << 30, true).first, in_order) << "more messages than tags";
  }
}

TEST(Reproducible, ANameHoldsWhereItFits) {
  for (const Collective collective : combining) {
    const auto rows = algorithms(collective);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Settings settings = forced(collective, static_cast<std::int32_t>(i));
      Situation now = plain(collective, 8, 1 << 20);
      EXPECT_EQ(choose(settings, now), &rows[i]);
      now.commutes = false;
      const Algorithm* const row = choose(settings, now);
      ASSERT_NE(row, nullptr) << "Sibyl's own rather than the MPI library's";
      EXPECT_TRUE(row == &rows[i] || rows[i].commutative_only);
      EXPECT_FALSE(row->commutative_only);
    }
    EXPECT_EQ(choose(forced(collective, serve_natively), plain(collective, 8, 8)), nullptr);
  }
}

// A table is a file like any other input, but its `native` is a verdict on speed.
TEST(Reproducible, ATablesNamesHoldAndItsNativeDoesNot) {
  Settings settings = reproducible();
  ASSERT_EQ(read_table("sibyl-selection 1\nreduce 8 0-100 native\nreduce 8 101- clairvoyant\n",
                       "table", settings.table),
            "");
  EXPECT_EQ(choose(settings, plain(Collective::reduce, 8, 8))->name, "binomial");
  EXPECT_EQ(choose(settings, plain(Collective::reduce, 8, 1000))->name, "clairvoyant");
  settings.reproducible = 0;
  EXPECT_EQ(choose(settings, plain(Collective::reduce, 8, 8)), nullptr);
}

TEST(Reproducible, SegmentsFollowBytesAndWhatWasSet) {
  const Algorithm& clairvoyant = *find_algorithm(Collective::reduce, "clairvoyant");
  const auto segments = [&](std::uint64_t bytes, std::uint32_t set) {
    Settings settings = reproducible();
    settings.segments = set;
    return segments_for(settings, clairvoyant, plain(Collective::reduce, 8, bytes)).segments;
  };
  EXPECT_EQ(segments(8, 0), 1U);
  EXPECT_EQ(segments(1 << 18, 0), 32U);
  EXPECT_EQ(segments(1ULL << 33, 0), 256U);
  EXPECT_EQ(segments(1ULL << 33, 17), 17U);
}

TEST(Reproducible, WhatCombinesNothingIsChosenAsEver) {
  for (const Collective collective : {Collective::gather, Collective::scatter}) {
    for (const Rank ranks : {2, 16, 560}) {
      for (const std::uint64_t bytes : {8ULL, 1024ULL, 1ULL << 20}) {
        Situation now = plain(collective, ranks, bytes);
        now.operator_use = OperatorUse::none;
        now.ranks_per_node = 16;
        EXPECT_EQ(choose(reproducible(), now), choose(Settings{}, now));
      }
    }
  }
}

TEST(Reproducible, TheEnvironmentSaysSo) {
  Environment environment;
  Settings settings;
  EXPECT_EQ(settings_from(environment, settings), "");
  EXPECT_EQ(settings.reproducible, 0U);
  environment.reproducible = 1;
  EXPECT_EQ(settings_from(environment, settings), "");
  EXPECT_EQ(settings.reproducible, 1U);
}

}  // namespace
}  // namespace sibyl::test
