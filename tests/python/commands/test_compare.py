"""`sibyl run --compare`: turns with and without Sibyl, their ratio, and what they print."""

import json
from pathlib import Path

import pytest
from conftest import Mpi, Sibyl, assert_usage_error

from sibyl.commands.compare import Comparison, _difference, _print
from sibyl.experiment.statistics import median_level

pytestmark = pytest.mark.suite


def test_the_ratio_is_that_of_turns_and_its_interval_says_how_sure_it_is() -> None:
    # The machine became three times slower half-way, which both sides met alike.
    native, own = [1.0, 1.0, 1.0, 3.0, 3.0, 3.0], [0.5, 0.5, 0.5, 1.5, 1.5, 1.8]
    document = Comparison(["app"], 4, (native, own), None, "").as_json()
    assert document["ratio"] == 0.5
    assert document["interval"] == [0.5, pytest.approx(0.6)]
    assert document["confidence"] == 0.95
    assert [median_level(turns) for turns in (1, 2, 5, 6, 100)] == [0, 0.5, 0.9375, 0.95, 0.95]


def test_a_difference_is_said_of_intervals_of_95_percent_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for turns, said in ((2, "too few turns to show a difference"), (6, "100.0% SLOWER")):
        _print(Comparison(["app"], 4, ([1.0] * turns, [2.0] * turns), None, ""), None)
        assert said in capsys.readouterr().out


def test_outputs_are_the_same_but_for_the_order_of_lines() -> None:
    assert _difference([b"a\nb\n", b"b\na\n"], [b"b\na\n"] * 2) == ""
    lacking = _difference([b"a\nb\n"] * 2, [b"a\nb\n", b"a\n"])
    assert "run 2 with Sibyl lacks the line 'b'" in lacking
    assert "has besides the line 'a'" in _difference([b"a\n"], [b"a\na\n"])
    assert "without Sibyl, too" in _difference([b"a\n", b"b\n"], [b"a\n", b"b\n"])


def test_a_program_takes_turns_and_its_output_is_compared(
    sibyl: Sibyl, mpi: Mpi, job: Path
) -> None:
    words = ["run", "-n", 2, "--mpi", mpi.option, "--compare", 2, "--same-output"]
    result = sibyl(*words, "--json", "a.json", "--", job)
    assert result.returncode == 0, result
    assert "all runs printed the same lines" in result.stdout
    document = json.loads((sibyl.directory / "a.json").read_text())
    assert document["turns"] == len(document["native_seconds"]) == len(document["sibyl_seconds"])
    assert document["same_output"] is True
    assert document["interval"][0] <= document["ratio"] <= document["interval"][1]
    # Only ranks under Sibyl have somewhere to report to. SIGPIPE kills MPICH's mpiexec now and
    # then when a program has ended before the launcher is done with starting it.
    script = "sleep 0.3; echo ${SIBYL_REPORT:+not} alike"
    result = sibyl(*words, "--json", "-", "--", "sh", "-c", script)
    assert result.returncode == 1, result
    assert json.loads(result.stdout)["same_output"] is False
    assert "with Sibyl lacks the line" in result.stderr


def test_a_program_that_fails_ends_the_comparison(sibyl: Sibyl, mpi: Mpi) -> None:
    words = ["run", "-n", 1, "--mpi", mpi.option, "--compare", 3, "--"]
    # MPICH's launcher may lose what a program prints just before it fails.
    result = sibyl(*words, "sh", "-c", "echo said; sleep 0.5; exit 7")
    assert result.returncode == 7, result
    assert "said" in result.stderr
    assert "exit code 7 without Sibyl, in turn 1 of 3" in result.stderr


def test_the_turns_before_one_that_fails_are_told(sibyl: Sibyl, mpi: Mpi, tmp_path: Path) -> None:
    words = ["run", "-n", 1, "--mpi", mpi.option, "--compare", 3, "--json", "a.json", "--"]
    count = tmp_path / "runs"
    script = f"echo . >> {count}; sleep 0.3; test $(wc -l < {count}) -lt 4 || exit 7"
    result = sibyl(*words, "sh", "-c", script)
    assert result.returncode == 7, result
    assert "exit code 7" in result.stderr and "in turn 2 of 3" in result.stderr
    assert "wall time, 1 turn" in result.stdout
    assert json.loads((sibyl.directory / "a.json").read_text())["turns"] == 1


def test_options_that_do_not_go_together_are_refused(sibyl: Sibyl) -> None:
    assert_usage_error(sibyl("run", "--compare", 0, "--", "true"), "at least 1 turn")
    assert_usage_error(sibyl("run", "--same-output", "--", "true"), "--compare")
    words = ["run", "--compare", 2, "--report", "a.json", "--", "true"]
    assert_usage_error(sibyl(*words), "leave out --report")
