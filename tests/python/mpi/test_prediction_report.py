"""The closing table of `sibyl run --predict`: figures that are known beforehand."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Mpi, Sibyl, assert_usage_error, compiled
from rich.console import Console

from sibyl.mpi.arrivals import merge_arrivals
from sibyl.mpi.prediction_report import print_predictions, site_report

MS = 1_000_000  # nanoseconds


def write_part(directory: Path, rank: int, calls: list[list[Any]], patterns: list[Any]) -> None:
    communicator = {
        "group": [0, 1],
        "ordinal": 0,
        "calls": calls,
        "patterns": patterns,
        "message": [3.6e-3, 6.25e-6],  # 4 ms for 64 bytes
    }
    part = {
        "mpi": "an MPI",
        "rank": rank,
        "world_size": 2,
        "clock": "one",
        "wall_minus_clock": 0,
        "communicators": [communicator],
    }
    (directory / f"arrivals-{rank}-1.json").write_text(json.dumps(part), encoding="utf-8")


COST = {"native": 5, "fixed": 4, "predicted": 3}


def recorded(
    directory: Path, collective: str, root: int, services: list[str], led_by: int
) -> dict[str, Any]:
    """Rank 1 is 10 ms late, predicted as 9; calls take 5 ms natively, 4 in order, 3 predicted.

    Args:
        directory: for the ranks' files.
        collective: of all 30 calls.
        root: of the calls; -1 for none.
        services: that take turns.
        led_by: the root of the pattern.
    """
    calls: list[list[list[Any]]] = [[], []]
    for number in range(30):
        served = services[number % len(services)]
        begin = 100 * MS * number
        end = begin + 10 * MS + COST[served] * MS
        for rank in (0, 1):
            arrival = begin + rank * 10 * MS
            leaf = collective == "gather" and rank == 1
            # The leaf of a gather does not know that the root follows an order.
            says = served.replace("predicted", "fixed") if leaf else served
            departure = arrival if leaf else end
            calls[rank].append([number, collective, root, 64, arrival, departure, says, 1])
    write_part(directory, 0, calls[0], [[collective, led_by, 64, 1, [0, 9 * MS]]])
    write_part(directory, 1, calls[1], [])
    return merge_arrivals(directory, ["program"])


@pytest.fixture
def recording(tmp_path: Path) -> dict[str, Any]:
    return recorded(tmp_path, "gather", 0, list(COST), 0)


def test_figures_are_those_of_the_calls(recording: dict[str, Any]) -> None:
    (site,) = recording["sites"]
    report = site_report(site)
    assert report is not None
    assert (report.calls, report.predicted) == (30, 10)
    assert (report.late_rank, report.late_share) == (1, 1.0)
    assert report.saved == pytest.approx(2e-3)
    assert report.saved_by_order == pytest.approx(1e-3)
    assert report.imbalance == pytest.approx(2.5)
    assert report.spread_over_cost == pytest.approx(2.0)
    # Half of the errors are rank 0's, which is always first: the median lies between.
    assert report.error == pytest.approx(0.5e-3)
    assert report.relative_error == pytest.approx(0.05)


def test_the_table_names_the_late_rank(
    recording: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    print_predictions(recording, Console(width=120))
    text = capsys.readouterr().out
    assert "rank 1 (100 %)" in text
    assert "2 ms" in text
    assert "1 ms" in text


@pytest.mark.parametrize(
    ("collective", "root", "led_by", "services", "name"),
    [
        ("reduce", 1, 1, list(COST), "reduce, root 1, 64 B"),  # by its history
        ("allreduce", -1, 0, list(COST), "allreduce, 64 B"),
        ("allreduce", -1, -1, ["fixed", "predicted"], "allreduce, 64 B"),  # by piggyback
    ],
)
def test_reductions_have_their_rows(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    collective: str,
    root: int,
    led_by: int,
    services: list[str],
    name: str,
) -> None:
    """Piggyback leaves no call to the MPI library, and so has nothing to be held against there."""
    recording = recorded(tmp_path, collective, root, services, led_by)
    (site,) = recording["sites"]
    report = site_report(site)
    assert report is not None
    assert (report.name, report.calls, report.predicted) == (name, 30, 30 // len(services))
    assert (report.late_rank, report.late_share) == (1, 1.0)
    assert report.error == pytest.approx(0.5e-3)
    assert report.saved_by_order == pytest.approx(1e-3)
    assert report.saved == (pytest.approx(2e-3) if "native" in services else None)
    print_predictions(recording, Console(width=120))
    text = capsys.readouterr().out
    assert name in text and "rank 1 (100 %)" in text


def test_calls_that_were_not_predicted_are_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for rank in (0, 1):
        write_part(tmp_path, rank, [[0, "gather", 0, 64, rank]], [])
    recording = merge_arrivals(tmp_path, [])
    assert site_report(recording["sites"][0]) is None
    assert recording["sites"][0]["calls"] == [{"number": 0, "times": [0.0, 1e-9]}]
    print_predictions(recording, Console(width=120))
    text = capsys.readouterr().out
    assert "no call was predicted" in text
    for collective in ("gathers", "scatters", "reduces", "allreduces"):
        assert collective in text


def drawn(number: int) -> int:
    """Of 16 what a call's number draws: 0 has it served by the MPI library, 1 and 2 in the order
    that is not in force (src/arrival_service/arrival_predictor.cpp, by SplitMix64).
    """
    mask = 2**64 - 1
    z = (number + 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return (z ^ (z >> 31)) % 16


def calls_in_force(site: dict[str, Any]) -> int:
    """Calls in the predicted order that are no trials: it was in force."""
    served = [(drawn(call["number"]), call["served"]) for call in site["calls"] if "served" in call]
    assert all(number == 0 for number, how in served if how == "native")
    return sum(how == "predicted" and number > 2 for number, how in served)


def test_an_order_that_is_given_up_at_once_was_never_in_force() -> None:
    served = {0: "native", 1: "predicted", 2: "predicted"}
    calls = [{"number": n, "served": served.get(drawn(n), "fixed")} for n in range(200)]
    assert sum(call["served"] == "predicted" for call in calls) > 20  # trials alone
    assert calls_in_force({"calls": calls}) == 0
    served = {0: "native", 1: "fixed", 2: "fixed"}
    calls = [{"number": n, "served": served.get(drawn(n), "predicted")} for n in range(200)]
    assert calls_in_force({"calls": calls}) > 150


@pytest.mark.timing
@pytest.mark.parametrize("mode", ["root-led", "periodic", "background"])
def test_an_unmodified_program_is_predicted(
    mpi: Mpi, sibyl: Sibyl, tmp_path: Path, mode: str
) -> None:
    program = compiled("late", mpi, tmp_path)
    words = ("run", "-n", 3, "--mpi", mpi.option, "--predict", mode, "--record", "a.json")
    threaded = "MPI_THREAD_MULTIPLE, and a thread of each rank worked in the background"
    followed: list[int] = []
    # On a busy machine predictions come late, and an order that does not pay is given up.
    for _ in range(4):
        result = sibyl(*words, "--", program, 100, 8192, 1000)
        assert result.returncode == 0, result
        assert "Prediction" in result.stderr
        assert (threaded in result.stderr) == (mode == "background")
        sites = json.loads((tmp_path / "a.json").read_text())["sites"]
        reports = [site_report(site) for site in sites]
        assert all(site["patterns"][0]["version"] == 1 for site in sites)
        followed.append(min(calls_in_force(site) for site in sites))
        assert None not in reports
        if followed[-1] > 5:
            return
    raise AssertionError(f"the predicted order was in force in {followed} calls, trials left out")


def test_other_modes_are_refused(sibyl: Sibyl) -> None:
    assert_usage_error(sibyl("run", "--predict", "often", "--", "true"), "often", "root-led")
