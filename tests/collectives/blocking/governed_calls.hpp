// A communicator whose calls are governed by made-up times, and calls whose results are looked at.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "collectives/harness.hpp"
#include "sibyl/sibyl.h"
#include "support/mpi_test.hpp"

namespace sibyl::test {

constexpr int governed_elements = 2048;  // 8 KiB: long enough for messages of the governor's own

// A duplicate whose ranks lie on nodes of their own, as slow links join them: nearly everything is
// chosen to be Sibyl's. `own` and `native`: what a call takes by these; a challenger takes longest.
class Governed {
 public:
  static constexpr double longest = 100;
  explicit Governed(double own, double native, MPI_Comm parent = MPI_COMM_WORLD)
      : duplicate_(parent), state_(CommunicatorState::get(duplicate_.get())) {
    EXPECT_TRUE(state_->serves(get(), true));
    state_->set_placement({.ranks_per_node = 1, .nodes = {}, .count = 0});
    // Some latencies a vector: where it were thousands it would be cut into hundreds of messages,
    // each of which costs ranks that share a processor a time slice.
    Costs costs;
    costs.alpha = costs.overhead = 0.5e-3;
    costs.beta = 10e-3 / (governed_elements * sizeof(int));
    state_->replace_costs(costs);
    govern(0);
    govern(1);
    take(own, native);
  }
  void govern(std::uint32_t on) {
    Settings settings;
    settings.govern = on;
    state_->replace_settings(settings);
  }
  void take(double own, double native, double challenger = longest) {
    if (state_->governing() == nullptr) return;  // one rank
    state_->governing()->replace_times([=](const Governor::Site&, Arm arm) {
      return std::array{own, native, challenger}[static_cast<std::size_t>(arm)];
    });
  }
  MPI_Comm get() const { return duplicate_.get(); }
  CommunicatorState& state() { return *state_; }
  std::span<const Governor::Site> sites() { return state_->governing()->governor().sites(); }
  const Governor::Site& site(std::size_t index = 0) { return sites()[index]; }

  // The same on all ranks, or the test fails.
  Arm arm(std::size_t index = 0) {
    const Governor::Site& one = site(index);
    const std::int64_t own[] = {static_cast<std::int64_t>(one.arm), one.decided ? 1 : 0, one.calls,
                                one.served[0], one.served[2]};
    std::int64_t least[5];
    std::int64_t most[5];
    MPI_Allreduce(own, least, 5, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(own, most, 5, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(least[i], most[i]) << i;
    EXPECT_EQ(least[1], 1) << "not decided";
    return one.arm;
  }

 private:
  Duplicate duplicate_;
  CommunicatorState* state_;
};

inline int governed_value(int call, int rank, int element) {
  return call * 31 + rank * 7 + element;
}

// One call whose result is looked at. `all` is a block of each rank; `root` is 0 or the last.
inline void make_governed_call(const Governed& governed, Collective collective, int call,
                               int count = governed_elements) {
  const int rank = rank_in();
  const int size = size_of();
  const int root = call % 2 == 0 ? 0 : size - 1;
  const auto n = static_cast<std::size_t>(count);
  std::vector<int> own(n);
  std::vector<int> result(n, -1);
  std::vector<int> all(n * static_cast<std::size_t>(size), -1);
  std::vector<int> each(all.size());  // what goes to all, from this rank
  const std::vector<int> counts(static_cast<std::size_t>(size), count);
  std::vector<int> places(counts.size());
  for (int r = 0; r < size; ++r) places[static_cast<std::size_t>(r)] = r * count;
  for (int i = 0; i < count; ++i) own[static_cast<std::size_t>(i)] = governed_value(call, rank, i);
  for (std::size_t i = 0; i < each.size(); ++i) {
    each[i] = governed_value(call, rank, static_cast<int>(i));
  }
  const auto expect_sums = [&](int ranks, int first = 0) {
    for (int i = 0; i < count; ++i) {
      const int sum = ranks * (call * 31 + first + i) + 7 * ranks * (ranks - 1) / 2;
      ASSERT_EQ(result[static_cast<std::size_t>(i)], sum) << "call " << call;
    }
  };
  const auto expect_block = [&](const std::vector<int>& found, int from, int first = 0) {
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(found[static_cast<std::size_t>(i)], governed_value(call, from, first + i))
          << "call " << call;
    }
  };
  MPI_Comm comm = governed.get();
  switch (collective) {
    case Collective::exscan:
      ASSERT_EQ(SIBYL_Exscan(own.data(), result.data(), count, MPI_INT, MPI_SUM, comm), 0);
      if (rank > 0) expect_sums(rank);
      return;
    case Collective::scan:
      ASSERT_EQ(SIBYL_Scan(own.data(), result.data(), count, MPI_INT, MPI_SUM, comm), 0);
      return expect_sums(rank + 1);
    case Collective::allreduce:
      ASSERT_EQ(SIBYL_Allreduce(own.data(), result.data(), count, MPI_INT, MPI_SUM, comm), 0);
      return expect_sums(size);
    case Collective::reduce:
      ASSERT_EQ(SIBYL_Reduce(own.data(), result.data(), count, MPI_INT, MPI_SUM, root, comm), 0);
      if (rank == root) expect_sums(size);
      return;
    case Collective::reduce_scatter:
      ASSERT_EQ(
          SIBYL_Reduce_scatter(each.data(), result.data(), counts.data(), MPI_INT, MPI_SUM, comm),
          0);
      return expect_sums(size, rank * count);
    case Collective::reduce_scatter_block:
      ASSERT_EQ(
          SIBYL_Reduce_scatter_block(each.data(), result.data(), count, MPI_INT, MPI_SUM, comm), 0);
      return expect_sums(size, rank * count);
    case Collective::bcast:
      ASSERT_EQ(SIBYL_Bcast(own.data(), count, MPI_INT, root, comm), 0);
      return expect_block(own, root);
    case Collective::scatter:
      ASSERT_EQ(
          SIBYL_Scatter(each.data(), count, MPI_INT, result.data(), count, MPI_INT, root, comm), 0);
      return expect_block(result, root, rank * count);
    case Collective::scatterv:
      ASSERT_EQ(SIBYL_Scatterv(each.data(), counts.data(), places.data(), MPI_INT, result.data(),
                               count, MPI_INT, root, comm),
                0);
      return expect_block(result, root, rank * count);
    case Collective::gather:
      ASSERT_EQ(SIBYL_Gather(own.data(), count, MPI_INT, all.data(), count, MPI_INT, root, comm),
                0);
      break;
    case Collective::gatherv:
      ASSERT_EQ(SIBYL_Gatherv(own.data(), count, MPI_INT, all.data(), counts.data(), places.data(),
                              MPI_INT, root, comm),
                0);
      break;
    case Collective::alltoall:
    case Collective::alltoallv:
      for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = governed_value(call, rank, static_cast<int>(i % n));
      }
      if (collective == Collective::alltoall) {
        ASSERT_EQ(SIBYL_Alltoall(MPI_IN_PLACE, 0, MPI_INT, all.data(), count, MPI_INT, comm), 0);
      } else {
        each = all;
        ASSERT_EQ(SIBYL_Alltoallv(each.data(), counts.data(), places.data(), MPI_INT, all.data(),
                                  counts.data(), places.data(), MPI_INT, comm),
                  0);
      }
      break;
    case Collective::allgatherv:
      ASSERT_EQ(SIBYL_Allgatherv(own.data(), count, MPI_INT, all.data(), counts.data(),
                                 places.data(), MPI_INT, comm),
                0);
      break;
    case Collective::allgather:
      ASSERT_EQ(SIBYL_Allgather(own.data(), count, MPI_INT, all.data(), count, MPI_INT, comm), 0);
      break;
    case Collective::barrier:
      FAIL() << "nobody governs it";
  }
  const bool to_root = collective == Collective::gather || collective == Collective::gatherv;
  if (to_root && rank != root) return;
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(all[i], governed_value(call, static_cast<int>(i / n), static_cast<int>(i % n)))
        << "call " << call;
  }
}

inline void make_governed_calls(const Governed& governed, Collective collective, int times,
                                int count = governed_elements) {
  for (int call = 0; call < times; ++call) {
    make_governed_call(governed, collective, call, count);
    if (testing::Test::HasFatalFailure()) return;
  }
}

constexpr Collective governed_ones[] = {Collective::exscan,   Collective::allreduce,
                                        Collective::bcast,    Collective::gather,
                                        Collective::alltoall, Collective::allgather};

// All that Sibyl ever chooses by itself between nodes. A barrier is the library's: it has as few
// rounds.
constexpr Collective all_governed_ones[] = {
    Collective::exscan,     Collective::scan,           Collective::gather,
    Collective::scatter,    Collective::gatherv,        Collective::scatterv,
    Collective::reduce,     Collective::allreduce,      Collective::bcast,
    Collective::allgather,  Collective::reduce_scatter, Collective::reduce_scatter_block,
    Collective::allgatherv, Collective::alltoall,       Collective::alltoallv};

class GovernedCalls : public testing::Test {
 protected:
  void SetUp() override {
    if (size_of() < 2) GTEST_SKIP() << "one rank has nothing to govern";
  }
};

}  // namespace sibyl::test
