// What is left of the budget of private communicators, at the last rank.
#pragma once

#include "communicator/process.hpp"
#include "support/mpi_test.hpp"

namespace sibyl::test {

class TakenBudget {
 public:
  TakenBudget() {
    while (rank_in() == size_of() - 1 && process_.take_private()) ++taken_;
  }
  ~TakenBudget() {
    for (; taken_ > 0; --taken_) process_.give_back_private();
  }
  TakenBudget(const TakenBudget&) = delete;
  TakenBudget& operator=(const TakenBudget&) = delete;

 private:
  Process& process_ = *Process::get();
  int taken_ = 0;
};

}  // namespace sibyl::test
