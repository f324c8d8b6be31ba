"""What prediction did in a run, per call site: who was late, how well known, and what it saved.

Read from the recording of the run (sibyl.mpi.arrivals). The cost of a call is the time from the
last rank's arrival to the last departure, so that nobody's lateness counts. What was saved is a
difference of medians: of the calls that the MPI library served, one in sixteen drawn by number, or
of those that Sibyl served in the fixed order, less that of those in the predicted order.

The imbalance factor is that of A. Faraj, P. Patarasuk, X. Yuan, A Study of Process Arrival Patterns
for MPI Collective Operations, 2008: the spread of the arrivals over the time of one message of the
call's bytes. It tells whether a message could be sent before the last rank arrives, not what a
whole call can gain; for that the spread stands over the cost of a native call, too.
"""

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from sibyl.terminal import seconds_text

# A median of fewer calls says nothing.
ENOUGH = 5
HEADINGS = (
    "in order",
    "imbalance",
    "spread/cost",
    "late most",
    "error",
    "saved a call",
    "by order",
)


@dataclass(frozen=True)
class SiteReport:
    """One call site; None where too few calls tell.

    Attributes:
        name: collective, root if it has one, and bytes.
        calls: all of them, and those in the predicted order.
        predicted: those in the predicted order.
        imbalance: Faraj's factor: median spread of arrivals over the time of one message; None
            where messages were not measured.
        spread_over_cost: the same spread over the median cost of a native call.
        late_rank: who came last most often.
        late_share: in which part of the calls.
        error: median error of the prediction over ranks and predicted calls, in seconds.
        relative_error: the same over the median spread.
        saved: seconds a call, native less predicted; negative is a loss.
        saved_by_order: the same, fixed order less predicted.
    """

    name: str
    calls: int
    predicted: int
    imbalance: float | None
    spread_over_cost: float | None
    late_rank: int
    late_share: float
    error: float | None
    relative_error: float | None
    saved: float | None
    saved_by_order: float | None


def _median(values: list[float]) -> float | None:
    return statistics.median(values) if len(values) >= ENOUGH else None


def _difference(one: float | None, other: float | None) -> float | None:
    return one - other if one is not None and other is not None else None


def _quotient(one: float | None, other: float | None) -> float | None:
    return one / other if one is not None and other else None


def _costs(calls: Sequence[dict[str, Any]]) -> dict[str, list[float]]:
    """From the last arrival to the last departure, of the calls of each kind of service."""
    costs: dict[str, list[float]] = {"native": [], "fixed": [], "predicted": []}
    for call in calls:
        costs[call["served"]].append(max(call["departures"]) - max(call["times"]))
    return costs


def _errors(site: dict[str, Any], calls: Sequence[dict[str, Any]]) -> list[float]:
    """How far the ranks of predicted calls were from their prediction, as far as it is known."""
    patterns = {pattern["version"]: pattern["times"] for pattern in site.get("patterns", [])}
    return [
        abs(told - time)
        for call in calls
        if call["served"] == "predicted" and call["version"] in patterns
        for told, time in zip(patterns[call["version"]], call["times"], strict=True)
    ]


def site_report(site: dict[str, Any]) -> SiteReport | None:
    """The report of a site of a recording; None where nothing was predicted."""
    calls = [call for call in site["calls"] if "served" in call]
    if not calls:
        return None
    costs = _costs(calls)
    native, fixed, predicted = (_median(costs[kind]) for kind in ("native", "fixed", "predicted"))
    error = _median(_errors(site, calls))
    spread = statistics.median(max(call["times"]) for call in calls)
    last = Counter(call["times"].index(max(call["times"])) for call in calls)
    late, times_late = min(last.items(), key=lambda item: (-item[1], item[0]))
    root = f", root {site['root']}" if site["root"] >= 0 else ""
    return SiteReport(
        name=f"{site['collective']}{root}, {site['bytes']} B",
        calls=len(calls),
        predicted=len(costs["predicted"]),
        imbalance=_quotient(spread, site.get("message_seconds")),
        spread_over_cost=_quotient(spread, native),
        late_rank=site["group"][late],
        late_share=times_late / len(calls),
        error=error,
        relative_error=_quotient(error, spread),
        saved=_difference(native, predicted),
        saved_by_order=_difference(fixed, predicted),
    )


def _factor(value: float | None) -> str:
    return "-" if value is None else f"{value:.2g}"


def _signed(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return ("-" if seconds < 0 else "") + seconds_text(abs(seconds))


def print_predictions(recording: dict[str, Any], console: Console) -> None:
    """Print the closing table of prediction; nothing where nothing was predicted."""
    reports = [report for site in recording["sites"] if (report := site_report(site))]
    if not reports:
        console.print(
            "sibyl: no call was predicted; from the third call of a communicator on gathers and "
            "scatters are, with equal blocks or any, and reduces, and allreduces between hosts, "
            "where Sibyl serves them; with piggyback long allreduces between hosts alone",
            highlight=False,
            soft_wrap=True,
        )
        return
    table = Table(title="Prediction", title_justify="left")
    table.add_column("call site")
    for heading in HEADINGS:
        table.add_column(heading, justify="right")
    for one in sorted(reports, key=lambda report: -report.calls):
        error = "-"
        if one.error is not None:
            share = f" ({100 * one.relative_error:.0f} %)" if one.relative_error is not None else ""
            error = seconds_text(one.error) + share
        table.add_row(
            one.name,
            f"{one.predicted} of {one.calls}",
            _factor(one.imbalance),
            _factor(one.spread_over_cost),
            f"rank {one.late_rank} ({100 * one.late_share:.0f} %)",
            error,
            _signed(one.saved),
            _signed(one.saved_by_order),
        )
    console.print(table)
