/* The iterative model under the names of its paper: a program computes and communicates in turns,
 * and says in every turn how far its computation is.
 *
 *   PAT_Init();
 *   PAT_UseAlg(PAT_Gather_BSLS);
 *   for (...) {
 *     PAT_ProcessingStart();
 *     first half of the work
 *     PAT_Edge(0.5);
 *     second half of the work
 *     PAT_ProcessingEnd();
 *     PAT_Gather_BSLS(sendbuf, n, type, recvbuf, n, type, root, comm);
 *   }
 *   PAT_Finalize();
 *
 * This is a layer over the persistent collectives of sibyl.h, which are to be preferred by new
 * programs: a call here names its buffers only when the computation is over, so the data that moves
 * before lies in memory of Sibyl's own, and is copied once on its way at the root and once at the
 * other ranks. In return nothing of the program's memory is touched outside the calls.
 *
 * From the second turn on. The first call with a new combination of function, bytes of a block (or
 * count, datatype and operator), root and communicator binds a persistent collective and works
 * through it. From then on PAT_ProcessingStart starts the one that was called last by the function
 * in use, edges are reported to it, and what its algorithm does in the background begins there.
 * Algorithms in which all ranks need the pattern (BNOM's kin, CLV) take it into account from the
 * third turn on. A turn whose call is another than the last one is right as well, in the
 * foreground. Where the library is called for the first time, that is collective.
 *
 * Algorithms. LIN, LS, BNOM: linear, linear synchronised and binomial, in the order of the ranks.
 * With S: ranks are served in the order in which they are predicted to arrive; with BS (BSBN): data
 * moves in the background as well. Of reduce: BNOM binomial, RAB Rabenseifner, RXK Radix-K, RING,
 * CLV Clairvoyant, the only one that follows the pattern. SIBYL_OUTSTANDING=1 makes linear
 * algorithms take one rank at a time, as in the paper.
 *
 * Arguments are those of MPI_Gather, MPI_Scatter and MPI_Reduce, MPI_IN_PLACE included, and mean
 * the same. A reduce with a datatype or an operator of the program's own works, but is bound anew
 * in every call.
 *
 * Memory. Sibyl keeps what it has bound, with a copy of a block (at the root: of all blocks), for
 * the last eight combinations on a communicator; those of a communicator that is freed until
 * PAT_Finalize.
 *
 * Errors, raised through the handler of `comm` (of MPI_COMM_WORLD where there is none) and
 * returned: MPI_ERR_OTHER     outside PAT_Init and PAT_Finalize; a second PAT_Init;
 * PAT_ProcessingStart twice, PAT_ProcessingEnd or PAT_Edge without it, a second PAT_Edge; a
 *                     collective before PAT_ProcessingEnd
 *   MPI_ERR_ARG       a fraction outside (0, 1); PAT_UseAlg of something else
 *   MPI_ERR_COMM      no communicator, or one between two groups
 *   MPI_ERR_COUNT     a block of 2 GiB or more, or a negative count
 *   MPI_ERR_TRUNCATE  the root's own block is not of the size of the others
 *   MPI_ERR_NO_MEM    no memory for the copy (at other ranks MPI_ERR_OTHER)
 *   and the classes of the collective.
 *
 * Thread safety: one call at a time in a process.
 * Source: J. Proficz, Process arrival pattern aware algorithms for acceleration of scatter and
 * gather operations, 2020, section 3, figure 4. */
#ifndef SIBYL_PAT_H
#define SIBYL_PAT_H

#include "sibyl/sibyl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Before all others, after MPI_Init. Local. */
SIBYL_EXPORT int PAT_Init(void);
/* After all others, before MPI_Finalize. Collective over all communicators that were used: what was
 * started and not called since is run once more, on nothing of the program's. */
SIBYL_EXPORT int PAT_Finalize(void);

/* Which of the functions below the next turns will call, as in PAT_UseAlg(PAT_Gather_BSLS). Local;
 * the same on all ranks. */
typedef void (*PAT_Function)(void); /* NOLINT(modernize-redundant-void-arg): this is C */
SIBYL_EXPORT int PAT_UseAlg(PAT_Function function);
#define PAT_UseAlg(function) (PAT_UseAlg)((PAT_Function)(function))

/* The computation begins. Local. */
SIBYL_EXPORT int PAT_ProcessingStart(void);
/* `fraction` of the computation is done, 0.5 for 50 %. Local; at most once in a turn. */
SIBYL_EXPORT int PAT_Edge(double fraction);
/* The computation is over. Local. */
SIBYL_EXPORT int PAT_ProcessingEnd(void);

#define SIBYL_PAT_BLOCKS(name)                                                                    \
  SIBYL_EXPORT int name(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, \
                        int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
SIBYL_PAT_BLOCKS(PAT_Gather_LIN);
SIBYL_PAT_BLOCKS(PAT_Gather_LS);
SIBYL_PAT_BLOCKS(PAT_Gather_SLS);
SIBYL_PAT_BLOCKS(PAT_Gather_BSLS);
SIBYL_PAT_BLOCKS(PAT_Gather_BNOM);
SIBYL_PAT_BLOCKS(PAT_Gather_SBN);
SIBYL_PAT_BLOCKS(PAT_Gather_BSBN);
SIBYL_PAT_BLOCKS(PAT_Scatter_LIN);
SIBYL_PAT_BLOCKS(PAT_Scatter_SLIN);
SIBYL_PAT_BLOCKS(PAT_Scatter_BSLIN);
SIBYL_PAT_BLOCKS(PAT_Scatter_BNOM);
SIBYL_PAT_BLOCKS(PAT_Scatter_SBN);
SIBYL_PAT_BLOCKS(PAT_Scatter_BSBN);
#undef SIBYL_PAT_BLOCKS
/* As the paper also writes them. */
#define PAT_Scatter_SLN PAT_Scatter_SLIN
#define PAT_Scatter_BSLN PAT_Scatter_BSLIN

#define SIBYL_PAT_REDUCE(name)                                                                \
  SIBYL_EXPORT int name(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, \
                        MPI_Op op, int root, MPI_Comm comm)
SIBYL_PAT_REDUCE(PAT_Reduce_BNOM);
SIBYL_PAT_REDUCE(PAT_Reduce_RAB);
SIBYL_PAT_REDUCE(PAT_Reduce_RXK);
SIBYL_PAT_REDUCE(PAT_Reduce_RING);
SIBYL_PAT_REDUCE(PAT_Reduce_CLV);
#undef SIBYL_PAT_REDUCE

#ifdef __cplusplus
}
#endif

#endif
