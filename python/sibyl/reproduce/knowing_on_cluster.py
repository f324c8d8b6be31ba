"""Where it pays to know who is late, on a cluster of namespaces: cells of knowing.py's regions.

Every algorithm that listens, told the truth, nothing, and the times of others, beside the MPI
library's own. Gather and scatter as published, one transfer under way, in the persistent form, told
by an edge at half of the computation; the others are calls that are told. Delays are in transfers
of what the link of one rank carries. A sorted gather also passes over who was asked in vain, which
is no knowledge: told the times of others it does so too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sibyl.cluster.state import parse_rate
from sibyl.experiment.grid import Cell, Grid
from sibyl.experiment.samples import CellResult
from sibyl.experiment.statistics import median, quartiles
from sibyl.reproduce.control import MARGIN, nothing, wrong
from sibyl.reproduce.evidence import Statement, iterations_of, only_from_enough, shown, told_in
from sibyl.reproduce.knowing import PAYS
from sibyl.reproduce.on_cluster import (
    COMPUTE,
    WARM_UP,
    demand_root,
    measured_together,
    wrong_results,
)
from sibyl.reproduce.outcome import Claim, Outcome, Where
from sibyl.reproduce.worth import WORTH_COLUMNS, span_of_worth, worth_columns

COLUMNS = (
    *("collective", "bytes", "arrivals", "delay_over_transfer", "contender"),
    *("absorbed_ms", "absorbed_low_ms", "absorbed_high_ms", *WORTH_COLUMNS),
)


@dataclass(frozen=True)
class Case:
    """A cell.

    Attributes:
        listeners: the algorithms that listen, as they are told the truth.
        size: bytes in all (gather, scatter), or of a rank's vector.
        pattern: uniform, or one rank late (skewed).
        delay: the largest, in transfers of `size`.
        pays: whether it lies in a region of knowing.py where knowing pays.
    """

    collective: str
    listeners: tuple[str, ...]
    size: int
    pattern: str
    delay: float
    pays: tuple[bool, ...]

    @property
    def contenders(self) -> tuple[str, ...]:
        """With their controls, and the library's own."""
        return ("native", *(name for one in self.listeners for name in versions_of(one)))


CASES = (
    Case("gather", ("SLS", "BSLS"), 2 << 20, "uniform", 1, (True, True)),
    Case("scatter", ("SLIN", "BSLIN"), 2 << 20, "uniform", 1, (True, False)),
    Case("reduce", ("right:clairvoyant",), 1 << 20, "skewed", 4, (True,)),
    Case("allreduce", ("right:pre-reduced-ring",), 1 << 20, "skewed", 2, (True,)),
    Case("bcast", ("right:clairvoyant",), 1 << 20, "uniform", 1, (True,)),
)


def versions_of(listener: str) -> tuple[str, str, str]:
    """Told the truth, nothing, and the times of others."""
    plain = listener.removeprefix("right:")
    return listener, nothing(plain), wrong(plain)


def grids_of(where: Where, iterations: int) -> list[Grid]:
    """One of each case."""
    grids = []
    for case in CASES:
        delay = case.delay * case.size * 8 / parse_rate(where.rate)
        cell = Cell(where.hosts, case.size, "same", case.pattern, delay)
        grids.append(
            Grid(
                case.collective, case.contenders, (cell,), iterations, WARM_UP, COMPUTE,
                on="cluster", mpi=where.mpi, rate=where.rate,
            )
        )  # fmt: skip
    return grids


def outcome_of(where: Where, results: Sequence[CellResult]) -> Outcome:
    """The table, and where knowing pays and where it does not, by absorbed times."""
    rows: list[list[Any]] = []
    told = []
    claims: list[Claim] = list(wrong_results(results))
    for case, result in zip(CASES, results, strict=True):
        for name, of in result.samples.items():
            times = [1e3 * time for time in of["absorbed_s"]]
            rows.append(
                [case.collective, case.size, case.pattern, case.delay, name]
                + [round(time, 2) for time in (median(times), *quartiles(times))]
            )
            listens = name in case.listeners
            told.append(told_in(result, *versions_of(name), "absorbed") if listens else None)
        for listener, pays in zip(case.listeners, case.pays, strict=True):
            claims.append(_claim(case, result, listener, pays))
    for row, more in zip(rows, worth_columns(told), strict=True):
        row += more
    setting = (
        f"measured: {where.hosts} hosts of a namespace cluster at {where.rate} each, "
        f"{results[0].job['mpi']}; absorbed times, {1e3 * COMPUTE:.0f} ms of emulated computation; "
        f"medians and quartiles of {iterations_of(results)} interleaved iterations"
    )
    claims = only_from_enough(claims, where.hosts, iterations_of(results))
    return Outcome(setting, COLUMNS, rows, claims, lambda plt: _draw(plt, results))


def _claim(case: Case, result: CellResult, listener: str, pays: bool) -> Claim:
    truth, control, others = versions_of(listener)
    cell = told_in(result, truth, control, others, "absorbed")
    assert cell is not None
    what = f"{case.collective} {listener.removeprefix('right:')}"
    apart = "one late" if case.pattern == "skewed" else "all apart"
    where = f"{apart}, by {case.delay:g} of a transfer"
    if pays:
        text = f"{what}: knowing shortens it by at least {100 * (PAYS - 1):.0f} % ({where})"
        said = Statement(truth, control, 1 / PAYS, "absorbed")
    else:
        text = f"{what}: knowing shortens it by no more than {100 * MARGIN:.0f} % ({where})"
        said = Statement(control, truth, 1 + MARGIN, "absorbed")
    native = Statement(truth, "native", metric="absorbed").ratio(result)
    return shown(
        text,
        {f"{case.collective} {case.size >> 10} KiB": (result, said)},
        f"Told the times of others over told the truth: {cell.wrong:.2f}; told the truth over the "
        f"MPI library's own: {native:.2f}.",
        kind="control",
        ours=span_of_worth([cell]),
    )


def _draw(plt: Any, results: Sequence[CellResult]) -> Any:
    figure, axes = plt.subplots(1, len(CASES), figsize=(3 * len(CASES), 4))
    for place, case, result in zip(axes, CASES, results, strict=True):
        names = list(result.samples)
        times = [[1e3 * t for t in result.samples[name]["absorbed_s"]] for name in names]
        place.boxplot(times, showfliers=False)
        place.set_xticks(range(1, len(names) + 1), names, rotation=60, ha="right", fontsize=7)
        place.set(title=case.collective, ylim=(0, None))
        place.grid(alpha=0.3, axis="y")
    axes[0].set_ylabel("absorbed time [ms]")
    figure.tight_layout()
    return figure


def regions(where: Where, iterations: int, advance: Callable[[], None]) -> Outcome:
    """All cases, on one cluster."""
    demand_root()
    found, run = measured_together(grids_of(where, iterations), advance)
    outcome = outcome_of(where, [result for (result,) in found])
    run.forget()
    return outcome
