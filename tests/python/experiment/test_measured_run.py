"""What an interrupted run has finished is gone on with where results would be the same."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from cells import result_of

from sibyl.errors import CommandError
from sibyl.experiment import measured_run
from sibyl.experiment.grid import Cell, Grid
from sibyl.experiment.measured_run import MeasuredRun
from sibyl.experiment.places import JobRunner
from sibyl.experiment.provenance import provenance
from sibyl.experiment.runner import JobFailed
from sibyl.experiment.samples import CellResult
from sibyl.experiment.simulated import SimulatedLauncher
from sibyl.mpi.installation import Launcher


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimulatedLauncher:
    """Of a folder where nothing is measured, though it is said to be."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "bench").write_text("the program")
    monkeypatch.setattr(measured_run, "find_benchmark", lambda _: tmp_path / "bench")

    def pretend(
        part: Grid, _: str | None, finished: Callable[[CellResult], None], *_more: object
    ) -> None:
        for cell in part.cells:
            finished(result_of({"native": [1e-3]}, cell))

    @contextmanager
    def place(*_: object) -> Iterator[JobRunner]:
        yield pretend

    monkeypatch.setattr(measured_run, "place", place)
    return SimulatedLauncher(tmp_path / "run-smpi", "smpi", "")


def measure(grid: Grid, launcher: SimulatedLauncher) -> None:
    """And end before anything is written."""
    MeasuredRun([grid], launcher, resume=False).measure(lambda *_: None)


def cells_kept(grid: Grid, launcher: SimulatedLauncher, *more: str) -> int:
    (done,) = MeasuredRun([grid], launcher, resume=True, more=more).done
    return len(done)


def grid_of(pattern: str = "flat", **more: str) -> Grid:
    cells = tuple(Cell(2, size, "same", pattern, 0.0) for size in (8, 64))
    return Grid("reduce", ("native",), cells, **more)


@pytest.mark.parametrize("name", ["times.txt", "times.txt#0"])
def test_a_pattern_that_was_overwritten_begins_anew(
    name: str, checkout: SimulatedLauncher, tmp_path: Path
) -> None:
    path = tmp_path / "times.txt"
    call = '{"number": 1, "times": [0.0, %s]}'
    site = '{"group": [0, 1], "collective": "reduce", "root": 0, "bytes": 8, "calls": [%s]}'
    text = '{"format": "sibyl-arrivals", "version": 1, "sites": [%s]}' % (site % call)
    path.write_text(text % "0.5")
    grid = grid_of(str(tmp_path / name))
    measure(grid, checkout)
    assert cells_kept(grid, checkout) == 2
    path.write_text(text % "0.25")
    assert cells_kept(grid, checkout) == 0
    path.write_text(text % "0.5")
    assert cells_kept(grid, checkout) == 2


@pytest.mark.parametrize("path", [True, False])
def test_a_platform_that_was_overwritten_begins_anew(
    path: bool, checkout: SimulatedLauncher, tmp_path: Path
) -> None:
    platform = tmp_path / "rack.xml"
    platform.write_text("<platform/>")
    grid = grid_of(on="smpi", platform=str(platform) if path else "rack")
    measure(grid, checkout)
    assert cells_kept(grid, checkout) == 2
    platform.write_text("<platform></platform>")
    assert cells_kept(grid, checkout) == 0
    with pytest.raises(CommandError, match="--platform absent: name a file, or one of rack"):
        cells_kept(replace(grid, platform="absent"), checkout)


def test_cells_that_are_kept_twice_stand_for_no_other(
    checkout: SimulatedLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = grid_of()
    run = MeasuredRun([grid], checkout, resume=True)
    for _ in range(2):
        run.journals[0].add(result_of({"native": [1e-3]}, grid.cells[0]))
    del run
    asked = []
    before = measured_run.place

    def place(whole: Grid, launcher: Launcher, needed: bool, _collectives: object) -> object:
        asked.append(needed)
        return before(whole, launcher, needed)

    monkeypatch.setattr(measured_run, "place", place)
    (found,) = MeasuredRun([grid], checkout, resume=True).measure(lambda *_: None)
    assert asked == [True]
    assert [one.cell for one in found] == [*grid.cells]


@pytest.mark.parametrize("finishes", [0, 1])
def test_an_error_is_told_with_what_is_kept(
    finishes: int,
    checkout: SimulatedLauncher,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fails(
        part: Grid, _: str | None, finished: Callable[[CellResult], None], *_more: object
    ) -> None:
        for cell in part.cells[:finishes]:
            finished(result_of({"native": [1e-3]}, cell))
        raise JobFailed("the benchmark ended with status 1")

    @contextmanager
    def place(*_: object) -> Iterator[JobRunner]:
        yield fails

    monkeypatch.setattr(measured_run, "place", place)
    kept = "sibyl: 1 of 2 cells are kept, go on with the same command and --resume\n"
    run = MeasuredRun([grid_of()], checkout, resume=False)
    with pytest.raises(JobFailed), run.kept_on_failure():
        run.measure(lambda *_: None)
    assert capsys.readouterr().err == kept * finishes
    del run
    assert cells_kept(grid_of(), checkout) == finishes


def test_settings_and_the_processor_decide_too(
    checkout: SimulatedLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure(grid_of(), checkout)
    for name in ("SIBYL_NODE_WINDOW", "OMPI_MCA_btl", "MPIR_CVAR_DEVICE_COLLECTIVES", "UCX_TLS"):
        with monkeypatch.context() as changed:
            changed.setenv(name, "another value")
            assert cells_kept(grid_of(), checkout) == 0
    monkeypatch.setenv("SIBYL_LIBRARY_DIR", "another place")
    assert cells_kept(grid_of(), checkout) == 2
    with monkeypatch.context() as changed:  # its contents, not its name alone
        table = checkout.path.parent / "table.txt"
        changed.setenv("SIBYL_TABLE", str(table))
        table.write_text("reduce 2 0 ring\n")
        measure(grid_of(), checkout)
        assert cells_kept(grid_of(), checkout) == 2
        table.write_text("reduce 2 0 native\n")
        assert cells_kept(grid_of(), checkout) == 0
    monkeypatch.setattr(measured_run, "processor", lambda: "another one")
    assert cells_kept(grid_of(), checkout) == 0


def test_results_say_the_settings_of_their_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMPI_MCA_btl", "self,tcp")
    program = tmp_path / "program"
    program.touch()
    origin = provenance(program, Launcher(Path("mpiexec"), "openmpi", "4.1"), [])
    assert "OMPI_MCA_btl=self,tcp" in origin["settings"].split()


def test_what_the_caller_knows_of_decides_too(checkout: SimulatedLauncher) -> None:
    measure(grid_of(), checkout)
    assert cells_kept(grid_of(), checkout) == 2
    assert cells_kept(grid_of(), checkout, "other settings") == 0
