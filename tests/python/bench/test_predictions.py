"""What `sibyl bench` says of contenders that predict, and of the thread in the background."""

import json

import pytest
from conftest import Mpi, Sibyl
from rich.console import Console

from sibyl.bench.predictions import prediction_lines
from sibyl.bench.thread_cost import affordable_iterations, print_costs
from sibyl.experiment.grid import Cell, Grid
from sibyl.experiment.samples import METRICS, CellResult, SampleReader


def test_errors_of_predictions_and_their_price_are_read_and_told() -> None:
    cell = Cell(4, 8, "same", "uniform", 0.1)
    names = ("native", "clairvoyant", "edges:clairvoyant")
    grid = Grid("reduce", names, (cell,), iterations=10)
    finished: list[CellResult] = []
    reader = SampleReader(grid, finished.append)
    reader.take(json.dumps({"type": "begin", "mpi": "Some MPI"}, separators=(",", ":")))
    reader.take('{"type":"cell","cell":0}')
    for iteration in range(-1, 10):
        for name in names:
            line = {"type": "sample", "cell": 0, "iteration": iteration, "algorithm": name}
            line |= dict.fromkeys(METRICS, 0.01) | {"right": True}
            if name == "edges:clairvoyant":
                line["error_s"] = 0.9 if iteration < 0 else 0.001 * (iteration + 1)  # warm-up
                line["worst_error_s"] = 0.02
                line["absorbed_s"] = 0.012
            assert reader.take(json.dumps(line, separators=(",", ":")))
    (result,) = finished
    middle, worst = result.errors.pop("edges:clairvoyant")
    assert middle == pytest.approx([0.001 * i for i in range(1, 11)])
    assert worst == [0.02] * 10
    assert not result.errors
    result.errors["edges:clairvoyant"] = (middle, worst)
    assert CellResult.from_json(json.loads(json.dumps(result.as_json()))) == result
    (line,) = prediction_lines(grid, [result])
    assert "edges:clairvoyant predicts arrivals within 5.5 ms (5.5 % of the delay)" in line
    assert "the worst rank's within 20 ms (20 % of the delay)" in line
    assert "1.000 of the run time of clairvoyant that is told them, 1.200 of the absorbed" in line


def test_costs_of_the_thread_are_medians_by_level(capsys: pytest.CaptureFixture[str]) -> None:
    facts = {"mpi": "Some MPI", "ranks": 2, "cores": 2, "compute_s": 0.02}
    lines = [
        {
            **facts,
            "level": level,
            "has_thread": level == "multiple",
            "share": share,
            "root_share": share / 2,
            "root_looks": 41.6,
            "idle_share": 0.0,
            "turn_s": 0.03,
            "latency_s": 1e-6,
        }
        for share in (0.002, 0.004, 0.003)
        for level in ("single", "multiple")
    ]
    print_costs(lines, Console(width=120))
    text = capsys.readouterr().out
    assert "0.300 %" in text
    assert "0.150 %" in text
    assert "42" in text
    assert "no thread" not in text


def test_the_thread_is_measured_in_fewer_turns_where_ranks_share_cores() -> None:
    assert affordable_iterations(2, 2, 0.02) == 20
    alone, sharing = (affordable_iterations(ranks, 2, 0.1) for ranks in (2, 8))
    assert 20 >= alone > sharing >= 4
    assert affordable_iterations(64, 2, 1.0) == 4


def test_contenders_predict_in_a_run(mpi: Mpi, sibyl: Sibyl) -> None:
    words = ("bench", "reduce", "-n", 3, "--mpi", mpi.option, "--iterations", 5, "--warm-up", 1)
    words += ("--max-delay", "4ms", "--compute", "2ms", "--size", "16KiB")
    result = sibyl(*words, "--algorithms", "clairvoyant,edges:clairvoyant,history:clairvoyant")
    assert result.returncode == 0, result
    told = " ".join(result.stdout.split())
    assert "edges:clairvoyant predicts arrivals within" in told
    assert "history:clairvoyant predicts arrivals within" in told


def test_a_contender_that_cannot_predict_is_refused(sibyl: Sibyl) -> None:
    for collective, name in (
        ("reduce", "edges:auto"),
        ("gather", "history:linear"),
        ("scan", "edges:chain"),
    ):
        result = sibyl("bench", collective, "--algorithms", name)
        assert result.returncode == 2, result
        assert name in result.stderr
