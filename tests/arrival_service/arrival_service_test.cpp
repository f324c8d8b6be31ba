// What is published is in force at once, and its listener hears of it; what cannot be used, or
// differs between ranks, changes nothing.
#include "arrival_service/arrival_service.hpp"

#include <limits>
#include <vector>

#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

struct Heard final : ArrivalListener {
  void arrivals_changed(const SharedView& before) override { replaced.push_back(before); }
  void arrivals_expected(const CallSite& site, const SharedView& coming) override {
    sites.push_back(site);
    expected.push_back(coming);
  }
  void other_view_followed() override {}
  void site_predicted(const CallSite&, const ArrivalPattern&, const SharedView&) override {}
  std::vector<SharedView> replaced;
  std::vector<CallSite> sites;
  std::vector<SharedView> expected;
};

class OpenService {
 public:
  OpenService() : service_(heard) {
    service_.open({.comm = comm_.get(), .rank = rank_in(), .ranks = size_of(), .tag = 7});
  }
  ArrivalService* operator->() { return &service_; }
  Heard heard;

 private:
  Duplicate comm_;
  ArrivalService service_;
};

std::vector<double> stairs(double from) {
  std::vector<double> times;
  for (int r = 0; r < size_of(); ++r) times.push_back(from + r);
  return times;
}

TEST(ArrivalService, KnowsNothingAtFirst) {
  OpenService service;
  EXPECT_FALSE(service->view()->known());
  EXPECT_EQ(service->view()->version, 0U);
}

TEST(ArrivalService, PublishesAViewOfTheNextVersion) {
  OpenService service;
  const SharedView before = service->view();
  ASSERT_TRUE(service->publish(stairs(3), 0.25));
  EXPECT_EQ(service->view()->times, stairs(0));
  EXPECT_EQ(service->view()->version, 1U);
  EXPECT_EQ(service->view()->error, 0.25);
  ASSERT_EQ(service.heard.replaced.size(), 1U);
  EXPECT_EQ(service.heard.replaced.front(), before);
  const SharedView held = service->view();
  ASSERT_TRUE(service->publish({}));
  EXPECT_FALSE(service->view()->known());
  EXPECT_EQ(held->times, stairs(0)) << "whoever holds a view keeps it";
}

TEST(ArrivalService, RefusesTimesThatCannotBeUsed) {
  OpenService service;
  ASSERT_TRUE(service->publish(stairs(0)));
  std::vector<double> too_many = stairs(0);
  too_many.push_back(1);
  std::vector<double> endless = stairs(0);
  endless.back() = std::numeric_limits<double>::infinity();
  for (const std::vector<double>& wrong : {too_many, endless, stairs(-1)}) {
    EXPECT_FALSE(service->publish(wrong));
    EXPECT_EQ(service->view()->version, 1U);
  }
}

TEST(ArrivalService, AgreesOnTimesThatAllRanksGiveAlike) {
  OpenService service;
  EXPECT_TRUE(service->agree_on(stairs(1)));
  EXPECT_EQ(service->view()->times, stairs(0));
  if (size_of() == 1) return;
  std::vector<double> own = stairs(1);
  own.front() += rank_in() == size_of() - 1 ? 0.5 : 0;
  EXPECT_FALSE(service->agree_on(own));
  EXPECT_EQ(service->view()->version, 1U);
}

TEST(ArrivalService, TakesWhatRankZeroWasGiven) {
  OpenService service;
  ASSERT_TRUE(service->take_given(rank_in() == 0 ? "skewed:2" : "flat"));
  EXPECT_EQ(service->view()->spread, size_of() > 1 ? 2.0 : 0.0);
}

TEST(ArrivalService, SaysWhatIsToComeWithoutPuttingItIntoForce) {
  OpenService service;
  const CallSite site{Collective::reduce, 0, 64};
  service->expect(site, stairs(5));
  ASSERT_EQ(service.heard.expected.size(), 1U);
  EXPECT_EQ(service.heard.sites.front(), site);
  EXPECT_EQ(service.heard.expected.front()->times, stairs(0));
  EXPECT_FALSE(service->view()->known());
}

}  // namespace
}  // namespace sibyl::test
