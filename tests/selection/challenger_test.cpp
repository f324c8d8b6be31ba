// Which algorithm is tried beside the chosen one.
#include "selection/challenger.hpp"

#include <gtest/gtest.h>

namespace sibyl::test {
namespace {

// Hosts of a rank each, joined at 100 Mbit/s.
Situation between_hosts(Collective collective, Rank ranks, std::uint64_t bytes) {
  Situation now;
  now.collective = collective;
  now.ranks = ranks;
  now.bytes = bytes;
  now.operator_use = combines(collective) ? OperatorUse::predefined : OperatorUse::none;
  now.costs.alpha = 50e-6;
  now.costs.overhead = 10e-6;
  now.costs.beta = 8e-8;
  now.costs.gamma = 1e-10;
  return now;
}

std::string_view name_of(const Algorithm* row) {
  return row == nullptr ? std::string_view("none") : row->name;
}

std::string_view challenger_in(const Situation& now) {
  const Settings settings;
  const Algorithm* const chosen = choose(settings, now);
  if (chosen == nullptr) return "native";
  const Algorithm* const other = challenger_to(*chosen, settings, now);
  EXPECT_NE(other, chosen);
  return name_of(other);
}

TEST(ChooseChallenger, IsTheNextByTheModel) {
  constexpr std::uint64_t mib = 1 << 20;
  EXPECT_EQ(challenger_in(between_hosts(Collective::bcast, 8, mib)), "circulant");
  EXPECT_EQ(challenger_in(between_hosts(Collective::allreduce, 8, mib)), "circulant");
  EXPECT_EQ(challenger_in(between_hosts(Collective::allgather, 8, mib)), "circulant");
  EXPECT_EQ(challenger_in(between_hosts(Collective::alltoall, 8, mib)), "pairwise");
  EXPECT_EQ(challenger_in(between_hosts(Collective::reduce_scatter, 8, mib)), "circulant");
  EXPECT_EQ(challenger_in(between_hosts(Collective::reduce, 8, mib)), "rabenseifner");
}

TEST(ChooseChallenger, IsAnotherOfSibylsScans) {
  for (const Rank ranks : {5, 8, 36}) {
    EXPECT_NE(challenger_in(between_hosts(Collective::exscan, ranks, 1 << 16)), "none") << ranks;
  }
  // Not one more by doubling, which takes as long: a pipeline, which on slow links does not.
  for (const Collective collective : {Collective::exscan, Collective::scan}) {
    for (const Rank ranks : {8, 48}) {
      Situation now = between_hosts(collective, ranks, 16384);
      EXPECT_TRUE(choose({}, now)->segments);
      now.costs = {};
      EXPECT_FALSE(choose({}, now)->segments);
      const std::string_view next = challenger_in(now);
      ASSERT_NE(find_algorithm(collective, next), nullptr) << next;
      EXPECT_TRUE(find_algorithm(collective, next)->segments) << next << ", " << ranks;
    }
  }
}

// Whatever is asked for can run: the same rules as for what is chosen.
TEST(ChooseChallenger, NeverBreaksARestriction) {
  for (std::size_t c = 0; c < collective_count; ++c) {
    for (const Rank ranks : {2, 3, 4, 5, 7, 8, 13, 16, 36, 48, 1000}) {
      for (const Rank per_node : {1, 4}) {
        for (std::uint64_t bytes = 4096; bytes <= 1U << 24; bytes *= 4) {
          for (const bool commutes : {true, false}) {
            Situation now = between_hosts(static_cast<Collective>(c), ranks, bytes);
            now.ranks_per_node = per_node;
            now.commutes = commutes;
            const Algorithm* const chosen = choose({}, now);
            if (chosen == nullptr) continue;
            const Algorithm* const other = challenger_to(*chosen, {}, now);
            if (other == nullptr) continue;
            EXPECT_EQ(other->collective, now.collective);
            EXPECT_NE(other, chosen);
            EXPECT_TRUE(commutes || !other->commutative_only) << other->name;
            PlanRequest request{.ranks = ranks, .ranks_per_node = per_node};
            if (!other->nodes) request.ranks_per_node = 1;
            request.segments = segments_for({}, *other, now).segments;
            EXPECT_EQ(check_request(*other, request), "") << other->name << ' ' << ranks;
          }
        }
      }
    }
  }
}

TEST(ChooseChallenger, IsNoneWhereNothingComesNear) {
  // What ranks win that need not wait for a late one is in no cost of the model.
  Situation late = between_hosts(Collective::reduce, 8, 1 << 20);
  late.spread = late.lead = 1;
  EXPECT_EQ(challenger_in(late), "none");
  late.lead = 0;  // many are late: it is planned as if all came at once
  EXPECT_EQ(challenger_in(late), challenger_in(between_hosts(Collective::reduce, 8, 1 << 20)));
  Situation two_levels = between_hosts(Collective::allreduce, 16, 1 << 22);
  two_levels.ranks_per_node = 4;
  EXPECT_EQ(challenger_in(two_levels), "none");
}

TEST(ChooseChallenger, TakesTheTreeForBlocksOfTheRoot) {
  EXPECT_EQ(challenger_in(between_hosts(Collective::gather, 8, 4096)), "binomial");
  EXPECT_EQ(challenger_in(between_hosts(Collective::scatter, 8, 1 << 20)), "binomial");
  // Of two ranks it is the same message.
  EXPECT_EQ(challenger_in(between_hosts(Collective::gather, 2, 4096)), "none");
  EXPECT_EQ(challenger_in(between_hosts(Collective::scatter, 2, 1 << 20)), "none");
}

}  // namespace
}  // namespace sibyl::test
