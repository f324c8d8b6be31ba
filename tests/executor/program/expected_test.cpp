// What one rank sends without something that is late itself is found as it comes.
#include "executor/program/expected.hpp"

#include <vector>

#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

// The looks that it takes to find `wanted` messages, all of which have come.
int looks_for(ExpectedMessages& expected, MPI_Comm comm, int wanted) {
  constexpr int most = 10000;
  for (int looks = 1; looks <= most; ++looks) {
    expected.begin_look();
    for (bool found = true; found;) {
      ExpectedMessage message;
      MPI_Count bytes = 0;
      EXPECT_EQ(expected.find(comm, found, message, bytes), MPI_SUCCESS);
      if (!found) break;
      int value = 0;
      EXPECT_EQ(bytes, static_cast<MPI_Count>(sizeof value));
      MPI_Recv(&value, 1, MPI_INT, message.peer, message.tag, comm, MPI_STATUS_IGNORE);
      EXPECT_EQ(value, message.tag);
      if (--wanted == 0) return looks;
    }
  }
  return most;
}

// The first message of every rank is late. Each time one has been looked for in vain all of a
// rank's are, once in some thirty looks; those that come one after another are found at once.
TEST(Expected, WhatIsLateHoldsUpNothingThatFollowsIt) {
  if (size_of() < 2) GTEST_SKIP();
  constexpr int per_rank = 40;
  constexpr int last_tag = per_rank;  // when it is there all before it have come
  const Duplicate comm;
  if (rank_in() != 0) {
    for (int tag = 1; tag <= last_tag; ++tag) MPI_Send(&tag, 1, MPI_INT, 0, tag, comm.get());
    MPI_Barrier(comm.get());
    const int late = 0;
    MPI_Send(&late, 1, MPI_INT, 0, late, comm.get());
    return;
  }
  ExpectedMessages expected;
  expected.begin(size_of(),
                 static_cast<std::size_t>(per_rank) * static_cast<std::size_t>(size_of()));
  for (int rank = 1; rank < size_of(); ++rank) {
    int value = 0;
    MPI_Recv(&value, 1, MPI_INT, rank, last_tag, comm.get(), MPI_STATUS_IGNORE);
    for (int tag = 0; tag < last_tag; ++tag) {
      expected.add({static_cast<std::uint32_t>(tag), rank, tag});
    }
  }
  const int others = size_of() - 1;
  EXPECT_LT(looks_for(expected, comm.get(), others * (per_rank - 1)), 40 * others + 40);
  MPI_Barrier(comm.get());
  looks_for(expected, comm.get(), others);
  EXPECT_TRUE(expected.empty());
}

}  // namespace
}  // namespace sibyl::test
