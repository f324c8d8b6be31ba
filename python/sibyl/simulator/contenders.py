"""Contenders by name: an algorithm of the table, whether it takes the arrival order, which gates.

A contender is written as in the papers (SLIN, BSBN, LS, ...), or as a name of the table with
`:sorted` (in the order of arrival) or `:background` (sorted, and background steps). In front may
stand what it is told of the arrivals, as in `sibyl bench`: `none:BSLIN` is the control of BSLIN,
the same algorithm with the same transfers under way and background steps, which knows nothing.
"""

import zlib
from dataclasses import dataclass

import numpy

from sibyl import _core
from sibyl.arguments import check_collective
from sibyl.errors import CommandError

# Names of Proficz 2020: base algorithm, sorted, background.
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
# Names of Proficz and Ocetkiewicz 2020.
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

# What a contender may be told of the arrivals: the truth; nothing, which is to say that all come at
# once; or the times of other ranks.
TOLD = ("right", "none", "flat", "shuffled")


@dataclass(frozen=True)
class Contender:
    """An algorithm as it takes part.

    Attributes:
        name: as the user wrote it.
        row: of the table.
        sorted: served in the order of arrival.
        background: with the gates open that it can open.
        told: one of TOLD.
    """

    name: str
    row: _core.Algorithm
    sorted: bool = False
    background: bool = False
    told: str = "right"

    @property
    def depends_on_arrivals(self) -> bool:
        """Whether other arrival times make another plan."""
        return self.knows and (self.sorted or self.row.arrivals)

    @property
    def knows(self) -> bool:
        """Whether it is told any times, true ones or not."""
        return self.told in ("right", "shuffled")

    def hears(self, arrivals: numpy.ndarray) -> numpy.ndarray:
        """What it is told where these are the arrivals; equal ones are shuffled alike."""
        if not self.knows:
            return numpy.zeros_like(arrivals)
        if self.told == "right" or numpy.all(arrivals == arrivals[0]):
            return arrivals
        generator = numpy.random.default_rng(zlib.crc32(arrivals.tobytes()))
        told = generator.permutation(arrivals)
        while numpy.array_equal(told, arrivals):  # which would be the truth
            told = generator.permutation(arrivals)
        return numpy.asarray(told)

    def order(self, arrivals: numpy.ndarray, root: int) -> list[int] | None:
        """The ranks other than the root as they are served, or placed in a binomial tree.

        Ties break by rank. A binomial gather seats the latest next to the root.

        Args:
            arrivals: as it hears of them.
            root: stands outside of the order.
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
    told, colon, rest = word.partition(":")
    if not colon or told not in TOLD:
        told, rest = "right", word
    if rest.upper() in published:
        name, is_sorted, background = published[rest.upper()]
        return _told(Contender(word, rows[name], is_sorted, background, told))
    name, _, mode = rest.partition(":")
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
    return _told(Contender(word, row, bool(mode), mode == "background", told))


def _told(contender: Contender) -> Contender:
    """The same.

    Raises:
        CommandError: it is said what it is told, and it does not listen.
    """
    if contender.told != "right" and not (contender.sorted or contender.row.arrivals):
        raise CommandError(
            f"'{contender.name}': {contender.row.name} takes no arrivals; the control of an "
            f"algorithm that is sorted is told nothing, as in {contender.told}:NAME:sorted"
        )
    return contender
