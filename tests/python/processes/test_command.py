"""Sibyl's own command, started by itself."""

import subprocess
from pathlib import Path

import pytest

from sibyl import __version__
from sibyl.cluster import instrument, state
from sibyl.cluster.state import Cluster
from sibyl.experiment.grid import Cell, Grid
from sibyl.experiment.runner import cluster_job, run_sibyl
from sibyl.mpi.installation import Launcher
from sibyl.processes.command import OWN_COMMAND


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with modules of somebody else's."""
    for name in ("typer", "sibyl", "json"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a module of somebody else')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    return tmp_path


def test_modules_in_the_working_directory_are_not_taken(foreign: Path) -> None:
    assert run_sibyl("--version") == f"sibyl {__version__}\n"


def test_it_has_the_words_and_the_name_of_the_command(foreign: Path) -> None:
    words = [*OWN_COMMAND, "plan", "--no-such"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done
    assert done.stderr.startswith("sibyl: ") and "(see: sibyl plan --help)" in done.stderr


def test_what_runs_on_clusters_is_started_so(
    foreign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = foreign / "program"
    monkeypatch.setattr("sibyl.experiment.runner.find_benchmark", lambda _: program)
    grid = Grid("bcast", ("native",), (Cell(2, 8, "same", "flat", 0.0),), on="cluster")
    launcher = Launcher(Path("/mpi/bin/mpiexec"), "mpich", "4.0")
    job = cluster_job(grid, launcher, "x", {"alpha_s": 1e-5, "rate": 10**8}, None)
    assert tuple(job.command[: len(OWN_COMMAND)]) == OWN_COMMAND
    started = []

    def run(_: str, words: list[str]) -> tuple[int, str]:
        started.append(tuple(words))
        return 1, ""

    monkeypatch.setattr(state, "existing", lambda name: Cluster(name, 2, 10**8, 64))
    monkeypatch.setattr(instrument, "_run_measurement", run)
    with pytest.raises(Exception, match="failed"):
        instrument.check("x", program=program)
    assert started[0][: len(OWN_COMMAND)] == OWN_COMMAND
