"""Figures 14 to 20 of Proficz 2020 measured on a cluster of namespaces.

Run and elapsed times are two readings of one measurement, so a figure of run times and its twin of
elapsed times in the appendix are one item. As with the tables (on_cluster.py) links are slower than
the paper's and delays longer by the same factor; times are also given divided by it, as
milliseconds of the paper's network.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sibyl.experiment.grid import Cell, Grid
from sibyl.experiment.samples import CellResult
from sibyl.experiment.statistics import median, rank_sum_greater
from sibyl.reproduce.control import (
    MARGIN,
    MeanTimes,
    nothing,
    published_only,
    with_collective,
    with_controls,
    wrong,
)
from sibyl.reproduce.elapsed import (
    ALIKE,
    NO_LONGER,
    WHAT,
    WHICH_PAIRS,
    pairs_of,
    ratios_at,
)
from sibyl.reproduce.evidence import (
    Alike,
    NearTime,
    Paired,
    Statement,
    decided,
    iterations_of,
    limits_of,
    only_from_enough,
    shown,
    told_in,
)
from sibyl.reproduce.largest_on_cluster import factors, largest, sinks
from sibyl.reproduce.measured_lines import Found, draw_both, quartiles_of
from sibyl.reproduce.on_cluster import (
    COMPUTE,
    SLOWER,
    WARM_UP,
    of_grids,
    setting_of,
    stretch,
    wrong_results,
)
from sibyl.reproduce.outcome import Claim, Measurement, Outcome, Where, as_control
from sibyl.reproduce.rack import DELAYS_MS, Means
from sibyl.reproduce.scatter_gather import (
    AWARE,
    FIGURE_14,
    GATHER,
    KFLOATS,
    NEAR,
    NODES,
    SCATTER,
)
from sibyl.reproduce.worth import WORTH_COLUMNS, span_of_worth, worth_columns, worth_columns_of

# What the papers propose, with as many transfers under way as Sibyl has by default.
OWN_WINDOW = {"scatter": "BSLIN@4", "gather": "BSLS@24"}
PUBLISHED = {"scatter": SCATTER, "gather": GATHER}
LARGEST_KFLOATS = 2048
DELAY_MS = 50  # where something else varies
COLUMNS = (
    *("along", "algorithm", "published_run_ms"),
    *("run_ms", "run_low_ms", "run_high_ms", "run_paper_ms"),
    *("elapsed_ms", "elapsed_low_ms", "elapsed_high_ms", "elapsed_paper_ms"),
    *WORTH_COLUMNS,  # of run times
    *worth_columns_of("elapsed"),
)


@dataclass(frozen=True)
class Figure:
    """What is measured.

    Attributes:
        varies: delay, nodes or size.
        queue: bytes in front of each link at the switch, which loses what does not fit; 0: none.
        contenders: who takes part, of those of the paper, their controls and the library's own;
            all of them if none.
    """

    collective: str
    varies: str
    queue: int = 0
    contenders: tuple[str, ...] = ()

    @property
    def aware(self) -> tuple[str, ...]:
        """Who knows who is late and stands beside a control."""
        known = (*AWARE[self.collective], OWN_WINDOW[self.collective])
        return tuple(name for name in known if name in (self.contenders or known))

    @property
    def names(self) -> tuple[str, ...]:
        """Who takes part."""
        published = f"{PUBLISHED[self.collective]},{OWN_WINDOW[self.collective]}"
        with_all = with_controls(published, *self.aware).split(",")
        return self.contenders or ("native", *with_all, "persistent")

    @property
    def unit(self) -> str:
        """Of what varies."""
        return {"delay": "ms", "nodes": "nodes", "size": "K floats"}[self.varies]

    def points(self, hosts: int) -> list[int]:
        """The values of what varies."""
        if self.varies == "nodes":
            return [nodes for nodes in NODES if nodes <= hosts]
        return list(DELAYS_MS if self.varies == "delay" else KFLOATS)


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
        algorithms=figure.names,
        cells=tuple(cells),
        iterations=iterations,
        warm_up=WARM_UP,
        compute=COMPUTE,
        on="cluster",
        mpi=where.mpi,
        rate=where.rate,
        queue=figure.queue,
    )


def outcome_of(figure: Figure, where: Where, results: Sequence[CellResult]) -> Outcome:
    """Both readings, and what becomes of the claims."""
    factor = stretch(where.rate)
    points = figure.points(where.hosts)
    found: Found = {
        point: {
            name: {metric: quartiles_of(of[f"{metric}_s"]) for metric in ("run", "elapsed")}
            for name, of in result.samples.items()
        }
        for point, result in zip(points, results, strict=True)
    }
    is_figure_14 = (figure.collective, figure.varies, where.hosts) == ("scatter", "delay", 48)
    published = FIGURE_14 if is_figure_14 else {}
    rows: list[list[Any]] = []
    for point, of in found.items():
        for name, both in of.items():
            row: list[Any] = [point, name, published.get((point, name), "")]
            for times in both.values():
                row += [round(value, 3) for value in (times.middle, times.low, times.high)]
                row.append(round(times.middle / factor, 3))
            rows.append(row)
    for metric in ("run", "elapsed"):
        told = [told_in(r, n, nothing(n), wrong(n), metric) for r in results for n in r.samples]
        for row, more in zip(rows, worth_columns(told), strict=True):
            row += more
    setting = setting_of(
        where,
        results[0],
        "medians and quartiles",
        f"milliseconds of the paper are ours over {factor:.2f}",
        figure.queue,
    )
    claims = wrong_results(results)
    if not figure.contenders:  # else whoever chose them judges them
        by_point = dict(zip(points, results, strict=True))
        claims += _claims(figure, by_point, factor, published)
    claims = only_from_enough(claims, where.hosts, iterations_of(results))
    picture = draw_both(figure.varies, figure.names, found, factor, published)
    return Outcome(setting, COLUMNS, rows, claims, picture)


RunTimes = Mapping[int, Mapping[str, float]]  # of a point and a contender, in ms here


def _claims(
    figure: Figure,
    results: dict[int, CellResult],
    factor: float,
    published: dict[tuple[int, str], float],
) -> list[Claim]:
    run = {point: times.run for point, times in _means(results).items()}
    late = [p for p in results if figure.varies != "delay" or p >= 5]
    claims = [_fastest(figure, results, run, late, factor), default(figure, results, late)]
    if published:
        claims.append(
            shown(
                "run times in ms of LIN, SLIN, BSLIN without delay, and with 50 ms (each to "
                f"{100 * NEAR:.0f} %, upwards and downwards)",
                {
                    f"{name} at {d} ms": (results[d], NearTime(name, factor * ms / 1e3, NEAR))
                    for (d, name), ms in published.items()
                },
                published=", ".join(f"{ms:g}" for ms in published.values()),
                ours=", ".join(f"{run[d][name] / factor:.3g}" for d, name in published),
            )
        )
    if figure.varies == "delay":
        claims += [largest(figure.collective, results), factors(figure.collective, results)]
        claims += [sinks(results)] if figure.collective == "gather" else []
    if figure.varies == "nodes":
        claims.append(_growth(figure, results))
    if figure.varies == "size":
        claims.append(_gain(figure, results, factor))
    claims += appendix(figure, results, late)
    for name in figure.aware:
        claims += [worth(figure, results, late, name, metric) for metric in ("run", "elapsed")]
    return [*claims, _choice(figure, results)]


def _best_and_base(figure: Figure) -> tuple[str, str]:
    return ("BSLIN", "LIN") if figure.collective == "scatter" else ("BSLS", "LS")


def _fastest(
    figure: Figure, results: dict[int, CellResult], run: RunTimes, late: list[int], factor: float
) -> Claim:
    own = [name for name in published_only(run[late[0]]) if name not in ("native", "persistent")]
    best, _ = _best_and_base(figure)
    last = DELAY_MS if figure.varies == "delay" else late[-1]
    times = ", ".join(f"{name} {run[last][name] / factor:.1f}" for name in own)
    return shown(
        f"{best} is the fastest {figure.collective} under imbalance, or within 2 % of it",
        {
            f"{other} at {p} {figure.unit}": (results[p], Statement(best, other, 1 + MARGIN))
            for p in late
            for other in own
            if other != best
        },
        f"At {last} {figure.unit}, in ms of the paper: {times}.",
    )


def default(figure: Figure, results: Mapping[int, CellResult], late: list[int]) -> Claim:
    """Whether what the paper proposes is ahead of what a program gets."""
    best, _ = _best_and_base(figure)
    return shown(
        f"under imbalance {best} is faster than the MPI library's default (native)",
        {f"{p} {figure.unit}": (results[p], Statement(best, "native")) for p in late},
        published="in the figure",
    )


def worth(
    figure: Figure, results: dict[int, CellResult], late: list[int], name: str, metric: str
) -> Claim:
    """What an algorithm of a figure gains by knowing."""
    told = {p: told_in(results[p], name, nothing(name), wrong(name), metric) for p in late}
    cells = {p: cell for p, cell in told.items() if cell is not None}
    listed = ", ".join(f"{cell.wrong:.2f} at {p}" for p, cell in cells.items())
    faster = 1 / (1 + MARGIN)
    claim = shown(
        f"knowing who is late shortens {WHAT if metric == 'elapsed' else ''}{name} by more than "
        f"{100 * MARGIN:.0f} % (control: the same algorithm, told nothing)",
        {
            f"{p} {figure.unit}": (results[p], Paired(name, nothing(name), faster, metric))
            for p in cells
        },
        f"Told the times of others over told the truth: {listed} {figure.unit}.",
        ours=span_of_worth(list(cells.values())),
    )
    which = with_collective(name, figure.collective)
    return as_control(claim, which, metric, (cell.worth for cell in cells.values()))


def _means(results: Mapping[int, CellResult]) -> dict[int, Means]:
    """Medians along what varies, in ms."""

    def middle(result: CellResult, metric: str) -> MeanTimes:
        of = result.samples
        return MeanTimes({name: 1e3 * median(own[f"{metric}_s"]) for name, own in of.items()})

    return {p: Means(middle(one, "run"), middle(one, "elapsed")) for p, one in results.items()}


def appendix(figure: Figure, results: Mapping[int, CellResult], late: list[int]) -> list[Claim]:
    """What the paper says of elapsed times, by the samples.

    Args:
        figure: whose points these are.
        results: along what varies.
        late: the points under imbalance.
    """
    means = _means(results)
    pairs = pairs_of(figure.collective, figure.names)
    alike = shown(
        ALIKE,
        {
            f"{aware} at {p} {figure.unit}": (result, Alike(aware, base, MARGIN))
            for p, result in results.items()
            for aware, base in pairs
        },
        WHICH_PAIRS,
    )
    no_longer = shown(
        f"{NO_LONGER}, by more than {100 * MARGIN:.0f} %",
        {
            f"{aware} at {p} {figure.unit}": (
                results[p], Statement(aware, base, 1 + MARGIN, "elapsed")
            )
            for p in late
            for aware, base in pairs
        },
        ratios_at(figure.collective, means, figure.unit, late[-1]),
    )  # fmt: skip
    return [alike, no_longer]


def _growth(figure: Figure, results: dict[int, CellResult]) -> Claim:
    best, _ = _best_and_base(figure)
    first, last = min(results), max(results)
    pair = {"last": results[last].samples[best], "first": results[first].samples[best]}
    return shown(
        "run times grow moderately with the number of nodes (to less than twice)",
        {
            f"{first} to {last} nodes": (
                replace(results[last], samples=pair), Statement("last", "first", 2.0)
            )
        },
        f"{best}; the data in all are the same.",
    )  # fmt: skip


def _gain(figure: Figure, results: Mapping[int, CellResult], factor: float) -> Claim:
    best, base = _best_and_base(figure)

    def gains_of(result: CellResult) -> list[float]:
        """Of each iteration, in ms of the paper."""
        slow, fast = (result.samples[name]["run_s"] for name in (base, best))
        return [1e3 * (s - f) / factor for s, f in zip(slow, fast, strict=True)]

    gains = {point: gains_of(result) for point, result in results.items()}
    limited = limits_of({str(point): (result, base) for point, result in results.items()})
    chances, limits = {}, {}
    for shorter, longer in itertools.pairwise(gains):
        name = f"{longer} {figure.unit}"
        least = [gain - 0.1 * abs(gain) for gain in gains[shorter]]
        more = rank_sum_greater(gains[longer], least), rank_sum_greater(least, gains[longer])
        chances[name] = more
        why = limited.get(str(shorter)) or limited.get(str(longer))
        if why:
            limits[name] = why
    medians = ", ".join(f"{point} K: {median(of):.1f} ms" for point, of in gains.items())
    return decided(
        f"the longer the messages, the more {best} gains on {base} (a tenth less is no difference)",
        chances,
        f"{medians} of the paper.",
        limits,
    )


def _choice(figure: Figure, results: dict[int, CellResult]) -> Claim:
    return shown(
        f"Sibyl's own choice is not slower than the native {figure.collective} by more than "
        f"{100 * (SLOWER - 1):.0f} %",
        {
            f"{point} {figure.unit}": (result, Statement("persistent", "native", SLOWER))
            for point, result in results.items()
        },
        kind="own",
    )


def _item(collective: str, varies: str) -> Measurement:
    figure = Figure(collective, varies)
    return of_grids(
        lambda where, iterations: {"": [grid_of(figure, where, iterations)]},
        lambda where, parts: outcome_of(figure, where, parts[""]),
    )


figures_14_and_18 = _item("scatter", "delay")
figures_15_and_20 = _item("gather", "delay")
figure_16 = _item("scatter", "size")
figures_17_and_19 = _item("scatter", "nodes")
