"""Figures 10 and 11 of Proficz and Ocetkiewicz 2020 on a cluster of namespaces, under both MPIs.

All links are busy in a reduce, so the hosts are fewer and slower than the paper's, and delays
longer by as much. Clairvoyant is a call that is told when all arrive: the truth, nothing, and the
times of other ranks. The native contenders are Open MPI's and MPICH's own reduce, each in a run of
its own.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sibyl.experiment.grid import Cell, Grid
from sibyl.experiment.samples import CellResult
from sibyl.experiment.statistics import median, quartiles
from sibyl.reproduce.control import MARGIN
from sibyl.reproduce.evidence import (
    Paired,
    Statement,
    iterations_of,
    only_from_enough,
    shown,
    told_in,
)
from sibyl.reproduce.on_cluster import (
    COMPUTE,
    SLOWER,
    WARM_UP,
    of_grids,
    setting_of,
    stretch,
    wrong_results,
)
from sibyl.reproduce.outcome import MPIS, Claim, Measurement, Outcome, Parts, Where, as_control
from sibyl.reproduce.rack import DELAYS_MS
from sibyl.reproduce.worth import WORTH_COLUMNS, span_of_worth, worth_columns

CLAIRVOYANT = "right:clairvoyant"
NOTHING, OTHERS = "none:clairvoyant", "shuffled:clairvoyant"
ALGORITHM = "reduce clairvoyant"
RIVALS = ("binomial", "rabenseifner", "radix-k", "ring")
CONTENDERS = ("native", CLAIRVOYANT, NOTHING, OTHERS, *RIVALS, "auto")
NODES = (4, 8, 12, 16)
DELAY_MS = 50
KFLOATS = {"delay": 512, "nodes": 128}
COLUMNS = ("mpi", "along", "contender", "run_ms", "run_low_ms", "run_high_ms", "run_paper_ms",
           *WORTH_COLUMNS)  # fmt: skip

Point = tuple[str, int]  # an MPI and a place along what varies


def points_of(varies: str, hosts: int) -> list[int]:
    """The values of what varies."""
    return list(DELAYS_MS) if varies == "delay" else [n for n in NODES if n <= hosts]


def grid_of(varies: str, where: Where, iterations: int) -> Grid:
    """The cells, in the order of the figure's points."""
    cells = []
    for point in points_of(varies, where.hosts):
        delay = point if varies == "delay" else DELAY_MS
        ranks = point if varies == "nodes" else where.hosts
        seconds = delay / 1e3 * stretch(where.rate)
        cells.append(Cell(ranks, 4096 * KFLOATS[varies], "same", "uniform", seconds))
    return Grid(
        "reduce", CONTENDERS, tuple(cells), iterations, WARM_UP, COMPUTE,
        on="cluster", mpi=where.mpi, rate=where.rate,
    )  # fmt: skip


def outcome_of(varies: str, where: Where, results: Mapping[Point, CellResult]) -> Outcome:
    """The table, and what becomes of the claims under each MPI."""
    factor = stretch(where.rate)
    unit = "ms" if varies == "delay" else "nodes"
    rows: list[list[Any]] = []
    for (mpi, point), result in results.items():
        for name, of in result.samples.items():
            run = [1e3 * seconds for seconds in of["run_s"]]
            times = [median(run), *quartiles(run), median(run) / factor]
            rows.append([mpi, point, name, *(round(value, 3) for value in times)])
    told = [
        told_in(result, name, NOTHING, OTHERS) if name == CLAIRVOYANT else None
        for result in results.values()
        for name in result.samples
    ]
    for row, more in zip(rows, worth_columns(told), strict=True):
        row += more
    late = {at: one for at, one in results.items() if varies == "nodes" or at[1] >= 5}

    def cells(
        of: Mapping[Point, CellResult],
        own: str,
        others: tuple[str, ...],
        most: float,
        kind: type[Statement] = Statement,
    ) -> dict[str, tuple[CellResult, Statement]]:
        return {
            f"{other} at {point} {unit}, {mpi}": (one, kind(own, other, most))
            for (mpi, point), one in of.items()
            for other in others
        }

    faster = 1 / (1 + MARGIN)
    known = [
        cell
        for one in late.values()
        if (cell := told_in(one, CLAIRVOYANT, NOTHING, OTHERS)) is not None
    ]
    claims: list[Claim] = [
        *wrong_results(list(results.values())),
        shown(
            f"Clairvoyant has shorter run times than the others, by more than {100 * MARGIN:.0f} "
            "%: less is no difference",
            cells(results, CLAIRVOYANT, RIVALS, faster),
            published="in the figure",
        ),
        shown(
            "Clairvoyant has shorter run times than the MPI library's own reduce, by more than "
            f"{100 * MARGIN:.0f} %",
            cells(results, CLAIRVOYANT, ("native",), faster),
            published="in the figure",
        ),
        as_control(
            shown(
                f"knowing who is late shortens Clairvoyant by more than {100 * MARGIN:.0f} % "
                "(control: the same algorithm, told nothing)",
                cells(late, CLAIRVOYANT, (NOTHING,), faster, Paired),
                ours=span_of_worth(known),
            ),
            ALGORITHM,
            "run",
            (cell.worth for cell in known),
        ),
        as_control(
            shown(
                "told the times of other ranks Clairvoyant takes at most 1.1 times as long as told "
                "nothing",
                cells(late, OTHERS, (NOTHING,), 1.1, Paired),
            ),
            ALGORITHM,
            "run",
            (),
        ),
        shown(
            "Sibyl's own choice, told when ranks come, is not slower than the native reduce by "
            "more than 5 %",
            cells(results, "auto", ("native",), SLOWER),
            kind="own",
        ),
    ]
    first = next(iter(results.values()))
    mpis = " and ".join(dict.fromkeys(one.job["mpi"] for one in results.values()))
    setting = setting_of(
        where, replace(first, job={**first.job, "mpi": mpis}), "medians and quartiles",
        f"{KFLOATS[varies]} K floats a rank; milliseconds of the paper are ours over {factor:.2f}",
    )  # fmt: skip
    claims = only_from_enough(claims, where.hosts, iterations_of(list(results.values())))
    return Outcome(setting, COLUMNS, rows, claims, _draw(varies, results, factor))


def _draw(varies: str, results: Mapping[Point, CellResult], factor: float) -> Callable[[Any], Any]:
    def draw(plt: Any) -> Any:
        mpis = list(dict.fromkeys(mpi for mpi, _ in results))
        picture, axes = plt.subplots(
            1, len(mpis), figsize=(5.5 * len(mpis), 4.2), sharey=True, squeeze=False
        )
        for place, mpi in zip(axes[0], mpis, strict=True):
            points = [point for of, point in results if of == mpi]
            for number, name in enumerate(CONTENDERS):
                times = [
                    1e3 * median(results[mpi, p].samples[name]["run_s"]) / factor for p in points
                ]
                style = "s--" if name in ("native", "auto") else "o-"
                place.plot(range(len(points)), times, style, color=f"C{number}", label=name,
                           markersize=4)  # fmt: skip
            place.set_xticks(range(len(points)), [str(point) for point in points])
            label = "largest delay [ms of the paper]" if varies == "delay" else "nodes"
            place.set(xlabel=label, title=mpi, ylim=(0, None))
            place.grid(alpha=0.3)
        axes[0][0].set_ylabel("run time [ms of the paper]")
        axes[0][0].legend(fontsize=7)
        picture.tight_layout()
        return picture

    return draw


def _item(varies: str) -> Measurement:
    def grids(where: Where, iterations: int) -> dict[str, list[Grid]]:
        return {
            mpi: [grid_of(varies, replace(where, mpi=mpi), iterations)]
            for mpi in (MPIS if where.mpi is None else (where.mpi,))
        }

    def judged(where: Where, parts: Parts) -> Outcome:
        points = points_of(varies, where.hosts)
        found = {
            (mpi, point): result
            for mpi, results in parts.items()
            for point, result in zip(points, results, strict=True)
        }
        return outcome_of(varies, where, found)

    return of_grids(grids, judged)


figure_10 = _item("delay")
figure_11 = _item("nodes")
