/** @file
 * The C API of Sibyl: MPI collectives that know who is late.
 *
 * Each function takes the arguments of the MPI function of the same name and means the same: counts
 * in elements, buffers and types as in the MPI standard, MPI_IN_PLACE where the standard allows it,
 * arguments that are not significant at a rank are not read. Errors are raised through the error
 * handler of `comm` and returned; their classes are MPI's:
 * - `MPI_ERR_COMM`
 * - `MPI_ERR_COUNT`: negative
 * - `MPI_ERR_TYPE`: null or not committed
 * - `MPI_ERR_OP`
 * - `MPI_ERR_ROOT`: outside the communicator
 * - `MPI_ERR_BUFFER`: null with a positive count and a predefined type; `MPI_IN_PLACE` where it is
 *   not allowed; equal send and receive buffers where the MPI library refuses them
 * - `MPI_ERR_TRUNCATE`: more data than the receiver's arguments have room for
 * - `MPI_ERR_ARG`: no counts or displacements; a SIBYL_ environment variable is wrong, which the
 *   error's text names, except under MPICH 4.0, which loses such texts
 * - `MPI_ERR_NO_MEM`
 * - `MPI_ERR_OTHER`: data in a device's memory could not be copied
 * - `MPIX_ERR_PROC_FAILED`, `MPIX_ERR_REVOKED`, and what else messages of the MPI library end with
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

/** @defgroup blocking Blocking collectives
 * Served by Sibyl where it has an algorithm that is expected to be faster, else by MPI.
 * @{ */

/** Version of the library that is running, which may be newer than the header. Local; may be called
 * at any time, also before MPI_Init. Returns MPI_SUCCESS. */
SIBYL_EXPORT int SIBYL_Get_version(int* major, int* minor, int* patch);

/** Exclusive scan: rank r receives V_0 (+) ... (+) V_{r-1}; the receive buffer of rank 0 is left
 * untouched. The operands are combined in rank order.
 * Algorithms: docs/reference/algorithms.md, J. L. Traeff, algorithm 1. */
SIBYL_EXPORT int SIBYL_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                              MPI_Op op, MPI_Comm comm);

/** Inclusive scan: rank r receives V_0 (+) ... (+) V_r, combined in rank order. */
SIBYL_EXPORT int SIBYL_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                            MPI_Op op, MPI_Comm comm);

/** Gather: the root receives the blocks of all ranks, in rank order. */
SIBYL_EXPORT int SIBYL_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                              void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                              MPI_Comm comm);

/** Scatter: rank r receives block r of the root's buffer. */
SIBYL_EXPORT int SIBYL_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                               void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                               MPI_Comm comm);

/** Irregular gather: the root receives block r of recvcounts[r] elements at recvbuf + displs[r]
 * extents. A root with other counts than the ranks send is an error of the program: where it has
 * too little room it raises MPI_ERR_TRUNCATE, and no rank hangs; where one end has an empty block
 * and the other has not, who expects data may wait for ever. Blocks must not overlap.
 * Algorithms: docs/reference/algorithms.md, J. L. Traeff, lemmas 2.1 to 2.3. */
SIBYL_EXPORT int SIBYL_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                               void* recvbuf, const int recvcounts[], const int displs[],
                               MPI_Datatype recvtype, int root, MPI_Comm comm);

/** Irregular scatter: rank r receives the block of sendcounts[r] elements at sendbuf + displs[r]
 * extents. A rank with less room than its block, but some, raises MPI_ERR_TRUNCATE, and no rank
 * hangs; else as SIBYL_Gatherv. */
SIBYL_EXPORT int SIBYL_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                                MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                MPI_Datatype recvtype, int root, MPI_Comm comm);

/** Irregular gather as published, along the ordered tree of the block sizes, built anew each call.
 * Whatever settings, tables, costs or the governor would choose. Large blocks go past the tree
 * (SIBYL_DIRECT_FROM). J. L. Traeff, Practical, Linear-time, Fully Distributed Algorithms for
 * Irregular Gather and Scatter, 2017, algorithms 1 and 2 and lemma 2.3. */
SIBYL_EXPORT int TUW_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                             void* recvbuf, const int recvcounts[], const int displs[],
                             MPI_Datatype recvtype, int root, MPI_Comm comm);
/** The scatter of the same paper; see TUW_Gatherv. */
SIBYL_EXPORT int TUW_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                              MPI_Datatype sendtype, void* recvbuf, int recvcount,
                              MPI_Datatype recvtype, int root, MPI_Comm comm);

/** Reduce: the root receives V_0 (+) ... (+) V_{p-1}. Operators that were created as not commuting
 * are applied in rank order. Algorithms: docs/reference/algorithms.md. */
SIBYL_EXPORT int SIBYL_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                              MPI_Op op, int root, MPI_Comm comm);

/** Allreduce: every rank receives V_0 (+) ... (+) V_{p-1}, the same bits at all ranks. Operators
 * that were created as not commuting are applied in rank order. Algorithms:
 * docs/reference/algorithms.md.
 */
SIBYL_EXPORT int SIBYL_Allreduce(const void* sendbuf, void* recvbuf, int count,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

/** Broadcast: every rank receives the root's buffer. Types may differ between ranks as long as
 * their signatures match. */
SIBYL_EXPORT int SIBYL_Bcast(void* buffer, int count, MPI_Datatype datatype, int root,
                             MPI_Comm comm);

/** Reduce-scatter: rank r receives elements recvcounts[0] + ... + recvcounts[r-1] on, recvcounts[r]
 * of them, of V_0 (+) ... (+) V_{p-1}. In place the vector lies in recvbuf, and the result at its
 * begin. */
SIBYL_EXPORT int SIBYL_Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                                      MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

/** The same with recvcount elements for every rank. */
SIBYL_EXPORT int SIBYL_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                                            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

/** Allgather: every rank receives the blocks of all ranks, in rank order. */
SIBYL_EXPORT int SIBYL_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                 MPI_Comm comm);

/** Irregular allgather: block r has recvcounts[r] elements, at recvbuf + displs[r] extents. The
 * counts are the same at all ranks, displacements and types need not be. Blocks must not overlap.
 */
SIBYL_EXPORT int SIBYL_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, const int recvcounts[], const int displs[],
                                  MPI_Datatype recvtype, MPI_Comm comm);

/** All-to-all: rank r receives block r of every rank, in rank order. */
SIBYL_EXPORT int SIBYL_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/** Irregular all-to-all: block r for rank r has sendcounts[r] elements, at sendbuf + sdispls[r]
 * extents; that of rank r goes to recvbuf + rdispls[r] extents. A rank knows its own counts only;
 * where those of two ranks do not fit, who has too little room raises MPI_ERR_TRUNCATE, and the
 * communicator is of no further use: a part of the block may still be under way, and the rank that
 * sends it wait for that part to be taken. */
SIBYL_EXPORT int SIBYL_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                 MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                 const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm);

/** Barrier: returns when all ranks have called it. */
SIBYL_EXPORT int SIBYL_Barrier(MPI_Comm comm);

/** Says when the ranks of `comm` arrive at the collectives to come: arrivals[r] is the time of rank
 * r in seconds from any common origin, `count` the number of ranks; 0 takes back what was said.
 * Collective: all ranks give the same times, which are compared. From the next call on reduce and
 * allreduce, and bcast by an algorithm that follows arrivals, are planned for them, where that is
 * faster (docs/explanation/clairvoyant.md); a wrong pattern costs time and nothing else. Without
 * effect where the MPI library serves the communicator. MPI_ERR_ARG at all ranks, and the pattern
 * stays as it was: times that differ between ranks, are not one per rank, negative, not finite, or
 * more than 1e6 s apart. */
SIBYL_EXPORT int SIBYL_Comm_set_arrivals(MPI_Comm comm, const double arrivals[], int count);

/** @} */

/** @defgroup persistent Persistent collectives
 * Bound once, run again and again, told how far the computation is.
 * @{ */

/** Persistent collectives: bound to their arguments once, then run again and again, with the
 * program saying how far its computation is. From that Sibyl predicts who will be late, serves
 * ranks in the order of their arrival, and moves data in the background while ranks still compute.
 *
 * @code{.c}
 * SIBYL_Gather_init(..., info, &request);
 * for (...) {
 *   SIBYL_Start(&request);      // computation begins
 *   // first half of the work
 *   SIBYL_Edge(&request, 0.5);  // half of it is done (may be left out)
 *   // second half of the work, which writes the send buffer
 *   SIBYL_Arrive(&request);     // this rank joins the collective
 *   SIBYL_Wait(&request);       // it is complete
 * }
 * SIBYL_Request_free(&request);
 * @endcode
 *
 * Buffers. The receive buffer belongs to Sibyl from Start until the request is complete: it may be
 * written before this rank has arrived. The send buffer is significant from Arrive until then, and
 * must not be changed meanwhile; before Arrive it is not read. Counts and displacements are copied;
 * datatypes may be freed after the init call, and a user-defined operator is called with a
 * duplicate of a derived one; the operator must live as long as the request. Contents of the
 * receive buffer from before Start are significant only where MPI_IN_PLACE makes it the input, and
 * then from Arrive on.
 *
 * Order. The init calls are collective over `comm`, in the same order on all its ranks. All ranks
 * start a request equally often. Start, Arrive and Wait for different requests may come in any
 * order, at each rank another, and any number of requests may be active at once. A communicator may
 * be freed while requests on it live.
 *
 * Progress. Where there is a thread in the background (MPI_THREAD_MULTIPLE, SIBYL_THREAD not 0) it
 * works between Start and Wait while something is under way there; otherwise only SIBYL_Arrive and
 * SIBYL_Test move data, of their own request, and SIBYL_Wait, of all requests that have arrived in
 * this process.
 *
 * Info keys, of which those at rank 0 hold (MPI_INFO_NULL: the defaults):
 * - `sibyl_algorithm`: `auto` (the default), `native`, or a name that `sibyl algorithms` prints;
 *   gatherv and scatterv have linear and native. auto gives allgather(v) and alltoall, up to 64
 *   ranks, an algorithm by which a rank that comes late finds in its buffer what the others have
 *   sent (allgather(v): spread, BDR of J. Proficz, 2021, or the ring for long blocks; alltoall:
 *   shifted), a long allreduce the pre-reduced-ring, and bcast binomial where a call would be
 *   native
 * - `sibyl_order`: `arrival` (the default): ranks are served in the order in which they are
 *   predicted to arrive; `rank`: always in rank order
 * - `sibyl_background`: `true` (the default) or `false`: whether data moves before a rank has
 *   arrived
 * - `sibyl_outstanding`: how many transfers the root of a linear algorithm has under way at a time,
 *   and how many sends each rank of a shifted alltoall, a whole number up to 1000000, 0: no limit;
 *   what SIBYL_OUTSTANDING says if absent. In the order of the ranks linear-synchronised asks one
 *   at a time whatever it says
 * - `sibyl_govern`: `true` (the default) or `false`: a gather whose leaves auto has send at once is
 *   compared with one that asks for their blocks, and the faster one serves; SIBYL_GOVERN=0 turns
 *   it off for all requests (docs/explanation/governor.md). Now and then SIBYL_Wait waits until all
 *   ranks have started the iteration before
 * - `sibyl_reproducible`: `false` (the default) or `true`: a reduce, an allreduce or an exscan
 *   combines in the same order each time and in every run (docs/how-to/reproducible.md)
 *
 * Report edges on all ranks or on none: algorithms in which all ranks must know the pattern fall
 * back to rank order when one is missing, for that iteration and some that follow.
 *
 * Errors, raised through the handler of the request's communicator (of MPI_COMM_WORLD if that has
 * been freed) and returned; none changes the state of the request:
 * - `MPI_ERR_REQUEST`: a null request, but for Test and Wait; Start of an active one; Edge or
 *   Arrive of one that is not started or has arrived; a second Edge; Wait between Start and Arrive;
 *   Request_free of an active one
 * - `MPI_ERR_ARG`: a fraction outside (0, 1)
 * - `MPI_ERR_INFO_VALUE`: a key's value is none of the above (init calls, on all ranks)
 * - `MPI_ERR_OTHER`: another rank's arguments are wrong (init calls)
 * - `MPI_ERR_TRUNCATE` and other classes of the collective, from Test and Wait (then the iteration
 *   is over), or from the init call where the root's own block does not fit
 *
 * Thread safety: calls for one request one at a time, for different requests from any threads where
 * MPI gives MPI_THREAD_MULTIPLE.
 * Source: J. Proficz, Process arrival pattern aware algorithms for acceleration of scatter and
 * gather operations, 2020, section 3; MPI 4.0, section 6.13 for the persistent form. */
typedef struct SIBYL_Request_object* SIBYL_Request;
/** No request: what SIBYL_Request_free leaves behind. Compared with ==. */
#define SIBYL_REQUEST_NULL ((SIBYL_Request)0)

/** Binds SIBYL_Gather to its arguments; see SIBYL_Request. Collective over `comm`. */
SIBYL_EXPORT int SIBYL_Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                                   MPI_Comm comm, MPI_Info info, SIBYL_Request* request);
/** Binds SIBYL_Scatter to its arguments; see SIBYL_Request. Collective over `comm`. */
SIBYL_EXPORT int SIBYL_Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                    void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                                    MPI_Comm comm, MPI_Info info, SIBYL_Request* request);
/** Binds SIBYL_Gatherv to its arguments; see SIBYL_Request. Collective over `comm`. */
SIBYL_EXPORT int SIBYL_Gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                    void* recvbuf, const int recvcounts[], const int displs[],
                                    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                                    SIBYL_Request* request);
/** Binds SIBYL_Scatterv to its arguments; see SIBYL_Request. Collective over `comm`. */
SIBYL_EXPORT int SIBYL_Scatterv_init(const void* sendbuf, const int sendcounts[],
                                     const int displs[], MPI_Datatype sendtype, void* recvbuf,
                                     int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                     MPI_Info info, SIBYL_Request* request);
/** Binds SIBYL_Reduce to its arguments; see SIBYL_Request. Collective over `comm`. */
SIBYL_EXPORT int SIBYL_Reduce_init(const void* sendbuf, void* recvbuf, int count,
                                   MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
                                   MPI_Info info, SIBYL_Request* request);
/** Binds SIBYL_Exscan to its arguments; see SIBYL_Request. Collective over `comm`. */
SIBYL_EXPORT int SIBYL_Exscan_init(const void* sendbuf, void* recvbuf, int count,
                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                   SIBYL_Request* request);

/** Binds SIBYL_Allreduce to its arguments; see SIBYL_Request. Collective over `comm`. */
SIBYL_EXPORT int SIBYL_Allreduce_init(const void* sendbuf, void* recvbuf, int count,
                                      MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                      MPI_Info info, SIBYL_Request* request);
/** Binds SIBYL_Bcast to its arguments; see SIBYL_Request. Collective over `comm`. */
SIBYL_EXPORT int SIBYL_Bcast_init(void* buffer, int count, MPI_Datatype datatype, int root,
                                  MPI_Comm comm, MPI_Info info, SIBYL_Request* request);
/** Binds SIBYL_Allgather to its arguments; see SIBYL_Request. Collective over `comm`. */
SIBYL_EXPORT int SIBYL_Allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                      void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                      MPI_Comm comm, MPI_Info info, SIBYL_Request* request);
/** Binds SIBYL_Allgatherv to its arguments; see SIBYL_Request. Collective over `comm`. */
SIBYL_EXPORT int SIBYL_Allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                       void* recvbuf, const int recvcounts[], const int displs[],
                                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                       SIBYL_Request* request);
/** Binds SIBYL_Alltoall to its arguments; see SIBYL_Request. Collective over `comm`. */
SIBYL_EXPORT int SIBYL_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                     void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                     MPI_Comm comm, MPI_Info info, SIBYL_Request* request);

/** The computation begins. Local. */
SIBYL_EXPORT int SIBYL_Start(SIBYL_Request* request);
/** `fraction` of the computation since Start is done. Local; at most once in an iteration. */
SIBYL_EXPORT int SIBYL_Edge(SIBYL_Request* request, double fraction);
/** The computation is done, and this rank's contribution is in its send buffer. Does not block. */
SIBYL_EXPORT int SIBYL_Arrive(SIBYL_Request* request);
/** *flag is 1 when the request is complete (or inactive or null); moves it on. May be called before
 * Arrive, when it can be of use where there is no thread, but gives 0. */
SIBYL_EXPORT int SIBYL_Test(SIBYL_Request* request, int* flag);
/** Blocks until the request is complete; returns at once when it is inactive or null. */
SIBYL_EXPORT int SIBYL_Wait(SIBYL_Request* request);
/** Frees an inactive request and sets it to SIBYL_REQUEST_NULL. Local. */
SIBYL_EXPORT int SIBYL_Request_free(SIBYL_Request* request);

/** @} */

#if MPI_VERSION >= 4
/** @defgroup large Large counts
 * The same functions with counts of MPI_Count and displacements of MPI_Aint, where mpi.h says that
 * its MPI_VERSION is 4 at least: MPICH 4 and 5, not Open MPI 4 or 5.
 * @{ */

/** SIBYL_Exscan with large counts. */
SIBYL_EXPORT int SIBYL_Exscan_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
/** SIBYL_Scan with large counts. */
SIBYL_EXPORT int SIBYL_Scan_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
/** SIBYL_Gather with large counts. */
SIBYL_EXPORT int SIBYL_Gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                                MPI_Comm comm);
/** SIBYL_Scatter with large counts. */
SIBYL_EXPORT int SIBYL_Scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                 int root, MPI_Comm comm);
/** SIBYL_Gatherv with large counts. */
SIBYL_EXPORT int SIBYL_Gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, const MPI_Count recvcounts[],
                                 const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                                 MPI_Comm comm);
/** SIBYL_Scatterv with large counts. */
SIBYL_EXPORT int SIBYL_Scatterv_c(const void* sendbuf, const MPI_Count sendcounts[],
                                  const MPI_Aint displs[], MPI_Datatype sendtype, void* recvbuf,
                                  MPI_Count recvcount, MPI_Datatype recvtype, int root,
                                  MPI_Comm comm);
/** SIBYL_Reduce with large counts. */
SIBYL_EXPORT int SIBYL_Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm);
/** SIBYL_Allreduce with large counts. */
SIBYL_EXPORT int SIBYL_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
/** SIBYL_Bcast with large counts. */
SIBYL_EXPORT int SIBYL_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
                               MPI_Comm comm);
/** SIBYL_Reduce_scatter with large counts. */
SIBYL_EXPORT int SIBYL_Reduce_scatter_c(const void* sendbuf, void* recvbuf,
                                        const MPI_Count recvcounts[], MPI_Datatype datatype,
                                        MPI_Op op, MPI_Comm comm);
/** SIBYL_Reduce_scatter_block with large counts. */
SIBYL_EXPORT int SIBYL_Reduce_scatter_block_c(const void* sendbuf, void* recvbuf,
                                              MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op,
                                              MPI_Comm comm);
/** SIBYL_Allgather with large counts. */
SIBYL_EXPORT int SIBYL_Allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                   MPI_Comm comm);
/** SIBYL_Allgatherv with large counts. */
SIBYL_EXPORT int SIBYL_Allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                    void* recvbuf, const MPI_Count recvcounts[],
                                    const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm);
/** SIBYL_Alltoall with large counts. */
SIBYL_EXPORT int SIBYL_Alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                  MPI_Comm comm);
/** SIBYL_Alltoallv with large counts. */
SIBYL_EXPORT int SIBYL_Alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[],
                                   const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                   const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                   MPI_Datatype recvtype, MPI_Comm comm);
/** SIBYL_Gather_init with large counts. */
SIBYL_EXPORT int SIBYL_Gather_init_c(const void* sendbuf, MPI_Count sendcount,
                                     MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                                     MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                                     SIBYL_Request* request);
/** SIBYL_Scatter_init with large counts. */
SIBYL_EXPORT int SIBYL_Scatter_init_c(const void* sendbuf, MPI_Count sendcount,
                                      MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                                      MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                                      SIBYL_Request* request);
/** SIBYL_Gatherv_init with large counts. */
SIBYL_EXPORT int SIBYL_Gatherv_init_c(const void* sendbuf, MPI_Count sendcount,
                                      MPI_Datatype sendtype, void* recvbuf,
                                      const MPI_Count recvcounts[], const MPI_Aint displs[],
                                      MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                                      SIBYL_Request* request);
/** SIBYL_Scatterv_init with large counts. */
SIBYL_EXPORT int SIBYL_Scatterv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                                       const MPI_Aint displs[], MPI_Datatype sendtype,
                                       void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                       int root, MPI_Comm comm, MPI_Info info,
                                       SIBYL_Request* request);
/** SIBYL_Reduce_init with large counts. */
SIBYL_EXPORT int SIBYL_Reduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                     MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
                                     MPI_Info info, SIBYL_Request* request);
/** SIBYL_Allreduce_init with large counts. */
SIBYL_EXPORT int SIBYL_Allreduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                        MPI_Info info, SIBYL_Request* request);
/** SIBYL_Bcast_init with large counts. */
SIBYL_EXPORT int SIBYL_Bcast_init_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
                                    MPI_Comm comm, MPI_Info info, SIBYL_Request* request);
/** SIBYL_Allgather_init with large counts. */
SIBYL_EXPORT int SIBYL_Allgather_init_c(const void* sendbuf, MPI_Count sendcount,
                                        MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                                        MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                        SIBYL_Request* request);
/** SIBYL_Allgatherv_init with large counts. */
SIBYL_EXPORT int SIBYL_Allgatherv_init_c(const void* sendbuf, MPI_Count sendcount,
                                         MPI_Datatype sendtype, void* recvbuf,
                                         const MPI_Count recvcounts[], const MPI_Aint displs[],
                                         MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                         SIBYL_Request* request);
/** SIBYL_Alltoall_init with large counts. */
SIBYL_EXPORT int SIBYL_Alltoall_init_c(const void* sendbuf, MPI_Count sendcount,
                                       MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                       SIBYL_Request* request);
/** SIBYL_Exscan_init with large counts. */
SIBYL_EXPORT int SIBYL_Exscan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                     SIBYL_Request* request);
/** @} */
#endif

#ifdef __cplusplus
}
#endif

#endif
