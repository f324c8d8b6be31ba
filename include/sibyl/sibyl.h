/* The C API of Sibyl: MPI collectives that know who is late.
 *
 * Each function takes the arguments of the MPI function of the same name and means the same: counts
 * in elements, buffers and types as in the MPI standard, MPI_IN_PLACE where the standard allows it,
 * arguments that are not significant at a rank are not read. Errors are raised through the error
 * handler of `comm` and returned; their classes are MPI's:
 *   MPI_ERR_COMM, MPI_ERR_COUNT (negative), MPI_ERR_TYPE (null or not committed), MPI_ERR_OP,
 *   MPI_ERR_ROOT (outside the communicator), MPI_ERR_BUFFER (null with a positive count and a
 *   predefined type; MPI_IN_PLACE where it is not allowed), MPI_ERR_TRUNCATE (more data than the
 *   receiver's arguments have room for), MPI_ERR_ARG (a SIBYL_ environment variable is wrong; the
 *   error's text names it, except under MPICH 4.0, which loses such texts), MPI_ERR_NO_MEM.
 *
 * Calls are collective over `comm`. Where Sibyl does not serve a call (intercommunicators, settings
 * that say `native`, what the tables do not cover) it calls the MPI library's own collective, on
 * all ranks.
 *
 * Thread safety: as MPI's collectives: any number of threads on different communicators, where MPI
 * gives MPI_THREAD_MULTIPLE; one collective at a time on one communicator.
 */
#ifndef SIBYL_SIBYL_H
#define SIBYL_SIBYL_H

#include <mpi.h>

#include "sibyl/version.h"

#if defined(__GNUC__)
#define SIBYL_EXPORT __attribute__((visibility("default")))
#else
#define SIBYL_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the library that is running, which may be newer than the header. Local; may be called
 * at any time, also before MPI_Init. Returns MPI_SUCCESS. */
SIBYL_EXPORT int SIBYL_Get_version(int* major, int* minor, int* patch);

/* Exclusive scan: rank r receives V_0 (+) ... (+) V_{r-1}; the receive buffer of rank 0 is left
 * untouched. The operands are combined in rank order.
 * Algorithms: ../docs/algorithms.md, J. L. Traeff, algorithm 1. */
SIBYL_EXPORT int SIBYL_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                              MPI_Op op, MPI_Comm comm);

/* Inclusive scan: rank r receives V_0 (+) ... (+) V_r, combined in rank order. */
SIBYL_EXPORT int SIBYL_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                            MPI_Op op, MPI_Comm comm);

/* Gather: the root receives the blocks of all ranks, in rank order. */
SIBYL_EXPORT int SIBYL_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                              void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                              MPI_Comm comm);

/* Scatter: rank r receives block r of the root's buffer. */
SIBYL_EXPORT int SIBYL_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                               void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                               MPI_Comm comm);

/* Irregular gather: the root receives block r of recvcounts[r] elements at recvbuf + displs[r]
 * extents. A root with other counts than the ranks send is an error of the program: where it has
 * too little room it raises MPI_ERR_TRUNCATE, and no rank hangs. Blocks must not overlap.
 * Algorithms: ../docs/algorithms.md, J. L. Traeff, lemmas 2.1 to 2.3. */
SIBYL_EXPORT int SIBYL_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                               void* recvbuf, const int recvcounts[], const int displs[],
                               MPI_Datatype recvtype, int root, MPI_Comm comm);

/* Irregular scatter: rank r receives the block of sendcounts[r] elements at sendbuf + displs[r]
 * extents. A rank with less room than its block raises MPI_ERR_TRUNCATE, and no rank hangs. */
SIBYL_EXPORT int SIBYL_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                                MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                MPI_Datatype recvtype, int root, MPI_Comm comm);

/* The same under the names of the paper (J. L. Traeff, Practical, Linear-time, Fully Distributed
 * Algorithms for Irregular Gather and Scatter, 2017). */
SIBYL_EXPORT int TUW_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                             void* recvbuf, const int recvcounts[], const int displs[],
                             MPI_Datatype recvtype, int root, MPI_Comm comm);
SIBYL_EXPORT int TUW_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                              MPI_Datatype sendtype, void* recvbuf, int recvcount,
                              MPI_Datatype recvtype, int root, MPI_Comm comm);

/* Reduce: the root receives V_0 (+) ... (+) V_{p-1}. Operators that were created as not commuting
 * are applied in rank order. Algorithms: ../docs/algorithms.md. */
SIBYL_EXPORT int SIBYL_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                              MPI_Op op, int root, MPI_Comm comm);

/* Says when the ranks of `comm` arrive at the collectives to come: arrivals[r] is the time of rank
 * r in seconds from any common origin, `count` the number of ranks; 0 takes back what was said.
 * Collective: all ranks give the same times, which are compared. From the next call on reduce is
 * planned for them, where that is faster (SIBYL_REDUCE in ../docs/environment.md); a wrong pattern
 * costs time and nothing else. Without effect where the MPI library serves the communicator.
 * MPI_ERR_ARG at all ranks, and the pattern stays as it was: times that differ between ranks, are
 * not one per rank, negative, not finite, or more than 1e6 s apart. */
SIBYL_EXPORT int SIBYL_Comm_set_arrivals(MPI_Comm comm, const double arrivals[], int count);

#if MPI_VERSION >= 4
/* The same with large counts. */
SIBYL_EXPORT int SIBYL_Exscan_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
SIBYL_EXPORT int SIBYL_Scan_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
SIBYL_EXPORT int SIBYL_Gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                                MPI_Comm comm);
SIBYL_EXPORT int SIBYL_Scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                 int root, MPI_Comm comm);
SIBYL_EXPORT int SIBYL_Gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, const MPI_Count recvcounts[],
                                 const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                                 MPI_Comm comm);
SIBYL_EXPORT int SIBYL_Scatterv_c(const void* sendbuf, const MPI_Count sendcounts[],
                                  const MPI_Aint displs[], MPI_Datatype sendtype, void* recvbuf,
                                  MPI_Count recvcount, MPI_Datatype recvtype, int root,
                                  MPI_Comm comm);
SIBYL_EXPORT int SIBYL_Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm);
#endif

#ifdef __cplusplus
}
#endif

#endif
