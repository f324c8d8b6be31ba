"""What measurements show: comparisons of contenders cell by cell, by the bench's rank-sum test.

What knowing is worth is compared iteration by iteration, by the signed-rank test (worth.py). A
contender is held against a printed time by the sign test. A claim that one is not slower than
another is shown where the test says so, not where it fails to say the contrary: between the two lie
cells that are open. All comparisons of a claim are corrected together. Many hosts on one machine
are judged from many iterations only.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sibyl.experiment.judge import SIGNIFICANCE, instrument_limit
from sibyl.experiment.samples import CellResult
from sibyl.experiment.statistics import (
    holm,
    median,
    paired_ratio,
    rank_sum_greater,
    sign_below,
    signed_rank_greater,
)
from sibyl.reproduce.outcome import VERDICTS, Claim, Kind, judge
from sibyl.reproduce.worth import Told

# So many hosts share the processors of one machine, and their times scatter.
MANY_HOSTS = 48
LEAST_ITERATIONS = 15


@dataclass(frozen=True)
class Statement:
    """One contender takes at most so many times as long as another.

    Attributes:
        own: the one.
        other: what it is held against.
        most: so many times.
        metric: run, elapsed or absorbed.
    """

    own: str
    other: str
    most: float = 1.0
    metric: str = "run"

    def ratio(self, result: CellResult) -> float:
        """Of the medians."""
        own, other = (result.samples[n][f"{self.metric}_s"] for n in (self.own, self.other))
        return median(own) / median(other)

    def chances(self, result: CellResult) -> tuple[float, float]:
        """How likely the samples are where it is not so, and where it is."""
        own = result.samples[self.own][f"{self.metric}_s"]
        other = [self.most * t for t in result.samples[self.other][f"{self.metric}_s"]]
        return rank_sum_greater(other, own), rank_sum_greater(own, other)


@dataclass(frozen=True)
class Paired(Statement):
    """The same, iteration by iteration: one algorithm beside itself, told something else."""

    def ratio(self, result: CellResult) -> float:
        """Of the same iteration, in the middle."""
        own, other = (result.samples[n][f"{self.metric}_s"] for n in (self.own, self.other))
        return paired_ratio(own, other)[0]

    def chances(self, result: CellResult) -> tuple[float, float]:
        """How likely the samples are where it is not so, and where it is."""
        own, other = (result.samples[n][f"{self.metric}_s"] for n in (self.own, self.other))
        less = [
            math.log(self.most * theirs / ours) for ours, theirs in zip(own, other, strict=True)
        ]
        return signed_rank_greater(less), signed_rank_greater([-each for each in less])


@dataclass(frozen=True)
class Near:
    """One contender takes as many times as long as another as is published, to so much of it.

    Attributes:
        own: the one.
        other: what it is held against.
        given: the published factor.
        tolerance: how far ours may be from it, upwards and downwards, as a part of it.
        metric: run, elapsed or absorbed.
    """

    own: str
    other: str
    given: float
    tolerance: float
    metric: str = "run"

    def ratio(self, result: CellResult) -> float:
        """Of the medians."""
        return Statement(self.own, self.other, metric=self.metric).ratio(result)

    def chances(self, result: CellResult) -> tuple[float, float]:
        """How likely the samples are where it is not so, and where it is."""
        most = Statement(self.own, self.other, self.given * (1 + self.tolerance), self.metric)
        fewest = 1 / (self.given * (1 - self.tolerance))
        least = Statement(self.other, self.own, fewest, self.metric)
        return both(most.chances(result), least.chances(result))


@dataclass(frozen=True)
class NearTime:
    """A contender takes as long as is printed, to so much of it: by the sign test.

    Attributes:
        own: the contender.
        given: the printed time, as long as it is here, in seconds.
        tolerance: how far ours may be from it, upwards and downwards, as a part of it.
    """

    own: str
    given: float
    tolerance: float
    metric = "run"

    @property
    def other(self) -> str:
        """Nobody else takes part."""
        return self.own

    def ratio(self, result: CellResult) -> float:
        """Of the median and the printed time."""
        return median(result.samples[self.own]["run_s"]) / self.given

    def chances(self, result: CellResult) -> tuple[float, float]:
        """How likely the samples are where it is not so, and where it is."""
        run = result.samples[self.own]["run_s"]
        negative = [-time for time in run]
        most, least = (self.given * (1 + part) for part in (self.tolerance, -self.tolerance))
        return both(
            (sign_below(run, most), sign_below(negative, -most)),
            (sign_below(negative, -least), sign_below(run, least)),
        )


@dataclass(frozen=True)
class Alike:
    """Where one contender is ahead of another in run times it is not behind in elapsed times.

    Attributes:
        own: the one.
        other: what it is held against.
        margin: less is no difference.
    """

    own: str
    other: str
    margin: float
    metric = "elapsed"

    def ratio(self, result: CellResult) -> float:
        """Of the medians of elapsed times."""
        return Statement(self.own, self.other, metric="elapsed").ratio(result)

    def chances(self, result: CellResult) -> tuple[float, float]:
        """How likely the samples are where it is not so, and where it is."""

        def of_both(own: str, other: str, most: float) -> tuple[float, float]:
            run, elapsed = (Statement(own, other, most, of) for of in ("run", "elapsed"))
            return both(run.chances(result), elapsed.chances(result))

        not_behind = of_both(self.own, self.other, 1 + self.margin)
        not_ahead = of_both(self.other, self.own, 1 / (1 - self.margin))
        return either(not_behind, not_ahead)


Said = Statement | Near | NearTime | Alike


def both(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """The chances that two statements are so together, of the chances of each."""
    return max(one[0], other[0]), min(1.0, 2 * min(one[1], other[1]))


def either(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """The chances that one of two statements is so, of the chances of each."""
    so, not_so = both((one[1], one[0]), (other[1], other[0]))
    return not_so, so


def shown(
    text: str,
    cells: Mapping[str, tuple[CellResult, Said]],
    reason: str = "",
    *,
    kind: Kind = "paper",
    published: str = "",
    ours: str = "",
) -> Claim:
    """A claim that holds in the cells where measurements show it.

    Args:
        text: the claim.
        cells: by their names the samples and what is said of them.
        reason: what explains it.
        kind: whose claim it is.
        published: the paper's figures.
        ours: ours; the ratios that are said something of, if nothing is said.
    """
    claim = decided(
        text,
        {name: said.chances(result) for name, (result, said) in cells.items()},
        reason,
        {
            name: limit
            for name, (result, said) in cells.items()
            if (limit := instrument_limit(result, said.other, metric=said.metric))
        },
        kind=kind,
        published=published,
    )
    ratios = [said.ratio(result) for result, said in cells.values()]
    if ours or ratios:
        ours = ours or f"{min(ratios):.2f} to {max(ratios):.2f} times as long"
        claim = replace(claim, ours=ours)
    return claim


def limits_of(cells: Mapping[str, tuple[CellResult, str]]) -> dict[str, str]:
    """The cells in which the instrument decides, and why.

    Args:
        cells: by their names the samples, and the contender that is held against.
    """
    found = {name: instrument_limit(result, other) for name, (result, other) in cells.items()}
    return {name: limit for name, limit in found.items() if limit}


def found_again(text: str, cells: Mapping[str, tuple[CellResult, Near]]) -> Claim:
    """Factors that a paper prints, each beside ours.

    Args:
        text: what they are of.
        cells: one at least; by their names the samples and the published factor.
    """
    (tolerance,) = {near.tolerance for _, near in cells.values()}
    given = [near.given for _, near in cells.values()]
    found = [near.ratio(result) for result, near in cells.values()]
    return shown(
        f"{text} ({'each ' if len(cells) > 1 else ''}to {100 * tolerance:.0f} %, upwards and "
        "downwards)",
        cells,
        published=_listed(given),
        ours=_listed(found),
    )


def _listed(factors: Sequence[float], most: int = 7) -> str:
    """All of a few, the ends of many."""
    if len(factors) > most:
        return f"{min(factors):.2f} to {max(factors):.2f}"
    return ", ".join(f"{factor:.2f}" for factor in factors)


def decided(
    text: str,
    chances: Mapping[str, tuple[float, float]],
    reason: str,
    limits: Mapping[str, str] | None = None,
    *,
    kind: Kind = "paper",
    published: str = "",
    ours: str = "",
) -> Claim:
    """The same, of tests that have been made; all of them are corrected together.

    Args:
        text: the claim.
        chances: by cell how likely the samples are where it is not so, and where it is.
        reason: what explains it.
        limits: cells in which the instrument decides, and why.
        kind: whose claim it is.
        published: the paper's figures.
        ours: ours; how many cells it is so in, if nothing is said.
    """
    limits = limits or {}
    corrected = holm([chance for pair in chances.values() for chance in pair])
    holds: dict[str, bool] = {}
    contrary, undecided = [], []
    for number, name in enumerate(chances):
        against, for_it = corrected[2 * number : 2 * number + 2]
        limited = name in limits
        holds[name] = not limited and against < SIGNIFICANCE
        if not limited and for_it < SIGNIFICANCE:
            contrary.append(name)
        elif not holds[name] and not limited:
            undecided.append(name)
    why = [reason] if reason else []
    if contrary:
        why.append(f"The contrary is shown in {_some(contrary)}.")
    if undecided:
        why.append(f"Undecided: {_some(undecided)}.")
    if limits:
        first = next(iter(limits.values()))
        why.append(f"The instrument decides in {_some(list(limits))}: {first}.")
    claim = judge(
        text, list(holds.items()), " ".join(why), kind=kind, published=published, ours=ours
    )
    # Where nothing is decided nothing is said against it either.
    if claim.verdict == VERDICTS[2] and not contrary:
        return replace(claim, verdict=VERDICTS[3])
    return claim


def _some(names: Sequence[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def told_in(
    result: CellResult, truth: str, without: str, others: str, metric: str = "run"
) -> Told | None:
    """The samples of a contender by what it was told; None where one of them did not take part.

    Args:
        result: of a cell.
        truth: the contender that is told the truth.
        without: the same, told nothing.
        others: the same, told the times of others.
        metric: run, elapsed or absorbed.
    """
    names = (truth, without, others)
    if any(name not in result.samples for name in names):
        return None
    return Told(*(result.samples[name][f"{metric}_s"] for name in names))


def iterations_of(results: Sequence[CellResult]) -> int:
    """The fewest that a contender was measured in."""
    return min(len(of["run_s"]) for result in results for of in result.samples.values())


def only_from_enough(claims: Sequence[Claim], hosts: int, iterations: int) -> list[Claim]:
    """The same, not judged where so many hosts were measured in too few iterations."""
    if hosts < MANY_HOSTS or iterations >= LEAST_ITERATIONS:
        return list(claims)
    why = (
        f"{hosts} hosts and {iterations} iterations: fewer than {LEAST_ITERATIONS} give no verdict."
    )
    return [
        replace(claim, verdict=VERDICTS[3], reason=f"{why} {claim.reason}") for claim in claims
    ]  # fmt: skip
