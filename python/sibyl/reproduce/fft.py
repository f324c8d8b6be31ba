"""Table 5 of Proficz 2020: the Fourier transform, simulated, and what is claimed of it.

Eight ranks transform windows of 1 MiB. The master sends each its share, each transforms its own, a
gather brings the shares back. The paper gives 43.5 ms of computation a window and neither where it
is spent nor when shares leave. Here every rank computes for so long between its share and the
gather.

Thousand windows make a total time in seconds, so that a second there is a millisecond a window.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy

from sibyl.reproduce.control import nothing, published_only, with_collective, wrong
from sibyl.reproduce.outcome import Claim, Outcome, as_control, deviation, judge, published
from sibyl.reproduce.rack import NETWORK, SETTING
from sibyl.reproduce.worth import Told, span_of_worth, worth_columns, worth_columns_of
from sibyl.simulator.contenders import contenders
from sibyl.simulator.run import run_prepared
from sibyl.simulator.session import Problem, Settings, simulation_of

RANKS = 8
FLOATS = 262144  # of a window
COMPUTE = 43.517e-3  # seconds a window
GATHERS = ("LS", "SLS", "BSLS", "BNOM", "SBN", "BSBN")
# Each that knows who is late, and the same told nothing: as many transfers under way, in the
# background where it is.
CONTROLS = {"SLS": "LS", "BSLS": "BLS", "SBN": "BNOM", "BSBN": "BBNOM"}
UNPUBLISHED = tuple(name for name in CONTROLS.values() if name not in GATHERS)
METRICS = ("total", "run", "elapsed")
WORTHS = tuple(column for metric in METRICS for column in worth_columns_of(metric))
COLUMNS = (
    "gather",
    *(f"{how}_{metric}_ms" for metric in METRICS for how in ("published", "ours")),
    *WORTHS,
)
# From here on a difference counts.
MARGIN = 0.01
FASTER_RUN = 0.92
HALVED = 0.6


@dataclass(frozen=True)
class Window:
    """Of one way to gather, in milliseconds of the paper's network.

    Attributes:
        total: from the samples to the spectrum.
        run: of the gather, from the first arrival to the last exit.
        elapsed: in the gather, mean over the ranks.
    """

    total: float
    run: float
    elapsed: float


def table() -> dict[str, Window]:
    """The published one."""
    return {
        row["algorithm"]: Window(
            float(row["total_time_s"]),
            1e3 * float(row["run_time_s"]),
            1e3 * float(row["elapsed_time_s"]),
        )
        for row in published("fft_table_5")
    }


@dataclass(frozen=True)
class Bound:
    """One way to gather takes at most so many times as long as another; `least`: and no less."""

    own: str
    other: str
    metric: str
    most: float
    least: float = 0.0


class Evidence(Protocol):
    """Times of all ways to gather, and what they show."""

    @property
    def names(self) -> Sequence[str]:
        """Of the ways to gather."""

    def over(self, own: str, other: str, metric: str) -> float:
        """How many times as long one takes as another."""

    def told(self, name: str, metric: str) -> Told:
        """Times of one that knows who is late beside its control."""

    def judged(self, text: str, bounds: Mapping[str, Bound], reason: str, **more: Any) -> Claim:
        """What becomes of a claim about cells, by their names; `more`: as `judge` takes it."""


@dataclass(frozen=True)
class Exact:
    """Times that repeat to the last digit."""

    times: Mapping[str, Window]

    @property
    def names(self) -> Sequence[str]:
        """Of the ways to gather."""
        return list(published_only(self.times))

    def over(self, own: str, other: str, metric: str) -> float:
        """How many times as long one takes as another."""
        return float(getattr(self.times[own], metric) / getattr(self.times[other], metric))

    def told(self, name: str, metric: str) -> Told:
        """Times of one that knows who is late beside its control."""
        names = (name, CONTROLS[name], wrong(name))
        return Told(*([getattr(self.times[of], metric)] for of in names))

    def judged(self, text: str, bounds: Mapping[str, Bound], reason: str, **more: Any) -> Claim:
        """As `judge`."""
        cells = [
            (name, each.least <= self.over(each.own, each.other, each.metric) <= each.most)
            for name, each in bounds.items()
        ]
        return judge(text, cells, reason, **more)


def claims_of(found: Evidence, why: str) -> list[Claim]:
    """What the paper says of the table.

    Args:
        found: times and what they show.
        why: what explains the differences.
    """
    judged = found.judged

    def said(metric: str) -> str:
        ratios = (f"{name} {found.over(name, 'LS', metric):.3f}" for name in found.names)
        return f"{', '.join(ratios)} of LS."

    def shorter(metric: str) -> str:
        parts = (1 - found.over(name, "LS", metric) for name in ("SLS", "BSLS"))
        return " and ".join(f"{100 * part:.1f} %" for part in parts)

    def cells(metric: str, most: float) -> dict[str, Bound]:
        return {name: Bound(name, "LS", metric, most) for name in ("SLS", "BSLS")}

    longer = 1 / (1 + MARGIN)
    claims = [
        judged(
            f"SLS and BSLS shorten the total time, by at least {100 * MARGIN:.0f} % of LS",
            cells("total", 1 - MARGIN), f"{said('total')} {why}", published="3.3 and 3.1 %",
            ours=shorter("total"),
        ),
        judged(
            f"they shorten the gather's run time, by at least {100 * (1 - FASTER_RUN):.0f} %",
            cells("run", FASTER_RUN), said("run"), published="16.7 %", ours=shorter("run"),
        ),
        judged(
            f"they halve the gather's elapsed time (to at most {HALVED} of it)",
            cells("elapsed", HALVED), said("elapsed"), published="50 %", ours=shorter("elapsed"),
        ),
        judged(
            f"binomial trees make the total time longer, by at least {100 * MARGIN:.0f} %",
            {name: Bound("LS", name, "total", longer) for name in ("BNOM", "SBN", "BSBN")},
            "All data pass the root's link once in either; subtrees gather before rank 0 comes.",
            published="3.9 to 7.7 %",
        ),
    ]  # fmt: skip
    claims += [_worth(found, name) for name in CONTROLS]
    if "MPI" in found.names:
        claims.append(
            judged(
                "the MPI library's own gather is as good as LS",
                {"total time": Bound("MPI", "LS", "total", 1 + MARGIN, 1 - MARGIN)},
                "The paper's is Open MPI's, which is LS.",
            )
        )
    return claims


def _worth(found: Evidence, name: str) -> Claim:
    """What knowing brings of what the paper credits it with."""
    told = {metric: found.told(name, metric) for metric in METRICS}
    why = (
        "A sorted tree has its shape only when all are expected."
        if CONTROLS[name].endswith("BNOM")
        else "The ranks come about in the reverse of the order of the ranks, in which the control "
        "asks."
    )
    claim = found.judged(
        f"knowing who is late shortens the total time with {name} by more than {100 * MARGIN:.0f} "
        f"% (control: {CONTROLS[name]}, the same algorithm, told nothing)",
        {"total": Bound(name, CONTROLS[name], "total", 1 / (1 + MARGIN))},
        ", ".join(f"{metric} {cell.worth:.3f}" for metric, cell in told.items())
        + f" of that told the truth. {why}",
        ours=span_of_worth([told["total"]]),
    )
    return as_control(claim, with_collective(name), "total", [told["total"].worth])


def rows_of_worth(found: Evidence, names: Sequence[str]) -> list[list[Any]]:
    """WORTHS of each way to gather, corrected over those of a metric."""
    by_metric = [
        worth_columns([found.told(n, metric) if n in CONTROLS else None for n in names])
        for metric in METRICS
    ]
    return [[one for of in row for one in of] for row in zip(*by_metric, strict=True)]


def _simulated() -> dict[str, Window]:
    """Shares leave one after the other, the last rank's first, as in sibyl-fft."""
    size = 4 * FLOATS
    share = NETWORK.message(size // RANKS)
    received = numpy.array([RANKS - 1, *range(RANKS - 1, 0, -1)]) * share
    arrivals = received + COMPUTE
    settings = Settings("gather", NETWORK)
    problem = Problem(RANKS, size, "fixed", 0.0)
    found = {}
    names = {name: name for name in (*GATHERS, *map(wrong, CONTROLS))}
    names |= {nothing(name): own for name, own in CONTROLS.items() if own in UNPUBLISHED}
    for contender in contenders("gather", ",".join(names)):
        prepared = simulation_of(problem, contender, settings, arrivals)
        result = run_prepared(prepared, NETWORK, arrivals)
        times = (float(result.exits[0]), result.run_time, result.elapsed)
        found[names[contender.name]] = Window(*(1e3 * time for time in times))
    return found


def table_5(_iterations: int, advance: Callable[[], None]) -> Outcome:
    """All six algorithms in simulated time."""
    ours, theirs = _simulated(), table()
    advance()
    rows: list[list[Any]] = []
    for name in dict.fromkeys([*theirs, *ours]):
        row: list[Any] = [name]
        for metric in METRICS:
            for of in (theirs, ours):
                row.append(round(getattr(of[name], metric), 3) if name in of else "")
        rows.append(row)
    found = Exact(ours)
    for row, more in zip(rows, rows_of_worth(found, [row[0] for row in rows]), strict=True):
        row += more
    setting = (
        f"{SETTING}; {RANKS} ranks, windows of 1 MiB; shares leave one after the other, the last "
        f"rank's first; {1e3 * COMPUTE:.1f} ms of computation between a share and the gather"
    )
    why = (
        "Ranks 0 and 1 come last and together, when all others are there: the order makes no "
        "difference then. Who takes blocks in the background has all but one when rank 0 comes."
    )
    error = deviation(
        (getattr(own, metric), getattr(theirs[name], metric))
        for name, own in ours.items()
        if name in theirs
        for metric in METRICS
    )
    picture = draw({name: ours[name] for name in found.names}, theirs, "simulated")
    return Outcome(setting, COLUMNS, rows, claims_of(found, why), picture, error)


def draw(
    ours: Mapping[str, Window],
    theirs: Mapping[str, Window],
    how: str,
    spread: Mapping[str, Mapping[str, tuple[float, float]]] | None = None,
) -> Callable[[Any], Any]:
    """Bars of the three times, published beside ours; `spread`: below and above ours."""

    def paint(plt: Any) -> Any:
        names = list(dict.fromkeys([*theirs, *ours]))
        figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
        for place, metric in zip(axes, METRICS, strict=True):
            sides = ((-0.2, theirs, "published", "#999999"), (0.2, ours, how, "#0072B2"))
            for offset, values, label, colour in sides:
                own = [(i, name) for i, name in enumerate(names) if name in values]
                error = None
                if spread is not None and values is ours:
                    pairs = [spread[name][metric] for _, name in own]
                    error = [list(side) for side in zip(*pairs, strict=True)]
                place.bar(
                    [i + offset for i, _ in own], [getattr(values[n], metric) for _, n in own],
                    0.38, label=label, color=colour, yerr=error,
                    error_kw={"elinewidth": 0.8, "capsize": 2, "capthick": 0.8},
                )  # fmt: skip
            place.set_xticks(range(len(names)), names, rotation=45, ha="right")
            place.set_title(
                {"total": "whole window", "run": "gather's run time", "elapsed": "elapsed"}[metric]
            )
            place.grid(alpha=0.3, axis="y")
        axes[0].set_ylabel("ms of the paper's network")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncol=2, fontsize=9)
        return figure

    return paint
