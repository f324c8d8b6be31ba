// The arguments of reduce and of the scans, judged.
#pragma once

#include <mpi.h>

#include "collectives/verdict.hpp"
#include "executor/executor.hpp"
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
Verdict judge_allreduce(const ReductionArguments& now, int rank);
// MPICH looks at that buffer all the same. The C API takes any: where MPICH would refuse it,
// another address stands for it.
void* receive_buffer_of_exscan(const void* send, void* receive, MPI_Comm comm);
Verdict judge_reduce(const ReductionArguments& now, int root, int rank, int ranks);

// Fills in the buffers and the operator of the call of a reduction or a scan; `receives`: this rank
// has a result.
void place_vectors(const ReductionArguments& now, const DatatypeInfo& type, bool in_place,
                   bool receives, CollectiveCall& call);
// A rank that gives the same buffer twice, where it is written, is served as if it had said
// MPI_IN_PLACE.
inline bool is_in_place(const ReductionArguments& now) {
  return now.send == MPI_IN_PLACE || now.send == now.receive;
}

// Whether operands may change places. Predefined operators all commute.
bool commutes(MPI_Op op, OperatorUse use);

}  // namespace sibyl
