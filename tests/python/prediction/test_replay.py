"""`sibyl predict`: errors that are known beforehand, files, and bad input."""

import csv
import json
import random
from pathlib import Path

import pytest
from conftest import Sibyl, assert_usage_error

from sibyl import _core

PAGERANK = Path(__file__).parents[3] / "examples" / "patterns" / "pagerank-8.json"


def recording(path: Path, calls: list[list[float]], **more: object) -> Path:
    """A recording with one site."""
    ranks = len(calls[0])
    site = {
        "communicator": 0,
        "group": list(range(ranks)),
        "collective": "gather",
        "root": 0,
        "bytes": 4096,
        "calls": [{"number": n, "times": times} for n, times in enumerate(calls)],
    }
    data = {"format": "sibyl-arrivals", "version": 1, "sites": [site]} | more
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def scores(sibyl: Sibyl, trace: Path, *words: object) -> dict[str, dict[str, object]]:
    result = sibyl("predict", trace, "--json", "errors.json", *words)
    assert result.returncode == 0, result
    (site,) = json.loads((sibyl.directory / "errors.json").read_text())["sites"]
    return {"named": site["best"]} | {row["predictor"]: row for row in site["predictors"]}


def test_repeated_arrivals_are_predicted_exactly(sibyl: Sibyl, tmp_path: Path) -> None:
    trace = recording(tmp_path / "trace.json", [[0.0, 0.05, 0.1]] * 20)
    found = scores(sibyl, trace)
    for name in [*_core.standard_predictors(), "best"]:
        assert found[name]["median_s"] < 1e-12
        assert found[name]["relative"] < 0.02


def test_the_mean_is_named_best_under_noise_and_the_last_under_drift(
    sibyl: Sibyl, tmp_path: Path
) -> None:
    draw = random.Random(1)
    noise = [[0.0, *(draw.gauss(0.5, 0.02) for _ in range(5))] for _ in range(300)]
    found = scores(sibyl, recording(tmp_path / "noise.json", noise))
    assert found["named"] in ("sma:16", "ewma:0.125")
    assert found["sma:16"]["median_s"] < found["last"]["median_s"]
    drift = [[0.0, 0.1 + 0.01 * call] for call in range(300)]
    found = scores(sibyl, recording(tmp_path / "drift.json", drift))
    assert found["named"] == "last"
    # Half of the errors are rank 0's, who is always first: 0.
    assert found["last"]["p90_s"] == pytest.approx(0.01)
    assert found["sma:4"]["p90_s"] == pytest.approx(0.025)


def test_predictions_come_from_earlier_calls_only(sibyl: Sibyl, tmp_path: Path) -> None:
    trace = tmp_path / "trace.txt"
    trace.write_text("# call 0\n0\n1\n# call 1\n0\n3\n# call 2\n0\n8\n", encoding="utf-8")
    words = ("--predictor", "last", "--predictor", "sma:2", "--csv", "all.csv")
    assert sibyl("predict", trace, *words).returncode == 0
    with (tmp_path / "all.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["rank"] == "1"]
    assert [float(row["arrival_s"]) for row in rows] == [3, 8]
    assert [float(row["last_s"]) for row in rows] == [1, 3]
    assert [float(row["sma:2_s"]) for row in rows] == [1, 2]


def test_a_recorded_program_is_replayed_and_drawn(sibyl: Sibyl, tmp_path: Path) -> None:
    result = sibyl("predict", PAGERANK, "--plot", "arrivals.png")
    assert result.returncode == 0, result
    assert "smallest error" in result.stdout
    assert (tmp_path / "arrivals.png").read_bytes().startswith(b"\x89PNG")


def test_bad_input_ends_in_one_line(sibyl: Sibyl, tmp_path: Path) -> None:
    good = recording(tmp_path / "good.json", [[0.0, 1.0]] * 3)
    assert_usage_error(sibyl("predict", "none.json"), "none.json", "No such file")
    assert_usage_error(sibyl("predict", tmp_path), "Is a directory")
    assert_usage_error(sibyl("predict", good, "--predictor", "sma:0"), "sma:0", "sma:K")
    assert_usage_error(sibyl("predict", good, "--plot", "a.bmp"), ".png")
    assert_usage_error(sibyl("predict", good, "--csv", "no/such/a.csv"), "no/such/a.csv")
    once = recording(tmp_path / "once.json", [[0.0, 1.0]])
    assert_usage_error(sibyl("predict", once), "two calls")
    other = recording(tmp_path / "other.json", [[0.0, 1.0]] * 3, format="other")
    assert_usage_error(sibyl("predict", other), "other")
    text = tmp_path / "trace.txt"
    text.write_text("# call\n0\nsoon\n", encoding="utf-8")
    assert_usage_error(sibyl("predict", text), "trace.txt:3", "no arrival time")
    text.write_text("# call\n0\n1\n# call\n0\n", encoding="utf-8")
    assert_usage_error(sibyl("predict", text), "call 1 has 1")
    text.write_bytes(b"\xff\xfe")
    assert_usage_error(sibyl("predict", text), "not text")


@pytest.mark.parametrize(
    "time", ["Infinity", "-Infinity", "NaN", "1e999", "1e308", "-1.0", "1" * 400, '"soon"', "true"]
)
def test_a_time_that_is_none_ends_in_one_line(sibyl: Sibyl, tmp_path: Path, time: str) -> None:
    trace = recording(tmp_path / "trace.json", [[0.0, 0.125]] * 3)
    trace.write_text(trace.read_text(encoding="utf-8").replace("0.125", time), encoding="utf-8")
    assert_usage_error(sibyl("predict", trace), "trace.json", "call 0 of site 0", "arrival time")
    if time[0] not in 't"':
        text = tmp_path / "trace.txt"
        text.write_text(f"# call\n0\n{time}\n# call\n0\n1\n", encoding="utf-8")
        assert_usage_error(sibyl("predict", text), "trace.txt:3", "no arrival time")


@pytest.mark.parametrize(
    ("name", "value"),
    [("root", "first"), ("root", 2), ("bytes", -1), ("collective", 7), ("group", [])],
)
def test_a_site_that_is_none_ends_in_one_line(
    sibyl: Sibyl, tmp_path: Path, name: str, value: object
) -> None:
    trace = recording(tmp_path / "trace.json", [[0.0, 1.0]] * 3)
    data = json.loads(trace.read_text(encoding="utf-8"))
    data["sites"][0][name] = value
    trace.write_text(json.dumps(data), encoding="utf-8")
    assert_usage_error(sibyl("predict", trace), "trace.json", f"site 0: {name}")


def test_an_edge_is_extrapolated() -> None:
    assert _core.extrapolate_edge(1.0, 2.0, 0.5) == 3.0
