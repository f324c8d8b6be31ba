"""Vectors that are combined: reduce, allreduce, exclusive scan."""

from typing import Any

from mpi4py import MPI

from sibyl.mpi.bindings import handle
from sibyl.mpi.buffers import Buffer, Spec, read_buffer
from sibyl.mpi.request import Request, info_keys, make_request
from sibyl.persistent.ranks import is_root


def _vectors(
    send: Spec, receive: Spec, receives: bool, gives: bool = True
) -> tuple[Buffer, Buffer, tuple[Any, ...]]:
    """Both sides of a reduction, and C's arguments up to the datatype."""
    out = read_buffer(receive if receives else None, "receive", writable=True)
    own = read_buffer(send if gives else None, "send")
    of_receive = send is MPI.IN_PLACE or not gives
    named, name = (out, "receive") if of_receive else (own, "send")
    if receives and out.elements != named.elements:
        raise ValueError(f"send has {own.elements} elements, receive {out.elements}")
    return own, out, (own.address, out.address, named.count(name), named.type)


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
        send: this rank's vector; MPI.IN_PLACE at the root where it lies in `receive`. Not looked at
            at the root of an intercommunicator.
        receive: at the root, a vector of as many elements; others may give None.
        comm: all its ranks call this.
        root: the rank that receives.
        op: (+). It must live as long as the request.
        algorithm: `auto`, `native`, or the name of a reduce in `sibyl algorithms`.
        order: as in `gather_init`.
        background: as in `gather_init`.
        reproducible: combine in the same order in every iteration.

    Raises:
        ValueError: the vectors differ in length.
        mpi4py.MPI.Exception: the classes of MPI_Reduce; else, and other errors, as `gather_init`.
    """

    def prepare() -> tuple[tuple[Any, ...], tuple[Buffer, Buffer]]:
        receives = is_root(comm, root)
        gives = not (receives and comm.Is_inter())  # the other group does
        own, out, vector = _vectors(send, receive, receives, gives)
        return (*vector, handle(op), root), (own, out)

    keys = info_keys(algorithm, order, background, reproducible=reproducible)
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
        algorithm: `auto`, `native`, or the name of an exscan in `sibyl algorithms`.

    Raises:
        mpi4py.MPI.Exception: the classes of MPI_Exscan; else, and other errors, as `reduce_init`.
    """

    def prepare() -> tuple[tuple[Any, ...], tuple[Buffer, Buffer]]:
        own, out, vector = _vectors(send, receive, True)
        return (*vector, handle(op)), (own, out)

    keys = info_keys(algorithm)
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

    The arguments and errors are those of the same names of `reduce_init`, for every rank what they
    are for its root.
    """

    def prepare() -> tuple[tuple[Any, ...], tuple[Buffer, Buffer]]:
        own, out, vector = _vectors(send, receive, True)
        return (*vector, handle(op)), (own, out)

    keys = info_keys(algorithm, reproducible=reproducible)
    return make_request("SIBYL_Allreduce_init", prepare, comm, keys, op)
