// What the history of a call site says of its next call, and when it gives an order up.
#include "arrival/site_history.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sibyl {
namespace {

void observe(SiteHistory& history, double cost, Service service) {
  const std::vector<double> arrivals{5.0, 5.3, 5.1};
  const std::vector<double> departures{5.3 + cost, 5.3, 5.2};
  history.observe(arrivals, departures, service);
}

TEST(SiteHistory, PredictsWhoIsLateBehindTheFirst) {
  SiteHistory history(3);
  for (int i = 0; i < 5; ++i) {
    const double now = 100.0 * i;
    const std::vector<double> arrivals{now + 2.0, now + 0.5, now + 1.0};
    history.observe(arrivals, arrivals, Service::fixed_order);
  }
  EXPECT_EQ(history.observed(), 5U);
  const ArrivalPattern pattern = history.pattern();
  EXPECT_NEAR(pattern.times[0], 1.5, 1e-9);
  EXPECT_NEAR(pattern.times[1], 0.0, 1e-9);
  EXPECT_NEAR(pattern.times[2], 0.5, 1e-9);
  EXPECT_LT(pattern.error, 1e-9);
}

TEST(SiteHistory, TrustsAnOrderUntilItHasBeenMeasured) {
  SiteHistory history(3);
  EXPECT_TRUE(history.pays());
  const auto observe_each = [&] {
    observe(history, 0.9, Service::predicted_order);
    observe(history, 0.1, Service::fixed_order);
    observe(history, 0.2, Service::native);
  };
  for (int i = 0; i < 3; ++i) observe_each();
  EXPECT_TRUE(history.pays());  // three calls are no verdict
  observe_each();
  EXPECT_FALSE(history.pays());
}

TEST(SiteHistory, KeepsAnOrderThatPaysAgainstEither) {
  for (const Service cheaper : {Service::fixed_order, Service::native}) {
    const Service dearer = cheaper == Service::native ? Service::fixed_order : Service::native;
    SiteHistory history(3);
    for (int i = 0; i < 8; ++i) {
      observe(history, 0.5, Service::predicted_order);
      observe(history, 0.1, cheaper);
      observe(history, 0.9, dearer);
    }
    EXPECT_TRUE(history.pays());
    for (int i = 0; i < 16; ++i) observe(history, 0.2, dearer);
    EXPECT_FALSE(history.pays());
  }
}

TEST(SiteHistory, TakesAnOrderUpAgainWhenItPays) {
  SiteHistory history(3);
  for (int i = 0; i < 16; ++i) {
    observe(history, 0.9, Service::predicted_order);
    observe(history, 0.5, Service::fixed_order);
    observe(history, 0.1, Service::native);
  }
  EXPECT_FALSE(history.pays());
  for (int i = 0; i < 16; ++i) observe(history, 0.2, Service::predicted_order);
  EXPECT_TRUE(history.pays());
}

}  // namespace
}  // namespace sibyl
