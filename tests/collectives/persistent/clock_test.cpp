// Persistent collectives on hosts whose clocks are seconds apart: who will be late is known all the
// same. The hosts are pretended, each rank on one of its own.
#include <cmath>

#include "arrival_service/clocks.hpp"
#include "collectives/persistent/cases.hpp"
#include "collectives/persistent/request.hpp"

namespace sibyl::test {
namespace {

TEST(PersistentClock, PredictionsAreRightThoughClocksDifferBySeconds) {
  const int size = size_of();
  if (size < 3) GTEST_SKIP() << "in two ranks there is no order";
  const Duplicate comm;
  CommunicatorState* state = CommunicatorState::get(comm.get());
  ASSERT_TRUE(state->serves(comm.get(), true));
  const int rank = rank_in();
  state->arrivals.replace_clock(CommonClock({(rank % 2 == 0 ? 3 : -2) * rank * second, 0}), rank);
  for (const char* algorithm : {"linear-synchronised", "binomial"}) {
    const bool everyone = algorithm == std::string("binomial");
    if (everyone && thread_level() < MPI_THREAD_MULTIPLE) continue;
    const int root = size - 1;
    PersistentTrial trial({Collective::gather, algorithm, true, true, root, 300}, comm.get());
    const auto& request = *reinterpret_cast<PersistentRequest*>(*trial.request());
    int seen = 0;
    for (std::uint64_t k = 0; k < 8; ++k) {
      trial.start(k);
      trial.edge(0.5);
      const double own = request.last_prediction();
      // The root does not wait for the edges of others, so they are there before it arrives.
      MPI_Barrier(comm.get());
      std::vector<double> predicted(static_cast<std::size_t>(size));
      MPI_Allgather(&own, 1, MPI_DOUBLE, predicted.data(), 1, MPI_DOUBLE, comm.get());
      trial.arrive();
      trial.wait();
      trial.check();
      ASSERT_NE(request.exchange(), nullptr);
      if (!everyone && rank != root) continue;
      const double error = request.exchange()->clock_error();
      const std::vector<double>& arrivals = request.exchange()->arrivals();
      for (std::size_t r = 0; r < predicted.size(); ++r) {
        for (std::size_t s = 0; s < r; ++s) {
          if (std::isnan(arrivals[r]) || std::isnan(arrivals[s])) continue;
          ++seen;
          EXPECT_NEAR(arrivals[r] - arrivals[s], predicted[r] - predicted[s], error + 1e-6)
              << algorithm << ", ranks " << r << " and " << s;
          EXPECT_LT(error, 1.0) << "nothing would be known of clocks that are seconds apart";
        }
      }
    }
    if (everyone || rank == root) {
      EXPECT_GT(seen, 0) << algorithm;
    }
  }
}

}  // namespace
}  // namespace sibyl::test
