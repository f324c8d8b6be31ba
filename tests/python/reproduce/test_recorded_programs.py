"""Predictions on recorded programs, and what they are worth there."""

import json
from pathlib import Path

import pytest

from sibyl.reproduce import programs
from sibyl.reproduce.worth import WORTH_COLUMNS


def recording(folder: Path, collective: str, size: int, calls: list[list[float]]) -> Path:
    site = {"communicator": 0, "group": list(range(len(calls[0]))), "collective": collective,
            "root": 0 if collective in ("gather", "reduce") else -1, "bytes": size,
            "calls": [{"number": i, "times": times} for i, times in enumerate(calls)]}  # fmt: skip
    path = folder / f"{collective}.json"
    document = {"format": "sibyl-arrivals", "version": 1, "program": ["x"], "mpi": "M"}
    path.write_text(json.dumps({**document, "world_size": 4, "clock": "c", "sites": [site]}))
    return path


def test_a_late_rank_that_is_always_the_same_is_worth_knowing(tmp_path: Path) -> None:
    late = [[0.0, 0.0, 0.1, 0.0]] * 12
    (site,) = programs.sites_of(recording(tmp_path, "allreduce", 4 << 20, late))
    assert site.best.median == 0
    worth = programs.worth_of(site)[site.best.predictor]
    nothing, predicted, right = worth.means
    assert predicted == right < 0.8 * nothing
    assert worth.told.wrong > 1.2  # the delay of another rank


def test_one_that_changes_is_foretold_wrong(tmp_path: Path) -> None:
    late = [[0.1 if rank == call % 4 else 0.0 for rank in range(4)] for call in range(12)]
    (site,) = programs.sites_of(recording(tmp_path, "allreduce", 4 << 20, late))
    worth = programs.worth_of(site)["last"]
    nothing, predicted, right = worth.means
    assert predicted > nothing > right


def test_what_a_prediction_is_worth_has_an_interval_and_p() -> None:
    outcome = programs.prediction(1, lambda: None)
    rows = [dict(zip(outcome.columns, row, strict=True)) for row in outcome.rows]
    told = [row for row in rows if row["told_nothing_ms"] != ""]
    assert len(told) >= 10 * len({row["predictor"] for row in rows})  # each has its own
    for row in rows:
        for column in WORTH_COLUMNS:
            assert (row[column] == "") == (row["told_nothing_ms"] == ""), (row, column)
    for row in told:
        assert row["worth_low"] <= row["worth"] <= row["worth_high"]
    assert min(row["worth_p"] for row in told) < 1e-9
    (control,) = (claim for claim in outcome.claims if claim.kind == "control")
    # What is claimed is said of the predictor that is off least.
    sites = [one for _, path in programs.recordings() for one in programs.sites_of(path)]
    of_sites = zip(*[iter(rows)] * len(sites[0].scores), strict=True)
    best = [
        row["worth"]
        for one, of in zip(sites, of_sites, strict=True)
        for row in of
        if row["predictor"] == one.best.predictor and row["worth"] != ""
    ]
    assert control.worth == pytest.approx((min(best), max(best)), abs=1e-3)
    assert control.ours.startswith("told nothing over told the prediction: ")


def test_nobody_listens_at_a_barrier_and_few_calls_are_no_site(tmp_path: Path) -> None:
    late = [[0.0, 0.0, 0.1, 0.0]] * 12
    (site,) = programs.sites_of(recording(tmp_path, "barrier", 0, late))
    assert programs.worth_of(site) == {}
    assert programs.sites_of(recording(tmp_path, "reduce", 1024, late[:4])) == []


@pytest.mark.parametrize(("name", "path"), programs.recordings())
def test_the_recordings_of_the_package_can_be_read_and_are_small(name: str, path: Path) -> None:
    assert programs.sites_of(path), name
    assert path.stat().st_size < 100_000
