// The store gives the program that was asked for: for every key, and for what is known of arrivals
// as far as the algorithm follows it.
#include "programs/program_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace sibyl::test {
namespace {

SharedView view_at(std::vector<double> times, std::uint64_t version = 1) {
  return view_of({.times = std::move(times), .version = version});
}

// Whom this root's program receives from, in its order.
std::vector<Rank> senders(const Prepared& prepared) {
  std::vector<Rank> from;
  for (const StepIndex step : prepared.receives) from.push_back(prepared.program.steps[step].peer);
  return from;
}

// Kind, peer and round of every step.
std::vector<std::tuple<StepKind, Rank, std::uint32_t>> moves(const Prepared& prepared) {
  std::vector<std::tuple<StepKind, Rank, std::uint32_t>> all;
  for (const Step& step : prepared.program.steps) {
    all.emplace_back(step.kind, step.peer, step.round);
  }
  return all;
}

TEST(ProgramStore, GivesTheRightProgramForMoreKeysThanItHolds) {
  constexpr Rank ranks = 100;
  ProgramStore store(3, ranks);
  const Algorithm& linear = *find_algorithm(Collective::gather, "linear");
  const Algorithm& binomial = *find_algorithm(Collective::gather, "binomial");
  for (int pass = 0; pass < 2; ++pass) {
    for (Rank root = 0; root < ranks; ++root) {
      for (const Algorithm* algorithm : {&linear, &binomial}) {
        const ProgramSpec spec{.algorithm = algorithm, .root = root, .outstanding = 8};
        const Prepared& prepared = store.get(spec);
        ASSERT_EQ(prepared.header.root, root);
        ASSERT_EQ(prepared.header.algorithm, algorithm->name);
        ASSERT_EQ(&store.get(spec), &prepared) << "found the second time";
      }
    }
  }
}

TEST(ProgramStore, FollowsTheViewThatIsAskedForWithIt) {
  ProgramStore store(0, 4);
  const ProgramSpec spec{.algorithm = find_algorithm(Collective::gather, "linear")};
  EXPECT_EQ(senders(store.get(spec)), (std::vector<Rank>{1, 2, 3}));
  const SharedView late_first = view_at({0, 3, 2, 1});
  EXPECT_EQ(senders(store.get(spec, late_first)), (std::vector<Rank>{3, 2, 1}));
  EXPECT_TRUE(store.holds(*spec.algorithm, late_first));
  EXPECT_EQ(senders(store.get(spec)), (std::vector<Rank>{1, 2, 3}));
  EXPECT_EQ(senders(store.get(spec, view_of({}))), (std::vector<Rank>{1, 2, 3}));
}

// A later view in which nobody has changed places needs no other program.
TEST(ProgramStore, KeepsAProgramWhoseOrderALaterViewHasToo) {
  ProgramStore store(0, 3);
  const ProgramSpec spec{.algorithm = find_algorithm(Collective::gather, "linear")};
  const Prepared* first = &store.get(spec, view_at({0, 2, 1}, 1));
  EXPECT_EQ(&store.get(spec, view_at({0, 5, 1}, 2)), first);
  EXPECT_NE(&store.get(spec, view_at({0, 1, 5}, 3)), first);
}

TEST(ProgramStore, APlanThatTakesArrivalsGoesByTheirTimes) {
  ProgramStore store(0, 3);
  ProgramSpec spec{.algorithm = find_algorithm(Collective::reduce, "clairvoyant")};
  spec.segments = 4;
  const SharedView before = view_at({0, 20, 1}, 1);
  const Prepared* first = &store.get(spec, before);
  EXPECT_NE(&store.get(spec, view_at({0, 30, 1}, 2)), first);
  EXPECT_EQ(&store.get(spec, view_at({0, 20, 1}, 3)), first);
  store.drop(before);
  EXPECT_FALSE(store.holds(*spec.algorithm, before));
  // Planned as if all came at once, it follows nobody.
  spec.together = true;
  const Prepared* together = &store.get(spec, before);
  EXPECT_EQ(&store.get(spec, view_at({9, 0, 0}, 4)), together);
}

// The last ranks to come are next to the root of a gather's tree: they send straight to it.
TEST(ProgramStore, SeatsTheLatestRanksOfAGatherNextToTheRoot) {
  ProgramStore store(0, 8);
  const ProgramSpec spec{.algorithm = find_algorithm(Collective::gather, "binomial")};
  const SharedView view = view_at({0, 7, 1, 2, 3, 4, 5, 6});
  const std::vector<Rank> from = senders(store.get(spec, view));
  EXPECT_NE(std::ranges::find(from, 1), from.end()) << "the latest";
  EXPECT_NE(std::ranges::find(from, 7), from.end()) << "the latest but one";
}

TEST(ProgramStore, UsesTheScheduleThatWasMadeAhead) {
  ProgramStore store(1, 5);
  ProgramSpec spec{.algorithm = find_algorithm(Collective::reduce, "clairvoyant"), .root = 2};
  spec.segments = 8;
  const SharedView coming = view_at({4, 0, 3, 1, 2});
  store.prefetch(spec, coming);
  EXPECT_TRUE(store.prefetched().holds());
  EXPECT_TRUE(store.prefetched().advance());
  const Prepared& found = store.get(spec, coming);
  EXPECT_FALSE(store.prefetched().holds());
  ProgramStore other(1, 5);
  EXPECT_EQ(moves(found), moves(other.get(spec, coming)));
}

}  // namespace
}  // namespace sibyl::test
