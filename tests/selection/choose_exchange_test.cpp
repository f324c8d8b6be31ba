// The choice for bcast and for what goes to all ranks: long vectors between nodes of one rank,
// short allreduces where rounds are saved, and everything else the MPI library's.
#include "selection/choose_exchange.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace sibyl {
namespace {

// 8 hosts on 100 Mbit/s, whose links carry messages in turn.
Situation between_hosts(Collective collective, std::uint64_t bytes, Rank ranks = 8) {
  Situation now;
  now.collective = collective;
  now.ranks = ranks;
  now.bytes = bytes;
  now.ranks_per_node = 1;
  now.operator_use = combines(collective) ? OperatorUse::predefined : OperatorUse::none;
  now.costs.alpha = 300e-6;
  now.costs.overhead = 100e-6;
  now.costs.beta = 80e-9;
  now.costs.gamma = 1e-10;
  now.costs.fifo_links = true;
  return now;
}

std::string chosen(const Situation& now, const Settings& settings = {}) {
  const Algorithm* row = choose(settings, now);
  return row == nullptr ? "native" : std::string(row->name);
}

constexpr std::uint64_t mebi = std::uint64_t{1} << 20U;

TEST(ChooseExchange, KeepsAllLinksBusyWithLongVectorsBetweenHosts) {
  EXPECT_EQ(chosen(between_hosts(Collective::allreduce, mebi)), "ring");
  EXPECT_EQ(chosen(between_hosts(Collective::bcast, mebi)), "chain");
  EXPECT_EQ(chosen(between_hosts(Collective::bcast, mebi / 4, 48)), "circulant");
  EXPECT_EQ(chosen(between_hosts(Collective::reduce_scatter, mebi)), "ring");
  EXPECT_EQ(chosen(between_hosts(Collective::reduce_scatter_block, mebi)), "ring");
  EXPECT_EQ(chosen(between_hosts(Collective::allgather, mebi / 8)), "ring");
  EXPECT_EQ(chosen(between_hosts(Collective::allgatherv, mebi)), "ring");
  EXPECT_EQ(chosen(between_hosts(Collective::alltoall, mebi / 8)), "shifted");
}

// On 48 hosts at 10 Mbit/s a tree sends 16 KiB six times one after the other.
TEST(ChooseExchange, PipelinesAShortBroadcastWhereATreeTakesMuchLonger) {
  const auto of = [](std::uint64_t bytes, Rank ranks, double beta) {
    Situation now = between_hosts(Collective::bcast, bytes, ranks);
    now.costs.beta = beta;
    return now;
  };
  constexpr double slow = 800e-9;
  constexpr double fast = 1e-10;
  // No link carries it for twice the latencies of a tree's rounds.
  Situation now = of(16384, 48, slow);
  now.costs.alpha = 1.5e-3;
  EXPECT_LT(now.costs.beta * 16384, 2 * 6 * now.costs.alpha);
  EXPECT_EQ(chosen(now), "circulant");
  for (const Rank ranks : {2, 3, 4, 5, 8, 48}) {
    for (const std::uint64_t bytes : {1, 8, 256}) {
      EXPECT_EQ(chosen(of(bytes, ranks, slow)), "native") << ranks << ' ' << bytes;
    }
    EXPECT_EQ(chosen(of(16384, ranks, fast)), "native") << ranks;
  }
}

TEST(ChooseExchange, MeasuresCostsForShorterVectorsThatPassWholeThanOfAll) {
  const auto wants = [](Collective collective, std::uint64_t bytes, Rank per_node = 1) {
    Situation now = between_hosts(collective, bytes, 8);
    now.costs = {};
    now.ranks_per_node = per_node;
    return wants_costs({}, now);
  };
  for (const Collective collective : {Collective::reduce, Collective::bcast}) {
    EXPECT_TRUE(wants(collective, 16384));
    EXPECT_FALSE(wants(collective, 16383));
    EXPECT_FALSE(wants(collective, 16384, 2));
    EXPECT_TRUE(wants(collective, 65536, 2));
  }
  EXPECT_FALSE(wants(Collective::allreduce, 32768));
  EXPECT_TRUE(wants(Collective::allreduce, 65536));
  EXPECT_FALSE(wants(Collective::reduce_scatter, 65536));
  for (const Collective collective : {Collective::exscan, Collective::scan}) {
    EXPECT_TRUE(wants(collective, 16384));
    EXPECT_FALSE(wants(collective, 16383));
    EXPECT_FALSE(wants(collective, 65536, 2));
  }
}

TEST(ChooseExchange, SendsAHugeBlockThroughFewRanks) {
  Situation now = between_hosts(Collective::allgatherv, mebi, 48);
  now.largest = mebi / 48;
  EXPECT_EQ(chosen(now), "ring");
  now.largest = mebi;
  EXPECT_EQ(chosen(now), "all-broadcast");
  // Its segments fill 46 ranks of a ring, or the rounds of a broadcast.
  const auto time_by = [&](const char* name) {
    return exchange_segments({}, *find_algorithm(now.collective, name), now).whole_time;
  };
  const double wire = now.costs.beta * static_cast<double>(mebi);
  EXPECT_GT(time_by("ring"), 1.5 * wire);
  EXPECT_LT(time_by("all-broadcast"), 1.25 * wire);
  // Where a ring is short they are as good, and the ring's messages have one way each.
  now.ranks = 8;
  EXPECT_EQ(chosen(now), "ring");
}

// 48 hosts of the papers' rack: a ring has a latency in each of 47 rounds where the libraries have
// six, and hides it where segments of a block are under way meanwhile (simulated:
// docs/results/all-ranks.md).
TEST(ChooseExchange, GoesAroundARingWhereItsLatenciesAreHidden) {
  const auto on_rack = [](Collective collective, std::uint64_t block) {
    const bool is_of_one_block = collective == Collective::allgather;
    Situation now = between_hosts(collective, is_of_one_block ? block : 48 * block, 48);
    now.costs.alpha = 25e-6;
    now.costs.overhead = 5e-6;
    now.costs.beta = 8e-9;
    return now;
  };
  for (const Collective collective : {Collective::allgather, Collective::allgatherv}) {
    EXPECT_EQ(chosen(on_rack(collective, 4096)), "native") << name_of(collective);
    EXPECT_EQ(chosen(on_rack(collective, 65536)), "ring") << name_of(collective);
  }
  for (const Collective collective : {Collective::allgather, Collective::allgatherv}) {
    Situation middle = on_rack(collective, 16384);
    EXPECT_EQ(chosen(middle), "ring") << name_of(collective);
    EXPECT_EQ(segments_for({}, *find_algorithm(collective, "ring"), middle).segments, 2U);
    // Segments that share a link come together, and hide nothing.
    middle.costs.fifo_links = false;
    EXPECT_EQ(chosen(middle), "native") << name_of(collective);
    Situation large = on_rack(collective, 65536);
    large.costs.fifo_links = false;
    EXPECT_EQ(chosen(large), "ring") << name_of(collective);
  }
}

TEST(ChooseExchange, KnowsALateRank) {
  Situation now = between_hosts(Collective::allreduce, mebi);
  now.spread = 0.15;
  EXPECT_EQ(chosen(now), "pre-reduced-ring");
  now.commutes = false;
  EXPECT_EQ(chosen(now), "rabenseifner");
}

TEST(ChooseExchange, KeepsTheOrderOfOperandsInGroupsThatDivideTheRanks) {
  const auto ordered = [](Rank ranks) {
    Situation now = between_hosts(Collective::allreduce, mebi, ranks);
    now.commutes = false;
    return chosen(now);
  };
  for (const Rank ranks : {4, 8, 64}) EXPECT_EQ(ordered(ranks), "rabenseifner");
  for (const Rank ranks : {3, 7, 12, 13, 26, 48}) EXPECT_EQ(ordered(ranks), "radix-k");
  for (const Rank ranks : {17, 34, 97}) EXPECT_EQ(ordered(ranks), "rabenseifner");
}

TEST(ChooseExchange, LeavesWhatIsShortToTheLibraryUnlessRoundsAreSaved) {
  EXPECT_EQ(chosen(between_hosts(Collective::bcast, 64)), "native");
  EXPECT_EQ(chosen(between_hosts(Collective::allgather, 64)), "native");
  EXPECT_EQ(chosen(between_hosts(Collective::alltoall, 64)), "native");
  EXPECT_EQ(chosen(between_hosts(Collective::barrier, 0)), "native");
  EXPECT_EQ(chosen(between_hosts(Collective::allreduce, 8)), "native");
  EXPECT_EQ(chosen(between_hosts(Collective::allreduce, 8, 12)), "doubling");
  // A group of 47 would tell each other 46 vectors.
  EXPECT_EQ(chosen(between_hosts(Collective::allreduce, 4096, 47)), "native");
}

TEST(ChooseExchange, SizesOfAnAlltoallvAreNotKnownToAll) {
  EXPECT_EQ(chosen(between_hosts(Collective::alltoallv, 0)), "shifted");
  EXPECT_EQ(chosen(between_hosts(Collective::alltoallv, 0, 65)), "native");
}

TEST(ChooseExchange, LongVectorsBetweenNodesOfSeveralRanksGoOnTwoLevels) {
  for (const Collective collective :
       {Collective::allreduce, Collective::bcast, Collective::allgather, Collective::allgatherv,
        Collective::reduce_scatter, Collective::reduce_scatter_block}) {
    Situation now = between_hosts(collective, mebi);
    now.ranks_per_node = 2;
    EXPECT_EQ(chosen(now), "two-level");
    now.ranks_per_node = 1;
    now.nodes = 3;
    EXPECT_EQ(chosen(now), "two-level");
    now.bytes = 64;
    EXPECT_EQ(chosen(now), "native");
    now.costs = {};
    EXPECT_FALSE(wants_costs({}, now));
    now.bytes = mebi;
    EXPECT_TRUE(wants_costs({}, now));
  }
  for (const Collective collective :
       {Collective::allreduce, Collective::reduce_scatter, Collective::reduce_scatter_block}) {
    Situation now = between_hosts(collective, mebi);
    now.nodes = 3;
    now.commutes = false;
    EXPECT_EQ(chosen(now), "native") << name_of(collective);
  }
}

// The block of a node is those of its ranks.
TEST(ChooseExchange, CutsTheBlocksOfNodesIntoWhatIsSentAtOnce) {
  Situation now = between_hosts(Collective::allgather, mebi / 16, 32);
  const Algorithm& row = *find_algorithm(now.collective, "two-level");
  now.ranks_per_node = 4;
  const SegmentPlan plan = segments_for({}, row, now);
  EXPECT_EQ(plan.segments, 16U);  // of 4 times 4 KiB
  now.ranks_per_node = 1;
  now.nodes = 8;
  EXPECT_EQ(segments_for({}, row, now).segments, plan.segments);
}

// As many rings as a node has ranks share its link.
TEST(ChooseExchange, CutsTheBlocksOfTheRingsBetweenNodesIntoWhatIsSentAtOnce) {
  Situation now = between_hosts(Collective::reduce_scatter_block, 2 * mebi, 32);
  const Algorithm& row = *find_algorithm(now.collective, "two-level");
  now.ranks_per_node = 4;
  const SegmentPlan plan = segments_for({}, row, now);
  EXPECT_EQ(plan.segments, 4U);  // of blocks of 64 KiB
  const double wire = now.costs.beta * 7 / 8 * 2 * static_cast<double>(mebi);
  EXPECT_GT(plan.whole_time, wire);
  EXPECT_LT(plan.whole_time, 1.1 * wire);
}

// One large block goes from rank to rank in segments, as along a chain.
TEST(ChooseExchange, UnevenBlocksAreCutByTheLargest) {
  for (const Collective collective : {Collective::allgatherv, Collective::reduce_scatter}) {
    Situation now = between_hosts(collective, mebi);
    const Algorithm& ring = *find_algorithm(collective, "ring");
    const std::uint32_t alike = segments_for({}, ring, now).segments;
    now.largest = mebi / static_cast<std::uint64_t>(now.ranks);
    EXPECT_EQ(segments_for({}, ring, now).segments, alike);
    now.largest = mebi;
    const SegmentPlan plan = segments_for({}, ring, now);
    EXPECT_GE(plan.segments, mebi / 16384);
    const double wire = now.costs.beta * static_cast<double>(mebi);
    EXPECT_LT(plan.whole_time, 1.3 * wire) << plan.segments;
  }
}

TEST(ChooseExchange, LeavesTheRestOfNodesOfSeveralRanksToTheLibrary) {
  for (std::size_t c = 0; c < collective_count; ++c) {
    const auto collective = static_cast<Collective>(c);
    if (collective <= Collective::reduce) continue;
    for (const Rank per_node : {4, 8}) {
      Situation now = between_hosts(collective, mebi);
      now.ranks_per_node = per_node;
      const bool on_two_levels =
          per_node < now.ranks &&
          (collective == Collective::allreduce || collective == Collective::bcast ||
           gathers_everywhere(collective) || scatters_sums(collective));
      EXPECT_EQ(chosen(now), on_two_levels ? "two-level" : "native") << name_of(collective);
    }
    EXPECT_TRUE(is_left_native_on_one_node({}, collective, false)) << name_of(collective);
    const bool within = collective == Collective::allreduce || collective == Collective::bcast;
    EXPECT_EQ(is_left_native_on_one_node({}, collective, true), !within) << name_of(collective);
    Settings asked;
    asked.algorithm[c] = 0;
    EXPECT_FALSE(is_left_native_on_one_node(asked, collective, false)) << name_of(collective);
  }
}

TEST(ChooseExchange, WantsCostsWhereTheyMayPay) {
  Situation now = between_hosts(Collective::bcast, mebi);
  now.costs = {};
  EXPECT_TRUE(wants_costs({}, now));
  now.bytes = 1000;
  EXPECT_FALSE(wants_costs({}, now));
  now.bytes = mebi;
  now.ranks_per_node = now.ranks;
  EXPECT_FALSE(wants_costs({}, now));
  now = between_hosts(Collective::alltoallv, 0);
  now.costs = {};
  EXPECT_FALSE(wants_costs({}, now));
}

TEST(ChooseExchange, CutsIntoWhatIsSentAtOnce) {
  for (const Collective collective : {Collective::allreduce, Collective::bcast}) {
    const Situation now = between_hosts(collective, mebi);
    const Algorithm* row = choose({}, now);
    ASSERT_NE(row, nullptr);
    const SegmentPlan plan = segments_for({}, *row, now);
    EXPECT_LE(mebi / plan.segments, 16384U) << name_of(collective);
    EXPECT_GE(mebi / plan.segments, 4096U) << name_of(collective);
  }
  Settings asked;
  asked.segments = 7;
  const Situation now = between_hosts(Collective::bcast, mebi);
  EXPECT_EQ(segments_for(asked, *choose(asked, now), now).segments, 7U);
}

}  // namespace
}  // namespace sibyl
