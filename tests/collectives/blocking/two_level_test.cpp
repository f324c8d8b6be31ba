// What is chosen for ranks that share nodes, wherever these lie, and that it gives what the MPI
// library gives. The nodes are pretended, and so are the costs of messages between them.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "collectives/call.hpp"
#include "collectives/harness.hpp"

namespace sibyl::test {
namespace {

// 100 Mbit/s, 20 us.
constexpr Costs slow_network{.alpha = 20e-6, .overhead = 5e-6, .beta = 80e-9, .gamma = 1e-10};

struct NamedPlacement {
  std::string name;
  Placement placement;
};

// Nodes of two or three ranks, dealt out in turn, and of one, two, three ... ranks.
std::vector<NamedPlacement> placements() {
  const Rank size = size_of();
  std::vector<NamedPlacement> all{{"nodes of 2", {.ranks_per_node = 2}},
                                  {"nodes of 3", {.ranks_per_node = 3}}};
  Placement cyclic{.count = (size + 1) / 2};
  Placement uneven;
  for (Rank rank = 0, left = 1; rank < size; ++rank, --left) {
    cyclic.nodes.push_back(rank % cyclic.count);
    if (left == 0) left = ++uneven.count + 1;
    uneven.nodes.push_back(uneven.count);
  }
  ++uneven.count;
  all.push_back({"in turn", cyclic});
  all.push_back({"uneven", uneven});
  return all;
}

// Calls a collective as MPI and as Sibyl serves it, and returns what Sibyl took.
class OnNodes : public testing::TestWithParam<Collective> {
 protected:
  void call(bool by_sibyl, std::vector<std::int32_t>& data, std::vector<std::int32_t>& result,
            int root, MPI_Comm comm) const {
    const int count = static_cast<int>(data.size());
    int error = MPI_SUCCESS;
    if (GetParam() == Collective::reduce) {
      error = (by_sibyl ? SIBYL_Reduce : MPI_Reduce)(data.data(), result.data(), count, MPI_INT32_T,
                                                     MPI_SUM, root, comm);
    } else if (GetParam() == Collective::allreduce) {
      error = (by_sibyl ? SIBYL_Allreduce : MPI_Allreduce)(data.data(), result.data(), count,
                                                           MPI_INT32_T, MPI_SUM, comm);
    } else if (gathers_everywhere(GetParam())) {
      error = gather(by_sibyl, data, result, comm);
    } else if (scatters_sums(GetParam())) {
      error = scatter(by_sibyl, data, result, comm);
    } else {
      result = data;
      error = (by_sibyl ? SIBYL_Bcast : MPI_Bcast)(result.data(), count, MPI_INT32_T, root, comm);
    }
    EXPECT_EQ(error, MPI_SUCCESS);
  }

 private:
  // Of as many elements in all; blocks of allgatherv of three sizes, the last rank's first, with
  // gaps.
  int gather(bool by_sibyl, std::vector<std::int32_t>& data, std::vector<std::int32_t>& result,
             MPI_Comm comm) const {
    const int size = size_of();
    const int each = static_cast<int>(data.size()) / size;
    if (GetParam() == Collective::allgather) {
      return (by_sibyl ? SIBYL_Allgather : MPI_Allgather)(data.data(), each, MPI_INT32_T,
                                                          result.data(), each, MPI_INT32_T, comm);
    }
    std::vector<int> counts;
    for (int rank = 0; rank < size; ++rank) counts.push_back(each * (1 + rank % 3) / 3 - 5);
    std::vector<int> places(counts.size(), 0);
    for (auto rank = counts.size() - 1; rank > 0; --rank) {
      places[rank - 1] = places[rank] + counts[rank] + 5;
    }
    return (by_sibyl ? SIBYL_Allgatherv : MPI_Allgatherv)(
        data.data(), counts[static_cast<std::size_t>(rank_in())], MPI_INT32_T, result.data(),
        counts.data(), places.data(), MPI_INT32_T, comm);
  }
  // In blocks alike, or of three sizes, one of them empty.
  int scatter(bool by_sibyl, std::vector<std::int32_t>& data, std::vector<std::int32_t>& result,
              MPI_Comm comm) const {
    const int size = size_of();
    const int each = static_cast<int>(data.size()) / size;
    if (GetParam() == Collective::reduce_scatter_block) {
      return (by_sibyl ? SIBYL_Reduce_scatter_block : MPI_Reduce_scatter_block)(
          data.data(), result.data(), each, MPI_INT32_T, MPI_SUM, comm);
    }
    std::vector<int> counts;
    for (int rank = 0; rank < size; ++rank) counts.push_back(each * (rank % 3) / 2);
    return (by_sibyl ? SIBYL_Reduce_scatter : MPI_Reduce_scatter)(
        data.data(), result.data(), counts.data(), MPI_INT32_T, MPI_SUM, comm);
  }
};
class WithLanes : public OnNodes {};

TEST_P(OnNodes, LongVectorsGoOnTwoLevels) {
  SIBYL_TRACE_SEED();
  const int size = size_of();
  Random random(run_seed() + 51);
  for (const NamedPlacement& lie : placements()) {
    SCOPED_TRACE(lie.name);
    Served served(GetParam(), nullptr);
    served.state().set_placement(lie.placement);
    served.state().replace_costs(slow_network);
    for (int i = 0; i < cases(6); ++i) {
      const int root = has_root(GetParam()) ? static_cast<int>(pick(random, size_of())) : 0;
      std::vector<std::int32_t> data(40000 + pick(random, 30000));
      std::iota(data.begin(), data.end(), rank_in() * 7 + i);
      std::vector<std::int32_t> expected(data.size(), -1);
      std::vector<std::int32_t> found(data.size(), -1);
      call(false, data, expected, root, MPI_COMM_WORLD);
      call(true, data, found, root, served.get());
      ASSERT_EQ(found, expected) << "root " << root;
    }
    const Placement& placed = lie.placement;
    const Rank nodes = placed.nodes.empty()
                           ? (size + placed.ranks_per_node - 1) / placed.ranks_per_node
                           : placed.count;
    const Algorithm* const row = served.served_by();
    if (nodes > 1 && nodes < size) {
      ASSERT_NE(row, nullptr);
      EXPECT_EQ(row->name, "two-level");
    } else {
      EXPECT_TRUE(row == nullptr || row->name != "two-level");
    }
  }
}

// The least that MPI allows of tags is too few for as many lanes as were asked for where one node
// has a single rank: there are fewer lanes then, and not the library.
TEST_P(WithLanes, LanesAreFewerWhereThereAreFewTags) {
  const Rank size = size_of();
  if (size < 4) GTEST_SKIP() << "no node leads several lanes";
  Placement lie{.nodes = std::vector<Rank>(static_cast<std::size_t>(size), 1), .count = 2};
  lie.nodes[0] = 0;
  Served served(GetParam(), find_algorithm(GetParam(), "two-level"));
  served.state().limit_tags(24574);
  served.state().set_placement(lie);
  served.state().replace_costs(slow_network);
  Settings settings = served.state().settings();
  settings.lanes = 4;
  settings.segments = GetParam() == Collective::allreduce ? 512 : 1024;  // around a ring twice
  served.state().replace_settings(settings);
  std::vector<std::int32_t> data(50000);
  std::iota(data.begin(), data.end(), rank_in() * 7);
  std::vector<std::int32_t> expected(data.size(), -1);
  std::vector<std::int32_t> found(data.size(), -1);
  call(false, data, expected, 0, MPI_COMM_WORLD);
  static int served_calls;
  served_calls = 0;
  on_served = [] { ++served_calls; };
  call(true, data, found, 0, served.get());
  on_served = nullptr;
  EXPECT_EQ(found, expected);
  EXPECT_EQ(served_calls, 1);
}

// Nobody leaves before the last one has come.
void expect_awaited(int last, MPI_Comm comm) {
  using Clock = std::chrono::steady_clock;  // one for all processes of a machine
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_in() == last) std::this_thread::sleep_for(std::chrono::milliseconds(3));
  std::int64_t came = Clock::now().time_since_epoch().count();
  EXPECT_EQ(SIBYL_Barrier(comm), MPI_SUCCESS);
  const std::int64_t left = Clock::now().time_since_epoch().count();
  MPI_Allreduce(MPI_IN_PLACE, &came, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_GE(left, came) << "last " << last;
}

TEST(Barrier, GoesOnTwoLevelsWhereItIsAskedTo) {
  for (const NamedPlacement& lie : placements()) {
    SCOPED_TRACE(lie.name);
    Served served(Collective::barrier, find_algorithm(Collective::barrier, "two-level"));
    served.state().set_placement(lie.placement);
    for (int last = 0; last < size_of(); ++last) expect_awaited(last, served.get());
    const Algorithm* const by = served.served_by();
    ASSERT_NE(by, nullptr);
    EXPECT_EQ(by->name, "two-level");
  }
}

// Costs that are pretended say nothing of the nodes' memory, so that it is asked for.
TEST(Alltoall, GoesOnTwoLevelsWhereItIsAskedTo) {
  const auto size = static_cast<std::size_t>(size_of());
  for (const NamedPlacement& lie : placements()) {
    SCOPED_TRACE(lie.name);
    Served served(Collective::alltoall, find_algorithm(Collective::alltoall, "two-level"));
    served.state().set_placement(lie.placement);
    for (const int count : {1, 30, 3000}) {
      std::vector<std::int32_t> data(size * static_cast<std::size_t>(count));
      std::iota(data.begin(), data.end(), rank_in() * 100000);
      std::vector<std::int32_t> expected(data.size(), -1);
      std::vector<std::int32_t> found(data.size(), -1);
      MPI_Alltoall(data.data(), count, MPI_INT32_T, expected.data(), count, MPI_INT32_T,
                   MPI_COMM_WORLD);
      EXPECT_EQ(SIBYL_Alltoall(data.data(), count, MPI_INT32_T, found.data(), count, MPI_INT32_T,
                               served.get()),
                MPI_SUCCESS);
      EXPECT_EQ(found, expected) << count;
      EXPECT_EQ(SIBYL_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data.data(), count, MPI_INT32_T,
                               served.get()),
                MPI_SUCCESS);
      EXPECT_EQ(data, expected) << count << " in place";
    }
    const Algorithm* const by = served.served_by();
    ASSERT_NE(by, nullptr);
    EXPECT_EQ(by->name, "two-level");
  }
}

std::string name_of_param(const testing::TestParamInfo<Collective>& collective) {
  return std::string(name_of(collective.param));
}
const auto with_lanes =
    testing::Values(Collective::reduce, Collective::allreduce, Collective::bcast,
                    Collective::allgather, Collective::allgatherv);
INSTANTIATE_TEST_SUITE_P(Of, OnNodes, with_lanes, name_of_param);
INSTANTIATE_TEST_SUITE_P(OfSums, OnNodes,
                         testing::Values(Collective::reduce_scatter,
                                         Collective::reduce_scatter_block),
                         name_of_param);
INSTANTIATE_TEST_SUITE_P(Of, WithLanes, with_lanes, name_of_param);

}  // namespace
}  // namespace sibyl::test
