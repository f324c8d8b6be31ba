// Point-to-point calls with counts of any size: the large-count functions where an int is too
// small. A count that needs one can only come through a `_c` function, which the MPI then has.
#pragma once

#include <mpi.h>

#include <limits>

#include "executor/faults.hpp"

namespace sibyl {

inline bool needs_large_count(MPI_Count count) { return count > std::numeric_limits<int>::max(); }

// `until_taken`: the request is complete only once the receiver takes the message.
inline int post_send(const void* data, MPI_Count count, MPI_Datatype type, int peer, int tag,
                     MPI_Comm comm, MPI_Request* request, bool until_taken = false) {
#if MPI_VERSION >= 4
  if (needs_large_count(count)) {
    const auto post = until_taken ? &PMPI_Issend_c : &PMPI_Isend_c;
    return post(data, count, type, peer, tag, comm, request);
  }
#endif
  const auto post = until_taken ? &PMPI_Issend : &PMPI_Isend;
  return post(data, static_cast<int>(count), type, peer, tag, comm, request);
}

inline int post_receive(void* data, MPI_Count count, MPI_Datatype type, int peer, int tag,
                        MPI_Comm comm, MPI_Request* request) {
#if MPI_VERSION >= 4
  if (needs_large_count(count)) {
    return PMPI_Irecv_c(data, count, type, peer, tag, comm, request);
  }
#endif
  return PMPI_Irecv(data, static_cast<int>(count), type, peer, tag, comm, request);
}

// The blocking ones end when a process dies, too (faults.hpp); what is wrong is raised on `comm`.
inline int wait_for(MPI_Request& request, MPI_Comm comm) {
  if (!survives_faults()) return PMPI_Wait(&request, MPI_STATUS_IGNORE);
  FaultWatch watch(comm);
  while (true) {
    int done = 0;
    const int error = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) revoke_after_death(comm, error);
    if (done != 0 || request == MPI_REQUEST_NULL) return error;
    watch.pause();
  }
}

inline int receive(void* data, MPI_Count count, MPI_Datatype type, int peer, int tag,
                   MPI_Comm comm) {
  if (survives_faults()) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int posted = post_receive(data, count, type, peer, tag, comm, &request);
    return posted != MPI_SUCCESS ? posted : wait_for(request, comm);
  }
#if MPI_VERSION >= 4
  if (needs_large_count(count)) {
    return PMPI_Recv_c(data, count, type, peer, tag, comm, MPI_STATUS_IGNORE);
  }
#endif
  return PMPI_Recv(data, static_cast<int>(count), type, peer, tag, comm, MPI_STATUS_IGNORE);
}

// Of counts that fit into an int.
inline int send(const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm) {
  if (!survives_faults()) return PMPI_Send(data, count, type, peer, tag, comm);
  MPI_Request request = MPI_REQUEST_NULL;
  const int posted = PMPI_Isend(data, count, type, peer, tag, comm, &request);
  return posted != MPI_SUCCESS ? posted : wait_for(request, comm);
}

}  // namespace sibyl
