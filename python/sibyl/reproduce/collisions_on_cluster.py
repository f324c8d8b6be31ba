"""Figures 15 and 20 and table 4 of Proficz 2020 on a cluster whose switch keeps little.

As in figures_on_cluster.py and on_cluster.py, but for a queue in front of each host's link that
holds less than all blocks, so that blocks which come together collide, and TCP sends again what was
lost. The kernel's retransmission timeout of 200 ms is not stretched with the delays: it is 60 ms of
the paper's time at 300 Mbit/s.
"""

from dataclasses import replace

from sibyl.experiment.samples import CellResult
from sibyl.reproduce.control import nothing, wrong
from sibyl.reproduce.evidence import Statement, iterations_of, only_from_enough, shown
from sibyl.reproduce.figures_on_cluster import (
    OWN_WINDOW,
    Figure,
    appendix,
    default,
    grid_of,
    outcome_of,
    worth,
)
from sibyl.reproduce.largest_on_cluster import ByDelay, factors, largest, sinks
from sibyl.reproduce.on_cluster import TABLE_4, item_of, of_grids, wrong_results
from sibyl.reproduce.outcome import Claim, Kind, Outcome, Parts, Where
from sibyl.reproduce.scatter_gather import AWARE

QUEUE = 128 * 1024
# BLIN's leaves all send as soon as they come, in the background; LS and BSLS ask for blocks, one
# rank at a time, as published, or as many as Sibyl has under way.
OWN = OWN_WINDOW["gather"]
KNOWING = (*AWARE["gather"], OWN)
CONTROLS = tuple(told(name) for name in KNOWING for told in (nothing, wrong))
CONTENDERS = ("native", "BLIN", "LS", "BNOM", *KNOWING, *CONTROLS, "persistent")
FIGURE = Figure("gather", "delay", QUEUE, CONTENDERS)
# How BSLS asks, what is published of it, and whose claim it is.
_WAYS: tuple[tuple[str, str, Kind], ...] = (
    ("BSLS", "1.24 to 1.46 times as fast (2 M floats)", "paper"),
    (OWN, "", "own"),
)


def judged(where: Where, parts: Parts) -> Outcome:
    """Of every delay."""
    results = parts[""]
    by_delay = dict(zip(FIGURE.points(where.hosts), results, strict=True))
    outcome = outcome_of(FIGURE, where, results)
    claims = [*wrong_results(results), *claims_of(by_delay)]
    claims = only_from_enough(claims, where.hosts, iterations_of(results))
    return replace(outcome, claims=claims)


def claims_of(by_delay: ByDelay) -> list[Claim]:
    """What the paper says of its pictures, and what knowing is worth there."""
    late = [delay for delay in by_delay if delay >= 5]
    far = {
        f"{delay} ms": (by_delay[delay], Statement("BSLS", "LS")) for delay in late if delay >= 50
    }

    def soon(own: str, other: str, least: int) -> dict[str, tuple[CellResult, Statement]]:
        return {
            f"{delay} ms": (result, Statement(own, other, 1 / 1.05))
            for delay, result in by_delay.items()
            if least <= delay <= 10
        }

    return [
        sinks(by_delay),
        sinks(
            by_delay,
            ("BLIN",),
            ", as blocks collide in the switch: leaves sent all at once (BLIN)",
        ),
        largest("gather", by_delay),
        factors("gather", by_delay),
        *(
            shown(
                "with delays of 1 to 10 ms, where messages still collide, LS is faster than "
                f"{name}, by more than 5 %",
                soon("LS", name, 1),
                published=said,
                kind=kind,
            )
            for name, said, kind in _WAYS
        ),
        shown(
            "BSLS is faster than LS under imbalance of 50 ms and more",
            far,
            published="1.18 to 2.52 times as fast (2 M floats)",
        ),
        default(FIGURE, by_delay, late),
        *appendix(FIGURE, by_delay, late),
        *(
            shown(
                f"asking leaves for their blocks ({name}) is faster than that all send when they "
                "come (BLIN), by more than 5 %",
                soon(name, "BLIN", 0),
                kind="own",
            )
            for name, _, _ in _WAYS
        ),
        *(
            worth(FIGURE, dict(by_delay), late, name, metric)
            for name in KNOWING
            for metric in ("run", "elapsed")
        ),
        shown(
            "Sibyl's own choice is not slower than the native gather by more than 5 %",
            {
                f"{delay} ms": (result, Statement("persistent", "native", 1.05))
                for delay, result in by_delay.items()
            },
            kind="own",
        ),
    ]


collisions = of_grids(lambda where, iterations: {"": [grid_of(FIGURE, where, iterations)]}, judged)
table_4 = item_of(replace(TABLE_4, queue=QUEUE))
