"""A cluster is checked before it is measured, oftener before what takes long."""

from dataclasses import replace
from typing import Any

import pytest

from sibyl.experiment import places
from sibyl.experiment.grid import Cell, Grid

TRUE = {"gather_true": True, "shift_true": False, "latency_true": False, "alpha_busy_s": 1e-3}
BUSY = {**TRUE, "gather_true": False, "gather_ratio": 1.13, "cpu_bound": False}


@pytest.mark.parametrize(
    "iterations, found, checks",
    [
        (100, [TRUE], 1),
        (100, [BUSY, TRUE], 2),
        (100, [BUSY, BUSY, BUSY], 3),
        (10, [BUSY], 1),  # as long as a few checks
    ],
)
def test_a_check_is_repeated_before_what_takes_long(
    iterations: int, found: list[dict[str, Any]], checks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [{**one, "place": place} for place, one in enumerate(found)]
    monkeypatch.setattr(places, "check_cluster", lambda _: left.pop(0))
    cells = tuple(Cell(8, 1 << 20, "same", "uniform", delay) for delay in (0.0, 0.1))
    grid = Grid("gather", ("native", "auto", "LS"), cells, compute=0.5, on="cluster")
    made = places.check_for(replace(grid, iterations=iterations))
    assert (made["checks"], made["place"], left) == (checks, checks - 1, [])
