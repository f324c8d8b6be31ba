// Predictors: what each of them must get right, and what it costs it to be wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "arrival/splitmix64.hpp"
#include "sibyl/predictors.hpp"

namespace sibyl {
namespace {

// The absolute errors of a predictor over values, those after the first `skipped`, sorted.
template <class P>
std::vector<double> errors_of(P predictor, const std::vector<double>& values, std::size_t skipped) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i >= skipped) errors.push_back(std::abs(values[i] - predictor.prediction()));
    predictor.observe(values[i]);
  }
  std::sort(errors.begin(), errors.end());
  return errors;
}

double median(const std::vector<double>& sorted) { return sorted[sorted.size() / 2]; }

Predictor predictor(const char* text) {
  PredictorRequest request;
  EXPECT_TRUE(predictor_from_text(text, request)) << text;
  return Predictor(request);
}

std::string best_of(const BestPredictor& best) {
  return text_of(standard_predictors()[best.best()]);
}

TEST(Edge, ContinuesTheLineFromStartThroughTheEdge) {
  EXPECT_DOUBLE_EQ(extrapolate_edge(2.0, 3.0, 0.5), 4.0);
  EXPECT_DOUBLE_EQ(extrapolate_edge(-1.0, 0.0, 0.25), 3.0);
  EXPECT_DOUBLE_EQ(extrapolate_edge(5.0, 5.0, 0.1), 5.0);
}

TEST(Edge, HasNoAnswerForAFractionThatIsNone) {
  for (const double fraction : {0.0, 1.0, -0.5, 1.5, std::nan("")}) {
    EXPECT_TRUE(std::isnan(extrapolate_edge(0, 1, fraction))) << fraction;
  }
}

TEST(Predictors, ReadBackFromTheirText) {
  for (const char* text : {"last", "sma:1", "sma:4", "sma:65536", "ewma:0.25", "ewma:1"}) {
    PredictorRequest request;
    ASSERT_TRUE(predictor_from_text(text, request)) << text;
    EXPECT_EQ(text_of(request), text);
  }
  for (const char* text : {"", "best", "last:1", "sma", "sma:", "sma:0", "sma:-1", "sma:2.5",
                           "sma:65537", "ewma", "ewma:0", "ewma:1.1", "ewma:nan", "ewma:0.5x"}) {
    PredictorRequest request;
    EXPECT_FALSE(predictor_from_text(text, request)) << text;
  }
}

TEST(Predictors, AverageWhatTheySay) {
  Predictor last = predictor("last");
  Predictor sma = predictor("sma:3");
  Predictor ewma = predictor("ewma:0.5");
  EXPECT_EQ(sma.prediction(), 0);
  for (const double value : {1.0, 2.0, 6.0, 10.0}) {
    last.observe(value);
    sma.observe(value);
    ewma.observe(value);
  }
  EXPECT_DOUBLE_EQ(last.prediction(), 10);
  EXPECT_DOUBLE_EQ(sma.prediction(), 6);       // (2 + 6 + 10) / 3
  EXPECT_DOUBLE_EQ(ewma.prediction(), 6.875);  // 1, 1.5, 3.75, 6.875
  EXPECT_EQ(sma.observed(), 4U);
}

TEST(Predictors, HaveARepeatedValueExactly) {
  const std::vector<double> values(100, 0.05);
  for (const PredictorRequest& request : standard_predictors()) {
    EXPECT_LT(errors_of(Predictor(request), values, 1).back(), 1e-15) << text_of(request);
  }
  EXPECT_LT(errors_of(BestPredictor(), values, 1).back(), 1e-15);
}

TEST(BestPredictor, SeesThroughNoise) {
  SplitMix64 random(1);
  std::vector<double> values(2000);
  for (double& value : values) value = 0.05 + 0.01 * (random.next_unit() - 0.5);
  // A last value is off by 1/3 of the width on average, the true mean by 1/4.
  const std::vector<double> best = errors_of(BestPredictor(), values, 100);
  const std::vector<double> last = errors_of(predictor("last"), values, 100);
  EXPECT_LT(median(best), 0.0028);
  EXPECT_LT(median(best), median(last));
  EXPECT_LT(median(best), 0.06 * 0.05);  // of the delay
}

TEST(BestPredictor, FollowsADrift) {
  std::vector<double> values(500);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = 0.05 + 1e-4 * static_cast<double>(i);
  }
  BestPredictor best;
  for (const double value : values) best.observe(value);
  EXPECT_EQ(best_of(best), "last");
  EXPECT_NEAR(best.error(), 1e-4, 1e-9);
  EXPECT_GT(median(errors_of(predictor("sma:16"), values, 16)), 8e-4);
}

TEST(BestPredictor, IsRightAgainSoonAfterAStep) {
  std::vector<double> values(50, 0.01);
  values.resize(100, 0.2);
  BestPredictor best;
  for (std::size_t i = 0; i < 51; ++i) best.observe(values[i]);
  EXPECT_DOUBLE_EQ(best.prediction(), 0.2);
  EXPECT_EQ(best_of(best), "last");
}

TEST(BestPredictor, TellsItsOwnError) {
  SplitMix64 random(7);
  BestPredictor best;
  EXPECT_EQ(best.error(), 0);
  std::vector<double> told;
  std::vector<double> true_errors;
  for (int i = 0; i < 1000; ++i) {
    const double value = 0.1 + 0.02 * random.next_unit();
    if (i >= 50) {
      told.push_back(best.error());
      true_errors.push_back(std::abs(value - best.prediction()));
    }
    best.observe(value);
  }
  double sum_told = 0;
  double sum_true = 0;
  for (std::size_t i = 0; i < told.size(); ++i) {
    sum_told += told[i];
    sum_true += true_errors[i];
  }
  EXPECT_NEAR(sum_told / sum_true, 1.0, 0.2);
}

TEST(OrderOfArrival, SortsByTimeAndKeepsTiesInRankOrder) {
  const std::vector<double> times{0.3, 0.1, 0.2, 0.1};
  EXPECT_EQ(order_of_arrival(times, 0), (std::vector<Rank>{1, 3, 2, 0}));
}

TEST(OrderOfArrival, TakesDifferencesWithinTheErrorForTies) {
  const std::vector<double> times{0.102, 0.1, 0.0, 0.101, 0.2};
  EXPECT_EQ(order_of_arrival(times, 0.005), (std::vector<Rank>{2, 0, 1, 3, 4}));
  EXPECT_EQ(order_of_arrival(times, 0.0005), (std::vector<Rank>{2, 1, 3, 0, 4}));
  EXPECT_EQ(order_of_arrival(times, 1), (std::vector<Rank>{0, 1, 2, 3, 4}));
}

TEST(OrderOfArrival, OfNobodyIsEmpty) { EXPECT_TRUE(order_of_arrival({}, 0).empty()); }

}  // namespace
}  // namespace sibyl
