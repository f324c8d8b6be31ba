"""The MPIs of this machine that programs can be compiled for, for the tests in Python."""

import os
from pathlib import Path

import pytest

from sibyl.errors import CommandError
from sibyl.mpi.installation import Launcher, installed_launchers
from sibyl.mpi.library import find_benchmark


def with_compilers() -> list[tuple[Launcher, Path]]:
    """The launchers in PATH, each with the compiler wrapper beside it."""
    found = []
    for launcher in installed_launchers():
        suffix = launcher.path.suffix if launcher.path.suffix in (".openmpi", ".mpich") else ""
        wrapper = launcher.path.parent / f"mpicc{suffix}"
        if wrapper.exists():
            found.append((launcher, wrapper))
    return found


def benchmark_of(launcher: Launcher) -> Path:
    """The benchmark for an MPI; the test is skipped where there is none.

    Where SIBYL_LIBRARY_DIR says where Sibyl was built, as for `make test`, one that is not there is
    an error.
    """
    try:
        return find_benchmark(launcher.flavour)
    except CommandError as error:
        if "SIBYL_LIBRARY_DIR" in os.environ:
            raise
        pytest.skip(str(error))
