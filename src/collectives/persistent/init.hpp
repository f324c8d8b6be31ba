// The bodies of SIBYL_..._init. Each makes a request, or returns an error code that has not been
// raised yet: that is for who holds nothing any more. `caller.large`: the counts are MPI_Count, and
// so the MPI library gets them where it serves.
#pragma once

#include <mpi.h>

#include "collectives/block_arguments.hpp"
#include "collectives/exchange_arguments.hpp"
#include "collectives/reduction_arguments.hpp"

namespace sibyl {

class PersistentRequest;

int init_blocks(Caller caller, Collective collective, const BlockArguments& now, MPI_Comm comm,
                MPI_Info info, PersistentRequest** request);
int init_irregular(Caller caller, Collective collective, const IrregularSide& all,
                   const BlockSide& own, int root, MPI_Comm comm, MPI_Info info,
                   PersistentRequest** request);
int init_reduce(Caller caller, const ReductionArguments& now, int root, MPI_Comm comm,
                MPI_Info info, PersistentRequest** request);
int init_allreduce(Caller caller, const ReductionArguments& now, MPI_Comm comm, MPI_Info info,
                   PersistentRequest** request);
int init_bcast(Caller caller, const BlockSide& vector, int root, MPI_Comm comm, MPI_Info info,
               PersistentRequest** request);
// Allgather, allgatherv and alltoall.
int init_exchange(Caller caller, const ExchangeArguments& now, MPI_Comm comm, MPI_Info info,
                  PersistentRequest** request);
int init_exscan(Caller caller, ReductionArguments now, MPI_Comm comm, MPI_Info info,
                PersistentRequest** request);

}  // namespace sibyl
