"""From samples to verdicts: is the left side slower than the right one?

Two one-sided rank-sum tests for each guideline and cell: that the left side is slower than the
right one by more than the slack (violated), and that it is not (holds). All p-values of a run are
corrected together. Where neither is shown the verdict is undecided, and where the instrument is the
bottleneck there is none. Simulated times have no noise: there the medians decide.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy

from sibyl.experiment.judge import MARGIN, MARGIN_SECONDS, SIGNIFICANCE, instrument_limit
from sibyl.experiment.samples import CellResult
from sibyl.experiment.statistics import holm, median, rank_sum_greater
from sibyl.guidelines.catalogue import Guideline
from sibyl.guidelines.groups import side

VIOLATED = "VIOLATED"
HOLDS = "holds"
UNDECIDED = "undecided"
NONE = "none"
WRONG = "WRONG"


@dataclass(frozen=True)
class Times:
    """What the paper tells of a contender in one cell, and the median; in seconds."""

    average: float
    least: float
    median: float


@dataclass(frozen=True)
class Finding:
    """One guideline in one cell.

    Attributes:
        under: native, or sibyl where Sibyl served the left side.
        factor: the median of the left side over that of the right one.
        p_violated: that so slow a left side is chance.
        p_holds: that so fast a left side is chance.
        limit: why there is no verdict; empty where there is one.
    """

    guideline: Guideline
    result: CellResult
    under: str
    left: Times
    right: Times
    factor: float
    p_violated: float
    p_holds: float
    verdict: str
    limit: str


def run_times(result: CellResult, contender: str) -> list[float]:
    """The samples of a contender: run times, of the slowest rank where calls are bare."""
    return result.samples[contender]["run_s"]


def times(result: CellResult, contender: str) -> Times:
    """The figures of a contender."""
    samples = run_times(result, contender)
    return Times(float(numpy.mean(samples)), min(samples), median(samples))


def left_contender(guideline: Guideline, under: str) -> str:
    """Who stands for the left side."""
    return side(guideline.left, "auto" if under == "sibyl" else "native")


@dataclass(frozen=True)
class _Case:
    """One comparison: a guideline in a cell."""

    result: CellResult
    guideline: Guideline
    under: str

    @property
    def left(self) -> str:
        return left_contender(self.guideline, self.under)

    @property
    def right(self) -> str:
        return side(self.guideline.right)

    @property
    def measured(self) -> bool:
        return self.left in self.result.samples and self.right in self.result.samples

    def p_values(self) -> tuple[float, float] | None:
        """That so slow, and so fast, a left side is chance; None where nothing is by chance."""
        if self.result.job.get("simulated"):
            return None
        own, allowed = run_times(self.result, self.left), self._allowed()
        return rank_sum_greater(own, allowed), rank_sum_greater(allowed, own)

    def certain(self) -> tuple[float, float]:
        """The same where medians decide."""
        holds = median(run_times(self.result, self.left)) <= median(self._allowed())
        return (1.0, 0.0) if holds else (0.0, 1.0)

    def _allowed(self) -> list[float]:
        other = run_times(self.result, self.right)
        margin = max(MARGIN * median(other), MARGIN_SECONDS)
        return [time + margin for time in other]

    def finding(self, p_violated: float, p_holds: float) -> Finding:
        """The verdict, by corrected p-values."""
        limit = instrument_limit(self.result, self.right)
        wrong = self.result.wrong.get(self.left) or self.result.wrong.get(self.right)
        verdict = WRONG if wrong else _verdict(p_violated, p_holds, limit)
        own, other = times(self.result, self.left), times(self.result, self.right)
        return Finding(
            self.guideline,
            self.result,
            self.under,
            own,
            other,
            own.median / other.median if other.median > 0 else 1.0,
            p_violated,
            p_holds,
            verdict,
            limit,
        )


def _verdict(p_violated: float, p_holds: float, limit: str) -> str:
    if limit:
        return NONE
    if p_violated < SIGNIFICANCE:
        return VIOLATED
    return HOLDS if p_holds < SIGNIFICANCE else UNDECIDED


def judge(
    cells: Iterable[tuple[CellResult, Sequence[Guideline]]], unders: Sequence[str]
) -> list[Finding]:
    """All verdicts of a run.

    Args:
        cells: the results, each with the guidelines that apply there.
        unders: native, sibyl; where Sibyl does not serve a left side it is left out.
    """
    possible = [
        _Case(result, guideline, under)
        for result, guidelines in cells
        for guideline in guidelines
        for under in unders
    ]
    cases = [case for case in possible if case.measured]
    tested = [case.p_values() for case in cases]
    corrected = iter(holm([p for pair in tested if pair is not None for p in pair]))
    return [
        case.finding(*(case.certain() if pair is None else (next(corrected), next(corrected))))
        for case, pair in zip(cases, tested, strict=True)
    ]
