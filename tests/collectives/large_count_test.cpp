// The `_c` functions, where the MPI has them: small counts are served as by the others, what passes
// 2^31 elements or bytes is right all the same.
#include "collectives/large.hpp"

#if MPI_VERSION >= 4

namespace sibyl::test {
namespace {

TEST(LargeCount, ScansOfFewElementsAreServed) {
  const int rank = rank_in();
  for (const Collective collective : {Collective::exscan, Collective::scan}) {
    const bool inclusive = collective == Collective::scan;
    const auto function = inclusive ? SIBYL_Scan_c : SIBYL_Exscan_c;
    for (const Algorithm* row : rows_and_auto(collective)) {
      const Served served(collective, row);
      for (const MPI_Count count : {MPI_Count{1}, MPI_Count{7}, MPI_Count{5000}}) {
        SCOPED_TRACE(name_or_auto(row) + ", " + std::to_string(count));
        std::vector<std::int64_t> send(static_cast<std::size_t>(count), rank + 1);
        std::vector<std::int64_t> receive(send.size(), -1);
        ASSERT_EQ(function(send.data(), receive.data(), count, MPI_INT64_T, MPI_SUM, served.get()),
                  MPI_SUCCESS);
        const std::int64_t last = inclusive ? rank + 1 : rank;
        const std::int64_t sum = last == 0 ? -1 : last * (last + 1) / 2;
        EXPECT_EQ(receive, std::vector<std::int64_t>(send.size(), sum));
        EXPECT_NE(served.served_by(), nullptr) << "the MPI library served it";
      }
    }
  }
}

TEST(LargeCount, GathersAndScattersOfFewElementsAreServed) {
  const int rank = rank_in();
  const int size = size_of();
  for (const Collective collective : {Collective::gather, Collective::scatter}) {
    for (const Algorithm* row : rows_and_auto(collective)) {
      const Served served(collective, row);
      for (const MPI_Count count : {MPI_Count{1}, MPI_Count{7}, MPI_Count{5000}}) {
        SCOPED_TRACE(name_or_auto(row) + ", " + std::to_string(count));
        const int root = static_cast<int>(count) % size;
        const auto block = static_cast<std::size_t>(count);
        std::vector<int> own(block, rank);
        std::vector<int> all(rank == root ? block * static_cast<std::size_t>(size) : 0, -1);
        std::vector<int> expected(all.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
          expected[i] = static_cast<int>(i / block);
        }
        if (collective == Collective::gather) {
          ASSERT_EQ(SIBYL_Gather_c(own.data(), count, MPI_INT, all.data(), count, MPI_INT, root,
                                   served.get()),
                    MPI_SUCCESS);
          EXPECT_EQ(all, expected);
        } else {
          own.assign(block, -1);
          ASSERT_EQ(SIBYL_Scatter_c(expected.data(), count, MPI_INT, own.data(), count, MPI_INT,
                                    root, served.get()),
                    MPI_SUCCESS);
          EXPECT_EQ(own, std::vector<int>(block, rank));
        }
        EXPECT_NE(served.served_by(), nullptr) << "the MPI library served it";
      }
    }
  }
}

TEST(LargeCount, NegativeCountsAreRefusedAndZeroIsNothing) {
  const Served served(Collective::gather, nullptr);
  int word = 0;
  for (const MPI_Count count : {MPI_Count{-1}, MPI_Count{-1} << 33, MPI_Count{0}}) {
    const int wanted = count < 0 ? MPI_ERR_COUNT : MPI_SUCCESS;
    const MPI_Comm comm = served.get();
    EXPECT_EQ(class_of(SIBYL_Exscan_c(&word, &word + 1, count, MPI_INT, MPI_SUM, comm)), wanted);
    EXPECT_EQ(class_of(SIBYL_Scan_c(&word, &word + 1, count, MPI_INT, MPI_SUM, comm)), wanted);
    EXPECT_EQ(class_of(SIBYL_Gather_c(&word, count, MPI_INT, &word + 1, count, MPI_INT, 0, comm)),
              wanted);
    EXPECT_EQ(class_of(SIBYL_Scatter_c(&word, count, MPI_INT, &word + 1, count, MPI_INT, 0, comm)),
              wanted);
  }
}

// Bytes that are looked at: the first, the last, and those around 2^31.
std::vector<std::int64_t> places_of(std::int64_t count) {
  return {0, 1, count / 2, limit - 1, limit, count - 1};
}

TEST_F(Large, ScansOfMoreThan2To31Elements) {
  const std::int64_t count = limit + 9;
  const int rank = rank_in();
  for (const auto function : {SIBYL_Exscan_c, SIBYL_Scan_c}) {
    const Served served(Collective::scan, nullptr);
    Zeros<unsigned char> send(count);
    Zeros<unsigned char> receive(count);
    for (const std::int64_t i : places_of(count)) {
      send[i] = static_cast<unsigned char>(i % 7 + 10 * rank + 1);
    }
    ASSERT_EQ(
        function(send.data(), receive.data(), count, MPI_UNSIGNED_CHAR, MPI_MAX, served.get()),
        MPI_SUCCESS);
    const int last = function == SIBYL_Scan_c ? rank : rank - 1;
    for (const std::int64_t i : places_of(count)) {
      EXPECT_EQ(receive[i], last < 0 ? 0 : i % 7 + 10 * last + 1) << "element " << i;
    }
  }
}

TEST_F(Large, BlocksOfMoreThan2To31Elements) {
  const std::int64_t count = limit + 9;
  gather_and_scatter(count, [&](void* send, void* receive, int root, MPI_Comm comm, bool gathers) {
    return (gathers ? SIBYL_Gather_c : SIBYL_Scatter_c)(send, count, MPI_UNSIGNED_CHAR, receive,
                                                        count, MPI_UNSIGNED_CHAR, root, comm);
  });
}

TEST_F(Large, BlocksOfFewElementsOfABigType) {
  MPI_Datatype big = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(1 << 30, MPI_UNSIGNED_CHAR, &big);
  MPI_Type_commit(&big);
  gather_and_scatter(std::int64_t{2} << 30, [&](void* send, void* receive, int root, MPI_Comm comm,
                                                bool gathers) {
    return (gathers ? SIBYL_Gather_c : SIBYL_Scatter_c)(send, 2, big, receive, 2, big, root, comm);
  });
  MPI_Type_free(&big);
}

}  // namespace
}  // namespace sibyl::test

#endif
