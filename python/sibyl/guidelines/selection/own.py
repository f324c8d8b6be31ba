"""Sibyl's own selection table.

A text file. `#` begins a comment. The first line that is none names format and version; every other
line is a rule of four words:

    sibyl-selection 1
    # collective  ranks  bytes   algorithm
    gather        6-11   0-2047  binomial
    gather        6-11   2048-   native
    gatherv       6-11   *       ordered-tree

ranks: of the communicator, both ends included. bytes: packed bytes of a block or of a vector, of
allgatherv and reduce-scatters of all blocks together, both ends included, without an end above if
it is missing; `*` where the call has no size that all ranks know (gatherv, scatterv, alltoallv,
barrier). algorithm: a name from `sibyl algorithms`, or native.
The first rule that fits a call decides; where none does, Sibyl chooses as without a table. The
reader is src/selection/table.cpp.
"""

from collections.abc import Sequence

from sibyl.guidelines.selection.choices import RankRules
from sibyl.mpi.governed_report import HEADING, MOST_RULES, SIZELESS

FILE = "sibyl-selection.txt"
HOW = "SIBYL_TABLE={path} sibyl run ..."


def to_text(learned: Sequence[RankRules], comment: Sequence[str]) -> str:
    """The file; `comment` are lines that stand below the heading."""
    lines = [HEADING, *(f"# {line}" for line in comment)]
    rows = []
    for each in learned:
        ranks = f"{each.least}-{each.most}"
        ends = [rule.bytes - 1 for rule in each.rules[1:]]
        for rule, end in zip(each.rules, [*ends, None], strict=True):
            if rule.algorithm is None:
                continue
            sizes = f"{rule.bytes}-{'' if end is None else end}"
            if each.collective in SIZELESS:
                sizes = "*"
            rows.append((each.collective, ranks, sizes, rule.algorithm))
    if len(rows) > MOST_RULES:
        lines.append(f"# {len(rows) - MOST_RULES} more rules were learned than a table may have")
        rows = rows[:MOST_RULES]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
    for row in rows:
        words = [word.ljust(width) for word, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*words, row[3]]))
    return "\n".join(lines) + "\n"
