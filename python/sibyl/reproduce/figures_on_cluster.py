"""Figures 14 to 20 of paper 004 measured on a cluster of namespaces.

Run and elapsed times are two readings of one measurement, so a figure of run times and its twin of
elapsed times in the appendix are one item. As with the tables (on_cluster.py) links are slower than
the paper's and delays longer by the same factor; times are also given divided by it, as
milliseconds of the paper's network.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sibyl.experiment.grid import Cell, Grid
from sibyl.experiment.samples import CellResult
from sibyl.experiment.statistics import median, quantile
from sibyl.reproduce.elapsed import appendix_claims
from sibyl.reproduce.on_cluster import (
    COMPUTE,
    SLOWER,
    WARM_UP,
    demand_root,
    measured,
    setting_of,
    stretch,
    wrong_results,
)
from sibyl.reproduce.outcome import Claim, Outcome, Where, judge
from sibyl.reproduce.rack import DELAYS_MS, Means
from sibyl.reproduce.scatter_gather import FIGURE_14, GATHER, KFLOATS, NODES, SCATTER

CONTENDERS = {
    "scatter": ("native", *SCATTER.split(","), "persistent"),
    "gather": ("native", *GATHER.split(","), "persistent"),
}
LARGEST_KFLOATS = 2048
DELAY_MS = 50  # where something else varies
# What the simulator has not.
WHY = {
    "scatter": " LIN sends to one rank after the other, so that half of them leave early; the "
    "sends of SLIN and BSLIN share the root's link and end together.",
    "gather": "",
}
NEAR_BEST = 1.02
NEAR_PAPER = 0.10
COLUMNS = (
    *("along", "algorithm", "published_run_ms"),
    *("run_ms", "run_low_ms", "run_high_ms", "run_paper_ms"),
    *("elapsed_ms", "elapsed_low_ms", "elapsed_high_ms", "elapsed_paper_ms"),
)


@dataclass(frozen=True)
class Figure:
    """What is measured.

    Attributes:
        varies: delay, nodes or size.
    """

    collective: str
    varies: str

    @property
    def unit(self) -> str:
        """Of what varies."""
        return {"delay": "ms", "nodes": "nodes", "size": "K floats"}[self.varies]

    def points(self, hosts: int) -> list[int]:
        """The values of what varies."""
        if self.varies == "nodes":
            return [nodes for nodes in NODES if nodes <= hosts]
        return list(DELAYS_MS if self.varies == "delay" else KFLOATS)


@dataclass(frozen=True)
class Times:
    """Of one contender in one cell, in ms: a metric's median and quartiles."""

    middle: float
    low: float
    high: float


Found = dict[int, dict[str, dict[str, Times]]]


def grid_of(figure: Figure, where: Where, iterations: int) -> Grid:
    """The cells, in the order of the figure's points."""
    cells = []
    for point in figure.points(where.hosts):
        delay = point if figure.varies == "delay" else DELAY_MS
        cells.append(
            Cell(
                point if figure.varies == "nodes" else where.hosts,
                4096 * (point if figure.varies == "size" else LARGEST_KFLOATS),
                "same",
                "uniform",
                delay / 1e3 * stretch(where.rate),
            )
        )
    return Grid(
        collective=figure.collective,
        algorithms=CONTENDERS[figure.collective],
        cells=tuple(cells),
        iterations=iterations,
        warm_up=WARM_UP,
        compute=COMPUTE,
        on="cluster",
        mpi=where.mpi,
        rate=where.rate,
    )


def _times(samples: Sequence[float]) -> Times:
    in_ms = [1e3 * value for value in samples]
    return Times(median(in_ms), quantile(in_ms, 0.25), quantile(in_ms, 0.75))


def outcome_of(figure: Figure, where: Where, results: Sequence[CellResult]) -> Outcome:
    """Both readings, and what becomes of the claims."""
    factor = stretch(where.rate)
    points = figure.points(where.hosts)
    found: Found = {
        point: {
            name: {metric: _times(of[f"{metric}_s"]) for metric in ("run", "elapsed")}
            for name, of in result.samples.items()
        }
        for point, result in zip(points, results, strict=True)
    }
    published = FIGURE_14 if _is_figure_14(figure, where) else {}
    rows: list[list[Any]] = []
    for point, of in found.items():
        for name, both in of.items():
            row: list[Any] = [point, name, published.get((point, name), "")]
            for times in both.values():
                row += [round(value, 3) for value in (times.middle, times.low, times.high)]
                row.append(round(times.middle / factor, 3))
            rows.append(row)
    setting = setting_of(
        where,
        results[0],
        "medians and quartiles",
        f"milliseconds of the paper are ours over {factor:.2f}",
    )
    claims = [
        *wrong_results(results),
        *_claims(figure, found, factor, published),
    ]
    return Outcome(setting, COLUMNS, rows, claims, _draw(figure, found, factor, published))


def _is_figure_14(figure: Figure, where: Where) -> bool:
    return (figure.collective, figure.varies, where.hosts) == ("scatter", "delay", 48)


RunTimes = dict[int, dict[str, float]]  # of a point of the figure and a contender, in seconds here


def _claims(
    figure: Figure, found: Found, factor: float, published: dict[tuple[int, str], float]
) -> list[Claim]:
    means = {
        point: Means(*({n: both[m].middle for n, both in of.items()} for m in ("run", "elapsed")))
        for point, of in found.items()
    }
    run = {point: times.run for point, times in means.items()}
    late = [p for p in found if figure.varies != "delay" or p >= 5]
    claims = [_fastest(figure, run, late, factor)]
    if published:
        claims.append(_as_published(run, published, factor))
    if figure.varies == "nodes":
        claims.append(_growth(figure, run))
    if figure.varies == "size":
        claims.append(_gain(figure, run, factor))
    why = WHY[figure.collective]
    claims += appendix_claims(figure.collective, means, figure.unit, late, why)
    return [*claims, _choice(figure, run)]


def _best_and_base(figure: Figure) -> tuple[str, str]:
    return ("BSLIN", "LIN") if figure.collective == "scatter" else ("BSLS", "LS")


def _fastest(figure: Figure, run: RunTimes, late: list[int], factor: float) -> Claim:
    own = CONTENDERS[figure.collective][1:-1]
    best, _ = _best_and_base(figure)
    last = DELAY_MS if figure.varies == "delay" else late[-1]
    times = ", ".join(f"{name} {run[last][name] / factor:.1f}" for name in own)
    return judge(
        f"{best} is the fastest {figure.collective} under imbalance, or within "
        f"{100 * (NEAR_BEST - 1):.0f} % of it",
        [
            (f"{p} {figure.unit}", run[p][best] <= NEAR_BEST * min(run[p][n] for n in own))
            for p in late
        ],
        f"At {last} {figure.unit}, in ms of the paper: {times}.",
    )


def _as_published(run: RunTimes, published: dict[tuple[int, str], float], factor: float) -> Claim:
    near = {key: run[key[0]][key[1]] / factor / time for key, time in published.items()}
    return judge(
        "LIN takes 65 ms without and 104 ms with 50 ms of delay, SLIN 64 and 94, BSLIN 64 "
        f"and 91 ms (to {100 * NEAR_PAPER:.0f} %)",
        [(f"{n} at {d} ms", abs(r - 1) <= NEAR_PAPER) for (d, n), r in near.items()],
        f"Ours over the published ones {min(near.values()):.2f} to {max(near.values()):.2f}.",
    )


def _growth(figure: Figure, run: RunTimes) -> Claim:
    best, _ = _best_and_base(figure)
    first, last = min(run), max(run)
    grows = run[last][best] / run[first][best]
    return judge(
        "run times grow moderately with the number of nodes",
        [(f"{first} to {last} nodes", grows < 2)],
        f"{best} takes {grows:.2f} times as long; the data in all are the same.",
    )


def _gain(figure: Figure, run: RunTimes, factor: float) -> Claim:
    best, base = _best_and_base(figure)
    gain = {point: (times[base] - times[best]) / factor for point, times in run.items()}
    return judge(
        f"the longer the messages, the more {best} gains on {base}",
        [
            (f"{longer} {figure.unit}", gain[longer] >= 0.9 * gain[shorter])
            for shorter, longer in itertools.pairwise(gain)
        ],
        ", ".join(f"{p} K: {ms:.1f} ms" for p, ms in gain.items()) + " of the paper.",
    )


def _choice(figure: Figure, run: RunTimes) -> Claim:
    ratios = {point: times["persistent"] / times["native"] for point, times in run.items()}
    return judge(
        f"Sibyl's own choice is not slower than the native {figure.collective} by more than "
        f"{100 * (SLOWER - 1):.0f} %",
        [(f"{point} {figure.unit}", ratio <= SLOWER) for point, ratio in ratios.items()],
        f"It takes {min(ratios.values()):.2f} to {max(ratios.values()):.2f} times as long.",
    )


def _draw(
    figure: Figure, found: Found, factor: float, published: dict[tuple[int, str], float]
) -> Callable[[Any], Any]:
    label = {"delay": "largest delay [ms of the paper]", "nodes": "nodes", "size": "K floats"}

    def draw(plt: Any) -> Any:
        picture, axes = plt.subplots(1, 2, figsize=(11, 4.4), sharey=False)
        points = list(found)
        even = figure.varies != "nodes"
        places = list(range(len(points))) if even else points
        for place, metric in zip(axes, ("run", "elapsed"), strict=True):
            for number, name in enumerate(CONTENDERS[figure.collective]):
                times = [found[point][name][metric] for point in points]
                middle = [one.middle / factor for one in times]
                error = [
                    [(one.middle - one.low) / factor for one in times],
                    [(one.high - one.middle) / factor for one in times],
                ]
                own = name not in ("native", "persistent")
                place.errorbar(
                    places, middle, error, fmt="o-" if own else "s--", color=f"C{number}",
                    label=name, markersize=4, capsize=2, linewidth=1.2,
                )  # fmt: skip
            if metric == "run":
                for (point, name), value in published.items():
                    number = CONTENDERS[figure.collective].index(name)
                    place.plot(places[points.index(point)], value, "x", color=f"C{number}",
                               markersize=10, markeredgewidth=2)  # fmt: skip
                if published:
                    place.plot([], [], "kx", label="published")
            if even:
                place.set_xticks(places, [str(point) for point in points])
            place.set(
                xlabel=label[figure.varies], ylabel=f"{metric} time [ms of the paper]",
                ylim=(0, None), title=f"{metric} times, measured",
            )  # fmt: skip
            place.grid(alpha=0.3)
        axes[0].legend(fontsize=8)
        picture.tight_layout()
        return picture

    return draw


def _item(collective: str, varies: str) -> Callable[..., Outcome]:
    figure = Figure(collective, varies)

    def run(where: Where, iterations: int, advance: Callable[[], None]) -> Outcome:
        demand_root()
        results, journal = measured(grid_of(figure, where, iterations), advance)
        outcome = outcome_of(figure, where, results)
        journal.forget()
        return outcome

    return run


figures_14_and_18 = _item("scatter", "delay")
figures_15_and_20 = _item("gather", "delay")
figure_16 = _item("scatter", "size")
figures_17_and_19 = _item("scatter", "nodes")
