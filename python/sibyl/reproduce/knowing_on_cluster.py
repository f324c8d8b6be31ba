"""Where it pays to know who is late, on a cluster of namespaces: cells of knowing.py's regions.

Every algorithm that listens, told the truth, nothing, and the times of others, beside the MPI
library's own, under Open MPI and under MPICH. Gather and scatter in the persistent form, told by an
edge at half of the computation, with one transfer under way, as published, with a few, and with
all; the others are calls that are told. Delays are in transfers of what the link of one rank
carries. No allgather listens: what one could gain at most shows how near the bound the ring is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sibyl.cluster.state import parse_rate
from sibyl.experiment.grid import ROOTED_BLOCKS, Cell, Grid
from sibyl.experiment.samples import CellResult
from sibyl.experiment.statistics import median, quartiles
from sibyl.reproduce.control import MARGIN, nothing, wrong
from sibyl.reproduce.evidence import (
    Paired,
    Statement,
    iterations_of,
    only_from_enough,
    shown,
    told_in,
)
from sibyl.reproduce.knowing import NEAR_BOUND, PAYS, RING
from sibyl.reproduce.on_cluster import (
    COMPUTE,
    WARM_UP,
    of_grids,
    wrong_results,
)
from sibyl.reproduce.outcome import MPIS, Claim, Outcome, Parts, Where, as_control
from sibyl.reproduce.worth import WORTH_COLUMNS, span_of_worth, worth_columns

COLUMNS = (
    *("mpi", "collective", "bytes", "arrivals", "delay_over_transfer", "contender"),
    *("absorbed_ms", "absorbed_low_ms", "absorbed_high_ms", *WORTH_COLUMNS),
)


@dataclass(frozen=True)
class Case:
    """A cell.

    Attributes:
        listeners: the algorithms that listen, as they are told the truth; NAME@K has K transfers
            under way.
        size: bytes in all (gather, scatter, allgather), or of a rank's vector.
        pattern: uniform, or one rank late (skewed).
        delay: the largest, in transfers of `size`.
        pays: whether it lies in a region of knowing.py where knowing pays.
        deaf: an algorithm that is told nothing, which is held against the bound instead.
    """

    collective: str
    listeners: tuple[str, ...]
    size: int
    pattern: str
    delay: float
    pays: tuple[bool, ...]
    deaf: str = ""

    @property
    def contenders(self) -> tuple[str, ...]:
        """With their controls, and the library's own."""
        told = (name for one in self.listeners for name in versions_of(one))
        return ("native", *told, *([self.deaf] if self.deaf else []))

    @property
    def arrivals(self) -> str:
        """In words."""
        apart = "one late" if self.pattern == "skewed" else "all apart"
        return f"{apart}, by {self.delay:g} of a transfer"

    def label(self, listener: str) -> str:
        """Of one that listens, with its collective and what its root has under way."""
        name, _, under_way = listener.removeprefix("right:").partition("@")
        way = f", {'all' if under_way == '0' else under_way or 1} under way"
        return f"{self.collective} {name}{way if self.collective in ROOTED_BLOCKS else ''}"


CASES = (
    Case(
        "gather", ("SLS", "BSLS", "SLS@0", "BSLS@0"), 2 << 20, "uniform", 1,
        (True, True, False, False),
    ),
    Case(
        "scatter", ("SLIN@1", "SLIN@2", "SLIN@0", "BSLIN@1"), 2 << 20, "uniform", 1,
        (True, True, False, False),
    ),
    Case("reduce", ("right:clairvoyant",), 1 << 20, "skewed", 4, (True,)),
    Case("allreduce", ("right:pre-reduced-ring",), 1 << 20, "skewed", 2, (True,)),
    Case("bcast", ("right:clairvoyant",), 1 << 20, "uniform", 1, (True,)),
    Case("allgather", (), 2 << 20, "skewed", 1, (), deaf=RING),
)  # fmt: skip


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


def outcome_of(where: Where, results: Parts) -> Outcome:
    """The table, and where knowing pays and where it does not, by absorbed times."""
    rows: list[list[Any]] = []
    told = []
    everything = [result for of in results.values() for result in of]
    for mpi, of_mpi in results.items():
        for case, result in zip(CASES, of_mpi, strict=True):
            for name, of in result.samples.items():
                times = [1e3 * time for time in of["absorbed_s"]]
                rows.append(
                    [mpi, case.collective, case.size, case.pattern, case.delay, name]
                    + [round(time, 2) for time in (median(times), *quartiles(times))]
                )
                listens = name in case.listeners
                told.append(told_in(result, *versions_of(name), "absorbed") if listens else None)
    for row, more in zip(rows, worth_columns(told), strict=True):
        row += more
    claims: list[Claim] = list(wrong_results(everything))
    for number, case in enumerate(CASES):
        of_case = {mpi: of[number] for mpi, of in results.items()}
        for listener, pays in zip(case.listeners, case.pays, strict=True):
            claims.append(_claim(case, of_case, listener, pays))
        if case.deaf:
            claims.append(_near_bound(case, of_case))
    mpis = " and ".join(dict.fromkeys(of[0].job["mpi"] for of in results.values()))
    setting = (
        f"measured: {where.hosts} hosts of a namespace cluster at {where.rate} each, {mpis}; "
        f"absorbed times, {1e3 * COMPUTE:.0f} ms of emulated computation; medians and quartiles of "
        f"{iterations_of(everything)} interleaved iterations"
    )
    claims = only_from_enough(claims, where.hosts, iterations_of(everything))
    return Outcome(setting, COLUMNS, rows, claims, lambda plt: _draw(plt, results))


def _claim(case: Case, results: Mapping[str, CellResult], listener: str, pays: bool) -> Claim:
    truth, without, others = versions_of(listener)
    told = {mpi: told_in(one, truth, without, others, "absorbed") for mpi, one in results.items()}
    known = {mpi: cell for mpi, cell in told.items() if cell is not None}
    what = case.label(listener)
    if pays:
        text = f"{what}: knowing shortens it by at least {100 * (PAYS - 1):.0f} % ({case.arrivals})"
        said = Paired(truth, without, 1 / PAYS, "absorbed")
    else:
        text = f"{what}: knowing shortens it by no more than {100 * MARGIN:.0f} % ({case.arrivals})"
        said = Paired(without, truth, 1 + MARGIN, "absorbed")
    native = Statement(truth, "native", metric="absorbed")
    wrong_told = ", ".join(f"{cell.wrong:.2f} ({mpi})" for mpi, cell in known.items())
    to_native = ", ".join(f"{native.ratio(one):.2f} ({mpi})" for mpi, one in results.items())
    claim = shown(
        text,
        {mpi: (result, said) for mpi, result in results.items()},
        f"Told the times of others over told the truth: {wrong_told}; told the truth over the MPI "
        f"library's own: {to_native}.",
        ours="told nothing over told the truth: "
        + ", ".join(
            f"{span_of_worth([cell]).partition(': ')[2]} under {mpi}" for mpi, cell in known.items()
        ),
    )
    return as_control(claim, what, "absorbed", (cell.worth for cell in known.values()))


def _near_bound(case: Case, results: Mapping[str, CellResult]) -> Claim:
    said = Statement(case.deaf, "bound", NEAR_BOUND, "absorbed")
    beside = {mpi: _with_bound(result, case.deaf) for mpi, result in results.items()}
    over = ", ".join(f"{said.ratio(result):.2f} under {mpi}" for mpi, result in beside.items())
    claim = shown(
        f"{case.collective}: knowing can shorten it by at most {100 * (NEAR_BOUND - 1):.0f} %, "
        f"since the {case.deaf}, told nothing, takes no more than {NEAR_BOUND:.2f} times what the "
        f"last rank's link needs ({case.arrivals})",
        {mpi: (result, said) for mpi, result in beside.items()},
        ours=f"{case.deaf} over bound: {over}",
    )
    return as_control(claim, f"{case.collective} {case.deaf}", "absorbed", ())


def _with_bound(result: CellResult, name: str) -> CellResult:
    """The bound of the absorbed time as a contender beside one of them."""
    own = result.samples[name]
    least = [b - s for b, s in zip(own["bound_s"], own["spread_s"], strict=True)]
    return replace(result, samples={**result.samples, "bound": {**own, "absorbed_s": least}})


def _draw(plt: Any, results: Parts) -> Any:
    figure, axes = plt.subplots(
        len(results), len(CASES), figsize=(3 * len(CASES), 4 * len(results)), squeeze=False
    )
    for line, (mpi, of_mpi) in zip(axes, results.items(), strict=True):
        for place, case, result in zip(line, CASES, of_mpi, strict=True):
            names = list(result.samples)
            times = [[1e3 * t for t in result.samples[name]["absorbed_s"]] for name in names]
            place.boxplot(times, showfliers=False)
            place.set_xticks(range(1, len(names) + 1), names, rotation=60, ha="right", fontsize=7)
            place.set(title=f"{case.collective}, {mpi}", ylim=(0, None))
            place.grid(alpha=0.3, axis="y")
        line[0].set_ylabel("absorbed time [ms]")
    figure.tight_layout()
    return figure


def _grids(where: Where, iterations: int) -> dict[str, list[Grid]]:
    mpis = MPIS if where.mpi is None else (where.mpi,)
    return {mpi: grids_of(replace(where, mpi=mpi), iterations) for mpi in mpis}


# All cases under each MPI, on one cluster each.
regions = of_grids(_grids, outcome_of)
