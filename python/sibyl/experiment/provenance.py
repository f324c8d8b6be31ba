"""Where the numbers of a result file come from."""

import datetime
import hashlib
import os
import platform
import sys
from pathlib import Path
from typing import Any

from sibyl import __version__
from sibyl.inputs import read_text
from sibyl.mpi.installation import Launcher
from sibyl.mpi.library import library_directories
from sibyl.paths import is_directory, is_file
from sibyl.processes.questions import answer_of

# Of the environment, for Sibyl and the MPI libraries; where Sibyl's libraries lie is no setting.
SETTINGS = (
    *("SIBYL_", "OMPI_MCA_", "PRTE_MCA_", "PMIX_MCA_"),
    *("MPICH_", "MPIR_CVAR_", "I_MPI_", "UCX_", "FI_"),
)
NO_SETTINGS = ("SIBYL_LIBRARY_DIR",)
NAME_FILES = ("SIBYL_TABLE", "SIBYL_ARRIVALS")  # whose contents count as well


def processor() -> str:
    """Its name, as Linux has it."""
    try:
        lines = read_text(Path("/proc/cpuinfo")).splitlines()
    except (OSError, UnicodeDecodeError):
        return platform.processor()
    return next((line for line in lines if line.startswith("model name")), platform.processor())


def settings() -> str:
    """What the environment tells Sibyl and the MPI libraries."""
    told = []
    for name in sorted(os.environ):
        if name.startswith(SETTINGS) and name not in NO_SETTINGS:
            value = os.environ[name]
            path = Path(value)
            if name in NAME_FILES and is_file(path):
                value += f" ({file_hash(path)})"
            told.append(f"{name}={value}")
    return " ".join(told)


def _commit(program: Path) -> str:
    """The commit of the checkout that the program was built in; empty outside of one."""
    words = ["git", "-C", program.parent, "describe", "--always", "--dirty", "--abbrev=12"]
    done = answer_of(words)
    return done.stdout.strip() if done is not None and done.returncode == 0 else ""


def file_hash(path: Path) -> str:
    """The first digits of a file's SHA-256: two equal ones are the same program."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def programs_hash() -> str:
    """Changes when any of Sibyl's libraries for MPI programs, or any program of its own, does.

    Some programs hold the planners and the executor, others load them.
    """
    digest = hashlib.sha256()
    for directory in library_directories():
        places = ((directory, "libsibyl-*.so*"), (directory.parent / "bin", "sibyl-*-*"))
        found = [
            path for place, names in places if is_directory(place) for path in place.glob(names)
        ]
        # What watches programs takes part in no measurement.
        found = [path for path in found if not path.name.startswith("libsibyl-profile.")]
        for path in sorted(path for path in found if is_file(path)):
            digest.update(f"{path.name} {file_hash(path)}\n".encode())
        if found:
            break
    return digest.hexdigest()[:16]


def provenance(
    program: Path, launcher: Launcher, words: list[str], command: str = "bench"
) -> dict[str, Any]:
    """Machine, MPI, library and command. The jobs add what the ranks saw.

    Args:
        program: the MPI program.
        launcher: that started it.
        words: the command line after `sibyl` and the command.
        command: of Sibyl's.
    """
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "sibyl": __version__,
        "commit": _commit(program),
        "program_sha256": file_hash(program),
        "libraries_sha256": programs_hash(),
        "launcher": f"{launcher.family} {launcher.version}",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": os.cpu_count(),
        "settings": settings(),
        "python": sys.version.split()[0],
        "command": ["sibyl", command, *words],
    }
