"""Where it pays to know who is late: the algorithms that listen beside themselves, told nothing.

A grid of collectives, ranks, sizes, delays and shapes of arrival patterns in simulated time, on
links that messages share. Absorbed time, from the last arrival to the last exit, is what the
caller who is late waits; the background variants have the computation before it to receive in.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy

from sibyl.experiment.units import size_text
from sibyl.reproduce.control import nothing, wrong
from sibyl.reproduce.outcome import Claim, Outcome, as_control, judge
from sibyl.reproduce.rack import LINKS_SHARED, NETWORK
from sibyl.reproduce.worth import WORTH_COLUMNS, Told, span_of_worth, worth_columns
from sibyl.simulator.contenders import Contender, contenders
from sibyl.simulator.run import run_prepared
from sibyl.simulator.session import Problem, Settings, arrivals_of, simulation_of

RANKS = (8, 16, 48)
SIZES = (64 * 1024, 1 << 20, 8 << 20)  # in all, or of each rank's vector
DELAYS = (0.25, 1.0, 4.0)  # of what the link of one rank takes for that
SHAPES = ("uniform", "skewed")  # all apart, or one late
# Patterns, where they are drawn: so many that p can be small when it is corrected over all cells.
ITERATIONS = 16
PAYS = 1.05  # told nothing over told the truth, from here on
LEAST = 1e-9  # seconds, where all is there before the last rank comes
COLUMNS = (
    *("collective", "algorithm", "under_way", "shape", "ranks", "bytes", "delay_over_transfer"),
    *("told_ms", "told_nothing_ms", "told_others_ms", *WORTH_COLUMNS, "cost_of_error"),
)


@dataclass(frozen=True)
class Cell:
    """One listener under one kind of arrivals.

    Attributes:
        told: absorbed times in seconds, under every pattern.
    """

    shape: str
    ranks: int
    size: int
    delay: float
    told: Told

    @property
    def means(self) -> tuple[float, float, float]:
        """Told the truth, nothing, and the times of others; in seconds."""
        told = self.told
        return fmean(told.truth), fmean(told.nothing), fmean(told.others)

    @property
    def worth(self) -> float:
        """Told nothing over told the truth."""
        return self.told.worth

    @property
    def error(self) -> float:
        """Told the times of others over told nothing."""
        _, without, wrong_told = self.means
        return wrong_told / without

    @property
    def name(self) -> str:
        """For lists of cells."""
        return f"{self.shape} {self.ranks} x {size_text(self.size)} at {self.delay:g}"

    @property
    def waits(self) -> bool:
        """Whether a block waits for its receiver."""
        return self.size // self.ranks > (NETWORK.eager or 0)


@dataclass(frozen=True)
class Region:
    """Where knowing is said to pay."""

    text: str
    holds: Callable[[Cell], bool]


@dataclass(frozen=True)
class Listener:
    """An algorithm that listens.

    Attributes:
        under_way: transfers of its root at a time; 0: all; None: it has no root that takes turns.
        region: where knowing is said to pay; None: nowhere.
    """

    collective: str
    name: str
    under_way: int | None = None
    region: Region | None = None

    @property
    def label(self) -> str:
        """For tables."""
        ways = {None: "", 0: ", all under way"}
        return f"{self.name}{ways.get(self.under_way, f', {self.under_way} under way')}"


LATE = Region(
    "where ranks are apart by the transfer's time and more", lambda cell: cell.delay >= 1
)  # fmt: skip
LATE_AND_WAITING = Region(
    f"{LATE.text}, and blocks wait for their receiver",
    lambda cell: LATE.holds(cell) and cell.waits,
)
MANY_WAITING = Region(
    "where all come apart, by the transfer's time and more, blocks wait for their receiver, and "
    "ranks are twelve times as many as are under way",
    lambda cell: LATE_AND_WAITING.holds(cell) and cell.shape == "uniform" and cell.ranks >= 48,
)
ONE_LATE = Region(
    "where one is late by the transfer's time and more, and vectors have 1 MiB and more",
    lambda cell: cell.shape == "skewed" and cell.delay >= 1 and cell.size >= 1 << 20,
)
ONE_VERY_LATE = Region(
    "where one is late by several times what the transfer takes",
    lambda cell: cell.shape == "skewed" and cell.delay > 1,
)
LISTENERS = (
    Listener("gather", "SLS", 1, LATE),
    Listener("gather", "SLS", 0),
    Listener("gather", "BSLS", 1, LATE),
    Listener("gather", "BSLS", 0),
    Listener("scatter", "SLIN", 1, LATE_AND_WAITING),
    Listener("scatter", "SLIN", 4, MANY_WAITING),
    Listener("scatter", "SLIN", 0),
    Listener("scatter", "BSLIN", 1),
    Listener("reduce", "clairvoyant", region=ONE_VERY_LATE),
    Listener("allreduce", "pre-reduced-ring", region=ONE_LATE),
    Listener("allreduce", "clairvoyant", region=ONE_LATE),
    Listener("bcast", "clairvoyant", region=LATE),
)
STEPS = len(LISTENERS) + 1
# What the last rank's link carries after it has come bounds every allgather; the ring, which is
# told nothing, is held against that.
RING = "ring"
NEAR_BOUND = 1.15


def _patterns(
    shape: str, ranks: int, size: int, delay: float, settings: Settings
) -> tuple[Problem, list[numpy.ndarray]]:
    """The problem, and the arrivals under which it is simulated."""
    problem = Problem(ranks, size, shape, delay * size * NETWORK.beta)
    patterns = [arrivals_of(problem, settings, i) for i in range(ITERATIONS)]
    return problem, patterns if shape == "uniform" else list(map(_anybody, enumerate(patterns)))


def _anybody(numbered: tuple[int, numpy.ndarray]) -> numpy.ndarray:
    """Where the last rank is late, any that is not the root: else who goes by ranks knows it."""
    number, arrivals = numbered
    late = int(numpy.random.default_rng(number).integers(1, len(arrivals)))
    found = arrivals.copy()
    found[[late, -1]] = arrivals[[-1, late]]
    return found


def _absorbed(
    contender: Contender, problem: Problem, settings: Settings, patterns: list[numpy.ndarray]
) -> list[float]:
    """Under each of the patterns."""
    times = []
    for arrivals in patterns:
        prepared = simulation_of(problem, contender, settings, arrivals)
        times.append(run_prepared(prepared, NETWORK, arrivals).absorbed)
    return times


def ring_over_bound(shape: str, ranks: int, size: int, delay: float) -> float:
    """The absorbed time of an allgather by the ring over what the last rank's link needs."""
    settings = Settings("allgather", NETWORK, compute=max(0.01, 2 * delay * size * NETWORK.beta))
    problem, patterns = _patterns(shape, ranks, size, delay, settings)
    (ring,) = contenders("allgather", RING)
    bound = NETWORK.alpha + NETWORK.beta * size * (ranks - 1) / ranks
    return fmean(_absorbed(ring, problem, settings, patterns)) / bound


def cell_of(listener: Listener, shape: str, ranks: int, size: int, delay: float) -> Cell:
    """One listener under one kind of arrivals, in its three versions."""
    seconds = delay * size * NETWORK.beta
    settings = Settings(
        listener.collective, NETWORK, compute=max(0.01, 2 * seconds),
        outstanding=listener.under_way or (0 if listener.under_way == 0 else 1),
    )  # fmt: skip
    problem, patterns = _patterns(shape, ranks, size, delay, settings)
    versions = (listener.name, nothing(listener.name), wrong(listener.name))
    told = Told(
        *(
            [max(time, LEAST) for time in _absorbed(contender, problem, settings, patterns)]
            for contender in contenders(listener.collective, ",".join(versions))
        )
    )
    return Cell(shape, ranks, size, delay, told)


def regions(_iterations: int, advance: Callable[[], None]) -> Outcome:
    """The whole grid."""
    found: dict[Listener, list[Cell]] = {}
    for listener in LISTENERS:
        found[listener] = [
            cell_of(listener, shape, ranks, size, delay)
            for shape in SHAPES
            for ranks in RANKS
            for size in SIZES
            for delay in DELAYS
        ]
        advance()
    rows: list[list[Any]] = []
    for one, cells in found.items():
        way = "" if one.under_way is None else one.under_way or "all"
        for cell in cells:
            at = [one.collective, one.name, way, cell.shape, cell.ranks, cell.size, cell.delay]
            rows.append([*at, *(round(1e3 * time, 3) for time in cell.means)])
    everywhere = [cell for cells in found.values() for cell in cells]
    worth = worth_columns([cell.told for cell in everywhere])
    for row, cell, more in zip(rows, everywhere, worth, strict=True):
        row += [*more, round(cell.error, 3)]
    setting = (
        f"simulated: 1 Gbit/s, alpha 25 us, up to 64 KiB eager, {LINKS_SHARED}; absorbed times; "
        f"{', '.join(map(str, RANKS))} ranks, {', '.join(map(size_text, SIZES))} in all (gather, "
        "scatter, allgather) or a rank, delays of a quarter, once and four times the transfer; "
        f"uniform, or one rank late, anybody but the root; {ITERATIONS} patterns"
    )
    claims = [claim for listener, cells in found.items() for claim in claims_of(listener, cells)]
    claims.append(of_allgather())
    advance()
    return Outcome(setting, COLUMNS, rows, claims, lambda plt: _draw(plt, found))


def claims_of(listener: Listener, cells: list[Cell]) -> list[Claim]:
    """That knowing pays in the region, and nowhere else."""
    what = f"{listener.collective} {listener.label}"
    inside = [cell for cell in cells if listener.region and listener.region.holds(cell)]
    outside = [cell for cell in cells if cell not in inside]
    wrong_told = max(cell.error for cell in cells)

    def span(of: list[Cell]) -> str:
        return span_of_worth([cell.told for cell in of])

    judged = []
    if listener.region:
        judged.append(
            judge(
                f"{what}: knowing shortens it by at least {100 * (PAYS - 1):.0f} % "
                f"{listener.region.text}",
                [(cell.name, cell.worth >= PAYS) for cell in inside],
                f"Told the times of others it takes up to {wrong_told:.2f} times as long as told "
                "nothing.",
                ours=span(inside),
            )
        )
    where = "elsewhere it does not" if listener.region else "knowing shortens it nowhere"
    why = "" if listener.region else "All transfers are under way, or receipts before the call."
    judged.append(
        judge(
            f"{what}: {where}",
            [(cell.name, cell.worth < PAYS) for cell in outside],
            why,
            ours=span(outside),
        )
    )
    parts = [inside, outside] if listener.region else [outside]
    return [
        as_control(claim, what, "absorbed", (cell.worth for cell in of))
        for claim, of in zip(judged, parts, strict=True)
    ]


def of_allgather() -> Claim:
    """How little is to be gained where an algorithm that is told nothing is near the bound."""
    over = {
        f"{shape} {ranks} x {size_text(size)} at {delay:g}": ring_over_bound(
            shape, ranks, size, delay
        )
        for shape in SHAPES
        for ranks in RANKS
        for size in SIZES[1:]
        for delay in DELAYS
    }
    claim = judge(
        f"allgather of 1 MiB and more: knowing can shorten a call by at most "
        f"{100 * (NEAR_BOUND - 1):.0f} %, since the ring, told nothing, takes no more than "
        f"{NEAR_BOUND:.2f} times what the last rank's link needs",
        [(name, ratio <= NEAR_BOUND) for name, ratio in over.items()],
        "In a blocking call all blocks but its own reach the last rank after it has come; the rest "
        "are latencies.",
        ours=f"ring over bound: {min(over.values()):.2f} to {max(over.values()):.2f}",
    )
    return as_control(claim, f"allgather {RING}", "absorbed", ())


def _draw(plt: Any, cells: Mapping[Listener, list[Cell]]) -> Any:
    figure, axes = plt.subplots(3, 4, figsize=(14, 9), sharex=True)
    for place, (listener, own) in zip(axes.flat, cells.items(), strict=True):
        for number, ranks in enumerate(RANKS):
            for shape, style in zip(SHAPES, ("o-", "s--"), strict=True):
                for size, width in zip(SIZES, (0.7, 1.2, 2.0), strict=True):
                    line = [c for c in own if (c.ranks, c.shape, c.size) == (ranks, shape, size)]
                    place.plot(
                        [c.delay for c in line], [c.worth for c in line], style, markersize=3,
                        linewidth=width, color=f"C{number}",
                        label=f"{ranks} ranks, {shape}" if size == SIZES[-1] else None,
                    )  # fmt: skip
        place.axhline(1, color="#888888", linewidth=1)
        place.set(xscale="log", title=f"{listener.collective} {listener.label}")
        place.minorticks_off()
        place.set_xticks(DELAYS, [f"{delay:g}" for delay in DELAYS])
        place.title.set_fontsize(9)
        place.grid(alpha=0.3)
    axes[0, 0].legend(fontsize=6)
    for place in axes[-1]:
        sizes = ", ".join(map(size_text, SIZES))
        place.set_xlabel(f"delay over transfer\nfrom thin to thick: {sizes}")
    for place in axes[:, 0]:
        place.set_ylabel("told nothing over told")
    figure.tight_layout()
    return figure
