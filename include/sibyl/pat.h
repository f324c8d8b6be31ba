/** @file
 * The iterative model under the names of its paper: a program computes and communicates in turns,
 * and says in every turn how far its computation is.
 *
 * @code{.c}
 * PAT_Init();
 * PAT_UseAlg(PAT_Gather_BSLS);
 * for (...) {
 *   PAT_ProcessingStart();
 *   // first half of the work
 *   PAT_Edge(0.5);
 *   // second half of the work
 *   PAT_ProcessingEnd();
 *   PAT_Gather_BSLS(sendbuf, n, type, recvbuf, n, type, root, comm);
 * }
 * PAT_Finalize();
 * @endcode
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
 * the same. A reduce with a datatype or an operator of the program's own, or of 2 GiB and more,
 * works, but is bound anew in every call, by Sibyl's own choice of algorithm.
 *
 * Memory. Sibyl keeps what it has bound, with a copy of a block (at the root: of all blocks), for
 * the last eight combinations on a communicator; those of a communicator that is freed until
 * PAT_Finalize.
 *
 * Errors, raised through the handler of `comm` (of MPI_COMM_WORLD where there is none) and
 * returned, besides the classes of the collective:
 * - `MPI_ERR_OTHER`: outside PAT_Init and PAT_Finalize; a second PAT_Init; PAT_ProcessingStart
 *   twice, PAT_ProcessingEnd or PAT_Edge without it, a second PAT_Edge; a collective before
 *   PAT_ProcessingEnd
 * - `MPI_ERR_ARG`: a fraction outside (0, 1); PAT_UseAlg of something else
 * - `MPI_ERR_COMM`: no communicator, or one between two groups
 * - `MPI_ERR_COUNT`: a block of 2 GiB or more, or a negative count
 * - `MPI_ERR_TRUNCATE`: the root's own block is not of the size of the others
 * - `MPI_ERR_NO_MEM`: no memory for the copy (at other ranks MPI_ERR_OTHER; the handler is given
 *   MPI_ERR_COUNT, by which the ranks agree on it)
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

/** @defgroup iterative Iterative model
 * The persistent collectives under the names of the paper's iterative model.
 * @{ */

/** Before all others, after MPI_Init. Local. */
SIBYL_EXPORT int PAT_Init(void);
/** After all others, before MPI_Finalize. Collective over all communicators that were used: what
 * was started and not called since is run once more, on nothing of the program's. */
SIBYL_EXPORT int PAT_Finalize(void);

/** What PAT_UseAlg takes: one of the functions below. */
typedef void (*PAT_Function)(void); /* NOLINT(modernize-redundant-void-arg): this is C */
/** Which of the functions below the next turns will call, as in PAT_UseAlg(PAT_Gather_BSLS). Local;
 * the same on all ranks. */
SIBYL_EXPORT int PAT_UseAlg(PAT_Function function);
/** @cond */
#define PAT_UseAlg(function) (PAT_UseAlg)((PAT_Function)(function))
/** @endcond */

/** The computation begins. Local. */
SIBYL_EXPORT int PAT_ProcessingStart(void);
/** `fraction` of the computation is done, 0.5 for 50 %. Local; at most once in a turn. */
SIBYL_EXPORT int PAT_Edge(double fraction);
/** The computation is over. Local. */
SIBYL_EXPORT int PAT_ProcessingEnd(void);

#define SIBYL_PAT_BLOCKS(name)                                                                    \
  SIBYL_EXPORT int name(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, \
                        int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
/** MPI_Gather by LIN; see above. Collective over `comm`. */
SIBYL_PAT_BLOCKS(PAT_Gather_LIN);
/** MPI_Gather by LS; see above. Collective over `comm`. */
SIBYL_PAT_BLOCKS(PAT_Gather_LS);
/** MPI_Gather by SLS; see above. Collective over `comm`. */
SIBYL_PAT_BLOCKS(PAT_Gather_SLS);
/** MPI_Gather by BSLS; see above. Collective over `comm`. */
SIBYL_PAT_BLOCKS(PAT_Gather_BSLS);
/** MPI_Gather by BNOM; see above. Collective over `comm`. */
SIBYL_PAT_BLOCKS(PAT_Gather_BNOM);
/** MPI_Gather by SBN; see above. Collective over `comm`. */
SIBYL_PAT_BLOCKS(PAT_Gather_SBN);
/** MPI_Gather by BSBN; see above. Collective over `comm`. */
SIBYL_PAT_BLOCKS(PAT_Gather_BSBN);
/** MPI_Scatter by LIN; see above. Collective over `comm`. */
SIBYL_PAT_BLOCKS(PAT_Scatter_LIN);
/** MPI_Scatter by SLIN; see above. Collective over `comm`. */
SIBYL_PAT_BLOCKS(PAT_Scatter_SLIN);
/** MPI_Scatter by BSLIN; see above. Collective over `comm`. */
SIBYL_PAT_BLOCKS(PAT_Scatter_BSLIN);
/** MPI_Scatter by BNOM; see above. Collective over `comm`. */
SIBYL_PAT_BLOCKS(PAT_Scatter_BNOM);
/** MPI_Scatter by SBN; see above. Collective over `comm`. */
SIBYL_PAT_BLOCKS(PAT_Scatter_SBN);
/** MPI_Scatter by BSBN; see above. Collective over `comm`. */
SIBYL_PAT_BLOCKS(PAT_Scatter_BSBN);
#undef SIBYL_PAT_BLOCKS
/** PAT_Scatter_SLIN, as the paper also writes it. */
#define PAT_Scatter_SLN PAT_Scatter_SLIN
/** PAT_Scatter_BSLIN, as the paper also writes it. */
#define PAT_Scatter_BSLN PAT_Scatter_BSLIN

#define SIBYL_PAT_REDUCE(name)                                                                \
  SIBYL_EXPORT int name(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, \
                        MPI_Op op, int root, MPI_Comm comm)
/** MPI_Reduce by BNOM; see above. Collective over `comm`. */
SIBYL_PAT_REDUCE(PAT_Reduce_BNOM);
/** MPI_Reduce by RAB; see above. Collective over `comm`. */
SIBYL_PAT_REDUCE(PAT_Reduce_RAB);
/** MPI_Reduce by RXK; see above. Collective over `comm`. */
SIBYL_PAT_REDUCE(PAT_Reduce_RXK);
/** MPI_Reduce by RING; see above. Collective over `comm`. */
SIBYL_PAT_REDUCE(PAT_Reduce_RING);
/** MPI_Reduce by CLV; see above. Collective over `comm`. */
SIBYL_PAT_REDUCE(PAT_Reduce_CLV);
#undef SIBYL_PAT_REDUCE

/** @} */

#ifdef __cplusplus
}
#endif

#endif
