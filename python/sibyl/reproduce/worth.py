"""What knowing who is late is worth: an algorithm beside itself, told nothing, cell by cell.

The ranks of an iteration, or of a simulated pattern, come at the same times whatever they are told,
so what is compared are the quotients of each: their middle, the interval that the signed-rank test
leaves open, and what that test says, corrected over all cells of a table or figure. The columns are
the same in every item, simulated or measured.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sibyl.experiment.statistics import holm, paired_ratio, signed_rank_greater

# Told nothing over told the truth, with an interval of 95 %, the test's p for "no difference", and
# told the times of others over told the truth.
WORTH_COLUMNS = ("worth", "worth_low", "worth_high", "worth_p", "told_others")


@dataclass(frozen=True)
class Told:
    """Times of one algorithm in one cell, by what it was told; more than none, and positive.

    In the same place those of the same iteration.
    """

    truth: Sequence[float]
    nothing: Sequence[float]
    others: Sequence[float]

    @property
    def worth(self) -> float:
        """Told nothing over told the truth."""
        return paired_ratio(self.nothing, self.truth)[0]

    @property
    def wrong(self) -> float:
        """Told the times of others over told the truth."""
        return paired_ratio(self.others, self.truth)[0]

    @property
    def interval(self) -> tuple[float, float]:
        """Of the worth, 95 %."""
        return paired_ratio(self.nothing, self.truth)[1:]

    @property
    def chance(self) -> float:
        """How likely the times are where knowing makes no difference."""
        more = [math.log(own / other) for own, other in zip(self.nothing, self.truth, strict=True)]
        less = [-each for each in more]
        return min(1.0, 2 * min(signed_rank_greater(more), signed_rank_greater(less)))


def worth_columns(cells: Sequence[Told | None]) -> list[list[Any]]:
    """WORTH_COLUMNS of each cell; empty where an algorithm is told nothing anyhow."""
    tested = [cell for cell in cells if cell is not None]
    corrected = iter(holm([cell.chance for cell in tested]))
    found: list[list[Any]] = []
    for cell in cells:
        if cell is None:
            found.append([""] * len(WORTH_COLUMNS))
            continue
        ends = cell.interval
        chance = float(f"{next(corrected):.2g}")
        found.append([round(cell.worth, 3), *(round(e, 3) for e in ends), chance,
                      round(cell.wrong, 3)])  # fmt: skip
    return found


def span_of_worth(cells: Sequence[Told]) -> str:
    """For a page: the least and the most, each with its interval; nothing of no cells."""
    if not cells:
        return ""
    ordered = sorted(cells, key=lambda cell: cell.worth)
    ends = []
    for cell in (ordered[0], ordered[-1]):
        low, high = cell.interval
        ends.append(f"{cell.worth:.3f} ({low:.3f} to {high:.3f})")
    return f"told nothing over told the truth: {' to '.join(dict.fromkeys(ends))}"
