// Communicators that are being freed, in a program that is linked with the library: nobody tells of
// MPI_Comm_free, whose delete callbacks call collectives.
#include "communicator/being_freed.hpp"

#include <csetjmp>

#include "communicator/communicator_state.hpp"
#include "sibyl/sibyl.h"
#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

int while_freed = 0;  // calls of the callback
bool had_state = false;
int wrong_sums = 0;

void sum_up(MPI_Comm comm) {
  for (int i = 0; i < 4; ++i) {
    const int one = 1;
    int sum = -1;
    SIBYL_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    wrong_sums += sum == rank_in() + 1 ? 0 : 1;
  }
}

int call_collectives(MPI_Comm comm, int, void*, void*) {
  ++while_freed;
  sum_up(comm);
  had_state = CommunicatorState::get(comm) != nullptr;
  return MPI_SUCCESS;
}

class KeyOfCallback {
 public:
  KeyOfCallback() {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &call_collectives, &key_, nullptr);
  }
  ~KeyOfCallback() { MPI_Comm_free_keyval(&key_); }
  KeyOfCallback(const KeyOfCallback&) = delete;
  KeyOfCallback& operator=(const KeyOfCallback&) = delete;
  void set_on(MPI_Comm comm) const { MPI_Comm_set_attr(comm, key_, nullptr); }

 private:
  int key_ = MPI_KEYVAL_INVALID;
};

// MPI deletes what was set last first.
TEST(BeingFreed, CollectivesAfterTheEndOfTheStateAreTheLibrarys) {
  const KeyOfCallback key;
  while_freed = wrong_sums = 0;
  for (int turn = 0; turn < 6; ++turn) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const bool before_the_state = turn % 2 == 0;
    if (before_the_state) key.set_on(comm);
    sum_up(comm);
    ASSERT_TRUE(CommunicatorState::get(comm)->serves(comm, true));
    if (!before_the_state) key.set_on(comm);
    const CommunicatorState* const state = CommunicatorState::get(comm);
    MPI_Comm_free(&comm);
    EXPECT_EQ(while_freed, turn + 1);
    EXPECT_EQ(had_state, !before_the_state);
    EXPECT_FALSE(Process::has(state));
    EXPECT_EQ(wrong_sums, 0);
  }
}

// The next communicator may have the same handle.
TEST(BeingFreed, WhatComesAfterwardsIsServed) {
  for (int turn = 0; turn < 4; ++turn) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    ASSERT_NE(CommunicatorState::get(comm), nullptr) << "turn " << turn;
    EXPECT_TRUE(CommunicatorState::get(comm)->serves(comm, true));
    MPI_Comm_free(&comm);
  }
}

std::jmp_buf before_freeing;

// As from a callback.
[[gnu::noinline]] bool is_held(MPI_Comm comm) { return BeingFreed::holds(comm); }

[[gnu::noinline]] void leave_while_freeing(MPI_Comm comm) {
  const BeingFreed freed(comm);
  ASSERT_TRUE(is_held(comm));
  std::longjmp(before_freeing, 1);
}

[[gnu::noinline]] void come_back(MPI_Comm comm) {
  if (setjmp(before_freeing) == 0) leave_while_freeing(comm);
}

// An error handler may leave a callback so.
TEST(BeingFreed, EndsWithALongjmp) {
  const Duplicate comm;
  for (int turn = 0; turn < 3; ++turn) {
    come_back(comm.get());
    EXPECT_NE(CommunicatorState::get(comm.get()), nullptr);
    EXPECT_FALSE(BeingFreed::holds(comm.get()));
  }
}

}  // namespace
}  // namespace sibyl::test
