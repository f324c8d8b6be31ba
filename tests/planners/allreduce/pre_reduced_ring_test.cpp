// The pre-reduced ring: right whoever is late, and as long as a vector takes after one late rank.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "arrival/splitmix64.hpp"
#include "planners/prove.hpp"
#include "schedule/verify.hpp"
#include "sibyl/planners.hpp"

namespace sibyl {
namespace {

const Algorithm& pre_reduced_ring() {
  return *find_algorithm(Collective::allreduce, "pre-reduced-ring");
}

TEST(PreReducedRing, IsProvedWhoeverIsLate) {
  SplitMix64 random(1);
  ProofStorage storage;
  for (Rank ranks = 1; ranks <= 20; ++ranks) {
    for (Rank late = 0; late <= ranks; ++late) {
      std::vector<double> arrivals(static_cast<std::size_t>(ranks), 0.0);
      for (Rank i = 0; i < late; ++i) {
        arrivals[static_cast<std::size_t>(random.next() % arrivals.size())] =
            40 * random.next_unit();
      }
      for (const bool in_place : {false, true}) {
        PlanRequest request{.ranks = ranks};
        request.in_place = in_place;
        request.arrivals = arrivals;
        request.segments = static_cast<std::uint32_t>(1 + random.next() % 40);
        const VerifyResult result = verify_algorithm(pre_reduced_ring(), request, storage);
        ASSERT_TRUE(result.ok) << ranks << " ranks, " << late << " late: " << result.problem;
      }
    }
  }
}

// How many ranks the plan takes to be in time: as many as its vector has parts.
std::uint32_t parts_for(const std::vector<double>& arrivals) {
  PlanRequest request{.ranks = static_cast<Rank>(arrivals.size())};
  request.arrivals = arrivals;
  request.segments = 1;
  request.round_time = 10;  // of the whole vector
  return pre_reduced_ring().describe(request).segments;
}

TEST(PreReducedRing, LeavesOutWhomItPaysToLeaveOut) {
  EXPECT_EQ(parts_for({0, 0, 0, 0, 0, 0, 0, 0}), 8U);
  EXPECT_EQ(parts_for({0, 0, 0, 20, 0, 0, 0, 0}), 7U);
  // Two of 8 would cost too much if they were not the late ones, two of 12 do not.
  EXPECT_EQ(parts_for({0, 0, 0, 20, 0, 0, 20, 0}), 8U);
  EXPECT_EQ(parts_for({0, 0, 0, 20, 0, 0, 25, 0, 0, 0, 0, 0}), 10U);
  // One of two has as much to receive as both of a ring; of three it may be left out.
  EXPECT_EQ(parts_for({0, 20}), 2U);
  EXPECT_EQ(parts_for({0, 20, 0}), 2U);
  // So little late that the others would wait for their own sums.
  EXPECT_EQ(parts_for({0, 0, 0, 0.1, 0, 0, 0, 0}), 8U);
  // Few can carry the result to the others only slowly.
  EXPECT_EQ(parts_for({0, 20, 20, 20, 20, 20, 20, 20}), 8U);
}

TEST(PreReducedRing, TakesTheRingsPathWhereNothingIsKnown) {
  PlanRequest request{.ranks = 6};
  request.segments = 12;
  const Plan own = make_plan(pre_reduced_ring(), request);
  const Plan ring = make_plan(*find_algorithm(Collective::allreduce, "ring"), request);
  for (std::size_t r = 0; r < 6; ++r) {
    ASSERT_EQ(own.programs[r].steps.size(), ring.programs[r].steps.size());
    for (std::size_t i = 0; i < own.programs[r].steps.size(); ++i) {
      const Step& a = own.programs[r].steps[i];
      const Step& b = ring.programs[r].steps[i];
      EXPECT_EQ(a.kind, b.kind);
      EXPECT_EQ(a.peer, b.peer);
      EXPECT_EQ(a.slice.range, b.slice.range);
    }
  }
}

// The late ranks' parts of the vector, each in segments, are numbered as well.
TEST(PreReducedRing, IsPlannedForNoMoreSegmentsThanCanBeNumbered) {
  PlanRequest request{.ranks = 1024};
  request.segments = 1U << 20;
  EXPECT_EQ(check_request(pre_reduced_ring(), request), "");
  request.ranks = 32768;
  EXPECT_NE(check_request(pre_reduced_ring(), request), "");
  request.segments = 32768;
  EXPECT_EQ(check_request(pre_reduced_ring(), request), "");
}

TEST(PreReducedRing, WantsAnArrivalForEachRank) {
  const std::vector<double> two{0, 1};
  PlanRequest request{.ranks = 3};
  request.arrivals = two;
  EXPECT_NE(check_request(pre_reduced_ring(), request), "");
}

}  // namespace
}  // namespace sibyl
