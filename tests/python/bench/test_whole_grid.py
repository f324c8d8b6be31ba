"""`sibyl bench grid`: pieces, what stops and goes on, and one page of what there is."""

import csv
import itertools
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from cells import around, result_of
from conftest import Mpi, Sibyl, assert_usage_error
from installed_mpis import benchmark_of

from sibyl.bench import all_collectives, page, whole_grid
from sibyl.bench.options import Outputs, Wishes
from sibyl.bench.parts import Part
from sibyl.bench.whole_grid import make_pieces, run_grid
from sibyl.errors import CommandError
from sibyl.experiment import measured_run
from sibyl.experiment.grid import COLLECTIVES, Grid, make_cells
from sibyl.experiment.judge import judge
from sibyl.experiment.measured_run import MeasuredRun, Seen
from sibyl.experiment.samples import CellResult
from sibyl.mpi.installation import Launcher

QUICK = Wishes(size="8,1K", iterations=3, warm_up=1, compute="1ms", pattern="none")


def test_the_whole_is_all_places_under_all_mpis() -> None:
    pieces = make_pieces(Wishes())
    assert [piece.number for piece in pieces] == list(range(1, 11))
    wishes = pieces[-1].wishes
    assert (wishes.on, wishes.ranks, wishes.waiting, wishes.mpi) == (
        "cluster",
        "48",
        "spin",
        "mpich",
    )
    assert wishes.warm_up == 50
    assert "4M" in str(wishes.size)
    grids = all_collectives.make_grids(pieces[0].wishes)
    assert [grid.collective for grid in grids] == list(COLLECTIVES)
    assert {cell.ranks for cell in grids[0].cells} == {2, 4, 8}
    assert {cell.pattern for cell in grids[0].cells} == {"flat", "skewed", "uniform"}
    assert len({piece.title for piece in pieces}) == 10


def test_pieces_are_chosen_by_number() -> None:
    chosen = make_pieces(replace(QUICK, pieces="1,4", mpi="mpich"))
    assert [piece.number for piece in chosen] == [1, 4]
    assert chosen[1].wishes.pattern == "none"
    first, fourth = make_pieces(Wishes(pieces="1,4"))
    assert (first.wishes.max_delay, first.wishes.compute) == ("2ms", "2ms")
    assert (fourth.wishes.max_delay, fourth.wishes.compute) == ("10ms", "20ms")
    (told,) = make_pieces(Wishes(pieces="1", max_delay="5ms", compute="1ms"))
    assert (told.wishes.max_delay, told.wishes.compute) == ("5ms", "1ms")
    said = frozenset({"max_delay", "compute", "pattern"})
    (told,) = make_pieces(Wishes(pieces="1", given=said))  # what would hold in another place
    assert (told.wishes.max_delay, told.wishes.compute) == (Wishes.max_delay, Wishes.compute)
    assert told.wishes.pattern == Wishes.pattern
    first, second = make_pieces(Wishes(pieces="1,2", queue="128KiB"))  # a queue is of a cluster
    assert (first.wishes.queue, second.wishes.queue) == (None, "128KiB")
    with pytest.raises(CommandError, match="--rate"):
        all_collectives.make_grids(replace(second.wishes, rate="10mbps"))
    with pytest.raises(CommandError, match="--pieces"):
        make_pieces(replace(QUICK, ranks="3"))
    with pytest.raises(CommandError, match="from 1 to 10"):
        make_pieces(replace(QUICK, pieces="11"))


@pytest.fixture
def small(mpi: Mpi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Wishes:
    """Two collectives on two ranks of this machine."""
    if mpi.launcher.flavour != "mpich":
        pytest.skip("MPICH's jobs start sooner, and are enough")
    benchmark_of(mpi.launcher)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(whole_grid, "PLACES", (("local", "2", "sleep"),))
    monkeypatch.setattr(all_collectives, "COLLECTIVES", ("bcast", "exscan"))
    return replace(QUICK, mpi=mpi.option)


def test_it_stops_in_time_and_goes_on(small: Wishes, tmp_path: Path) -> None:
    files = Outputs(page=tmp_path / "a.html", json=tmp_path / "a.json", csv=tmp_path / "a.csv")
    assert run_grid(replace(small, minutes=1e-9), files, ["grid"]) == 0
    page = files.page.read_text()
    assert "<td>0 of 4</td>" in page
    assert run_grid(small, replace(files, resume=True), ["grid"]) == 0
    page = files.page.read_text()
    assert "<td>0 of 4</td>" not in page
    assert "governed / native, 2 ranks" in page
    assert "exscan" in page
    document = json.loads(files.json.read_text())
    assert document["format"] == "sibyl-bench-grid"
    (piece,) = document["pieces"]
    assert list(piece["collectives"]) == ["bcast", "exscan"]
    lines = list(csv.DictReader(files.csv.open()))
    assert len(lines) == 2 * 4
    assert {line["piece"] for line in lines} == {piece["title"]}


def test_a_piece_by_itself_is_kept_for_the_whole(
    small: Wishes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(whole_grid, "PLACES", (("local", "2", "sleep"), ("local", "3", "sleep")))
    files = Outputs(json=tmp_path / "a.json")
    assert run_grid(replace(small, pieces="1"), files, ["grid"]) == 0
    assert run_grid(replace(small, minutes=1e-9), replace(files, resume=True), ["grid"]) == 0
    measured, missing = json.loads(files.json.read_text())["pieces"]
    assert list(measured["collectives"]) == ["bcast", "exscan"]
    assert list(missing["collectives"]) == []


def test_a_piece_that_cannot_be_measured_does_not_keep_the_others(
    small: Wishes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    places = (("cluster", "2", "spin"), ("local", "2", "sleep"))
    monkeypatch.setattr(whole_grid, "PLACES", places)

    def refuse(*_words: object) -> None:
        raise CommandError("there are no namespaces here")

    monkeypatch.setattr("sibyl.experiment.places.run_sibyl", refuse)
    # One would watch until these tests end for a cluster that was never there.
    monkeypatch.setattr("sibyl.experiment.places.Guardian", lambda _: None)
    files = Outputs(page=tmp_path / "a.html")
    assert run_grid(small, files, ["grid"]) == 1
    page = files.page.read_text()
    assert "there are no namespaces here" in page
    assert "governed / native, 2 ranks" in page


def test_the_first_table_of_the_page_has_a_line_for_each_contender() -> None:
    cells = make_cells([2], [8, 64, 512], ["same"], ["none"], [0.0], [])
    times = {"native": around(1e-3), "native-again": around(1e-3)}
    results = [
        result_of({**times, "governed": around(factor * 1e-3)}, cell, collective="bcast")
        for factor, cell in zip((2.0, 0.5, 9.0), cells, strict=True)
    ]
    results[2] = replace(results[2], wrong={"governed": 1})
    grid = Grid("bcast", ("native", "governed", "native-again"), (*cells, cells[0]))
    part = Part(grid, results, judge(results, "native"))
    nothing = page.Section("nowhere", [], (0, 0), "no cluster")
    origin = {"date": "today", "sibyl": "1", "command": ["bench"]}
    text = page.to_html([page.Section("here", [part], (3, 4)), nothing], "run", origin)
    table = text[text.index("<tbody>") : text.index("</tbody>")]
    lines = [re.findall("<td[^>]*>([^<]*)", line) for line in table.split("<tr>")[1:]]
    assert lines == [
        ["here", "governed", "3 of 4", "2", "2.00", "1", "0.50", "1", "0"],
        ["here", "native-again", "3 of 4", "0", "", "0", "", "3", "0"],
        ["nowhere", "", "0", "0", "", "0", "", "0", "0"],
    ]


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Wishes:
    """One collective on two ranks, of an MPI that is not there."""
    launcher = Launcher(Path("/mpi/bin/mpiexec"), "mpich", "4.0")
    program = tmp_path / "program"
    program.touch()

    def measure(run: MeasuredRun, _: Seen) -> list[list[CellResult]]:
        times = {"native": around(1e-3), "governed": around(1e-3)}
        found = [
            [result_of(times, cell, collective=grid.collective) for cell in grid.cells]
            for grid in run.grids
        ]
        for result in itertools.chain(*found):  # alike but for what is left after the last arrival
            result.samples["native"]["absorbed_s"] = around(1e-4)
            result.samples["governed"]["absorbed_s"] = around(2e-4)
        return found

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(whole_grid, "PLACES", (("local", "2", "sleep"),))
    monkeypatch.setattr(all_collectives, "COLLECTIVES", ("bcast",))
    monkeypatch.setattr(measured_run, "find_benchmark", lambda _: program)
    for module in (all_collectives, whole_grid):
        monkeypatch.setattr(module, "find_launcher", lambda *_: launcher)
        monkeypatch.setattr(module, "find_benchmark", lambda _: program)
    monkeypatch.setattr(MeasuredRun, "measure", measure)
    monkeypatch.setattr(MeasuredRun, "finished", lambda run: run.measure(lambda *_: None))
    return replace(QUICK, mpi="mpich")


def test_a_piece_whose_mpi_is_not_there_does_not_keep_the_others(
    made_up: Wishes,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def find(_: str, mpi: str) -> Launcher:
        if mpi == "/absent":
            raise CommandError("there is no MPI in /absent")
        return Launcher(Path("/mpi/bin/mpiexec"), mpi, "4.0")

    monkeypatch.setattr(whole_grid, "find_launcher", find)
    files = Outputs(page=tmp_path / "a.html", json=tmp_path / "a.json", csv=tmp_path / "a.csv")
    assert run_grid(replace(made_up, mpi="/absent,openmpi,mpich"), files, ["grid"]) == 1
    absent, *pieces = json.loads(files.json.read_text())["pieces"]
    assert (absent["problem"], absent["collectives"]) == ("there is no MPI in /absent", {})
    launchers = [piece["collectives"]["bcast"]["provenance"]["launcher"] for piece in pieces]
    assert launchers == ["openmpi 4.0", "mpich 4.0"], "each says its own"
    assert "there is no MPI in /absent" in files.page.read_text()
    out = capsys.readouterr().out
    assert "there is no MPI in /absent" in out and "governed / native, 2 ranks" in out
    with pytest.raises(CommandError, match="there is no MPI in /absent"):
        run_grid(replace(made_up, mpi="/absent"), files, ["grid"])


@pytest.mark.parametrize("start", [run_grid, all_collectives.run_all])
def test_a_page_on_standard_output_is_all_that_is_there(
    made_up: Wishes, start: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    assert start(made_up, Outputs(page=Path("-")), []) == 0
    out, errors = capfd.readouterr()
    assert out.startswith("<!doctype html>") and out.rstrip().endswith("</html>")
    assert "governed / native, 2 ranks" in errors
    assert "SLOWER: bcast" in errors and "; absorbed time, rank-sum" in errors
    assert "absorbed time" in out
    assert start(made_up, Outputs(metric="run"), []) == 0
    out, _ = capfd.readouterr()
    assert "SLOWER" not in out and "; run time, rank-sum" in out


def test_contenders_of_one_collective_alone_are_shown_as_well(
    made_up: Wishes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measure(run: MeasuredRun, _: Seen) -> list[list[CellResult]]:
        return [
            [
                result_of(
                    {name: around(2e-3 if name == "chain" else 1e-3) for name in grid.algorithms},
                    cell,
                    collective=grid.collective,
                )
                for cell in grid.cells
            ]
            for grid in run.grids
        ]

    monkeypatch.setattr(MeasuredRun, "measure", measure)
    monkeypatch.setattr(all_collectives, "COLLECTIVES", ("gather", "bcast"))
    files = Outputs(page=Path("-"))
    assert all_collectives.run_all(replace(made_up, algorithms="sibyl:*"), files, []) == 0
    page, tables = capsys.readouterr()
    for said in (page, tables):
        assert "chain / native, 2 ranks" in said and "SLOWER: bcast" in said
        assert "linear / native, 2 ranks" in said
    assert tables.count("chain: slower than native") == 1


def test_what_belongs_to_the_grid_is_refused_elsewhere(sibyl: Sibyl) -> None:
    assert_usage_error(sibyl("bench", "grid", "--on", "cluster"), "--pieces")
    for minutes in ("0", "nan", "inf"):
        assert_usage_error(sibyl("bench", "grid", "--minutes", minutes), f"--minutes {minutes}")
    assert_usage_error(sibyl("bench", "all", "--minutes", "3"), "--minutes")
    assert_usage_error(sibyl("bench", "bcast", "--page", "a.html"), "--page")
    assert_usage_error(sibyl("bench", "bcast", "--waiting", "spin"), "--waiting")
