// The error handlers of MPI_COMM_WORLD and MPI_COMM_SELF are the user's: nothing of a served call
// changes them, and nothing that it finds is raised there. MPICH raises there what it finds when it
// completes a request (executor/program/expected.hpp).
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "communicator/communicator_state.hpp"
#include "sibyl/sibyl.h"
#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

std::atomic<int> raised_elsewhere = 0;
int raised = 0;
int raised_class = MPI_SUCCESS;
void note_elsewhere(MPI_Comm*, int*, ...) { ++raised_elsewhere; }
void note(MPI_Comm*, int* code, ...) {
  ++raised;
  MPI_Error_class(*code, &raised_class);
}

MPI_Errhandler handler_of(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(comm, &handler);
  MPI_Errhandler name = handler;  // the handle outlives the reference that is given back
  MPI_Errhandler_free(&handler);
  return name;
}

// By Sibyl, where it would leave them to the library: two ranks of one node.
void serve_blocks(MPI_Comm comm) {
  CommunicatorState& state = *CommunicatorState::get(comm);
  ASSERT_TRUE(state.serves(comm, true));
  Settings settings = state.settings();
  settings.serves_on_node = 1;
  state.replace_settings(settings);
}

class ForeignHandlers : public testing::Test {
 protected:
  MPI_Errhandler elsewhere_ = MPI_ERRHANDLER_NULL;
  MPI_Errhandler own_ = MPI_ERRHANDLER_NULL;

  static std::array<MPI_Comm, 2> everybodys() { return {MPI_COMM_WORLD, MPI_COMM_SELF}; }
  static void set_everywhere(MPI_Errhandler handler) {
    for (MPI_Comm comm : everybodys()) MPI_Comm_set_errhandler(comm, handler);
  }
  void SetUp() override {
    MPI_Comm_create_errhandler(&note_elsewhere, &elsewhere_);
    MPI_Comm_create_errhandler(&note, &own_);
    raised_elsewhere = 0;
  }
  void TearDown() override {
    set_everywhere(MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&elsewhere_);
    MPI_Errhandler_free(&own_);
  }
};

TEST_F(ForeignHandlers, AThreadThatLooksNeverSeesAHandlerThatTheUserHasNotSet) {
  if (thread_level() < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "needs MPI_THREAD_MULTIPLE";
  constexpr int count = 262144;
  const Duplicate comm;
  const std::vector<int> send(count, 1);
  std::vector<int> receive(count);
  for (const MPI_Errhandler before : {MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN, elsewhere_}) {
    set_everywhere(before);
    std::atomic<bool> ends = false;
    std::atomic<int> looks = 0;
    std::atomic<int> foreign = 0;
    std::thread looking([&] {
      while (!ends) {
        for (MPI_Comm comm_of_all : everybodys()) foreign += handler_of(comm_of_all) != before;
        ++looks;
        std::this_thread::yield();
      }
    });
    while (looks == 0) std::this_thread::yield();  // on one core it may come late
    for (int call = 0; call < 6; ++call) {
      SIBYL_Reduce(send.data(), receive.data(), count, MPI_INT, MPI_SUM, 0, comm.get());
    }
    ends = true;
    looking.join();
    EXPECT_EQ(foreign, 0) << "of " << looks << " looks";
    if (rank_in() == 0) {
      EXPECT_EQ(receive.back(), size_of());
    }
  }
}

// Blocking and posted receives, of one message and of many, of blocks and of vectors.
TEST_F(ForeignHandlers, TruncationIsRaisedOnTheUsersCommunicatorAlone) {
  const int size = size_of();
  if (size < 2) GTEST_SKIP() << "nothing is sent";
  for (const int room : {4, 3000, 60000}) {
    SCOPED_TRACE(room);
    const int sent = room + 500;
    const auto ranks = static_cast<std::size_t>(size);
    const std::vector<int> send(static_cast<std::size_t>(sent) * ranks, 1);
    std::vector<int> receive(static_cast<std::size_t>(sent) * ranks);
    std::vector<int> counts(ranks, room);
    std::vector<int> displacements(ranks);
    for (std::size_t r = 0; r < ranks; ++r) displacements[r] = static_cast<int>(r) * room;
    const bool root = rank_in() == 0;
    const auto expect_truncation = [&](int result, const char* call) {
      EXPECT_EQ(raised_elsewhere, 0) << call;
      EXPECT_EQ(raised, root ? 1 : 0) << call;
      int error_class = result;
      MPI_Error_class(result, &error_class);
      EXPECT_EQ(error_class, root ? MPI_ERR_TRUNCATE : MPI_SUCCESS) << call;
      if (root) {
        EXPECT_EQ(raised_class, MPI_ERR_TRUNCATE) << call;
      }
      raised = 0;
    };
    const Duplicate comm;
    serve_blocks(comm.get());
    set_everywhere(elsewhere_);
    MPI_Comm_set_errhandler(comm.get(), own_);
    raised = 0;
    // The root has a block of its own of the right size, by MPI_IN_PLACE.
    const void* own = root ? MPI_IN_PLACE : send.data();
    expect_truncation(
        SIBYL_Gather(own, sent, MPI_INT, receive.data(), room, MPI_INT, 0, comm.get()), "gather");
    expect_truncation(SIBYL_Gatherv(own, sent, MPI_INT, receive.data(), counts.data(),
                                    displacements.data(), MPI_INT, 0, comm.get()),
                      "gatherv");
    MPI_Barrier(comm.get());
  }
}

}  // namespace
}  // namespace sibyl::test
