// SIBYL_Gatherv and SIBYL_Scatterv where ranks and root do not fit together: who is wrong is told,
// the others get what is theirs, and nobody hangs. (The suite is instantiated in
// irregular_test.cpp.)
#include <numeric>

#include "collectives/blocking/irregular_blocks.hpp"

namespace sibyl::test {
namespace {

// Ranks and root differ in a size, in the tree and beyond the threshold, or on its two sides: who
// has too little room says so, the others get what is theirs, and nobody hangs.
TEST_P(IrregularBlocksOverMpi, SaysWhoHasTooLittleRoomAndHangsNobody) {
  const int size = size_of();
  if (size < 2) GTEST_SKIP() << "needs another rank";
  Served served(GetParam(), nullptr);
  settings(served, find_algorithm(GetParam(), "ordered-tree"), 4096, 1);
  MPI_Comm_set_errhandler(served.get(), MPI_ERRORS_RETURN);
  const int rank = rank_in();
  const int root = size / 2;
  const int victim = (root + 1) % size;
  constexpr std::array<std::array<int, 2>, 6> cases{
      {{8, 3}, {5000, 3000}, {5000, 3}, {1024, 1023}, {0, 0}, {9000, 0}}};
  for (const auto& [sent, room] : cases) {
    SCOPED_TRACE(std::to_string(sent) + " elements for room of " + std::to_string(room));
    std::vector<int> counts(static_cast<std::size_t>(size), 7);
    std::vector<int> places;
    const int at_root = up() ? room : sent;
    const int at_victim = up() ? sent : room;
    counts[static_cast<std::size_t>(victim)] = at_root;
    for (int r = 0; r < size; ++r) places.push_back(r * 10000);
    std::vector<int> all(static_cast<std::size_t>(size) * 10000, up() ? -1 : rank);
    const int own_count = rank == victim ? at_victim : 7;
    std::vector<int> own(10000, up() ? rank : -1);
    const int result = call(own.data(), own_count, MPI_INT, all.data(), counts.data(),
                            places.data(), MPI_INT, root, served.get());
    int error_class = MPI_SUCCESS;
    MPI_Error_class(result, &error_class);
    // Open MPI 4.1 itself writes on beyond the room of a message that it cuts off.
    const bool cut_by_the_library = room >= 1024;
    const bool concerned = sent > room && rank == (up() ? root : victim);
    EXPECT_EQ(error_class, concerned ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    if (up() && rank == root) {
      for (int r = 0; r < size; ++r) {
        if (r == victim) continue;
        EXPECT_EQ(all[static_cast<std::size_t>(r) * 10000 + 6], r);
      }
    }
    if (!up() && rank != victim) {
      EXPECT_EQ(own[6], root);
    }
    if (rank == victim && !up() && !cut_by_the_library) {
      EXPECT_EQ(own[static_cast<std::size_t>(room)], -1) << "written beyond its room";
    }
    if (rank == root && up() && !cut_by_the_library) {
      EXPECT_EQ(all[static_cast<std::size_t>(victim) * 10000 + static_cast<std::size_t>(room)], -1);
    }
  }
}

// Going linear, who has nothing to send or to get is nobody's partner.
TEST_P(IrregularBlocksOverMpi, NobodyWaitsForARankWithoutDataGoingLinear) {
  const int size = size_of();
  if (size < 3) GTEST_SKIP() << "needs two ranks besides the root";
  Served served(GetParam(), nullptr);
  settings(served, find_algorithm(GetParam(), "linear"), 4096, 1);
  served.state().node_window();  // its making has all meet
  const int rank = rank_in();
  const int root = size - 1;
  const int late = up() ? 0 : root;  // comes when the other is done
  const int early = up() ? root : 0;
  for (const int elements : {3, 9000}) {
    std::vector<int> counts(static_cast<std::size_t>(size), elements);
    counts.front() = 0;
    std::vector<int> places;
    for (int r = 0; r < size; ++r) places.push_back(r * elements);
    const std::size_t room = static_cast<std::size_t>(size) * static_cast<std::size_t>(elements);
    std::vector<int> all(room, up() ? -1 : root);
    std::vector<int> own(static_cast<std::size_t>(elements), up() ? rank : -1);
    if (rank == late) {
      MPI_Recv(nullptr, 0, MPI_INT, early, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    ASSERT_EQ(call(own.data(), counts[static_cast<std::size_t>(rank)], MPI_INT, all.data(),
                   counts.data(), places.data(), MPI_INT, root, served.get()),
              MPI_SUCCESS);
    if (rank == early) MPI_Send(nullptr, 0, MPI_INT, late, 5, MPI_COMM_WORLD);
    if (up() && rank == root) {
      for (int r = 0; r < size; ++r) {
        EXPECT_EQ(all[static_cast<std::size_t>(r) * static_cast<std::size_t>(elements)],
                  r == 0 ? -1 : r);
      }
    }
    if (!up()) {
      EXPECT_EQ(own.front(), rank == 0 ? -1 : root);
    }
  }
}

// Sending less than there is room for is an error of the program, too, but every MPI lets it pass.
TEST_P(IrregularBlocksOverMpi, LetsABlockBeShorterThanItsRoom) {
  const int size = size_of();
  Served served(GetParam(), nullptr);
  settings(served, find_algorithm(GetParam(), "ordered-tree"), 4096, 1);
  const int rank = rank_in();
  for (const auto& [sent, room] : {std::array{3, 8}, std::array{3, 5000}, std::array{5000, 6000}}) {
    std::vector<int> counts(static_cast<std::size_t>(size), up() ? room : sent);
    std::vector<int> places;
    for (int r = 0; r < size; ++r) places.push_back(r * 6000);
    std::vector<int> all(static_cast<std::size_t>(size) * 6000, up() ? -1 : 5);
    std::vector<int> own(6000, up() ? rank : -1);
    ASSERT_EQ(call(own.data(), up() ? sent : room, MPI_INT, all.data(), counts.data(),
                   places.data(), MPI_INT, 0, served.get()),
              MPI_SUCCESS);
    if (up() && rank == 0) {
      for (int r = 0; r < size; ++r) {
        EXPECT_EQ(all[static_cast<std::size_t>(r * 6000 + sent - 1)], r);
        EXPECT_EQ(all[static_cast<std::size_t>(r * 6000 + sent)], -1);
      }
    }
    if (!up()) {
      EXPECT_EQ(own[static_cast<std::size_t>(sent - 1)], 5);
      EXPECT_EQ(own[static_cast<std::size_t>(sent)], -1);
    }
  }
}

// A rank that is wrong about its own arguments raises its error; it does not leave others waiting.
TEST_P(IrregularBlocksOverMpi, WrongArgumentsOfOneRankHangNobody) {
  const int size = size_of();
  Served served(GetParam(), nullptr);
  settings(served, find_algorithm(GetParam(), "ordered-tree"), 4096, 1);
  MPI_Comm_set_errhandler(served.get(), MPI_ERRORS_RETURN);
  const int rank = rank_in();
  std::vector<int> counts(static_cast<std::size_t>(size), 2);
  std::vector<int> places;
  for (int r = 0; r < size; ++r) places.push_back(2 * r);
  std::vector<int> all(static_cast<std::size_t>(size) * 2, 1);
  std::array<int, 2> own{rank, rank};
  for (int culprit = 0; culprit < size; ++culprit) {
    const int root = 0;
    const bool wrong = rank == culprit;
    const int result = call(own.data(), wrong ? -1 : 2, MPI_INT, all.data(), counts.data(),
                            places.data(), MPI_INT, root, served.get());
    if (wrong) {
      EXPECT_EQ(class_of(result), MPI_ERR_COUNT);
    }
  }
  counts[0] = -3;
  const int result = call(own.data(), 2, MPI_INT, all.data(), counts.data(), places.data(), MPI_INT,
                          0, served.get());
  if (rank == 0) {
    EXPECT_EQ(class_of(result), MPI_ERR_COUNT);
  }
  counts[0] = 2;
  EXPECT_EQ(class_of(call(own.data(), 2, MPI_INT, all.data(), counts.data(), places.data(), MPI_INT,
                          size, served.get())),
            MPI_ERR_ROOT);
  EXPECT_EQ(call(own.data(), 2, MPI_INT, all.data(), counts.data(), places.data(), MPI_INT, 0,
                 served.get()),
            MPI_SUCCESS);
}

}  // namespace
}  // namespace sibyl::test
