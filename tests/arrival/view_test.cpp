// A view of arrivals: times from the first arrival on, and the order that follows from them.
#include "arrival/view.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace sibyl::test {
namespace {

TEST(ArrivalView, BeginsWithTheFirstArrival) {
  const SharedView view = view_of({.times = {5, 3, 7}, .version = 4, .error = 0.5});
  EXPECT_EQ(view->times, (std::vector<double>{2, 0, 4}));
  EXPECT_EQ(view->order, (std::vector<Rank>{1, 0, 2}));
  EXPECT_EQ(view->spread, 4);
  EXPECT_EQ(view->lead, 2);
  EXPECT_EQ(view->version, 4U);
  EXPECT_EQ(view->error, 0.5);
  EXPECT_TRUE(view->known());
}

TEST(ArrivalView, TimesWithinTheErrorAreTiesInRankOrder) {
  EXPECT_EQ(view_of({.times = {0.3, 0.1, -1, 0.2}, .error = 0.25})->order,
            (std::vector<Rank>{2, 0, 1, 3}));
}

TEST(ArrivalView, RanksOfWhichNothingIsKnownComeLast) {
  const SharedView view = view_of({.times = {NAN, 3, NAN, 1}});
  EXPECT_EQ(view->times, (std::vector<double>{3, 2, 3, 0}));
  EXPECT_EQ(view->order, (std::vector<Rank>{3, 1, 0, 2}));
}

TEST(ArrivalView, OfNothingSaysNothing) {
  EXPECT_FALSE(view_of({})->known());
  const SharedView silent = view_of({.times = {NAN, NAN}, .version = 2});
  EXPECT_FALSE(silent->known());
  EXPECT_TRUE(silent->order.empty());
  EXPECT_EQ(silent->version, 2U);
  EXPECT_EQ(silent->spread, 0);
}

TEST(ArrivalView, TimesAgreeWhereWhatGoesByThemIsPlannedAlike) {
  const auto view = [](std::vector<double> times, double error = 0) {
    return *view_of({.times = std::move(times), .error = error});
  };
  const ArrivalView late = view({0, 0, 0.1});
  EXPECT_TRUE(times_agree(late, late));
  EXPECT_TRUE(times_agree(late, view({0, 0.02, 0.12})));
  EXPECT_FALSE(times_agree(late, view({0, 0, 1})));  // in the same order
  EXPECT_FALSE(times_agree(late, view({0, 0, 0})));
  EXPECT_FALSE(times_agree(view({0, 0, 0}), late));
  EXPECT_TRUE(times_agree(view({0, 0, 0}, 0.2), late));
  EXPECT_TRUE(times_agree(view({0, 0, 0}), view({0, 0, 0.1}, 0.2)));
}

TEST(ArrivalView, LeadIsByWhichTheLastComesAfterAllOthers) {
  const std::vector<double> none, one{4}, two_late{1, 5, 5}, falling{9, 2, 1}, rising{-3, -2, 4};
  EXPECT_EQ(lead_of(none), 0);
  EXPECT_EQ(lead_of(one), 0);
  EXPECT_EQ(lead_of(two_late), 0);
  EXPECT_EQ(lead_of(falling), 7);
  EXPECT_EQ(lead_of(rising), 6);
}

}  // namespace
}  // namespace sibyl::test
