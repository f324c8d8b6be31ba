"""The program that a command line names: a path, one in PATH, or one that comes with Sibyl."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from sibyl.errors import CommandError
from sibyl.mpi.installation import launcher_in_path, launcher_of_directory
from sibyl.mpi.library import find_own_program
from sibyl.paths import closed_directory, is_directory, is_file, is_there

# Programs that come with Sibyl: found without PATH, in the flavour of the MPI that is to run them.
OWN_PROGRAMS = ("sibyl-fft",)


def program_of(words: Sequence[str]) -> tuple[str, Path | None]:
    """The program as what is read, for check_all_writable(): None of one that is not a path."""
    return "PROGRAM", Path(words[0]) if words and "/" in words[0] else None


def find_program(name: str) -> Path:
    """The file that `name` starts: a path if it has a slash, else looked for in PATH."""
    if "/" not in name:
        found = shutil.which(name)
        if found is not None:
            return Path(found)
        if is_file(Path(name)):
            raise CommandError(f"program '{name}' is not in PATH; say ./{name} for the file here")
        raise CommandError(
            f"program '{name}' was not found in PATH; check its name, or give a path"
        )
    path = Path(name)
    if not is_there(path):
        closed = closed_directory(path)
        if closed is not None:
            raise CommandError(f"program '{name}': there is no permission to enter {closed}")
        raise CommandError(f"program '{name}' does not exist; check the path")
    if is_directory(path):
        raise CommandError(f"program '{name}' is a directory; give a program in it")
    if not os.access(path, os.X_OK):
        raise CommandError(f"program '{name}' may not be executed; try: chmod +x {name}")
    return path


def resolve_program(words: Sequence[str], mpi: str | None) -> tuple[list[str], Path]:
    """The words with which the ranks are started, and the program's file.

    Args:
        words: the program and its arguments.
        mpi: openmpi, mpich, a prefix, or None: for a program of Sibyl's own, the MPI in PATH.
    """
    if words[0] not in OWN_PROGRAMS:
        return list(words), find_program(words[0])
    flavour = mpi
    if mpi is None:
        launcher = launcher_in_path(None)
        flavour = launcher.flavour if launcher else "openmpi"
    elif mpi not in ("openmpi", "mpich"):
        flavour = launcher_of_directory(Path(mpi)).flavour
    program = find_own_program(words[0], str(flavour))
    return [str(program), *words[1:]], program
