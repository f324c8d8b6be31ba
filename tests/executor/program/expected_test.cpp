// What one rank sends without something that is late itself is found as it comes.
#include "executor/program/expected.hpp"

#include <vector>

#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

// The looks that it takes to find `wanted` messages, all of which have come.
int looks_for(ExpectedMessages& expected, MPI_Comm comm, int wanted) {
  constexpr int most = 1000000;
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

// The first message of every rank is late, which holds up none of those that have come - but
// somewhat, where a message that nobody expects here has come before them.
TEST(Expected, WhatIsLateHoldsUpNothingThatFollowsIt) {
  if (size_of() < 2) GTEST_SKIP();
  constexpr int per_rank = 40;
  constexpr int last_tag = per_rank;  // when it is there all before it have come
  constexpr int tag_of_another = 1000;
  for (const bool hidden : {false, true}) {
    const Duplicate comm;
    const auto tell = [&](int tag) { MPI_Send(&tag, 1, MPI_INT, 0, tag, comm.get()); };
    if (rank_in() != 0) {
      if (hidden) tell(tag_of_another);
      for (int tag = 1; tag <= last_tag; ++tag) tell(tag);
      MPI_Barrier(comm.get());
      tell(0);
      tell(last_tag);
      continue;
    }
    const int others = size_of() - 1;
    ExpectedMessages expected;
    expected.begin(size_of(), static_cast<std::size_t>(per_rank * others));
    const auto take = [&](int rank, int tag) {
      int value = 0;
      MPI_Recv(&value, 1, MPI_INT, rank, tag, comm.get(), MPI_STATUS_IGNORE);
    };
    for (int rank = 1; rank <= others; ++rank) {
      take(rank, last_tag);
      for (int tag = 0; tag < last_tag; ++tag) {
        expected.add({static_cast<std::uint32_t>(tag), rank, tag});
      }
    }
    const int looks = looks_for(expected, comm.get(), others * (per_rank - 1));
    EXPECT_LE(looks, hidden ? 40 * others * per_rank : 1);
    MPI_Barrier(comm.get());
    for (int rank = 1; rank <= others; ++rank) take(rank, last_tag);
    looks_for(expected, comm.get(), others);
    EXPECT_TRUE(expected.empty());
    for (int rank = 1; rank <= others && hidden; ++rank) take(rank, tag_of_another);
  }
}

}  // namespace
}  // namespace sibyl::test
