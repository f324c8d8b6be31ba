"""`sibyl simulate`: a grid of problems and arrival patterns, every contender in simulated time."""

import itertools
import math
import statistics
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy

import sibyl
from sibyl import _core
from sibyl.errors import CommandError
from sibyl.experiment.grid import SCANS, SHAPES
from sibyl.experiment.recording import replayed_calls
from sibyl.experiment.units import size_text
from sibyl.memory import memory_limit
from sibyl.simulator.bounds import run_time_bound
from sibyl.simulator.contenders import Contender
from sibyl.simulator.model import Network
from sibyl.simulator.run import Simulated, run_prepared

DRAWN = ("uniform", "normal", "exponential")
WHOLE_VECTORS = (*SCANS, "reduce", "allreduce", "bcast")
# A size is that of all blocks together, not of what each rank has.
SIZES_IN_ALL = ("gather", "scatter", "gatherv", "scatterv", "allgather", "allgatherv")


@dataclass(frozen=True)
class Problem:
    """A cell: one problem under one kind of arrivals.

    Attributes:
        size: bytes in all at the root or at every rank (gather, scatter, allgather), else of each
            rank's vector (all blocks that it sends in an all-to-all).
        pattern: a shape, or a file of arrival times (FILE#N: call site N of a recording).
        max_delay: in seconds.
    """

    ranks: int
    size: int
    pattern: str
    max_delay: float


@dataclass(frozen=True)
class Settings:
    """What all cells share.

    Attributes:
        iterations: patterns drawn per cell, where the pattern is drawn.
        compute: seconds that everybody computes before the pattern's delay; background steps may
            run from its start.
        segments: parts of a vector, of algorithms that cut it; 0: from alpha and beta.
        first_segment: bytes, of linear-synchronised.
        in_order: clairvoyant: ranks send strictly in the order of the schedule.
        lanes: of algorithms that can have several.
        outstanding: how many transfers the root of a linear algorithm may have under way; 0: all.
    """

    collective: str
    network: Network
    root: int = 0
    iterations: int = 16
    seed: int = 1
    compute: float = 0.0
    segments: int = 0
    first_segment: int = 1024
    element_bytes: int = 1
    in_order: bool = False
    lanes: int = 1
    outstanding: int = 1


@dataclass(frozen=True)
class Row:
    """One contender in one cell; medians over the patterns, in seconds."""

    problem: Problem
    contender: Contender
    run_time: float
    quarters: tuple[float, float]
    absorbed: float
    elapsed: float
    bound: float
    messages: int
    rounds: int

    def as_json(self) -> dict[str, Any]:
        """For the journal; the contender by its name."""
        return {**vars(self), "problem": vars(self.problem), "contender": self.contender.name}

    @staticmethod
    def from_json(data: dict[str, Any], entrants: Sequence[Contender]) -> "Row":
        """The inverse of as_json(), of one of these contenders."""
        named = {contender.name: contender for contender in entrants}
        found = {"problem": Problem(**data["problem"]), "contender": named[data["contender"]]}
        return Row(**{**data, **found, "quarters": tuple(data["quarters"])})


@cache
def replayed(name: str, ranks: int) -> list[numpy.ndarray]:
    """The arrival times of each call in a file of patterns; CommandError where they do not fit."""
    return [numpy.array(call) for call in replayed_calls(name, ranks)[1]]


def iterations_of(problem: Problem, settings: Settings) -> int:
    """Patterns of a cell: so many where they are drawn, the first ones of a file of calls."""
    if problem.pattern not in SHAPES:
        return min(settings.iterations, len(replayed(problem.pattern, problem.ranks)))
    return settings.iterations if problem.pattern in DRAWN and problem.max_delay else 1


def arrivals_of(problem: Problem, settings: Settings, iteration: int) -> numpy.ndarray:
    """The arrival times of one iteration."""
    text = problem.pattern
    if text not in SHAPES:
        return replayed(text, problem.ranks)[iteration] + settings.compute
    if text in SHAPES and text != "flat":
        text = f"{text}:{problem.max_delay!r}"
        if problem.pattern in DRAWN:
            text += f":{settings.seed + iteration}"
    try:
        times = sibyl.arrival_pattern(text, problem.ranks, settings.root)
    except ValueError as error:
        raise CommandError(f"--pattern {problem.pattern}: {error}") from error
    return times + settings.compute


def block_of(problem: Problem, settings: Settings) -> int:
    """Bytes of a vector, or of a block."""
    whole = settings.collective in WHOLE_VECTORS
    return problem.size if whole else problem.size // problem.ranks


def segments_of(problem: Problem, contender: Contender, settings: Settings) -> int:
    """Into how many parts a vector is cut: about sqrt(F beta m / alpha), which balances the two.

    F is the number of messages that fill the pipeline per message that a segment adds.
    Clairvoyant's is found by trial: ranks that come between two rounds meet at receivers, the more
    the shorter the rounds are.
    """
    if not contender.row.segments:
        return 1
    if settings.segments:
        return settings.segments
    network = settings.network
    latency = network.message(0)
    data = network.per_byte() * problem.size
    deep = math.log2(max(problem.ranks, 2))
    fills = {"two-tree": 2 * deep, "clairvoyant": 2.0, "circulant": deep, "binary-tree": deep}
    fill = fills.get(contender.row.name, problem.ranks)
    if contender.row.any_placement:  # segments go between nodes, those of a reduce by Clairvoyant
        fill = 2.0 if settings.collective == "reduce" else network.count_nodes(problem.ranks)
    if contender.row.collective not in WHOLE_VECTORS:
        return 1  # blocks are parts already
    best = (fill * data / latency) ** 0.5 if latency > 0 else 256
    return int(min(256, max(1, best, 1)))


def request_of(
    problem: Problem, contender: Contender, settings: Settings, arrivals: numpy.ndarray
) -> _core.Request:
    """What the planner is asked; CommandError where it cannot plan that."""
    row = contender.row
    network = settings.network
    segments = segments_of(problem, contender, settings)
    plans_times = row.arrivals
    arrivals = contender.hears(arrivals)
    round_time = network.message(problem.size / segments) if plans_times else 1.0
    round_time += network.combine * problem.size / segments if plans_times else 0.0
    try:
        return _core.plan_request(
            settings.collective,
            row.name,
            problem.ranks,
            root=settings.root,
            order=contender.order(arrivals, settings.root),
            background=contender.background,
            arrivals=(arrivals - arrivals.min()).tolist() if plans_times else None,
            segments=segments,
            round_time=max(round_time, 1e-9),
            in_order=settings.in_order,
            sizes=_sizes(problem, row, settings),
            lanes=settings.lanes if row.lanes else 1,
            outstanding=settings.outstanding,
            **network.asked_of(row),
        )
    except ValueError as error:
        raise CommandError(f"{settings.collective} {contender.name}: {error}") from error


def _sizes(problem: Problem, row: _core.Algorithm, settings: Settings) -> list[int] | None:
    """Blocks of one size, where they may have different ones."""
    if not row.sizes:
        return None
    blocks = problem.ranks**2 if row.collective == "alltoallv" else problem.ranks
    return [block_of(problem, settings)] * blocks


def simulation_of(
    problem: Problem, contender: Contender, settings: Settings, arrivals: numpy.ndarray
) -> _core.Simulation:
    """The programs of one contender."""
    return _core.simulation(
        request_of(problem, contender, settings, arrivals),
        block_of(problem, settings),
        settings.element_bytes,
        settings.first_segment,
    )


def check_memory(
    problems: Sequence[Problem],
    entrants: Sequence[Contender],
    settings: Settings,
    pictured: Collection[Problem],
) -> None:
    """Refuse what does not fit into memory, before anything large is made."""
    limit = memory_limit()
    for problem, contender in itertools.product(problems, entrants):
        # Ranks alone first: even the arrival times of absurdly many do not fit.
        if problem.ranks * 256 > limit:
            raise CommandError(
                f"--ranks {problem.ranks}: takes more than {size_text(problem.ranks * 256)} of "
                f"memory, this machine has {size_text(limit / 0.8)}"
            )
        drawn = iterations_of(problem, settings) * (8 * problem.ranks + 128)
        if drawn > limit:
            raise CommandError(
                f"--iterations {settings.iterations}: the arrival times of {problem.ranks} ranks "
                f"take {size_text(drawn)} of memory, this machine has {size_text(limit / 0.8)}"
            )
        record = problem in pictured
        if settings.collective == "alltoallv":
            # A message of each pair, sent and received. Even to ask for the plan takes gigabytes
            # where they do not fit, since each has a size.
            _check_steps(2.0 * problem.ranks * (problem.ranks - 1), problem, contender, record)
        request = request_of(problem, contender, settings, numpy.zeros(problem.ranks))
        _check_steps(_core.estimate_steps(request), problem, contender, record)


def _check_steps(steps: float, problem: Problem, contender: Contender, record: bool) -> None:
    limit = memory_limit()
    needed = _core.simulation_memory(problem.ranks, int(steps), record)
    if needed > limit or steps >= 2**31:
        raise CommandError(
            f"{contender.name} on {problem.ranks} ranks has about {steps:.3g} steps and takes "
            f"about {size_text(needed)} of memory, this machine has {size_text(limit / 0.8)}; "
            "take fewer ranks or segments"
        )


def run_cell(
    problem: Problem,
    entrants: Sequence[Contender],
    settings: Settings,
    advance: Callable[[], None],
) -> Iterator[Row]:
    """Every contender under the same patterns, each as soon as it is finished."""
    patterns = [arrivals_of(problem, settings, i) for i in range(iterations_of(problem, settings))]
    bounds = [
        run_time_bound(settings.collective, settings.network, times, settings.root, problem.size)
        for times in patterns
    ]
    for contender in entrants:
        results: list[Simulated] = []
        prepared = None
        for times in patterns:
            if prepared is None or contender.depends_on_arrivals:
                prepared = simulation_of(problem, contender, settings, times)
            results.append(run_prepared(prepared, settings.network, times))
            advance()
        assert prepared is not None
        times_run = [result.run_time for result in results]
        # By Weibull's positions, which are those of lowest and highest where there are few.
        first, third = numpy.quantile(times_run, (0.25, 0.75), method="weibull").tolist()
        yield Row(
            problem,
            contender,
            statistics.median(times_run),
            (first, third),
            statistics.median(result.absorbed for result in results),
            statistics.median(result.elapsed for result in results),
            statistics.median(bounds),
            results[0].messages,
            prepared.rounds,
        )


def runs_expected(
    problems: Sequence[Problem], entrants: Sequence[Contender], settings: Settings
) -> int:
    """For the progress bar."""
    return sum(iterations_of(problem, settings) for problem in problems) * len(entrants)
