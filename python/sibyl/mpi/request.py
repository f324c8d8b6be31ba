"""The request of a persistent collective, and what its algorithm's name means.

The functions that make requests are in sibyl.persistent. Importing this module imports mpi4py.
"""

import contextlib
import ctypes
from collections.abc import Callable
from types import TracebackType
from typing import Any

from mpi4py import MPI

from sibyl.mpi.bindings import call, handle
from sibyl.mpi.buffers import Buffer

# The names of the paper: algorithm, order and background of the info keys.
PAPER_ALGORITHMS: dict[str, tuple[str, str, str]] = {
    "LIN": ("linear", "rank", "false"),
    "SLIN": ("linear", "arrival", "false"),
    "BSLIN": ("linear", "arrival", "true"),
    "LS": ("linear-synchronised", "rank", "false"),
    "SLS": ("linear-synchronised", "arrival", "false"),
    "BSLS": ("linear-synchronised", "arrival", "true"),
    "BNOM": ("binomial", "rank", "false"),
    "SBN": ("binomial", "arrival", "false"),
    "BSBN": ("binomial", "arrival", "true"),
}

# Buffers of a request that is lost while it is active may still be written.
_unfreed: set["Request"] = set()


class Request:
    """A persistent collective; made by the functions of sibyl.persistent.

    As a context manager it is freed at the end of the block. Where the block ends by an exception
    while the request is active it is left to MPI_Finalize, since other ranks may never complete it.
    """

    def __init__(self, name: str, arguments: tuple[Any, ...], comm: Any, info: Any, keeps: Any):
        self._request = ctypes.c_void_p()
        self._keeps: Any = (comm, keeps)
        call(name, *arguments, handle(comm), info, ctypes.byref(self._request))
        _unfreed.add(self)

    def _call(self, name: str, *arguments: Any) -> None:
        call(name, ctypes.byref(self._request), *arguments)

    def start(self) -> None:
        """The computation begins, and the receive buffer is Sibyl's. Local.

        Raises:
            mpi4py.MPI.Exception: MPI_ERR_REQUEST, the request is active or freed.
        """
        self._call("SIBYL_Start")

    def edge(self, fraction: float) -> None:
        """Say that `fraction` of the computation since `start` is done. Local; once an iteration.

        Args:
            fraction: without a unit, between 0 and 1, both excluded.

        Raises:
            mpi4py.MPI.Exception: MPI_ERR_ARG, the fraction is none; MPI_ERR_REQUEST, not between
                `start` and `arrive`, or a second time.
        """
        self._call("SIBYL_Edge", ctypes.c_double(fraction))

    def arrive(self) -> None:
        """The contribution is in the send buffer: this rank joins. Does not block.

        Raises:
            mpi4py.MPI.Exception: MPI_ERR_REQUEST, not started, or arrived already.
        """
        self._call("SIBYL_Arrive")

    def test(self) -> bool:
        """Move the request on; True when it is complete, or inactive.

        Raises:
            mpi4py.MPI.Exception: the collective failed; the iteration is then over.
        """
        flag = ctypes.c_int()
        self._call("SIBYL_Test", ctypes.byref(flag))
        return bool(flag.value)

    def wait(self) -> None:
        """Block until the request is complete; an inactive one is.

        Raises:
            mpi4py.MPI.Exception: MPI_ERR_REQUEST, this rank has started but not arrived; others:
                the collective failed, and the iteration is over.
        """
        self._call("SIBYL_Wait")

    def free(self) -> None:
        """Free the request, which must be inactive. Local. A second time does nothing.

        Raises:
            mpi4py.MPI.Exception: MPI_ERR_REQUEST, it is active.
        """
        if self._request.value is None:
            return
        self._call("SIBYL_Request_free")
        _unfreed.discard(self)
        self._keeps = None

    @property
    def freed(self) -> bool:
        """Whether `free` has been called."""
        return self._request.value is None

    def __enter__(self) -> "Request":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with contextlib.suppress(MPI.Exception) if kind else contextlib.nullcontext():
            self.free()


def info_keys(
    algorithm: str,
    order: str | None = None,
    background: bool | None = None,
    *,
    outstanding: int | None = None,
    reproducible: bool = False,
) -> dict[str, str]:
    """What the init functions' words mean as info keys of the C functions."""
    keys = {"sibyl_reproducible": "true" if reproducible else "false"}
    name, of_paper, gates = PAPER_ALGORITHMS.get(algorithm, (algorithm, "arrival", "true"))
    keys["sibyl_algorithm"] = name
    keys["sibyl_order"] = of_paper if order is None else order
    keys["sibyl_background"] = gates if background is None else "true" if background else "false"
    if outstanding is not None:
        keys["sibyl_outstanding"] = str(outstanding)
    return keys


def _wrong_arguments(name: str) -> tuple[Any, ...]:
    """Arguments up to the communicator that are wrong at every rank."""
    root = 0
    byte = handle(MPI.BYTE)
    side = (None, -1, byte)
    arrays = (None, None, None, byte)
    combined = (None, None, -1, byte, handle(MPI.SUM))
    return {
        "SIBYL_Gather_init": (*side, *side, root),
        "SIBYL_Scatter_init": (*side, *side, root),
        "SIBYL_Gatherv_init": (*side, *arrays, root),
        "SIBYL_Scatterv_init": (*arrays, *side, root),
        "SIBYL_Reduce_init": (*combined, root),
        "SIBYL_Exscan_init": combined,
        "SIBYL_Allreduce_init": combined,
        "SIBYL_Bcast_init": (*side, root),
        "SIBYL_Allgather_init": (*side, *side),
        "SIBYL_Allgatherv_init": (*side, *arrays),
        "SIBYL_Alltoall_init": (*side, *side),
    }[name]


def make_request(
    name: str,
    prepare: Callable[[], tuple[tuple[Any, ...], tuple[Buffer, ...]]],
    comm: MPI.Comm,
    keys: dict[str, str],
    op: Any = None,
) -> Request:
    """Bind one of the C functions.

    Args:
        name: of the function.
        prepare: returns the function's arguments up to the communicator, and the buffers, which
            the request keeps. Where it raises, the other ranks are told before its exception goes
            on: they would wait for this one in the agreement.
        comm: all its ranks call this.
        keys: of MPI_Info.
        op: kept by the request as well.
    """
    info = MPI.Info.Create()
    try:
        try:
            for key, value in keys.items():
                info.Set(key, value)
            arguments, buffers = prepare()
        except Exception:
            # Where the MPI library serves the communicator it takes anything for now; a request
            # that is then made is never started.
            if not comm.Is_inter():
                with contextlib.suppress(MPI.Exception):
                    Request(name, _wrong_arguments(name), comm, handle(MPI.INFO_NULL), None)
            raise
        return Request(name, arguments, comm, handle(info), (buffers, op))
    finally:
        info.Free()
