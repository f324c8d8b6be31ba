"""Which algorithm is worth choosing over the usual one, from the samples of a run.

A choice must be shown to be faster by more than the slack that verdicts allow; the p-values of a
table are corrected together. Where a library cannot choose by size (`BY_SIZE` of the writers says
where it can), an algorithm is chosen only if it gains at one size and loses at none.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sibyl.experiment.grid import Cell
from sibyl.experiment.judge import MARGIN, MARGIN_SECONDS, SIGNIFICANCE, instrument_limit
from sibyl.experiment.samples import CellResult
from sibyl.experiment.statistics import holm, median, rank_sum_greater
from sibyl.guidelines.catalogue import REGULAR
from sibyl.guidelines.groups import side
from sibyl.guidelines.judge import run_times

ELEMENT = 4  # bytes of an MPI_INT
# A rule counts the bytes of all blocks together; else of a vector, or of one block.
WHOLE_SIZES = ("allgatherv", "bcast", "reduce_scatter", "reduce_scatter_block")
# Measured numbers of ranks stand for others that are nearer than this factor.
NEAR = math.sqrt(2)


@dataclass(frozen=True)
class Comparison:
    """A candidate against the usual algorithm at one size.

    Attributes:
        bytes: of a block, of the vector, or of all blocks (WHOLE_SIZES).
        ratio: its median over the usual one's.
        gains: it is shown to be faster.
        loses: it is slower by more than the slack, as far as medians tell.
    """

    collective: str
    ranks: int
    bytes: int
    algorithm: str
    ratio: float
    gains: bool
    loses: bool


@dataclass(frozen=True)
class Rule:
    """From `bytes` on, until the next rule of the same ranks; None is the usual algorithm."""

    bytes: int
    algorithm: str | None


@dataclass(frozen=True)
class RankRules:
    """The rules for a collective on `least` to `most` ranks, by size, the first from 0 on."""

    collective: str
    least: int
    most: int
    rules: tuple[Rule, ...]


def _known_bytes(collective: str, cell: Cell) -> int:
    """The bytes that a rule counts: what all ranks know."""
    blocks = cell.ranks if collective in WHOLE_SIZES else 1
    return blocks * cell.block * ELEMENT


def compare(
    results: Sequence[CellResult], usual: str, candidates: Mapping[str, Sequence[str]]
) -> list[Comparison]:
    """Every candidate in every cell of equal blocks that has a verdict.

    Args:
        results: of a run; those under the first arrivals count, since no table knows arrivals.
        usual: what serves a collective otherwise.
        candidates: by collective, the algorithms that a table can name.
    """
    cases = []
    p_values = []
    for collective, names in candidates.items():
        reference = side(collective, usual)
        arrivals = None
        for result in results:
            cell = result.cell
            if cell.counts != REGULAR or reference not in result.samples:
                continue
            arrivals = arrivals or (cell.pattern, cell.max_delay)
            if arrivals != (cell.pattern, cell.max_delay) or instrument_limit(result, reference):
                continue
            base = run_times(result, reference)
            margin = max(MARGIN * median(base), MARGIN_SECONDS)
            for name in names:
                contender = side(collective, name)
                if contender not in result.samples or result.wrong.get(contender):
                    continue
                own = run_times(result, contender)
                p_values.append(rank_sum_greater(base, [time + margin for time in own]))
                slower = median(own) > median(base) + margin
                cases.append((collective, cell, name, median(own) / median(base), slower))
    found = []
    for (collective, cell, name, ratio, slower), p in zip(cases, holm(p_values), strict=True):
        found.append(
            Comparison(
                collective,
                cell.ranks,
                _known_bytes(collective, cell),
                name,
                ratio,
                p < SIGNIFICANCE,
                slower,
            )
        )
    return found


def rules_by_size(comparisons: Sequence[Comparison]) -> list[Rule]:
    """The fastest candidate at each size that gains there; sizes in between go to the nearer one.

    The ends: what holds for the smallest size holds below it; half a decade above the largest one
    the usual algorithm comes back.
    """
    sizes = sorted({each.bytes for each in comparisons})
    rules: list[Rule] = []
    begin = 0
    for place, size in enumerate(sizes):
        gaining = [each for each in comparisons if each.bytes == size and each.gains]
        best = min(gaining, key=lambda each: each.ratio).algorithm if gaining else None
        if not rules or rules[-1].algorithm != best:
            rules.append(Rule(begin, best))
        following = sizes[place + 1] if place + 1 < len(sizes) else size * 10
        begin = math.isqrt(size * following)
    if rules and rules[-1].algorithm is not None:
        rules.append(Rule(begin, None))
    return rules


def rule_for_all_sizes(comparisons: Sequence[Comparison]) -> list[Rule]:
    """One algorithm for every size: it gains somewhere and loses nowhere."""
    best, best_ratio = None, 1.0
    for name in dict.fromkeys(each.algorithm for each in comparisons):
        own = [each for each in comparisons if each.algorithm == name]
        if any(each.loses for each in own) or not any(each.gains for each in own):
            continue
        ratio = math.prod(each.ratio for each in own) ** (1 / len(own))
        if ratio < best_ratio:
            best, best_ratio = name, ratio
    return [Rule(0, best)] if comparisons else []


def reach(ranks: Sequence[int]) -> dict[int, tuple[int, int]]:
    """For which numbers of ranks each measured one stands: up to the geometric middle."""
    ordered = sorted(set(ranks))
    found = {}
    for place, number in enumerate(ordered):
        least, most = math.ceil(number / NEAR), math.floor(number * NEAR)
        if place > 0:
            least = max(least, math.isqrt(ordered[place - 1] * number) + 1)
        if place + 1 < len(ordered):
            most = min(most, math.isqrt(number * ordered[place + 1]))
        found[number] = (max(least, 2) if number > 1 else 1, most)
    return found


def learn(comparisons: Sequence[Comparison], by_size: bool) -> list[RankRules]:
    """The rules for one collective; none where nothing is worth choosing."""
    found = []
    for number, (least, most) in reach([each.ranks for each in comparisons]).items():
        here = [each for each in comparisons if each.ranks == number]
        rules = rules_by_size(here) if by_size else rule_for_all_sizes(here)
        if any(rule.algorithm is not None for rule in rules):
            found.append(RankRules(here[0].collective, least, most, tuple(rules)))
    return found
