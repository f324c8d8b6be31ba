"""Predictions on recorded programs, and what they are worth there."""

import json
from pathlib import Path

import pytest

from sibyl.reproduce import programs


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
    worth = programs.worth_of(site, site.best.predictor)
    assert worth is not None
    assert worth.predicted == worth.right < 0.8 * worth.nothing


def test_one_that_changes_is_foretold_wrong(tmp_path: Path) -> None:
    late = [[0.1 if rank == call % 4 else 0.0 for rank in range(4)] for call in range(12)]
    (site,) = programs.sites_of(recording(tmp_path, "allreduce", 4 << 20, late))
    worth = programs.worth_of(site, "last")
    assert worth is not None
    assert worth.predicted > worth.nothing > worth.right


def test_nobody_listens_at_a_barrier_and_few_calls_are_no_site(tmp_path: Path) -> None:
    late = [[0.0, 0.0, 0.1, 0.0]] * 12
    (site,) = programs.sites_of(recording(tmp_path, "barrier", 0, late))
    assert programs.worth_of(site, site.best.predictor) is None
    assert programs.sites_of(recording(tmp_path, "reduce", 1024, late[:4])) == []


@pytest.mark.parametrize(("name", "path"), programs.recordings())
def test_the_recordings_of_the_package_can_be_read_and_are_small(name: str, path: Path) -> None:
    assert programs.sites_of(path), name
    assert path.stat().st_size < 100_000
