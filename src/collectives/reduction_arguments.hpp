// The arguments of reduce and of the scans, checked.
#pragma once

#include <mpi.h>

#include "selection/choose.hpp"

namespace sibyl {

struct ReductionArguments {
  const void* send;
  void* receive;
  MPI_Count count;
  MPI_Datatype datatype;
  MPI_Op op;
};

// Return MPI_SUCCESS or the class of what is wrong. The receive buffer of rank 0 of an exclusive
// scan is not written, that of a reduce is significant at the root only.
int check_scan(const ReductionArguments& now, bool writes_receive);
int check_reduce(const ReductionArguments& now, bool at_root);

// Whether operands may change places. Predefined operators all commute.
bool commutes(MPI_Op op, OperatorUse use);

}  // namespace sibyl
