// The two engines behind execute(); see executor.hpp.
#pragma once

#include "executor/program/frame.hpp"

namespace sibyl {

int run_lockstep(const Prepared& prepared, const CollectiveCall& call, const Frame& frame);
int run_dataflow(const Prepared& prepared, const CollectiveCall& call, const Frame& frame,
                 Workspace& workspace);

// Which one a call has that needs no mirrors. Up to so many bytes of a block, or of the whole
// vector, it may be lockstep.
bool goes_in_lockstep(const Prepared& prepared, const CollectiveCall& call);
std::size_t lockstep_up_to(const Prepared& prepared, const CollectiveCall& call);

// Of lockstep: receives a message by MPI, blocking.
int receive_by_mpi(const Prepared& prepared, const CollectiveCall& call, const Frame& frame,
                   StepIndex index);

// Remembers the first error of a run that goes on to its end.
class FirstError {
 public:
  void add(int error) {
    if (code_ == MPI_SUCCESS && error != MPI_SUCCESS) code_ = error;
  }
  int code() const { return code_; }

 private:
  int code_ = MPI_SUCCESS;
};

}  // namespace sibyl
