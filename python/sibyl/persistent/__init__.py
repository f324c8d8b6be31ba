"""Persistent collectives for programs of mpi4py: bound once, told how far the computation is.

::

    from sibyl.persistent import gather_init

    with gather_init(mine, all_of_them, comm, root=0, algorithm="BSLS") as request:
        for iteration in range(iterations):
            request.start()      # computation begins
            ...                  # first half of the work
            request.edge(0.5)    # half of it is done (may be left out)
            ...                  # second half, which writes `mine`
            request.arrive()     # this rank joins the collective
            request.wait()       # it is complete

From that Sibyl predicts who will be late, serves ranks in the order of their arrival, and moves
data in the background while ranks compute. The contract is that of the C functions of the same
names (sibyl/sibyl.h): the receive buffer belongs to Sibyl from `start` until the request is
complete, the send buffer from `arrive` until then; the init functions are collective, in the same
order on all ranks. Errors of MPI, misuse of a request among them, are `mpi4py.MPI.Exception` where
the communicator's error handler returns, which is mpi4py's default. What is wrong at one rank is
refused at all: the others' exception is MPI_ERR_OTHER.

Buffers are mpi4py's (sibyl.mpi.buffers): an array, [array, datatype], [array, count, datatype], for
blocks of any sizes [array, (counts, displacements), datatype]; MPI.IN_PLACE where MPI allows it,
None where a buffer is not significant. A request keeps its buffers alive until it is freed.

This module needs mpi4py, built for Open MPI or MPICH, and Sibyl's library for that MPI.

Source: J. Proficz, Process arrival pattern aware algorithms for acceleration of scatter and gather
operations, 2020, section 3.
"""

from sibyl.mpi.request import PAPER_ALGORITHMS, Request
from sibyl.persistent.blocks import gather_init, gatherv_init, scatter_init, scatterv_init
from sibyl.persistent.exchange import allgather_init, allgatherv_init, alltoall_init, bcast_init
from sibyl.persistent.reductions import allreduce_init, exscan_init, reduce_init

__all__ = [
    "PAPER_ALGORITHMS",
    "Request",
    "allgather_init",
    "allgatherv_init",
    "allreduce_init",
    "alltoall_init",
    "bcast_init",
    "exscan_init",
    "gather_init",
    "gatherv_init",
    "reduce_init",
    "scatter_init",
    "scatterv_init",
]
