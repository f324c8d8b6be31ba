// What a wait finds reaches the executor and nobody else's handler; what others find reaches
// theirs.
#include "executor/raised_errors.hpp"

#include <array>
#include <thread>

#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

int calls = 0;
void count(MPI_Comm*, int*, ...) { ++calls; }

int class_of(int code) {
  int result = MPI_SUCCESS;
  MPI_Error_class(code, &result);
  return result;
}

MPI_Errhandler handler_of(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(comm, &handler);
  MPI_Errhandler name = handler;  // the handle outlives the reference that is given back
  MPI_Errhandler_free(&handler);
  return name;
}

// Raised on the communicator that it is given.
void send_to_nobody(MPI_Comm comm) { MPI_Send(nullptr, 0, MPI_INT, size_of(comm) + 7, 0, comm); }

class Raised : public testing::Test {
 protected:
  MPI_Errhandler counting_ = MPI_ERRHANDLER_NULL;
  std::array<MPI_Comm, 2> everybodys_{MPI_COMM_WORLD, MPI_COMM_SELF};

  void set_everywhere(MPI_Errhandler handler) {
    for (MPI_Comm comm : everybodys_) MPI_Comm_set_errhandler(comm, handler);
  }
  void SetUp() override {
    MPI_Comm_create_errhandler(&count, &counting_);
    set_everywhere(counting_);
    calls = 0;
  }
  void TearDown() override {
    set_everywhere(MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&counting_);
  }

  // A message of two to the next rank, which has room for one.
  static void expect_truncation(MPI_Comm comm, bool wait_for_some) {
    const int rank = rank_in(comm);
    const int size = size_of(comm);
    const std::array<int, 2> sent{1, 2};
    int got = 0;
    std::array<MPI_Request, 2> requests{};
    MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, 3, comm, &requests[0]);
    MPI_Isend(sent.data(), 2, MPI_INT, (rank + 1) % size, 3, comm, &requests[1]);
    [[maybe_unused]] const RaisedErrors errors;
    if (!wait_for_some) {
      const int result =
          RaisedErrors::caught([&] { return PMPI_Wait(requests.data(), MPI_STATUS_IGNORE); });
      EXPECT_EQ(class_of(result), MPI_ERR_TRUNCATE);
    }
    while (requests[0] != MPI_REQUEST_NULL) {
      int done = 0;
      std::array<int, 2> places{};
      std::array<MPI_Status, 2> statuses{};
      RaisedErrors::caught(
          [&] { return PMPI_Waitsome(2, requests.data(), &done, places.data(), statuses.data()); });
      for (std::size_t i = 0; i < static_cast<std::size_t>(done); ++i) {
        EXPECT_EQ(class_of(statuses[i].MPI_ERROR), places[i] == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
      }
    }
    PMPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  }
};

TEST_F(Raised, TruncationIsReturnedAndNobodysHandlerIsChangedWhateverItIs) {
  if (size_of() < 2) GTEST_SKIP() << "Open MPI lets a long message to oneself pass";
  const Duplicate comm;
  for (const MPI_Errhandler before : {MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN, counting_}) {
    set_everywhere(before);
    for (const bool wait_for_some : {false, true}) expect_truncation(comm.get(), wait_for_some);
    for (MPI_Comm everybodys : everybodys_) EXPECT_EQ(handler_of(everybodys), before);
  }
}

TEST_F(Raised, ErrorsOfAnotherThreadReachTheUsersHandlerWhileThisOneWaits) {
  if (thread_level() < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "needs MPI_THREAD_MULTIPLE";
  const int rank = rank_in();
  const int size = size_of();
  if (size < 2) GTEST_SKIP() << "MPICH 4.0 gives a thread no message that another one sent to it";
  const Duplicate comm;
  int got = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, 3, comm.get(), &request);
  [[maybe_unused]] const RaisedErrors errors;
  std::thread other([&] {
    send_to_nobody(MPI_COMM_WORLD);
    send_to_nobody(MPI_COMM_SELF);
    const int sent = 5;
    MPI_Send(&sent, 1, MPI_INT, (rank + 1) % size, 3, comm.get());
  });
  EXPECT_EQ(RaisedErrors::caught([&] { return PMPI_Wait(&request, MPI_STATUS_IGNORE); }),
            MPI_SUCCESS);
  other.join();
  EXPECT_EQ(got, 5);
  EXPECT_EQ(calls, 2);
}

TEST_F(Raised, AHandlerThatTheUserSetsMeanwhileStays) {
  for (const MPI_Errhandler before : {MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN}) {
    set_everywhere(before);
    {
      [[maybe_unused]] const RaisedErrors errors;
      [[maybe_unused]] const RaisedErrors nested;
      MPI_Comm_set_errhandler(MPI_COMM_WORLD, counting_);
    }
    EXPECT_EQ(handler_of(MPI_COMM_WORLD), counting_);
    EXPECT_EQ(handler_of(MPI_COMM_SELF), before);
  }
}

}  // namespace
}  // namespace sibyl::test
