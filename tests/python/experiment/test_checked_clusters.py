"""A cluster is checked before it is measured, oftener before what takes long."""

from dataclasses import replace
from typing import Any

import pytest

from sibyl.errors import CommandError
from sibyl.experiment import places
from sibyl.experiment.grid import Cell, Grid
from sibyl.experiment.runner import Interrupted

TRUE = {"gather_true": True, "shift_true": False, "latency_true": False, "alpha_busy_s": 1e-3}
BUSY = {**TRUE, "gather_true": False, "gather_ratio": 1.13, "cpu_bound": False}


@pytest.mark.parametrize("interrupted", [True, False])
def test_a_cluster_that_stays_is_left_to_the_guardian(
    interrupted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What ended the measurement is told rather than that, and whoever waits for our end cleans."""
    released = []

    class Guardian:
        def __init__(self, _: object) -> None:
            """Watch nothing."""

        def release(self) -> None:
            released.append(True)

    def refuse(*words: str) -> None:
        if "down" in words and not allowed:
            raise CommandError("the cluster is in use")

    monkeypatch.setattr(places, "Guardian", Guardian)
    monkeypatch.setattr(places, "run_sibyl", refuse)
    allowed = False
    expected = Interrupted if interrupted else CommandError
    with pytest.raises(expected), places.cluster_up(2, "10mbit"):
        if interrupted:
            raise Interrupted(15)
    assert not released
    allowed = True
    with places.cluster_up(2, "10mbit"):
        assert not released
    assert released == [True]


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
