"""Contenders by name: an algorithm of the table, whether it takes the arrival order, which gates.

A contender is written as in the papers (SLIN, BSBN, LS, ...), or as a name of the table with
`:sorted` (in the order of arrival) or `:background` (sorted, and background steps).
"""

from dataclasses import dataclass

import numpy

from sibyl import _core
from sibyl.arguments import check_collective
from sibyl.errors import CommandError

# Names of paper 004: base algorithm, sorted, background.
_LINEAR = {
    "LIN": ("linear", False, False),
    "SLIN": ("linear", True, False),
    "BSLIN": ("linear", True, True),
}
_BINOMIAL = {
    "BNOM": ("binomial", False, False),
    "SBN": ("binomial", True, False),
    "BSBN": ("binomial", True, True),
}
_SYNCHRONISED = {
    "LS": ("linear-synchronised", False, False),
    "SLS": ("linear-synchronised", True, False),
    "BSLS": ("linear-synchronised", True, True),
}
# Names of papers 000 and 001.
_REDUCE = {
    "CLV": "clairvoyant",
    "BNOM": "binomial",
    "RAB": "rabenseifner",
    "RXK": "radix-k",
    "RING": "ring",
}
PUBLISHED = {
    "reduce": {name: (row, False, False) for name, row in _REDUCE.items()},
    "scatter": _LINEAR | _BINOMIAL,
    "gather": {"LIN": ("linear", False, False)} | _SYNCHRONISED | _BINOMIAL,
}


@dataclass(frozen=True)
class Contender:
    """An algorithm as it takes part.

    Attributes:
        name: as the user wrote it.
        row: of the table.
        sorted: served in the order of arrival.
        background: with the gates open that it can open.
    """

    name: str
    row: _core.Algorithm
    sorted: bool = False
    background: bool = False

    @property
    def depends_on_arrivals(self) -> bool:
        """Whether other arrival times make another plan."""
        return self.sorted or self.row.arrivals

    def order(self, arrivals: numpy.ndarray, root: int) -> list[int] | None:
        """The ranks other than the root as they are served, or placed in a binomial tree.

        Ties break by rank. A binomial gather seats the latest next to the root.
        """
        if not self.sorted:
            return None
        late_first = self.row.collective == "gather" and self.row.name == "binomial"
        ranks = numpy.argsort(-arrivals if late_first else arrivals, kind="stable")
        return [int(rank) for rank in ranks if rank != root]


def contenders(collective: str, text: str | None) -> list[Contender]:
    """Read A,B,...; all of the table where nothing is said."""
    check_collective(collective)
    rows = {row.name: row for row in _core.algorithms(collective)}
    if text is None:
        return [Contender(row.name, row) for row in rows.values()]
    found = []
    for word in dict.fromkeys(word.strip() for word in text.split(",")):
        found.append(_contender(collective, word, rows))
    return found


def _contender(collective: str, word: str, rows: dict[str, _core.Algorithm]) -> Contender:
    published = PUBLISHED.get(collective, {})
    if word.upper() in published:
        name, is_sorted, background = published[word.upper()]
        return Contender(word, rows[name], is_sorted, background)
    name, _, mode = word.partition(":")
    if name not in rows:
        known = [*rows, *published]
        raise CommandError(
            f"unknown algorithm '{name}' for {collective}; there are {', '.join(known)}"
        )
    row = rows[name]
    if mode not in ("", "sorted", "background"):
        raise CommandError(f"'{word}': after the colon stands sorted or background")
    if mode and row.order == "none":
        raise CommandError(f"'{word}': {name} takes no order")
    if mode == "background" and not row.background:
        raise CommandError(f"'{word}': {name} has no background steps")
    return Contender(word, row, bool(mode), mode == "background")
