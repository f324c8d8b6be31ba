"""What knowing who is late is worth: an algorithm beside itself, told nothing, cell by cell.

The ranks of an iteration, or of a simulated pattern, come at the same times whatever they are told,
so what is compared are the quotients of each: their middle, the interval that the signed-rank test
leaves open, and what that test says, corrected over all cells of a table or figure. The columns are
the same in every item, simulated or measured. What is simulated under one pattern alone repeats to
the last digit: there is nothing to test, and no interval.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sibyl.experiment.statistics import holm, paired_ratio, signed_rank_greater

# Told nothing over told the truth, with an interval of 95 %, the test's p for "no difference", and
# told the times of others over told the truth.
WORTH_COLUMNS = ("worth", "worth_low", "worth_high", "worth_p", "told_others")


def worth_columns_of(metric: str) -> tuple[str, ...]:
    """Their names where a table has them of several of an item's times."""
    return tuple(f"{metric}_{column}" for column in WORTH_COLUMNS)


@dataclass(frozen=True)
class Told:
    """Times of one algorithm in one cell, by what it was told; more than none, and positive.

    In the same place those of the same iteration.

    Attributes:
        truth: told the truth; in a real program, what is foretold.
        nothing: told nothing.
        others: told the times of other ranks.
    """

    truth: Sequence[float]
    nothing: Sequence[float]
    others: Sequence[float]

    @cached_property
    def _over(self) -> tuple[float, float, float]:
        return paired_ratio(self.nothing, self.truth)

    @property
    def worth(self) -> float:
        """Told nothing over told the truth."""
        return self._over[0]

    @property
    def wrong(self) -> float:
        """Told the times of others over told the truth."""
        return paired_ratio(self.others, self.truth)[0]

    @property
    def interval(self) -> tuple[float, float] | None:
        """Of the worth, 95 %; None of a single iteration."""
        return self._over[1:] if len(self.truth) > 1 else None

    @property
    def chance(self) -> float:
        """How likely the times are where knowing makes no difference."""
        more = [math.log(own / other) for own, other in zip(self.nothing, self.truth, strict=True)]
        less = [-each for each in more]
        return min(1.0, 2 * min(signed_rank_greater(more), signed_rank_greater(less)))


def worth_columns(cells: Sequence[Told | None]) -> list[list[Any]]:
    """WORTH_COLUMNS of each cell; empty where an algorithm is told nothing anyhow."""
    tested = [cell for cell in cells if cell is not None and cell.interval is not None]
    corrected = iter(holm([cell.chance for cell in tested]))
    found: list[list[Any]] = []
    for cell in cells:
        if cell is None:
            found.append([""] * len(WORTH_COLUMNS))
            continue
        ends = cell.interval
        of_test = (
            ["", "", ""]
            if ends is None
            else [*(round(end, 3) for end in ends), float(f"{next(corrected):.2g}")]
        )
        found.append([round(cell.worth, 3), *of_test, round(cell.wrong, 3)])
    return found


def span_of_worth(cells: Sequence[Told], what: str = "the truth") -> str:
    """For a page: the least and the most, each with its interval; nothing of no cells.

    Args:
        cells: in which an algorithm is told something.
        what: it is told.
    """
    if not cells:
        return ""
    ordered = sorted(cells, key=lambda cell: cell.worth)
    ends = []
    for cell in (ordered[0], ordered[-1]):
        between = "" if cell.interval is None else " ({:.3f} to {:.3f})".format(*cell.interval)
        ends.append(f"{cell.worth:.3f}{between}")
    return f"told nothing over told {what}: {' to '.join(dict.fromkeys(ends))}"
