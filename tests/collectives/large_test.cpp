// Calls whose bytes pass 2^31.
#include "collectives/large.hpp"

namespace sibyl::test {
namespace {

using ZeroWords = Zeros<std::int64_t>;

TEST_F(Large, ExscanOfMoreThan2To31Bytes) {
  const std::int64_t count = limit / 8 + 1000;
  const Algorithm* row = find_algorithm(Collective::exscan, "123-doubling");
  Served served(Collective::exscan, row);
  ZeroWords send(count);
  ZeroWords receive(count);
  const std::int64_t places[] = {0, 1, count / 2, limit / 8 - 1, limit / 8, count - 1};
  for (const std::int64_t i : places) send[i] = 5 * i + 1 + rank_in();
  ASSERT_EQ(SIBYL_Exscan(send.data(), receive.data(), static_cast<int>(count), MPI_INT64_T, MPI_SUM,
                         served.get()),
            MPI_SUCCESS);
  EXPECT_EQ(served.served_by(), row);
  for (const std::int64_t i : places) {
    EXPECT_EQ(receive[i], rank_in() == 0 ? 0 : 5 * i + 1) << "element " << i;
  }
}

TEST_F(Large, GatherAndScatterOfMoreThan2To31BytesInAll) {
  const std::int64_t count = limit / 16 + 1000;  // per block; two of them
  const int rank = rank_in();
  for (const Collective collective : {Collective::gather, Collective::scatter}) {
    Served served(collective, nullptr);
    ZeroWords all(rank == 1 ? 2 * count : 1);
    ZeroWords own(count);
    const std::int64_t places[] = {0, 1, count / 2, count - 1};
    if (collective == Collective::gather) {
      for (const std::int64_t i : places) own[i] = 9 * i + 1 + rank;
      ASSERT_EQ(SIBYL_Gather(own.data(), static_cast<int>(count), MPI_INT64_T, all.data(),
                             static_cast<int>(count), MPI_INT64_T, 1, served.get()),
                MPI_SUCCESS);
      for (const std::int64_t i : places) {
        for (int r = 0; rank == 1 && r < 2; ++r) {
          EXPECT_EQ(all[r * count + i], 9 * i + 1 + r) << "block " << r << ", element " << i;
        }
      }
    } else {
      for (const std::int64_t i : places) {
        for (int r = 0; rank == 1 && r < 2; ++r) all[r * count + i] = 9 * i + 1 + r;
      }
      ASSERT_EQ(SIBYL_Scatter(all.data(), static_cast<int>(count), MPI_INT64_T, own.data(),
                              static_cast<int>(count), MPI_INT64_T, 1, served.get()),
                MPI_SUCCESS);
      for (const std::int64_t i : places) EXPECT_EQ(own[i], 9 * i + 1 + rank) << "element " << i;
    }
    const Algorithm* const by = served.served_by();
    ASSERT_NE(by, nullptr) << "blocks of a message each need no native call";
    EXPECT_EQ(by->name, "linear");
  }
}

// Up to 2^31 bytes by Sibyl, more by the MPI library.
TEST_F(Large, BcastAroundTwoTo31Bytes) {
  const std::int64_t most = limit / 8 - 1;
  const Algorithm* row = find_algorithm(Collective::bcast, "chain");
  for (const std::int64_t count : {most, most + 2}) {
    Served served(Collective::bcast, row);
    served.force(row, 16);
    ZeroWords data(count);
    const std::int64_t places[] = {0, 1, count / 2, count - 1};
    for (const std::int64_t i : places) data[i] = rank_in() == 1 ? 3 * i + 1 : -1;
    ASSERT_EQ(SIBYL_Bcast(data.data(), static_cast<int>(count), MPI_INT64_T, 1, served.get()),
              MPI_SUCCESS);
    EXPECT_EQ(served.served_by(), count == most ? row : nullptr);
    for (const std::int64_t i : places) EXPECT_EQ(data[i], 3 * i + 1) << "element " << i;
  }
}

// Displacements whose bytes no int can count.
TEST_F(Large, ExchangesOfBlocksThatLieFarApart) {
  constexpr int count = 1 << 20;
  const int rank = rank_in();
  const int far = static_cast<int>(limit / 8) + 5;
  const std::vector<int> counts{count, count};
  const std::vector<int> places{far, 0};
  for (const Collective collective : {Collective::allgatherv, Collective::alltoallv}) {
    for (const Algorithm& row : algorithms(collective)) {
      SCOPED_TRACE(row.name);
      Served served(collective, &row);
      ZeroWords all(std::int64_t{far} + count);
      ZeroWords own(std::int64_t{far} + count);
      for (const std::int64_t i : {0, count - 1}) {
        own[i] = 7 * i + rank;
        own[far + i] = 9 * i + rank;
      }
      const bool gathers = collective == Collective::allgatherv;
      ASSERT_EQ(gathers ? SIBYL_Allgatherv(own.data(), count, MPI_INT64_T, all.data(),
                                           counts.data(), places.data(), MPI_INT64_T, served.get())
                        : SIBYL_Alltoallv(own.data(), counts.data(), places.data(), MPI_INT64_T,
                                          all.data(), counts.data(), places.data(), MPI_INT64_T,
                                          served.get()),
                MPI_SUCCESS);
      EXPECT_EQ(served.served_by(), &row);
      const int factor = gathers || rank == 1 ? 7 : 9;  // blocks for rank 0 lie far away
      for (const std::int64_t i : {0, count - 1}) {
        EXPECT_EQ(all[far + i], factor * i) << "element " << i << " of rank 0";
        EXPECT_EQ(all[i], factor * i + 1) << "element " << i << " of rank 1";
      }
    }
  }
}

// A user's operator on one element whose bytes no int can count.
void add_ends(void* in, void* inout, int*, MPI_Datatype* type) {
  MPI_Aint low = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_true_extent(*type, &low, &extent);
  for (const MPI_Aint at : {MPI_Aint{0}, extent - 1}) {
    static_cast<unsigned char*>(inout)[at] += static_cast<unsigned char*>(in)[at];
  }
}

TEST_F(Large, ScansOfOneElementOfMoreThan2To31Bytes) {
  constexpr int block = 1 << 16;
  constexpr int gap = 8;
  constexpr int blocks = (1 << 15) + 1;
  MPI_Datatype big = MPI_DATATYPE_NULL;
  MPI_Type_vector(blocks, block, block + gap, MPI_UNSIGNED_CHAR, &big);
  MPI_Type_commit(&big);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(&add_ends, 1, &op);
  const std::int64_t end = std::int64_t{blocks} * (block + gap) - gap - 1;
  const int rank = rank_in();
  for (const auto function : {SIBYL_Exscan, SIBYL_Scan}) {
    const Served served(Collective::scan, nullptr);
    Zeros<unsigned char> send(end + 1);
    Zeros<unsigned char> receive(end + 1);
    send[0] = static_cast<unsigned char>(rank + 1);
    send[end] = static_cast<unsigned char>(rank + 5);
    ASSERT_EQ(function(send.data(), receive.data(), 1, big, op, served.get()), MPI_SUCCESS);
    const bool inclusive = function == SIBYL_Scan;
    EXPECT_EQ(receive[0], inclusive ? (rank == 0 ? 1 : 3) : (rank == 0 ? 0 : 1));
    EXPECT_EQ(receive[end], inclusive ? (rank == 0 ? 5 : 11) : (rank == 0 ? 0 : 5));
  }
  MPI_Op_free(&op);
  MPI_Type_free(&big);
}

}  // namespace
}  // namespace sibyl::test
