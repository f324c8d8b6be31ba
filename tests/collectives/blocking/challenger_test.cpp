// Governed calls with a challenger: where it is the best of three it serves, on all ranks alike,
// and results stay right meanwhile.
#include <cstdint>
#include <iterator>
#include <vector>

#include "collectives/blocking/governed_calls.hpp"

namespace sibyl::test {
namespace {

// Its results are looked at in every call, as all are.
TEST_F(GovernedCalls, GoToTheChallengerWhereItIsTheBestOfThree) {
  int challenged = 0;
  std::vector<Collective> all(std::begin(governed_ones), std::end(governed_ones));
  all.insert(all.end(), {Collective::reduce, Collective::scan});
  for (const Collective collective : all) {
    SCOPED_TRACE(name_of(collective));
    Governed governed(3e-3, 2e-3);
    governed.take(3e-3, 2e-3, 1e-3);
    make_governed_calls(governed, collective, 60);
    if (governed.sites().empty() || governed.site().key.challenger == nullptr) continue;
    ++challenged;
    EXPECT_EQ(governed.arm(), Arm::challenger);
    const std::int64_t before = governed.site().served[2];
    make_governed_calls(governed, collective, 40);
    EXPECT_EQ(governed.site().served[2] - before, has_root(collective) ? 20 : 40);
  }
  if (size_of() > 2) {
    EXPECT_GT(challenged, 2);
  }
}

TEST_F(GovernedCalls, LeaveAChallengerThatBecomesSlower) {
  Governed governed(3, 2);
  governed.take(3, 2, 1);
  make_governed_calls(governed, Collective::exscan, 60);
  if (governed.site().key.challenger == nullptr) GTEST_SKIP() << "the model knows no other";
  ASSERT_EQ(governed.arm(), Arm::challenger);
  governed.take(3, 2, 4);
  make_governed_calls(governed, Collective::exscan, 20);
  EXPECT_EQ(governed.arm(), Arm::native);
}

// Allreduces learn who is late from calls of the own choice alone, and others must not put ranks
// out of step.
TEST_F(GovernedCalls, LearnWhoIsLateBesideAChallenger) {
  Governed governed(2e-3, 3e-3);
  Settings settings;
  settings.govern = 1;
  settings.predict = PredictionMode::piggyback;
  governed.state().replace_settings(settings);
  governed.take(2e-3, 3e-3, 1e-3);
  make_governed_calls(governed, Collective::allreduce, 80);
  if (governed.sites().empty() || governed.site().key.challenger == nullptr) return;
  EXPECT_EQ(governed.arm(), Arm::challenger);
  governed.take(2e-3, 3e-3, 9e-3);
  make_governed_calls(governed, Collective::allreduce, 400);
  EXPECT_EQ(governed.arm(), Arm::own);
}

}  // namespace
}  // namespace sibyl::test
