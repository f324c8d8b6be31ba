"""Blocks between a root and every rank: gather, scatter, and the irregular ones."""

from typing import Any

from mpi4py import MPI

from sibyl.mpi.buffers import Buffer, Spec, read_buffer
from sibyl.mpi.request import Request, info_keys, make_request
from sibyl.persistent.ranks import is_root, ranks_of


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
    at_root = is_root(comm, root)
    of_all, of_own = ("receive", "send") if up else ("send", "receive")

    def prepare() -> tuple[tuple[Any, ...], tuple[Buffer, Buffer]]:
        every = receive if up else send
        all_ = read_buffer(every if at_root else None, of_all, writable=up)
        own = read_buffer(send if up else receive, of_own, writable=not up)
        sizes: tuple[Any, ...]
        if name.endswith("v_init"):
            sizes = all_.blocks(ranks_of(comm), of_all) if at_root else (None, None)
        else:
            sizes = (all_.share(ranks_of(comm), of_all) if at_root else 0,)
        whole = (all_.address, *sizes, all_.type)
        part = (own.address, own.count(of_own), own.type)
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
    outstanding: int | None = None,
) -> Request:
    """Bind a gather: the root receives the blocks of all ranks, in rank order. Collective.

    Args:
        send: this rank's block; MPI.IN_PLACE at the root where it lies in `receive` already.
        receive: at the root, room for as many blocks as there are ranks, all of one size; others
            may give None.
        comm: all its ranks call this.
        root: the rank that receives.
        algorithm: `auto`, `native`, the name of a gather in `sibyl algorithms`, or of the paper:
            LIN, SLIN, BSLIN, LS, SLS, BSLS, BNOM, SBN, BSBN. Rank 0's words hold for all.
        order: `arrival`: ranks are served in the order in which they are predicted to arrive;
            `rank`: always in rank order; None: as the paper's name says, else `arrival`.
        background: data moves before a rank has arrived; None: as the paper's name says, else yes.
        outstanding: transfers that the root of a linear algorithm has under way at a time, 1 in the
            paper, 0: no limit; None: as SIBYL_OUTSTANDING says.

    Raises:
        ValueError: `receive` is no whole number of blocks, or no MPI datatype fits an array.
        TypeError: a buffer is none, or `receive` may not be written.
        mpi4py.MPI.Exception: MPI_ERR_INFO_VALUE, no such algorithm, order or number, on all ranks;
            MPI_ERR_OTHER, what another rank gave is wrong; and the classes of MPI_Gather.
        sibyl.errors.CommandError: Sibyl's library for this MPI is not installed.
    """
    keys = info_keys(algorithm, order, background, outstanding=outstanding)
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
    outstanding: int | None = None,
) -> Request:
    """Bind a scatter: rank r receives block r of the root's array. Collective.

    Args:
        send: at the root, as many blocks as there are ranks, all of one size; others may give None.
        receive: room for this rank's block; MPI.IN_PLACE at the root, whose block then stays where
            it is.
        comm: all its ranks call this.
        root: the rank that sends.
        algorithm: as in `gather_init`, of a scatter.
        order: as in `gather_init`.
        background: as in `gather_init`.
        outstanding: as in `gather_init`.

    Raises:
        mpi4py.MPI.Exception: the classes of MPI_Scatter; else, and other errors, as `gather_init`.
    """
    keys = info_keys(algorithm, order, background, outstanding=outstanding)
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
    outstanding: int | None = None,
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
        outstanding: as in `gather_init`.

    Raises:
        mpi4py.MPI.Exception: the classes of MPI_Gatherv; else, and other errors, as `gather_init`.
    """
    keys = info_keys(algorithm, order, background, outstanding=outstanding)
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
    outstanding: int | None = None,
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
        outstanding: as in `gather_init`.

    Raises:
        mpi4py.MPI.Exception: the classes of MPI_Scatterv; else, and other errors, as `gather_init`.
    """
    keys = info_keys(algorithm, order, background, outstanding=outstanding)
    return _bind_blocks("SIBYL_Scatterv_init", send, receive, comm, root, keys)
