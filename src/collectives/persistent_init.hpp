// The bodies of SIBYL_..._init. Each returns an error code that has been raised, or makes a
// request.
#pragma once

#include <mpi.h>

#include "collectives/block_arguments.hpp"
#include "collectives/reduction_arguments.hpp"

namespace sibyl {

class PersistentRequest;

int init_blocks(Collective collective, const BlockArguments& now, MPI_Comm comm, MPI_Info info,
                PersistentRequest** request);
int init_irregular(Collective collective, const IrregularSide& all, const BlockSide& own, int root,
                   MPI_Comm comm, MPI_Info info, PersistentRequest** request);
int init_reduce(const ReductionArguments& now, int root, MPI_Comm comm, MPI_Info info,
                PersistentRequest** request);
int init_exscan(const ReductionArguments& now, MPI_Comm comm, MPI_Info info,
                PersistentRequest** request);

}  // namespace sibyl
