"""The MPIs of this machine that programs can be compiled for, for the tests in Python."""

from pathlib import Path

from sibyl.mpi.installation import Launcher, installed_launchers


def with_compilers() -> list[tuple[Launcher, Path]]:
    """The launchers in PATH, each with the compiler wrapper beside it."""
    found = []
    for launcher in installed_launchers():
        suffix = launcher.path.suffix if launcher.path.suffix in (".openmpi", ".mpich") else ""
        wrapper = launcher.path.parent / f"mpicc{suffix}"
        if wrapper.exists():
            found.append((launcher, wrapper))
    return found
