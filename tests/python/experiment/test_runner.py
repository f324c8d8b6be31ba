"""What a job's results are refused for."""

import os
import selectors
from pathlib import Path

import pytest

from sibyl.errors import CommandError
from sibyl.experiment import runner
from sibyl.experiment.grid import Cell, Grid
from sibyl.experiment.runner import (
    SILENCE,
    Job,
    JobFailed,
    cluster_job,
    pattern_files,
    run_job,
    silence_of,
)
from sibyl.experiment.samples import CellResult
from sibyl.mpi.installation import Launcher


@pytest.mark.parametrize(
    ("family", "version", "used"),
    [
        ("mpich", "5.0.2", "MPICH Version:      5.0.2"),
        ("openmpi", "4.1.4", "Open MPI v4.1.4"),
        ("intel", "2021.18", "Intel(R) MPI Library 2021.18 for Linux* OS"),
    ],
)
def test_results_are_those_of_the_launchers_mpi(family: str, version: str, used: str) -> None:
    job = Job([], {}, {}, launcher=Launcher(Path("/mpi/bin/mpiexec"), family, version))
    job.check({"mpi": used})
    with pytest.raises(CommandError, match=r"uses MPICH Version: 4\.0\.2, not the MPI of .*/mpi"):
        job.check({"mpi": "MPICH Version:\t4.0.2"})


def test_arrivals_are_replayed_from_a_file_whose_name_is_no_text(tmp_path: Path) -> None:
    name = tmp_path / os.fsdecode(b"caf\xe9")
    name.write_text("0\n0.5\n")
    grid = Grid("gather", ("native",), (Cell(2, 8, "same", str(name), 0.0),))
    with pattern_files(grid) as replayed:
        assert replayed is not None
        comment, *times = Path(replayed).read_text(encoding="utf-8").splitlines()
    assert comment == "# call 0 of caf?"
    assert times == ["0.0", "0.5"]


def test_the_longest_wait_is_one_that_the_system_takes(tmp_path: Path) -> None:
    (tmp_path / "pattern").write_text("# call 0 of a program\n0\n5e11\n")
    grid = Grid("gather", ("native",), (Cell(2, 8, "same", "uniform", 30.0),), compute=20.0)
    assert silence_of(grid, None) == SILENCE + 2 * (20 + 30)
    assert silence_of(grid, None, data=40.0) == SILENCE + 2 * (20 + 30 + 40)
    longest = silence_of(grid, str(tmp_path / "pattern"))
    with selectors.DefaultSelector() as selector:
        reader, writer = os.pipe()
        selector.register(reader, selectors.EVENT_READ)
        os.write(writer, b".")
        assert selector.select(longest)


def test_a_job_on_slow_links_has_time_for_its_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "find_benchmark", lambda _: Path("benchmark"))
    grid = Grid("reduce", ("native", "auto"), (Cell(8, 1 << 20, "same", "flat", 0.0),), compute=0.0)
    launcher = Launcher(Path("/mpi/bin/mpiexec"), "openmpi", "4.1.4")
    check = {"alpha_s": 1e-4, "rate": 5e5}
    # Seven vectors over one link take 117 s, by each of two contenders.
    assert cluster_job(grid, launcher, "name", check, None).silence > 2 * 7 * 8 * (1 << 20) / 5e5


SAMPLE = '{"type":"sample","cell":0,"algorithm":"native","iteration":0,"right":true'
SAMPLE += ',"run_s":1,"elapsed_s":1,"absorbed_s":1,"late_s":0}'


@pytest.mark.parametrize(
    "lines",
    [
        ('{"type":"cell","cell":0}', "a library says " + SAMPLE),
        ('a library says {"type":"cell","cell":0}', SAMPLE),
    ],
)
def test_a_line_that_something_else_printed_into_is_missed(lines: tuple[str, str]) -> None:
    grid = Grid("gather", ("native",), (Cell(2, 8, "same", "flat", 0.0),), iterations=1)
    text = "\n".join(['{"type":"begin","mpi":"an MPI"}', *lines, '{"type":"end","clocks":{}}'])
    found: list[CellResult] = []
    with pytest.raises(JobFailed, match="1 of 1 cells lack samples"):
        run_job(Job(["echo", text], dict(os.environ), {}), grid, found.append, lambda _: None)
    assert found == []


def test_a_simulated_mpi_has_no_launcher_to_agree_with() -> None:
    Job([], {}, {}).check({"mpi": "SMPI"})
