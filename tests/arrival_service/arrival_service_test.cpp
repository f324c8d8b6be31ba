// What is published is in force at once, and its listener hears of it; what cannot be used, or
// differs between ranks, changes nothing.
#include "arrival_service/arrival_service.hpp"

#include <array>
#include <chrono>
#include <limits>
#include <thread>
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

struct NoHook final : ProgressHook {
  bool advance() noexcept override { return false; }
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

// Reductions in turns, each planned by what is known of its own.
TEST(ArrivalService, FollowsThePatternOfEachReduction) {
  if (size_of() == 1) GTEST_SKIP() << "one rank has one pattern";
  OpenService service;
  NoHook hook;
  service->predict(PredictionMode::periodic, nullptr, hook);
  ArrivalPredictor& predictor = *service->predictor();
  const std::array sites{CallSite{Collective::reduce, 0, 4096},
                         CallSite{Collective::allreduce, 0, 64}};
  const auto in_force = [&](const CallSite& site) { return predictor.known(site)->lines[0].view; };
  for (int i = 0; i < 64; ++i) {
    const CallSite& site = sites[static_cast<std::size_t>(i) % sites.size()];
    // Of one reduction the last rank comes last, of the other one the first.
    const bool late = rank_in() == (i % 2 == 0 ? size_of() - 1 : 0);
    if (late) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    predictor.begin_call();
    service->follow_line(site);
    const ArrivalPredictor::Call call = predictor.enter(site, true);
    if (call.line->version() > 0) {
      EXPECT_EQ(service->view()->times, in_force(site)->times);
    }
    predictor.leave(call);
    service->end_following();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (const CallSite& site : sites) EXPECT_NE(in_force(site), nullptr);
  // What the program gives is for all.
  ASSERT_TRUE(service->publish(stairs(0)));
  for (const CallSite& site : sites) {
    service->follow_line(site);
    EXPECT_EQ(service->view()->times, stairs(0));
  }
  service->end_following();
  EXPECT_TRUE(service->end_prediction());
}

}  // namespace
}  // namespace sibyl::test
