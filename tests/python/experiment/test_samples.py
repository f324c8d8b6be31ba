"""What the MPI program prints, read cell by cell."""

import json

import pytest
from cells import JOB, lines_of

from sibyl.bench import output
from sibyl.experiment.grid import Cell, Grid
from sibyl.experiment.judge import judge
from sibyl.experiment.samples import CellResult, SampleReader


def test_a_cell_counts_when_its_last_sample_is_there() -> None:
    grid = Grid("gather", ("native", "auto"), (Cell(4, 8, "same", "flat", 0.0),), iterations=3)
    finished: list[CellResult] = []
    reader = SampleReader(grid, finished.append)
    lines = lines_of(grid)
    assert not reader.take("mpiexec says something")
    for line in lines[:-2]:
        assert reader.take(line)
    assert finished == []
    reader.take(lines[-2])
    (result,) = finished
    assert result.samples["auto"]["run_s"] == pytest.approx([2e-3, 3e-3, 4e-3])  # no warm-up
    assert reader.clocks_after is None
    reader.take(lines[-1])
    assert reader.clocks_after == JOB["clocks"]
    assert CellResult.from_json(json.loads(json.dumps(result.as_json()))) == result


def test_a_cell_knows_how_far_the_clocks_ran_off_while_it_was_measured() -> None:
    cells = (Cell(4, 8, "same", "flat", 0.0), Cell(4, 16, "same", "flat", 0.0))
    finished: list[CellResult] = []
    reader = SampleReader(Grid("gather", ("native",), cells, iterations=2), finished.append)
    begin, cell, *samples, end = lines_of(reader.grid)
    clocks = {"common": False, "worst_offset_s": 1.0, "worst_error_s": 1e-5, "drift_s": 2e-5}
    said = json.dumps({"type": "clocks", **clocks}, separators=(",", ":"))
    for line in (begin, cell, *samples[:-1], said, samples[-1]):
        assert reader.take(line)
    for line in (cell.replace('"cell":0', '"cell":1'), *samples, end):
        assert reader.take(line)
    assert finished[0].job == {**JOB, "clocks_after": clocks}
    assert finished[1].job == JOB


def test_wrong_results_are_told() -> None:
    grid = Grid("gather", ("native",), (Cell(4, 8, "same", "flat", 0.0),), iterations=2)
    finished: list[CellResult] = []
    reader = SampleReader(grid, finished.append)
    for line in lines_of(grid, wrong=True):
        reader.take(line)
    assert finished[0].wrong == {"native": 3}
    assert judge(finished, "native")[0].verdict == "WRONG"
    rows = judge(finished, "native")
    assert any("WRONG RESULT" in line for line in output.closing_lines(grid, rows, "run"))
