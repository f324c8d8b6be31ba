"""Exclusive scans of Traeff 2025 on other instruments than the model: table 1 once more.

On a cluster of namespaces, 36 hosts as in the paper, under an MPICH as in the paper, whose
MPI_Exscan is the library's own; its links are slower by orders of magnitude, so factors to
123-doubling are held against the paper's. Under SMPI, on a platform that was fitted to the
published times message by message (platforms/README.md), where the same programs run: microseconds
against microseconds.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sibyl.errors import CommandError
from sibyl.experiment import simulated
from sibyl.experiment.grid import BARE, Cell, Grid
from sibyl.experiment.samples import CellResult
from sibyl.experiment.statistics import median, quartiles, ratio_interval
from sibyl.reproduce.evidence import (
    Near,
    Statement,
    found_again,
    iterations_of,
    only_from_enough,
    shown,
)
from sibyl.reproduce.exscan import ScanTimes, claims_of, draw_times, published_times
from sibyl.reproduce.on_cluster import WARM_UP, of_grids, wrong_results
from sibyl.reproduce.outcome import Claim, Outcome, Where, deviation

BASE = "123-doubling"
OURS = ("two-op-doubling", "1-doubling", BASE)
COUNTS = (1, 10, 100, 1000, 10000, 100000)
HOSTS = 36
NEAR_FACTOR = 0.15
# The paper's library has recursive doubling, which SMPI's has not.
LIBRARY = {"cluster": "native", "smpi": "loop-recursive-doubling"}
PLATFORM = "omnipath-36x32"
COLUMNS = (
    *("elements", "algorithm", "published_us", "published_factor"),
    *("ms", "low_ms", "high_ms", "factor", "factor_low", "factor_high"),
)


def paper_names(library: str) -> dict[str, str]:
    """What the paper calls each contender; `library` is its library's own."""
    return {library: "recursive-doubling", **{name: name for name in OURS}}


def grid_of(where: Where, iterations: int) -> Grid:
    """All numbers of elements."""
    cells = tuple(Cell(where.hosts, 8 * count, "same", BARE, 0.0) for count in COUNTS)
    return Grid(
        "exscan", (LIBRARY["cluster"], *OURS), cells, iterations, WARM_UP, operator="bxor",
        on="cluster", mpi=where.mpi, rate=where.rate, prediction="none",
    )  # fmt: skip


def outcome_of(where: Where, results: Mapping[int, CellResult]) -> Outcome:
    """The table, and what becomes of the claims, by the number of elements."""
    theirs = published_times()
    library = LIBRARY["cluster"]
    names = paper_names(library)
    rows: list[list[Any]] = []
    for count, result in results.items():
        base = result.samples[BASE]["run_s"]
        for own, name in names.items():
            run = result.samples[own]["run_s"]
            given = theirs[HOSTS, count, name]
            times = [1e3 * time for time in (median(run), *quartiles(run))]
            factors = [median(run) / median(base), *ratio_interval(run, base)]
            rows.append(
                [count, own, given, round(given / theirs[HOSTS, count, BASE], 3)]
                + [round(time, 3) for time in times]
                + [round(factor, 3) for factor in factors]
            )

    def cells(
        counts: tuple[int, ...], own: str, others: tuple[str, ...], most: float = 1.0
    ) -> dict[str, tuple[CellResult, Statement]]:
        return {
            f"{other}, {count} elements": (results[count], Statement(own, other, most))
            for count in counts
            for other in others
        }

    large, small = COUNTS[3:], COUNTS[:3]
    claims = [
        *wrong_results(list(results.values())),
        shown(
            "123-doubling is the fastest of the three from 1000 elements on",
            cells(large, BASE, ("two-op-doubling", "1-doubling")),
        ),
        shown(
            "two-op-doubling is the fastest for up to 100 elements",
            cells(small, "two-op-doubling", ("1-doubling", BASE)),
            published="by 0.2 to 0.8 us",
        ),
        shown(
            "1-doubling is slower than 123-doubling wherever it takes a round more, by more than "
            "2 % from 1000 elements on",
            cells(large, BASE, ("1-doubling",), 1 / 1.02),
            published="by 2 to 9 %",
        ),
        shown(
            "the library's own is slower than 123-doubling from 10 000 elements on",
            cells(COUNTS[4:], BASE, (library,)),
            published="1.33 and 1.92 times as long",
        ),
        _factor_of_the_library(results[COUNTS[-1]], theirs),
    ]
    job = results[COUNTS[0]].job
    setting = (
        f"measured: {where.hosts} hosts of a namespace cluster at {where.rate} each, {job['mpi']}, "
        f"MPI_BXOR of MPI_LONG, a barrier before each call, the slowest rank's time; medians, "
        f"quartiles and intervals of 95 % of {iterations_of(list(results.values()))} interleaved "
        "iterations; factors to 123-doubling"
    )
    claims = only_from_enough(claims, where.hosts, iterations_of(list(results.values())))
    return Outcome(setting, COLUMNS, rows, claims, _draw(results, theirs, names))


def _factor_of_the_library(result: CellResult, theirs: ScanTimes) -> Claim:
    last = COUNTS[-1]
    said = theirs[HOSTS, last, "recursive-doubling"] / theirs[HOSTS, last, BASE]
    return found_again(
        f"for {last} elements it takes {said:.2f} times as long",
        {"the factor": (result, Near(LIBRARY["cluster"], BASE, said, NEAR_FACTOR))},
    )


def _draw(
    results: Mapping[int, CellResult], theirs: ScanTimes, names: Mapping[str, str]
) -> Callable[[Any], Any]:
    def draw(plt: Any) -> Any:
        figure, axis = plt.subplots(figsize=(7, 4.2))
        for number, (own, name) in enumerate(names.items()):
            ours = [Statement(own, BASE).ratio(result) for result in results.values()]
            given = [theirs[HOSTS, c, name] / theirs[HOSTS, c, BASE] for c in results]
            axis.plot(list(results), given, "o--", color=f"C{number}", alpha=0.5)
            axis.plot(list(results), ours, "o-", color=f"C{number}", label=own)
        axis.set(xscale="log", xlabel="elements (MPI_LONG)", ylabel="time over 123-doubling's")
        axis.set_title("published dashed, measured solid")
        axis.legend(fontsize=8)
        axis.grid(alpha=0.3)
        figure.tight_layout()
        return figure

    return draw


def _grids(where: Where, iterations: int) -> dict[str, list[Grid]]:
    if where.hosts != HOSTS:
        raise CommandError(f"--hosts {where.hosts}: the paper's table has {HOSTS} nodes")
    return {"": [grid_of(where, iterations)]}


# Table 1's 36 nodes on as many hosts.
on_cluster = of_grids(
    _grids, lambda where, parts: outcome_of(where, dict(zip(COUNTS, parts[""], strict=True)))
)


def under_smpi(_iterations: int, advance: Callable[[], None]) -> Outcome:
    """Table 1 on a simulated cluster that the executor runs on."""
    launcher = simulated.find_launcher()
    library = LIBRARY["smpi"]
    theirs = published_times()
    ours: ScanTimes = {}
    results: list[CellResult] = []
    cluster = simulated.SimulatedCluster(launcher, PLATFORM, 1, None)
    cluster.check(HOSTS)
    for count in COUNTS:
        cell = Cell(HOSTS, 8 * count, "same", BARE, 0.0)
        grid = Grid(
            "exscan", (library, *OURS), (cell,), 1, 0, operator="bxor", on="smpi",
            prediction="none", platform=PLATFORM,
        )  # fmt: skip
        cluster.run(grid, None, results.append, lambda _cell: None)
        for own, name in paper_names(library).items():
            ours[HOSTS, count, name] = 1e6 * results[-1].samples[own]["run_s"][0]
        advance()
    rows = [[*key, theirs[key], round(time, 2)] for key, time in ours.items()]
    error = deviation(((ours[key], theirs[key]) for key in ours), "this table")
    setting = (
        f"SMPI on {PLATFORM}: overheads and latencies fitted to table 1, mostly 123-doubling on 36 "
        "x 1 (platforms/README.md); the same programs as on real MPIs; the library's is its "
        "algorithm written by hand; the table's 36 nodes of one rank"
    )
    why = "Fitted to table 1: what 36 ranks of 123-doubling take is no test."
    claims = [
        *wrong_results(results),
        *(
            replace(claim, reason=f"{claim.reason} {why}".strip())
            for claim in claims_of(ours, theirs)
        ),
    ]
    columns = ("ranks", "elements", "algorithm", "published_us", "smpi_us")
    return Outcome(setting, columns, rows, claims, lambda plt: draw_times(plt, ours, theirs), error)
