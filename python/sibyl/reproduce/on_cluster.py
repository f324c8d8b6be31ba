"""Tables 3 and 4 of paper 004 measured on a cluster of namespaces, beside the published factors.

The paper's network carries 1 Gbit/s, which a machine of a few cores cannot play for 48 hosts. So
the links are slower, and all delays longer by the same factor: transfer and delay keep their ratio.
Sorted and background variants run in the persistent form and are told by an edge at half of the
computation. A run that is interrupted goes on with the same command.
"""

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sibyl.cluster.state import parse_rate
from sibyl.errors import CommandError
from sibyl.experiment.grid import Grid, make_cells
from sibyl.experiment.journal import Journal
from sibyl.experiment.judge import judge as judge_rows
from sibyl.experiment.places import measure, open_journal, place
from sibyl.experiment.runner import Interrupted, choose_benchmark_launcher, signals_interrupt
from sibyl.experiment.samples import CellResult
from sibyl.reproduce.outcome import Claim, Outcome, Where, judge, published
from sibyl.reproduce.rack import DELAYS_MS
from sibyl.reproduce.scatter_gather import KFLOATS, draw_table

# Bits per second of the paper's network.
PAPER_RATE = 1e9
# Emulated computation without the delay; 200 ms in the paper, where every edge is known before the
# first rank arrives. Here too for delays that the paper calls 50 ms.
COMPUTE = 0.15
WARM_UP = 1
NEAR_BOUND = 1.15
SLOWER = 1.05


@dataclass(frozen=True)
class Table:
    """A published table.

    Attributes:
        published: name of its CSV.
        slow: the algorithm that its factor is relative to.
        fast: the algorithm that it is about.
    """

    collective: str
    published: str
    column: str
    slow: str
    fast: str


TABLE_3 = Table("scatter", "scatter_table_3_bslin_vs_lin", "speedup_lin_over_bslin", "LIN", "BSLIN")
TABLE_4 = Table("gather", "gather_table_4_bsls_vs_ls", "speedup_ls_over_bsls", "LS", "BSLS")

COLUMNS = (
    *("kfloats", "max_delay_ms", "delay_here_ms", "native_ms", "slow_ms", "fast_ms"),
    *("persistent_ms", "bound_ms", "fast_to_bound", "native_over_fast"),
    *("published_factor", "measured_factor"),
)
Key = tuple[int, int]


def stretch(rate: str) -> float:
    """How many times longer than in the paper a byte takes, and so a delay."""
    return PAPER_RATE / parse_rate(rate)


def grid_of(table: Table, where: Where, iterations: int) -> Grid:
    """All cells of the table, in its order."""
    delays = [delay / 1e3 * stretch(where.rate) for delay in DELAYS_MS]
    sizes = [4096 * kfloats for kfloats in KFLOATS]
    return Grid(
        collective=table.collective,
        algorithms=("native", table.slow, table.fast, "persistent"),
        cells=make_cells([where.hosts], sizes, ["same"], ["uniform"], delays),
        iterations=iterations,
        warm_up=WARM_UP,
        compute=COMPUTE,
        on="cluster",
        mpi=where.mpi,
        rate=where.rate,
    )


def measured(grid: Grid, advance: Callable[[], None]) -> tuple[list[CellResult], Journal]:
    """The results of all cells, those of an interrupted run among them, and their journal."""
    launcher = choose_benchmark_launcher(grid.mpi)
    journal = open_journal(grid, launcher, resume=True)
    done = len(journal.read())
    for _ in range(done):
        advance()
    samples = (grid.iterations + grid.warm_up) * len(grid.algorithms)
    seen = 0

    def progressed(_cell: object) -> None:
        nonlocal seen
        seen += 1
        if seen % samples == 0:
            advance()

    try:
        with signals_interrupt(), place(grid, launcher, done < len(grid.cells)) as run:
            return measure(grid, journal, progressed, run), journal
    except Interrupted:
        kept = len(journal.read())
        total = len(grid.cells)
        print(f"sibyl: {kept} of {total} cells are kept, the same command goes on", file=sys.stderr)
        raise KeyboardInterrupt from None


def outcome_of(table: Table, where: Where, results: Sequence[CellResult]) -> Outcome:
    """Ours beside the published factors, and what becomes of the claims."""
    rows: list[list[Any]] = []
    ours: dict[Key, float] = {}
    theirs: dict[Key, float] = {}
    to_bound: dict[Key, float] = {}
    to_native: dict[Key, float] = {}
    persistent: dict[Key, float] = {}
    given = {
        (int(row["size_kfloats"]), int(row["max_delay_ms"])): float(row[table.column])
        for row in published(table.published)
    }
    by_cell: dict[int, dict[str, Any]] = {}
    for row in judge_rows(results, "native"):
        by_cell.setdefault(id(row.result), {})[row.algorithm] = row
    factor = stretch(where.rate)
    for result in results:
        of = by_cell[id(result)]
        delay = round(1e3 * result.cell.max_delay / factor)
        key = result.cell.size // 4096, delay
        native, slow, fast, chosen = (
            of[name] for name in ("native", table.slow, table.fast, "persistent")
        )
        ours[key], theirs[key] = slow.run / fast.run, given[key]
        to_bound[key] = fast.to_bound
        to_native[key] = fast.run / native.run
        persistent[key] = chosen.run / native.run
        rows.append(
            [*key, round(1e3 * result.cell.max_delay, 1)]
            + [round(1e3 * row.run, 2) for row in (native, slow, fast, chosen)]
            + [round(1e3 * fast.bound, 2), round(fast.to_bound, 3)]
            + [round(native.run / fast.run, 3), theirs[key], round(ours[key], 3)]
        )
    setting = setting_of(
        where,
        results[0],
        "medians",
        "wire's own time and arrivals as they were make the lower bound",
    )
    claims = [
        *wrong_results(results),
        judge(
            f"{table.fast} is not slower than {table.slow}",
            [(_name(key), value >= 1 / SLOWER) for key, value in ours.items()],
            f"Our factors go from {min(ours.values()):.2f} to {max(ours.values()):.2f}, the "
            f"published ones from {min(theirs.values()):.2f} to {max(theirs.values()):.2f}.",
        ),
        _not_slower(f"{table.fast} is not slower than the native {table.collective}", to_native),
        _not_slower(
            f"Sibyl's own choice is not slower than the native {table.collective}", persistent
        ),
        judge(
            f"{table.fast} takes at most {NEAR_BOUND} times the lower bound (2 M floats, delays of "
            f"50 ms and more)",
            [
                (_name(key), value <= NEAR_BOUND)
                for key, value in to_bound.items()
                if key[0] == 2048 and key[1] >= 50
            ],
            f"At 50 ms {to_bound[2048, 50]:.2f} times.",
        ),
    ]
    label = f"{table.slow} over {table.fast}"
    return Outcome(setting, COLUMNS, rows, claims, draw_table(ours, theirs, label, "measured"))


def setting_of(where: Where, first: CellResult, of_samples: str, more: str) -> str:
    """How a table or figure was measured.

    Args:
        where: the cluster.
        first: any cell.
        of_samples: what is given of the iterations.
        more: what else has to be known.
    """
    return (
        f"measured: {where.hosts} hosts of a namespace cluster at {where.rate} each, "
        f"{first.job['mpi']}, delays {stretch(where.rate):.2f} times those of the paper as a byte "
        f"takes, {1e3 * COMPUTE:.0f} ms of emulated computation with an edge at its half, "
        f"{of_samples} of {len(first.samples['native']['run_s'])} interleaved iterations; {more}. "
        f"This cluster's switch has no collisions"
    )


def wrong_results(results: Sequence[CellResult]) -> list[Claim]:
    """A claim that is not held if a result was wrong, else none."""
    wrong = sum(sum(result.wrong.values()) for result in results)
    return [Claim("all results are right", "not held", f"{wrong} are wrong")] if wrong else []


def _name(key: Key) -> str:
    return f"{key[0]} K at {key[1]} ms"


def _not_slower(text: str, ratios: dict[Key, float]) -> Claim:
    return judge(
        f"{text} by more than 5 %",
        [(_name(key), ratio <= SLOWER) for key, ratio in ratios.items()],
        f"It takes {min(ratios.values()):.2f} to {max(ratios.values()):.2f} times as long.",
    )


def demand_root() -> None:
    """Notice before anything is started that no cluster can be."""
    if os.geteuid() != 0:
        raise CommandError("a cluster of namespaces is root's")


def _item(table: Table, where: Where, iterations: int, advance: Callable[[], None]) -> Outcome:
    demand_root()
    results, journal = measured(grid_of(table, where, iterations), advance)
    outcome = outcome_of(table, where, results)
    journal.forget()
    return outcome


def table_3(where: Where, iterations: int, advance: Callable[[], None]) -> Outcome:
    """BSLIN against LIN and native."""
    return _item(TABLE_3, where, iterations, advance)


def table_4(where: Where, iterations: int, advance: Callable[[], None]) -> Outcome:
    """BSLS against LS and native."""
    return _item(TABLE_4, where, iterations, advance)
