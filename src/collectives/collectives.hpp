// The bodies behind both faces of the library: the C API (SIBYL_Exscan, ...) and the preload
// wrappers. Each checks its arguments, serves the call by a program or hands it to the MPI
// library's own collective, and returns an MPI error code that has already been raised through the
// communicator's error handler.
//
// Thread safety: as MPI's own collectives: any number of threads on different communicators.
#pragma once

#include <mpi.h>

#include "collectives/call_place.hpp"
#include "executor/irregular_blocks.hpp"

namespace sibyl {

// Who calls. The C API sets a communicator up at the first call, since the program asked for
// Sibyl; the preload waits for the third, since a communicator used once or twice cannot repay it.
// `large` says that the call came through a `_c` function: native calls go to the `_c` function.
// `place` is where in the program it was made.
// `papers_tree`: of irregular gather and scatter, along the paper's tree, built anew at every call,
// whatever would be chosen.
struct Caller {
  bool preload = false;
  bool large = false;
  CallPlace place{};
  bool papers_tree = false;
};
// Called after a blocking collective that Sibyl has served by messages of its own, on its thread;
// nullptr: nobody watches. Set before the first call.
extern void (*on_served)();

// The two kinds of function of the C API.
inline constexpr Caller c_api{};
inline constexpr Caller large_c_api{false, true};
inline constexpr Caller papers_api{.papers_tree = true};
// The same, in a function that the program itself calls.
[[gnu::always_inline]] inline Caller c_api_from_here(bool large = false) {
  return {false, large, {__builtin_return_address(0)}};
}

int serve_exscan(Caller caller, const void* send, void* receive, MPI_Count count,
                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int serve_scan(Caller caller, const void* send, void* receive, MPI_Count count,
               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int serve_gather(Caller caller, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                 void* receive, MPI_Count receive_count, MPI_Datatype receive_type, int root,
                 MPI_Comm comm);
int serve_scatter(Caller caller, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                  void* receive, MPI_Count receive_count, MPI_Datatype receive_type, int root,
                  MPI_Comm comm);
int serve_gatherv(Caller caller, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                  void* receive, Counts receive_counts, Displacements displacements,
                  MPI_Datatype receive_type, int root, MPI_Comm comm);
int serve_scatterv(Caller caller, const void* send, Counts send_counts, Displacements displacements,
                   MPI_Datatype send_type, void* receive, MPI_Count receive_count,
                   MPI_Datatype receive_type, int root, MPI_Comm comm);
int serve_reduce(Caller caller, const void* send, void* receive, MPI_Count count,
                 MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm);
int serve_allreduce(Caller caller, const void* send, void* receive, MPI_Count count,
                    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int serve_bcast(Caller caller, void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
                MPI_Comm comm);
int serve_reduce_scatter(Caller caller, const void* send, void* receive, Counts receive_counts,
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int serve_reduce_scatter_block(Caller caller, const void* send, void* receive,
                               MPI_Count receive_count, MPI_Datatype datatype, MPI_Op op,
                               MPI_Comm comm);
int serve_allgather(Caller caller, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                    void* receive, MPI_Count receive_count, MPI_Datatype receive_type,
                    MPI_Comm comm);
int serve_allgatherv(Caller caller, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                     void* receive, Counts receive_counts, Displacements displacements,
                     MPI_Datatype receive_type, MPI_Comm comm);
int serve_alltoall(Caller caller, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                   void* receive, MPI_Count receive_count, MPI_Datatype receive_type,
                   MPI_Comm comm);
int serve_alltoallv(Caller caller, const void* send, Counts send_counts,
                    Displacements send_displacements, MPI_Datatype send_type, void* receive,
                    Counts receive_counts, Displacements receive_displacements,
                    MPI_Datatype receive_type, MPI_Comm comm);
int serve_barrier(Caller caller, MPI_Comm comm);

// The arrival pattern of the calls to come; see SIBYL_Comm_set_arrivals.
int set_arrivals(MPI_Comm comm, const double* times, int count);

// MPIX_Comm_revoke of User-Level Failure Mitigation (executor/faults.hpp): ends the calls that are
// served for the communicator as well.
int serve_mpix_comm_revoke(Caller caller, MPI_Comm comm);

}  // namespace sibyl
