// Point-to-point calls with counts of any size: the large-count functions where an int is too
// small. A count that needs one can only come through a `_c` function, which the MPI then has.
#pragma once

#include <mpi.h>

#include <limits>

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

}  // namespace sibyl
