// The MPI library's own collectives, in the form in which Sibyl holds the arguments.
#pragma once

#include <mpi.h>

#include "collectives/collectives.hpp"

namespace sibyl {

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

}  // namespace sibyl
