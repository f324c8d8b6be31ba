// The MPI library's own collectives, in the form in which Sibyl holds the arguments.
//
// Under the preload they are called by MPI_X, as it is found behind the shim, so that a profiling
// tool which stands there sees them; else by PMPI_X.
#pragma once

#include <mpi.h>

#include <string_view>

#include "collectives/collectives.hpp"
#include "sibyl/schedule.hpp"

namespace sibyl {

// Calls of MPI_X (`name`) that are handed back go to `function`; null: to PMPI_X. Called before the
// first call of any.
void hand_back_to(std::string_view name, void* function);

// How many entries the count arrays of a collective have that are significant here, one for each
// rank of the other group where there are two: of the root's arrays, or of those that all ranks
// have. 0 where none is, or MPI refuses.
int significant_entries(Collective collective, int root, MPI_Comm comm);

// A count of a call that did not come through a `_c` function, or of an argument that is not
// significant here and may hold anything.
inline int small(MPI_Count count) { return static_cast<int>(count); }

// MPI_ERR_OTHER where the library has no such function.
int native_mpix_comm_revoke(Caller caller, MPI_Comm comm);
int native_exscan(Caller caller, const void* send, void* receive, MPI_Count count,
                  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int native_scan(Caller caller, const void* send, void* receive, MPI_Count count,
                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int native_gather(Caller caller, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                  void* receive, MPI_Count receive_count, MPI_Datatype receive_type, int root,
                  MPI_Comm comm);
int native_scatter(Caller caller, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                   void* receive, MPI_Count receive_count, MPI_Datatype receive_type, int root,
                   MPI_Comm comm);
int native_gatherv(Caller caller, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                   void* receive, Counts receive_counts, Displacements displacements,
                   MPI_Datatype receive_type, int root, MPI_Comm comm);
int native_scatterv(Caller caller, const void* send, Counts send_counts,
                    Displacements displacements, MPI_Datatype send_type, void* receive,
                    MPI_Count receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm);
int native_reduce(Caller caller, const void* send, void* receive, MPI_Count count,
                  MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm);
int native_allreduce(Caller caller, const void* send, void* receive, MPI_Count count,
                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int native_bcast(Caller caller, void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
                 MPI_Comm comm);
int native_reduce_scatter(Caller caller, const void* send, void* receive, Counts receive_counts,
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int native_reduce_scatter_block(Caller caller, const void* send, void* receive,
                                MPI_Count receive_count, MPI_Datatype datatype, MPI_Op op,
                                MPI_Comm comm);
int native_allgather(Caller caller, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                     void* receive, MPI_Count receive_count, MPI_Datatype receive_type,
                     MPI_Comm comm);
int native_allgatherv(Caller caller, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                      void* receive, Counts receive_counts, Displacements displacements,
                      MPI_Datatype receive_type, MPI_Comm comm);
int native_alltoall(Caller caller, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                    void* receive, MPI_Count receive_count, MPI_Datatype receive_type,
                    MPI_Comm comm);
int native_alltoallv(Caller caller, const void* send, Counts send_counts,
                     Displacements send_displacements, MPI_Datatype send_type, void* receive,
                     Counts receive_counts, Displacements receive_displacements,
                     MPI_Datatype receive_type, MPI_Comm comm);
int native_barrier(Caller caller, MPI_Comm comm);

}  // namespace sibyl
