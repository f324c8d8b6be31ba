// Which ranks a communicator has.
#pragma once

#include <mpi.h>

#include <vector>

namespace sibyl {

// The ranks of `comm`, an intracommunicator, as ranks of `other`; MPI_UNDEFINED for one that is
// none of its ranks, and for all where MPI refuses. Local.
std::vector<int> ranks_in_other(MPI_Comm comm, MPI_Comm other);

// Whether every rank of `part` is one of `whole`. Local, and without memory; both ranks' sides find
// the same.
bool holds_all_of(MPI_Comm whole, MPI_Comm part);

}  // namespace sibyl
