// The program's error handler is called while nothing of the request is held: it may call for the
// request that failed, or free it.
#include <vector>

#include "collectives/persistent/cases.hpp"

namespace sibyl::test {
namespace {

SIBYL_Request* concerned = nullptr;
int raised = 0;

void ask(MPI_Comm*, int*, ...) {
  int flag = -1;
  EXPECT_EQ(SIBYL_Test(concerned, &flag), MPI_SUCCESS);
  EXPECT_NE(flag, -1);
  ++raised;
}

void free_it(MPI_Comm*, int*, ...) {
  EXPECT_EQ(SIBYL_Request_free(concerned), MPI_SUCCESS);
  ++raised;
}

// A communicator with such a handler.
class PersistentHandlers : public testing::Test {
 protected:
  void TearDown() override {
    if (handler_ != MPI_ERRHANDLER_NULL) MPI_Errhandler_free(&handler_);
  }
  void call_at_errors(MPI_Comm_errhandler_function* function, SIBYL_Request& request) {
    MPI_Comm_create_errhandler(function, &handler_);
    MPI_Comm_set_errhandler(comm_.get(), handler_);
    concerned = &request;
    raised = 0;
  }
  Duplicate comm_;

 private:
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

TEST_F(PersistentHandlers, MayAskForTheRequestThatWasMisused) {
  PersistentTrial trial({Collective::gather, "linear", true, true, 0, 40}, comm_.get());
  SIBYL_Request& request = *trial.request();
  call_at_errors(&ask, request);
  SIBYL_Edge(&request, 0.5);
  SIBYL_Arrive(&request);
  EXPECT_EQ(raised, 2) << "it has not been started";
  trial.start(1);
  SIBYL_Start(&request);
  SIBYL_Edge(&request, 2);
  SIBYL_Wait(&request);
  SIBYL_Request_free(&request);
  EXPECT_EQ(raised, 6) << "this rank has not arrived";
  trial.arrive();
  trial.wait();
  trial.check();
  EXPECT_EQ(raised, 6);
}

CommunicatorState* served = nullptr;

void look_at_private(MPI_Comm*, int*, ...) {
  EXPECT_TRUE(served->private_is_idle());
  ++raised;
}

// A handler may jump out of the call that has made no request.
TEST_F(PersistentHandlers, AreCalledWhenNothingOfARefusedRequestIsLeft) {
  served = CommunicatorState::get(comm_.get());
  ASSERT_TRUE(served->serves(comm_.get(), true));
  SIBYL_Request request = SIBYL_REQUEST_NULL;
  call_at_errors(&look_at_private, request);
  const int last = size_of() - 1;
  int number = 0;
  SIBYL_Bcast_init(&number, rank_in() == last ? -1 : 1, MPI_INT, 0, comm_.get(), MPI_INFO_NULL,
                   &request);
  const AlgorithmInfo wrong("fastest");
  SIBYL_Bcast_init(&number, 1, MPI_INT, 0, comm_.get(), wrong.handle, &request);
  EXPECT_EQ(raised, 2);
  EXPECT_EQ(request, SIBYL_REQUEST_NULL);
}

// The root has less room than the last rank sends.
TEST_F(PersistentHandlers, MayFreeTheRequestThatFailed) {
  if (size_of() < 2) GTEST_SKIP() << "nothing is sent";
  const int last = size_of() - 1;
  const bool is_root = rank_in() == 0;
  std::vector<int> counts(static_cast<std::size_t>(size_of()), 3);
  std::vector<int> places;
  for (int rank = 0; rank <= last; ++rank) places.push_back(5 * rank);
  const std::vector<int> sent(5, rank_in());
  std::vector<int> received(5 * counts.size(), -1);
  const AlgorithmInfo linear("linear");
  SIBYL_Request request = SIBYL_REQUEST_NULL;
  ASSERT_EQ(SIBYL_Gatherv_init(sent.data(), rank_in() == last ? 5 : 3, MPI_INT, received.data(),
                               counts.data(), places.data(), MPI_INT, 0, comm_.get(), linear.handle,
                               &request),
            MPI_SUCCESS);
  call_at_errors(&free_it, request);
  EXPECT_EQ(SIBYL_Start(&request), MPI_SUCCESS);
  EXPECT_EQ(SIBYL_Arrive(&request), MPI_SUCCESS);
  const int error = SIBYL_Wait(&request);
  EXPECT_EQ(class_of(error), is_root ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
  EXPECT_EQ(raised, is_root ? 1 : 0);
  if (!is_root) {
    EXPECT_EQ(SIBYL_Request_free(&request), MPI_SUCCESS);
  }
  EXPECT_EQ(request, SIBYL_REQUEST_NULL);
}

}  // namespace
}  // namespace sibyl::test
