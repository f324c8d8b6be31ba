"""Sibyl's library of collectives inside a program of mpi4py, called by ctypes.

The program has its MPI library from mpi4py. Sibyl's library for that flavour takes MPI's functions
from the process (it is linked with none), so the MPI library that is there already is made visible
to it first. Importing this module imports mpi4py.
"""

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

from mpi4py import MPI

from sibyl.errors import CommandError
from sibyl.mpi.installation import mapped_mpi
from sibyl.mpi.library import find_implementation, find_shim

# Handles are integers in MPICH and pointers in Open MPI.
Handle: Any = (
    ctypes.c_int if MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_int) else ctypes.c_void_p
)


def handle(thing: Any) -> Any:
    """The MPI handle behind an object of mpi4py, as an argument of a C function."""
    return Handle.from_address(MPI._addressof(thing))


def _loaded_mpi() -> tuple[str, Path]:
    """Flavour and file of the MPI library that mpi4py has brought into this process."""
    with Path("/proc/self/maps").open() as maps:
        for line in maps:
            found = mapped_mpi(line)
            if found is not None:
                return found
    raise CommandError("mpi4py uses an MPI that Sibyl does not know; it serves Open MPI and MPICH")


@cache
def library() -> ctypes.CDLL:
    """Sibyl's library for the MPI of this process.

    Raises:
        CommandError: it is not installed, or the MPI is none that Sibyl knows.
    """
    flavour, mpi = _loaded_mpi()
    path = find_implementation(find_shim(), flavour)
    ctypes.CDLL(str(mpi), mode=ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(str(path))


def call(name: str, *arguments: Any) -> None:
    """Call one of Sibyl's functions that return an error code of MPI.

    Raises:
        mpi4py.MPI.Exception: with that code, when it is not MPI_SUCCESS.
    """
    error = getattr(library(), name)(*arguments)
    if error != MPI.SUCCESS:
        raise MPI.Exception(error)
