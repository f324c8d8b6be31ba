"""From samples to verdicts: is the left side slower than the right one?

Two one-sided rank-sum tests for each guideline and cell: that the left side is slower than the
right one by more than the slack (violated), and that it is not (holds). All p-values of a run are
corrected together. Where neither is shown the verdict is undecided, and where the instrument is the
bottleneck there is none. Simulated times have no noise: there the medians decide.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sibyl.experiment.judge import MARGIN, MARGIN_SECONDS, SIGNIFICANCE, instrument_limit
from sibyl.experiment.samples import CellResult
from sibyl.experiment.statistics import holm, median, rank_sum_greater
from sibyl.guidelines.catalogue import Guideline, side

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
    return Times(sum(samples) / len(samples), min(samples), median(samples))


def left_contender(guideline: Guideline, under: str) -> str:
    """Who stands for the left side."""
    return side(guideline.left, "auto" if under == "sibyl" else "native")


def judge(
    cells: Iterable[tuple[CellResult, Sequence[Guideline]]], unders: Sequence[str]
) -> list[Finding]:
    """All verdicts of a run.

    Args:
        cells: the results, each with the guidelines that apply there.
        unders: native, sibyl; where Sibyl does not serve a left side it is left out.
    """
    cases = []
    p_values: list[float] = []
    certain: list[float | None] = []
    for result, guidelines in cells:
        for guideline in guidelines:
            for under in unders:
                left, right = left_contender(guideline, under), side(guideline.right)
                if left not in result.samples or right not in result.samples:
                    continue
                own, other = run_times(result, left), run_times(result, right)
                margin = max(MARGIN * median(other), MARGIN_SECONDS)
                allowed = [time + margin for time in other]
                cases.append((result, guideline, under, left, right))
                if result.job.get("simulated"):
                    certain.append(float(median(own) <= median(allowed)))
                    continue
                certain.append(None)
                p_values += [rank_sum_greater(own, allowed), rank_sum_greater(allowed, own)]
    corrected = iter(holm(p_values))

    findings = []
    for (result, guideline, under, left, right), known in zip(cases, certain, strict=True):
        if known is None:
            p_violated, p_holds = next(corrected), next(corrected)
        else:
            p_violated, p_holds = known, 1 - known
        limit = instrument_limit(result, right)
        verdict = UNDECIDED
        if result.wrong.get(left) or result.wrong.get(right):
            verdict = WRONG
        elif limit:
            verdict = NONE
        elif p_violated < SIGNIFICANCE:
            verdict = VIOLATED
        elif p_holds < SIGNIFICANCE:
            verdict = HOLDS
        own, other = times(result, left), times(result, right)
        factor = own.median / other.median if other.median > 0 else 1.0
        findings.append(
            Finding(
                guideline, result, under, own, other, factor, p_violated, p_holds, verdict, limit
            )
        )
    return findings
