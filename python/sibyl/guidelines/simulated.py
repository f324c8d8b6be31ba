"""The simulated clusters of a checkout (`platforms/`), as a place to measure on.

SimGrid's SMPI runs the same benchmark on hundreds of simulated ranks, and repeats to the last
digit. Its collectives are its own; with --mpi it chooses among them as Open MPI or MPICH would.
"""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import sibyl
from sibyl.bench.grid import Grid
from sibyl.bench.runner import Job
from sibyl.errors import CommandError
from sibyl.mpi.installation import FAMILY_TITLES, Launcher
from sibyl.mpi.library import find_benchmark

PLATFORM = "infiniband-35x16"
SELECTORS = {"openmpi": "ompi", "mpich": "mpich"}
SILENCE = 3600.0  # seconds that a call on hundreds of ranks may take to simulate
MEMORY_MOST = 4 << 30  # bytes of all ranks, which share a process


@dataclass(frozen=True)
class SimulatedLauncher(Launcher):
    """The script that starts programs on a simulated cluster."""

    @property
    def flavour(self) -> str:
        """The flavour of the benchmark."""
        return "smpi"

    def __str__(self) -> str:
        return f"SMPI ({self.path})"


def find_launcher() -> SimulatedLauncher:
    """platforms/run-smpi of the checkout that this package or its libraries come from.

    Raises:
        CommandError: there is none, or no SimGrid.
    """
    if shutil.which("smpirun") is None:
        raise CommandError("--on smpi needs SimGrid; install it with: apt install libsimgrid-dev")
    program = find_benchmark("smpi")
    for place in (*program.parents, *Path(sibyl.__file__).parents):
        script = place / "platforms" / "run-smpi"
        if script.is_file():
            return SimulatedLauncher(script, "smpi", "")
    raise CommandError("--on smpi needs a checkout of Sibyl: platforms/run-smpi was not found")


def check(mpi: str | None, ranks: list[int], per_node: int) -> None:
    """Notice what cannot be simulated.

    Raises:
        CommandError: with one line that says why.
    """
    if mpi is not None and mpi not in SELECTORS:
        raise CommandError(f"--mpi {mpi}: SMPI chooses as openmpi or as mpich, or as its own")
    if per_node < 1:
        raise CommandError(f"--ranks-per-node {per_node}: write a number from 1 on")
    for number in ranks:
        if number % per_node != 0:
            raise CommandError(f"-n {number}: not a multiple of --ranks-per-node {per_node}")


def job_maker(
    launcher: Launcher, platform: str, per_node: int, mpi: str | None
) -> Callable[[Grid, str | None], Job]:
    """How jobs are started on the simulated cluster."""

    def make(part: Grid, pattern_file: str | None) -> Job:
        words = [str(launcher.path), "--platform", platform, "--ranks-per-node", str(per_node)]
        words += ["--nodes", str(part.cells[0].ranks // per_node)]
        words += [str(find_benchmark("smpi")), *part.words(part.cells, pattern_file)]
        facts: dict[str, object] = {"launcher": str(launcher), "platform": platform}
        if mpi is not None:
            words.append(f"--cfg=smpi/coll-selector:{SELECTORS[mpi]}")
            facts["mpi"] = f"SMPI choosing as {FAMILY_TITLES[mpi]}"
        return Job(words, dict(os.environ), facts, SILENCE)

    return make
