"""What goes to every rank: broadcast, allgather, all-to-all."""

from typing import Any

from mpi4py import MPI

from sibyl.mpi.buffers import Buffer, Spec, read_buffer
from sibyl.mpi.request import Request, info_keys, make_request
from sibyl.persistent.ranks import is_root, ranks_of


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
        algorithm: `auto`, `native`, or the name of a bcast in `sibyl algorithms`.
        background: as in `gather_init`.

    Raises:
        mpi4py.MPI.Exception: the classes of MPI_Bcast; else, and other errors, as `gather_init`.
    """

    def prepare() -> tuple[tuple[Any, ...], tuple[Buffer]]:
        data = read_buffer(buffer, "buffer", writable=not is_root(comm, root))
        return (data.address, data.count("buffer"), data.type, root), (data,)

    keys = info_keys(algorithm, background=background)
    return make_request("SIBYL_Bcast_init", prepare, comm, keys)


def _bind_exchange(
    name: str, send: Spec, receive: Spec, comm: MPI.Comm, keys: dict[str, str]
) -> Request:
    """Bind a collective in which every rank receives a block of every rank."""

    def prepare() -> tuple[tuple[Any, ...], tuple[Buffer, Buffer]]:
        own = read_buffer(send, "send")
        all_ = read_buffer(receive, "receive", writable=True)
        to_all = name.startswith("SIBYL_Alltoall")
        given = own.share(ranks_of(comm), "send") if to_all else own.count("send")
        sizes: tuple[Any, ...]
        if name.endswith("v_init"):
            sizes = all_.blocks(ranks_of(comm), "receive")
        else:
            sizes = (all_.share(ranks_of(comm), "receive"),)
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
    keys = info_keys(algorithm, background=background)
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
    keys = info_keys(algorithm, background=background)
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
        algorithm: `auto`, `native`, or the name of an alltoall in `sibyl algorithms`.
        background: as in `gather_init`.

    Raises:
        mpi4py.MPI.Exception: the classes of MPI_Alltoall; else, and other errors, as `gather_init`.
    """
    keys = info_keys(algorithm, background=background)
    return _bind_exchange("SIBYL_Alltoall_init", send, receive, comm, keys)
