"""Persistent collectives for programs of mpi4py: bound once, told how far the computation is.

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

from typing import Any

from mpi4py import MPI

from sibyl.mpi.bindings import handle
from sibyl.mpi.buffers import Buffer, Spec, read_buffer
from sibyl.mpi.request import PAPER_ALGORITHMS, Request, info_keys, make_request

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


def _ranks(comm: MPI.Comm) -> int:
    """How many ranks the blocks of a root are for."""
    return comm.Get_remote_size() if comm.Is_inter() else comm.Get_size()


def _is_root(comm: MPI.Comm, root: int) -> bool:
    return root == (MPI.ROOT if comm.Is_inter() else comm.Get_rank())


def _bind_blocks(
    name: str,
    send: Spec,
    receive: Spec,
    comm: MPI.Comm,
    root: int,
    keys: dict[str, str],
) -> Request:
    """Bind one of the four collectives of blocks: the root has all, every rank its own."""
    up = name.startswith("SIBYL_Gather")
    at_root = _is_root(comm, root)
    of_all, of_own = ("receive", "send") if up else ("send", "receive")

    def prepare() -> tuple[tuple[Any, ...], tuple[Buffer, Buffer]]:
        every = receive if up else send
        all_ = read_buffer(every if at_root else None, of_all, writable=up)
        own = read_buffer(send if up else receive, of_own, writable=not up)
        if name.endswith("v_init"):
            sizes = all_.blocks(_ranks(comm), of_all) if at_root else (None, None)
        else:
            sizes = (all_.share(_ranks(comm), of_all) if at_root else 0,)
        whole = (all_.address, *sizes, all_.type)
        part = (own.address, own.elements, own.type)
        sides = (*part, *whole) if up else (*whole, *part)
        return (*sides, root), (own, all_)

    return make_request(name, prepare, comm, keys)


def gather_init(
    send: Spec,
    receive: Spec,
    comm: MPI.Comm,
    root: int = 0,
    *,
    algorithm: str = "auto",
    order: str | None = None,
    background: bool | None = None,
) -> Request:
    """Bind a gather: the root receives the blocks of all ranks, in rank order. Collective.

    Args:
        send: this rank's block; MPI.IN_PLACE at the root where it lies in `receive` already.
        receive: at the root, room for as many blocks as there are ranks, all of one size; others
            may give None.
        comm: all its ranks call this.
        root: the rank that receives.
        algorithm: `auto`, `native`, a name of `sibyl algorithms gather`, or one of the paper's:
            LIN, SLIN, BSLIN, LS, SLS, BSLS, BNOM, SBN, BSBN. Rank 0's words hold for all.
        order: `arrival`: ranks are served in the order in which they are predicted to arrive;
            `rank`: always in rank order; None: as the paper's name says, else `arrival`.
        background: data moves before a rank has arrived; None: as the paper's name says, else yes.

    Raises:
        ValueError: `receive` is no whole number of blocks, or no MPI datatype fits an array.
        TypeError: a buffer is none, or `receive` may not be written.
        mpi4py.MPI.Exception: MPI_ERR_INFO_VALUE, no such algorithm or order, on all ranks;
            MPI_ERR_OTHER, what another rank gave is wrong; and the classes of MPI_Gather.
        sibyl.errors.CommandError: Sibyl's library for this MPI is not installed.
    """
    keys = info_keys(algorithm, order, background, False)
    return _bind_blocks("SIBYL_Gather_init", send, receive, comm, root, keys)


def scatter_init(
    send: Spec,
    receive: Spec,
    comm: MPI.Comm,
    root: int = 0,
    *,
    algorithm: str = "auto",
    order: str | None = None,
    background: bool | None = None,
) -> Request:
    """Bind a scatter: rank r receives block r of the root's array. Collective.

    Args:
        send: at the root, as many blocks as there are ranks, all of one size; others may give None.
        receive: room for this rank's block; MPI.IN_PLACE at the root, whose block then stays where
            it is.
        comm: all its ranks call this.
        root: the rank that sends.
        algorithm: as in `gather_init`, of `sibyl algorithms scatter`.
        order: as in `gather_init`.
        background: as in `gather_init`.

    Raises:
        as `gather_init`, with the classes of MPI_Scatter.
    """
    keys = info_keys(algorithm, order, background, False)
    return _bind_blocks("SIBYL_Scatter_init", send, receive, comm, root, keys)


def gatherv_init(
    send: Spec,
    receive: Spec,
    comm: MPI.Comm,
    root: int = 0,
    *,
    algorithm: str = "auto",
    order: str | None = None,
    background: bool | None = None,
) -> Request:
    """Bind an irregular gather: the blocks of the ranks may be of any sizes. Collective.

    Args:
        send: this rank's block; MPI.IN_PLACE at the root.
        receive: at the root [array, (counts, displacements), datatype], one of each per rank, in
            elements; others may give None.
        comm: all its ranks call this.
        root: the rank that receives.
        algorithm: `auto`, `native`, `linear`, or LIN, SLIN, BSLIN.
        order: as in `gather_init`.
        background: as in `gather_init`.

    Raises:
        as `gather_init`, with the classes of MPI_Gatherv.
    """
    keys = info_keys(algorithm, order, background, False)
    return _bind_blocks("SIBYL_Gatherv_init", send, receive, comm, root, keys)


def scatterv_init(
    send: Spec,
    receive: Spec,
    comm: MPI.Comm,
    root: int = 0,
    *,
    algorithm: str = "auto",
    order: str | None = None,
    background: bool | None = None,
) -> Request:
    """Bind an irregular scatter: the blocks of the ranks may be of any sizes. Collective.

    Args:
        send: at the root [array, (counts, displacements), datatype], one of each per rank, in
            elements; others may give None.
        receive: room for this rank's block; MPI.IN_PLACE at the root.
        comm: all its ranks call this.
        root: the rank that sends.
        algorithm: `auto`, `native`, `linear`, or LIN, SLIN, BSLIN.
        order: as in `gather_init`.
        background: as in `gather_init`.

    Raises:
        as `gather_init`, with the classes of MPI_Scatterv.
    """
    keys = info_keys(algorithm, order, background, False)
    return _bind_blocks("SIBYL_Scatterv_init", send, receive, comm, root, keys)


def _vectors(send: Spec, receive: Spec, receives: bool) -> tuple[Buffer, Buffer, tuple[Any, ...]]:
    """Both sides of a reduction, and C's arguments up to the datatype."""
    out = read_buffer(receive if receives else None, "receive", writable=True)
    own = read_buffer(send, "send")
    named = out if send is MPI.IN_PLACE else own
    if receives and out.elements != named.elements:
        raise ValueError(f"send has {own.elements} elements, receive {out.elements}")
    return own, out, (own.address, out.address, named.elements, named.type)


def reduce_init(
    send: Spec,
    receive: Spec,
    comm: MPI.Comm,
    root: int = 0,
    *,
    op: MPI.Op = MPI.SUM,
    algorithm: str = "auto",
    order: str | None = None,
    background: bool | None = None,
    reproducible: bool = False,
) -> Request:
    """Bind a reduce: the root receives V_0 (+) ... (+) V_{p-1}. Collective.

    Args:
        send: this rank's vector; MPI.IN_PLACE at the root where it lies in `receive`.
        receive: at the root, a vector of as many elements; others may give None.
        comm: all its ranks call this.
        root: the rank that receives.
        op: (+). It must live as long as the request.
        algorithm: `auto`, `native`, or a name of `sibyl algorithms reduce`.
        order: as in `gather_init`.
        background: as in `gather_init`.
        reproducible: combine in the same order in every iteration.

    Raises:
        ValueError: the vectors differ in length.
        otherwise as `gather_init`, with the classes of MPI_Reduce.
    """

    def prepare() -> tuple[tuple[Any, ...], tuple[Buffer, Buffer]]:
        own, out, vector = _vectors(send, receive, _is_root(comm, root))
        return (*vector, handle(op), root), (own, out)

    keys = info_keys(algorithm, order, background, reproducible)
    return make_request("SIBYL_Reduce_init", prepare, comm, keys, op)


def exscan_init(
    send: Spec,
    receive: Spec,
    comm: MPI.Comm,
    *,
    op: MPI.Op = MPI.SUM,
    algorithm: str = "auto",
) -> Request:
    """Bind an exclusive scan: rank r receives V_0 (+) ... (+) V_{r-1}, rank 0 nothing. Collective.

    Args:
        send: this rank's vector, or MPI.IN_PLACE where it lies in `receive`.
        receive: a vector of as many elements.
        comm: all its ranks call this.
        op: (+). It must live as long as the request.
        algorithm: `auto`, `native`, or a name of `sibyl algorithms exscan`.

    Raises:
        as `reduce_init`, with the classes of MPI_Exscan.
    """

    def prepare() -> tuple[tuple[Any, ...], tuple[Buffer, Buffer]]:
        own, out, vector = _vectors(send, receive, True)
        return (*vector, handle(op)), (own, out)

    keys = info_keys(algorithm, None, None, False)
    return make_request("SIBYL_Exscan_init", prepare, comm, keys, op)


def allreduce_init(
    send: Spec,
    receive: Spec,
    comm: MPI.Comm,
    *,
    op: MPI.Op = MPI.SUM,
    algorithm: str = "auto",
    reproducible: bool = False,
) -> Request:
    """Bind an allreduce: every rank receives V_0 (+) ... (+) V_{p-1}. Collective.

    The arguments and errors are those of `reduce_init`, for every rank what they are for its root.
    """

    def prepare() -> tuple[tuple[Any, ...], tuple[Buffer, Buffer]]:
        own, out, vector = _vectors(send, receive, True)
        return (*vector, handle(op)), (own, out)

    keys = info_keys(algorithm, None, None, reproducible)
    return make_request("SIBYL_Allreduce_init", prepare, comm, keys, op)


def bcast_init(
    buffer: Spec,
    comm: MPI.Comm,
    root: int = 0,
    *,
    algorithm: str = "auto",
    background: bool | None = None,
) -> Request:
    """Bind a broadcast: every rank receives the root's buffer. Collective.

    Args:
        buffer: of as many bytes at all ranks; the root's is the send buffer, the others' are
            written from `start` on.
        comm: all its ranks call this.
        root: the rank that sends.
        algorithm: `auto`, `native`, or a name of `sibyl algorithms bcast`.
        background: as in `gather_init`.

    Raises:
        as `gather_init`, with the classes of MPI_Bcast.
    """

    def prepare() -> tuple[tuple[Any, ...], tuple[Buffer]]:
        data = read_buffer(buffer, "buffer", writable=not _is_root(comm, root))
        return (data.address, data.elements, data.type, root), (data,)

    keys = info_keys(algorithm, None, background, False)
    return make_request("SIBYL_Bcast_init", prepare, comm, keys)


def _bind_exchange(
    name: str, send: Spec, receive: Spec, comm: MPI.Comm, keys: dict[str, str]
) -> Request:
    """Bind a collective in which every rank receives a block of every rank."""

    def prepare() -> tuple[tuple[Any, ...], tuple[Buffer, Buffer]]:
        own = read_buffer(send, "send")
        all_ = read_buffer(receive, "receive", writable=True)
        to_all = name.startswith("SIBYL_Alltoall")
        given = own.share(_ranks(comm), "send") if to_all else own.elements
        if name.endswith("v_init"):
            sizes = all_.blocks(_ranks(comm), "receive")
        else:
            sizes = (all_.share(_ranks(comm), "receive"),)
        return (own.address, given, own.type, all_.address, *sizes, all_.type), (own, all_)

    return make_request(name, prepare, comm, keys)


def allgather_init(
    send: Spec,
    receive: Spec,
    comm: MPI.Comm,
    *,
    algorithm: str = "auto",
    background: bool | None = None,
) -> Request:
    """Bind an allgather: every rank receives the blocks of all, in rank order. Collective.

    A rank that comes late finds in `receive` what the others have sent. The arguments and errors
    are those of `gather_init`, for every rank what they are for its root.
    """
    keys = info_keys(algorithm, None, background, False)
    return _bind_exchange("SIBYL_Allgather_init", send, receive, comm, keys)


def allgatherv_init(
    send: Spec,
    receive: Spec,
    comm: MPI.Comm,
    *,
    algorithm: str = "auto",
    background: bool | None = None,
) -> Request:
    """Bind an irregular allgather: blocks may be of any sizes, named in `receive`. Collective.

    The arguments and errors are those of `gatherv_init`, for every rank what they are for its root.
    """
    keys = info_keys(algorithm, None, background, False)
    return _bind_exchange("SIBYL_Allgatherv_init", send, receive, comm, keys)


def alltoall_init(
    send: Spec,
    receive: Spec,
    comm: MPI.Comm,
    *,
    algorithm: str = "auto",
    background: bool | None = None,
) -> Request:
    """Bind an all-to-all: rank r receives block r of every rank, in rank order. Collective.

    Args:
        send: a block for every rank, all of one size; MPI.IN_PLACE where they lie in `receive`.
        receive: room for a block of every rank.
        comm: all its ranks call this.
        algorithm: `auto`, `native`, or a name of `sibyl algorithms alltoall`.
        background: as in `gather_init`.

    Raises:
        as `gather_init`, with the classes of MPI_Alltoall.
    """
    keys = info_keys(algorithm, None, background, False)
    return _bind_exchange("SIBYL_Alltoall_init", send, receive, comm, keys)
