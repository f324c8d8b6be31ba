// The exchange of arrivals between ranks whose clocks are seconds apart: what the root knows is
// true within the error that it states, however the messages lie about.
#include "arrival_service/arrival_exchange.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#include "arrival_service/clocks.hpp"
#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

constexpr double most_drift = 1e-2;

double true_seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// What a rank holds the root's clock to be.
double at_root(const CommonClock& clock, double when) {
  const std::chrono::nanoseconds since{static_cast<std::int64_t>(when * 1e9)};
  return static_cast<double>(clock.common(std::chrono::steady_clock::time_point(since))) * 1e-9;
}

struct Ranks {
  Duplicate comm;
  int rank = rank_in();
  int size = size_of();
  int root = size - 1;
  CommonClock clock{clock_of(rank), most_drift};

  Ranks() {
    clock.synchronise(comm.get(), rank);
    clock.follow(comm.get(), root);
  }
};

void leave(ArrivalExchange& exchange) {
  exchange.leave();
  while (!exchange.left()) std::this_thread::yield();
  MPI_Barrier(MPI_COMM_WORLD);
}

void run(Ranks& ranks, bool everyone, std::int64_t ask_after) {
  ArrivalExchange exchange;
  exchange.open({ranks.comm.get(), ranks.rank, ranks.size, ranks.root, 0, everyone, true,
                 ranks.clock, ask_after});
  for (std::int64_t iteration = 1; iteration <= 20; ++iteration) {
    exchange.begin(iteration);
    const double arrival = true_seconds() + 0.001 * ranks.rank;
    exchange.report(arrival);
    // At the root all others are awaited, though it need not: its iteration goes on until then.
    while (!exchange.ended() || !exchange.settled()) {
      exchange.advance();
      std::this_thread::yield();
    }
    std::vector<double> reported(static_cast<std::size_t>(ranks.size));
    MPI_Allgather(&arrival, 1, MPI_DOUBLE, reported.data(), 1, MPI_DOUBLE, ranks.comm.get());
    const bool knows = everyone || ranks.rank == ranks.root;
    if (!knows) continue;
    ASSERT_TRUE(exchange.all_known());
    EXPECT_TRUE(std::isfinite(exchange.clock_error()));
    const double own = exchange.arrivals()[static_cast<std::size_t>(ranks.root)];
    for (int r = 0; r < ranks.size; ++r) {
      const auto at = static_cast<std::size_t>(r);
      // The root's clock runs off against true time by its drift, over milliseconds.
      const double apart = reported[at] - reported[static_cast<std::size_t>(ranks.root)];
      EXPECT_NEAR(exchange.arrivals()[at] - own, apart,
                  exchange.clock_error() + 2 * most_drift * std::abs(apart) + 1e-6)
          << "rank " << r << ", iteration " << iteration;
    }
  }
  EXPECT_EQ(exchange.error(), MPI_SUCCESS);
  leave(exchange);
}

TEST(ArrivalExchange, KnowsArrivalsByClocksThatAreSecondsApart) {
  for (const bool everyone : {false, true}) {
    Ranks ranks;
    run(ranks, everyone, second);
    run(ranks, everyone, 0);  // asks with every estimate
  }
}

TEST(ArrivalExchange, LearnsTheRootsTimeAgainFromAnswers) {
  Ranks ranks;
  if (ranks.size < 2) GTEST_SKIP();
  ArrivalExchange exchange;
  exchange.open(
      {ranks.comm.get(), ranks.rank, ranks.size, ranks.root, 0, false, true, ranks.clock, 0});
  const std::int64_t before = exchange.clock().compared_at();
  exchange.begin(1);
  exchange.report(true_seconds());
  while (ranks.rank == ranks.root ? !exchange.ended() : exchange.clock().compared_at() == before) {
    exchange.advance();
    std::this_thread::yield();
  }
  const CommonClock& clock = exchange.clock();
  const double now = true_seconds();
  const std::int64_t local = clock.local().at(std::chrono::steady_clock::time_point(
      std::chrono::nanoseconds(static_cast<std::int64_t>(now * 1e9))));
  const std::vector<double> said{at_root(clock, now) - now, now};
  std::vector<double> leaders = said;
  MPI_Bcast(leaders.data(), 2, MPI_DOUBLE, ranks.root, ranks.comm.get());
  // Between the two looks the root's clock has run off against true time.
  const double slack = 2 * most_drift * std::abs(now - leaders[1]) + 1e-6;
  EXPECT_NEAR(said[0], leaders[0], clock.error(local) + slack) << "rank " << ranks.rank;
  leave(exchange);
}

TEST(ArrivalExchange, LeavesNothingBehindWhereRanksLeaveAtOnce) {
  for (int turn = 0; turn < 5; ++turn) {
    Ranks ranks;
    ArrivalExchange exchange;
    exchange.open(
        {ranks.comm.get(), ranks.rank, ranks.size, ranks.root, 0, false, true, ranks.clock, 0});
    exchange.begin(1);
    exchange.report(true_seconds());
    leave(exchange);
    int there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, ranks.comm.get(), &there, MPI_STATUS_IGNORE);
    EXPECT_EQ(there, 0);
  }
}

}  // namespace
}  // namespace sibyl::test
