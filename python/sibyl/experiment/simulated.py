"""The simulated clusters of a checkout (`platforms/`), as a place to measure on.

SimGrid's SMPI runs the same benchmark on hundreds of simulated ranks, and repeats to the last
digit. Its collectives are its own; with --mpi it chooses among them as Open MPI or MPICH would.
One algorithm can be forced for a whole run only: a contender native:NAME has a run of its own.
"""

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import sibyl
from sibyl.errors import CommandError
from sibyl.experiment.grid import Cell, Grid
from sibyl.experiment.runner import Job, JobFailed, run_job
from sibyl.experiment.samples import CellResult
from sibyl.inputs import read_text
from sibyl.mpi.installation import FAMILY_TITLES, Launcher
from sibyl.mpi.library import find_benchmark
from sibyl.paths import is_file

FORCED = "native:"
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
        if is_file(script):
            return SimulatedLauncher(script, "smpi", "")
    raise CommandError("--on smpi needs a checkout of Sibyl: platforms/run-smpi was not found")


def platform_files() -> list[Path]:
    """Of all clusters that can be simulated; none without SimGrid."""
    try:
        return sorted(find_launcher().path.parent.glob("*.xml"))
    except CommandError:
        return []


def platform_file(launcher: Launcher, platform: str) -> Path:
    """Where a platform is described.

    Args:
        launcher: of the checkout whose platforms can be named.
        platform: the name of one without .xml, or a path with a slash.

    Raises:
        CommandError: there is no such file; with one line that names others.
    """
    own = launcher.path.parent
    file = Path(platform) if "/" in platform else own / f"{platform}.xml"
    if not is_file(file):
        there = ", ".join(sorted(path.stem for path in own.glob("*.xml")))
        raise CommandError(f"--platform {platform}: name a file, or one of {there}")
    return file


def check(mpi: str | None) -> None:
    """Notice what cannot be simulated.

    Raises:
        CommandError: with one line that says why.
    """
    if mpi is not None and mpi not in SELECTORS:
        raise CommandError(f"--mpi {mpi}: SMPI chooses as openmpi or as mpich, or as its own")


@dataclass(frozen=True)
class SimulatedCluster:
    """A place for jobs.

    Attributes:
        platform: as platform_file() takes it.
        per_node: ranks that share a node.
        mpi: whose choice of algorithms is simulated; None: SMPI's own.
    """

    launcher: Launcher
    platform: str
    per_node: int
    mpi: str | None

    def check(self, most_ranks: int) -> None:
        """Notice a platform that does not exist, or is too small.

        Raises:
            CommandError: with one line that says why.
        """
        file = platform_file(self.launcher, self.platform)
        try:
            last = re.search(r'radical="0-(\d+)"', read_text(file))
        except OSError as error:
            raise CommandError(f"--platform {self.platform}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise CommandError(f"--platform {self.platform}: is no text in UTF-8") from error
        if last is None:
            raise CommandError(f"--platform {self.platform}: has no nodes node-0, node-1, ...")
        nodes = int(last.group(1)) + 1
        if most_ranks > nodes * self.per_node:
            raise CommandError(
                f"-n {most_ranks}: {self.platform} has {nodes} nodes; take fewer ranks, or more "
                f"--ranks-per-node"
            )

    def run(
        self,
        part: Grid,
        pattern_file: str | None,
        finished: Callable[[CellResult], None],
        progressed: Callable[[Cell], None],
    ) -> None:
        """Measure a grid with one number of ranks; see sibyl.experiment.runner.run_job."""
        forced = [name for name in part.algorithms if name.startswith(FORCED)]
        others = tuple(name for name in part.algorithms if name not in forced)
        if not forced:
            run_job(self._job(part, pattern_file), part, finished, progressed)
            return
        for cell in part.cells:
            one = replace(part, cells=(cell,), algorithms=others or ("native",))
            found: list[CellResult] = []
            run_job(self._job(one, pattern_file), one, found.append, progressed)
            whole = found.pop()
            if not others:  # nobody has asked for it
                whole.samples.clear()
                whole.wrong.clear()
            for name in forced:
                alone = replace(one, algorithms=("native",))
                try:
                    run_job(self._job(alone, pattern_file, name), alone, found.append, progressed)
                except JobFailed as error:
                    raise JobFailed(f"{name}: {self._reason(str(error))}") from error
                result = found.pop()
                whole.samples[name] = result.samples["native"]
                if result.wrong:
                    whole.wrong[name] = result.wrong["native"]
            whole.samples = {name: whole.samples[name] for name in part.algorithms}
            finished(whole)

    @staticmethod
    def _reason(message: str) -> str:
        """Why SimGrid's own algorithm failed, without its words about privatization."""
        if "Segmentation fault" in message:
            return "SimGrid's own algorithm has crashed (segmentation fault); leave it out"
        known = re.search(r"has no algorithm '[^']*'! Valid algorithms: ([^./]*)", message)
        return (
            f"SMPI has none of that name; there are {known.group(1).strip()}" if known else message
        )

    def _job(self, part: Grid, pattern_file: str | None, forced: str | None = None) -> Job:
        words = [str(self.launcher.path), "--platform", self.platform]
        words += ["--ranks-per-node", str(self.per_node)]
        words += ["--nodes", str(part.cells[0].ranks // self.per_node)]
        words += [str(find_benchmark("smpi")), *part.words(part.cells, pattern_file)]
        facts: dict[str, object] = {"launcher": str(self.launcher), "platform": self.platform}
        if self.mpi is not None:
            words.append(f"--cfg=smpi/coll-selector:{SELECTORS[self.mpi]}")
            facts["mpi"] = f"SMPI choosing as {FAMILY_TITLES[self.mpi]}"
        if forced is not None:
            words.append(f"--cfg=smpi/{part.collective}:{forced.removeprefix(FORCED)}")
        return Job(words, dict(os.environ), facts, SILENCE)
