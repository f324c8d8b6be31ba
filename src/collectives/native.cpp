// Hands calls to the MPI library, to its large-count functions where the call came through one.
#include "collectives/native.hpp"

namespace sibyl {
namespace {

// A count of a call that did not come through a `_c` function, or of an argument that is not
// significant here and may hold anything.
int small(MPI_Count count) { return static_cast<int>(count); }

}  // namespace

int native_exscan(Caller caller, const void* send, void* receive, MPI_Count count,
                  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
#if MPI_VERSION >= 4
  if (caller.large) return PMPI_Exscan_c(send, receive, count, datatype, op, comm);
#else
  (void)caller;
#endif
  return PMPI_Exscan(send, receive, small(count), datatype, op, comm);
}

int native_scan(Caller caller, const void* send, void* receive, MPI_Count count,
                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
#if MPI_VERSION >= 4
  if (caller.large) return PMPI_Scan_c(send, receive, count, datatype, op, comm);
#else
  (void)caller;
#endif
  return PMPI_Scan(send, receive, small(count), datatype, op, comm);
}

int native_gather(Caller caller, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                  void* receive, MPI_Count receive_count, MPI_Datatype receive_type, int root,
                  MPI_Comm comm) {
#if MPI_VERSION >= 4
  if (caller.large) {
    return PMPI_Gather_c(send, send_count, send_type, receive, receive_count, receive_type, root,
                         comm);
  }
#else
  (void)caller;
#endif
  return PMPI_Gather(send, small(send_count), send_type, receive, small(receive_count),
                     receive_type, root, comm);
}

int native_scatter(Caller caller, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                   void* receive, MPI_Count receive_count, MPI_Datatype receive_type, int root,
                   MPI_Comm comm) {
#if MPI_VERSION >= 4
  if (caller.large) {
    return PMPI_Scatter_c(send, send_count, send_type, receive, receive_count, receive_type, root,
                          comm);
  }
#else
  (void)caller;
#endif
  return PMPI_Scatter(send, small(send_count), send_type, receive, small(receive_count),
                      receive_type, root, comm);
}

int native_reduce(Caller caller, const void* send, void* receive, MPI_Count count,
                  MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) {
#if MPI_VERSION >= 4
  if (caller.large) return PMPI_Reduce_c(send, receive, count, datatype, op, root, comm);
#else
  (void)caller;
#endif
  return PMPI_Reduce(send, receive, small(count), datatype, op, root, comm);
}

}  // namespace sibyl
