// Point-to-point calls with counts of any size: the large-count functions where an int is too
// small, or a type of many elements in an MPI library that has none.
#pragma once

#include <mpi.h>

#include <limits>

#include "executor/faults.hpp"
#include "executor/large_message.hpp"

#if MPI_VERSION >= 4
// Other libraries of the same binary interface may be older, and have none.
#pragma weak PMPI_Isend_c
#pragma weak PMPI_Issend_c
#pragma weak PMPI_Irecv_c
#pragma weak PMPI_Recv_c
#endif

namespace sibyl {

inline bool needs_large_count(MPI_Count count) { return count > std::numeric_limits<int>::max(); }
#if MPI_VERSION >= 4
inline bool takes_large_count(MPI_Count count) {
  return needs_large_count(count) && &PMPI_Isend_c != nullptr;
}
#endif

// Calls `post` with one element of a type that stands for all of them.
template <class Post>
int post_many(MPI_Count count, MPI_Datatype type, Post post) {
  MPI_Datatype many = MPI_DATATYPE_NULL;
  const int error = make_type_of_many(count, type, many);
  if (error != MPI_SUCCESS) return error;
  const int posted = post(many);
  PMPI_Type_free(&many);
  return posted;
}

// `until_taken`: the request is complete only once the receiver takes the message.
inline int post_send(const void* data, MPI_Count count, MPI_Datatype type, int peer, int tag,
                     MPI_Comm comm, MPI_Request* request, bool until_taken = false) {
#if MPI_VERSION >= 4
  if (takes_large_count(count)) {
    const auto post = until_taken ? &PMPI_Issend_c : &PMPI_Isend_c;
    return post(data, count, type, peer, tag, comm, request);
  }
#endif
  const auto post = until_taken ? &PMPI_Issend : &PMPI_Isend;
  if (needs_large_count(count)) {
    return post_many(count, type, [&](MPI_Datatype many) {
      return post(data, 1, many, peer, tag, comm, request);
    });
  }
  return post(data, static_cast<int>(count), type, peer, tag, comm, request);
}

inline int post_receive(void* data, MPI_Count count, MPI_Datatype type, int peer, int tag,
                        MPI_Comm comm, MPI_Request* request) {
#if MPI_VERSION >= 4
  if (takes_large_count(count)) {
    return PMPI_Irecv_c(data, count, type, peer, tag, comm, request);
  }
#endif
  if (needs_large_count(count)) {
    return post_many(count, type, [&](MPI_Datatype many) {
      return PMPI_Irecv(data, 1, many, peer, tag, comm, request);
    });
  }
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

// A receive that was posted, and is wanted no more: MPI writes nothing to its memory any more.
inline void take_back(MPI_Request& request, MPI_Comm comm) {
  if (request == MPI_REQUEST_NULL) return;
  PMPI_Cancel(&request);
  wait_for(request, comm);
}

inline int receive(void* data, MPI_Count count, MPI_Datatype type, int peer, int tag,
                   MPI_Comm comm) {
  if (survives_faults()) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int posted = post_receive(data, count, type, peer, tag, comm, &request);
    return posted != MPI_SUCCESS ? posted : wait_for(request, comm);
  }
#if MPI_VERSION >= 4
  if (takes_large_count(count)) {
    return PMPI_Recv_c(data, count, type, peer, tag, comm, MPI_STATUS_IGNORE);
  }
#endif
  if (needs_large_count(count)) {
    return post_many(count, type, [&](MPI_Datatype many) {
      return PMPI_Recv(data, 1, many, peer, tag, comm, MPI_STATUS_IGNORE);
    });
  }
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
