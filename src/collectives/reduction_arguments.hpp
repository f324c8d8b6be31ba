// The arguments of reduce and of the scans, judged.
#pragma once

#include <mpi.h>

#include "collectives/verdict.hpp"
#include "selection/choose.hpp"

namespace sibyl {

struct ReductionArguments {
  const void* send;
  void* receive;
  MPI_Count count;
  MPI_Datatype datatype;
  MPI_Op op;
};

// The receive buffer of rank 0 of an exclusive scan is not written, that of a reduce is significant
// at the root only.
Verdict judge_scan(const ReductionArguments& now, bool exclusive, int rank);
Verdict judge_reduce(const ReductionArguments& now, int root, int rank, int ranks);

// Whether operands may change places. Predefined operators all commute.
bool commutes(MPI_Op op, OperatorUse use);

}  // namespace sibyl
