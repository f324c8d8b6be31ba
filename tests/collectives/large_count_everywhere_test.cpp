// The `_c` functions of bcast, of sums for all ranks and of exchanges, where the MPI has them:
// small counts are served by every algorithm.
#include <numeric>

#include "collectives/harness.hpp"

#if MPI_VERSION >= 4

namespace sibyl::test {
namespace {

using Values = std::vector<std::int64_t>;

// LargeBlocks one after the other, of `count` elements and one more at every other rank.
struct LargeBlocks {
  explicit LargeBlocks(MPI_Count count, bool uneven) {
    for (int r = 0; r < size_of(); ++r) counts.push_back(count + (uneven ? r % 2 : 0));
    places.resize(counts.size());
    std::exclusive_scan(counts.begin(), counts.end(), places.begin(), MPI_Aint{0});
    total = static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), MPI_Count{0}));
  }
  std::vector<MPI_Count> counts;
  std::vector<MPI_Aint> places;
  std::size_t total = 0;
};

class LargeCountEverywhere : public testing::TestWithParam<Collective> {
 protected:
  const std::size_t rank_ = static_cast<std::size_t>(rank_in());
  const std::size_t size_ = static_cast<std::size_t>(size_of());

  static std::int64_t value(std::size_t rank, std::size_t i) {
    return static_cast<std::int64_t>(1000 * rank + i % 900);
  }
  // Elements [first, first + count) of what a rank has.
  static Values values(std::size_t rank, std::size_t first, std::size_t count) {
    Values all(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = value(rank, first + i);
    return all;
  }
  Values sums(std::size_t first, std::size_t count) const {
    Values all(count, 0);
    for (std::size_t r = 0; r < size_; ++r) {
      for (std::size_t i = 0; i < count; ++i) all[i] += value(r, first + i);
    }
    return all;
  }

  void check(MPI_Count count, MPI_Comm comm) {
    const auto elements = static_cast<std::size_t>(count);
    const bool uneven = GetParam() == Collective::reduce_scatter ||
                        GetParam() == Collective::allgatherv || GetParam() == Collective::alltoallv;
    const LargeBlocks blocks(count, uneven);
    const auto own = static_cast<std::size_t>(blocks.counts[rank_]);
    const auto place = static_cast<std::size_t>(blocks.places[rank_]);
    const Values mine = values(rank_, 0, blocks.total);
    Values got;
    Values expected;
    int error = MPI_SUCCESS;
    const auto want = [&](Values values) {
      expected = std::move(values);
      got.assign(expected.size(), -1);
    };
    const auto want_blocks_of_all = [&] {
      expected.clear();
      for (std::size_t r = 0; r < size_; ++r) {
        const Values block = values(r, 0, static_cast<std::size_t>(blocks.counts[r]));
        expected.insert(expected.end(), block.begin(), block.end());
      }
      got.assign(expected.size(), -1);
    };
    switch (GetParam()) {
      case Collective::allreduce:
        want(sums(0, elements));
        error = SIBYL_Allreduce_c(mine.data(), got.data(), count, MPI_INT64_T, MPI_SUM, comm);
        break;
      case Collective::bcast:
        want(values(size_ - 1, 0, elements));
        if (rank_ == size_ - 1) got = expected;
        error = SIBYL_Bcast_c(got.data(), count, MPI_INT64_T, size_of() - 1, comm);
        break;
      case Collective::reduce_scatter:
        want(sums(place, own));
        error = SIBYL_Reduce_scatter_c(mine.data(), got.data(), blocks.counts.data(), MPI_INT64_T,
                                       MPI_SUM, comm);
        break;
      case Collective::reduce_scatter_block:
        want(sums(place, own));
        error = SIBYL_Reduce_scatter_block_c(mine.data(), got.data(), count, MPI_INT64_T, MPI_SUM,
                                             comm);
        break;
      case Collective::allgather:
        want_blocks_of_all();
        error = SIBYL_Allgather_c(mine.data(), count, MPI_INT64_T, got.data(), count, MPI_INT64_T,
                                  comm);
        break;
      case Collective::allgatherv:
        want_blocks_of_all();
        error = SIBYL_Allgatherv_c(mine.data(), blocks.counts[rank_], MPI_INT64_T, got.data(),
                                   blocks.counts.data(), blocks.places.data(), MPI_INT64_T, comm);
        break;
      case Collective::alltoall:
        for (std::size_t r = 0; r < size_; ++r) {
          const Values block = values(r, place, own);
          expected.insert(expected.end(), block.begin(), block.end());
        }
        got.assign(expected.size(), -1);
        error =
            SIBYL_Alltoall_c(mine.data(), count, MPI_INT64_T, got.data(), count, MPI_INT64_T, comm);
        break;
      default: {
        std::vector<MPI_Count> counts(size_, blocks.counts[rank_]);
        std::vector<MPI_Aint> places;
        for (std::size_t r = 0; r < size_; ++r) {
          const Values block = values(r, place, own);
          expected.insert(expected.end(), block.begin(), block.end());
          places.push_back(static_cast<MPI_Aint>(r * own));
        }
        got.assign(expected.size(), -1);
        error =
            SIBYL_Alltoallv_c(mine.data(), blocks.counts.data(), blocks.places.data(), MPI_INT64_T,
                              got.data(), counts.data(), places.data(), MPI_INT64_T, comm);
      }
    }
    ASSERT_EQ(error, MPI_SUCCESS);
    EXPECT_EQ(got, expected);
  }
};

TEST_P(LargeCountEverywhere, FewElementsAreServed) {
  for (const Algorithm& row : algorithms(GetParam())) {
    for (const MPI_Count count : {MPI_Count{1}, MPI_Count{7}, MPI_Count{5000}}) {
      SCOPED_TRACE(std::string(row.name) + ", " + std::to_string(count));
      const Served served(GetParam(), &row);
      check(count, served.get());
      EXPECT_EQ(served.served_by(), &row);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OfEach, LargeCountEverywhere,
                         testing::Values(Collective::allreduce, Collective::bcast,
                                         Collective::reduce_scatter,
                                         Collective::reduce_scatter_block, Collective::allgather,
                                         Collective::allgatherv, Collective::alltoall,
                                         Collective::alltoallv),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace sibyl::test

#endif
