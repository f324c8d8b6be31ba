"""What was found of several collectives in one place, line by line and in sum."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sibyl.bench import output
from sibyl.experiment.grid import Grid
from sibyl.experiment.judge import Row
from sibyl.experiment.samples import CellResult
from sibyl.experiment.units import time_text

# Beside a ratio, where colours are not seen.
MARKS = {"faster": "+", "SLOWER": "!", "WRONG": "WRONG", "none": "?"}
# Number of ranks, arrival pattern, largest delay.
Group = tuple[int, str, float]


@dataclass(frozen=True)
class Part:
    """A collective of a run: its grid, what was measured, and what was found."""

    grid: Grid
    results: Sequence[CellResult]
    rows: Sequence[Row]


def contenders_of(parts: Sequence[Part]) -> list[str]:
    """All that are compared with native; not every collective has every one of them."""
    return list(dict.fromkeys(name for part in parts for name in part.grid.algorithms[1:]))


def group_of(row: Row) -> Group:
    """What cells of one table have in common."""
    cell = row.result.cell
    return (cell.ranks, cell.pattern, cell.max_delay)


def title_of(contender: str, group: Group) -> str:
    """What a table of one contender says above it."""
    ranks, pattern, delay = group
    up_to = f" up to {time_text(delay)}" if delay else ""
    return f"{contender} / native, {ranks} ranks, {pattern} arrivals{up_to}"


def groups_of(parts: Sequence[Part]) -> list[Group]:
    """All that there are, in the order of the cells."""
    return list(dict.fromkeys(group_of(row) for part in parts for row in part.rows))


def lines_of(
    parts: Sequence[Part], contender: str, group: Group
) -> tuple[list[int], list[tuple[str, list[Row | None]]]]:
    """A table of one contender: the sizes, and for each collective its row at each of them.

    A barrier, which has no size, stands below the first one.
    """
    inside = [
        [row for row in part.rows if row.algorithm == contender and group_of(row) == group]
        for part in parts
    ]
    sizes = sorted({row.result.cell.size for rows in inside for row in rows} - {0})
    lines = []
    for rows in inside:
        for counts in dict.fromkeys(row.result.cell.counts for row in rows):
            of = {row.result.cell.size: row for row in rows if row.result.cell.counts == counts}
            collective = rows[0].result.job["collective"]
            name = collective if counts == "same" else f"{collective}, {counts}"
            line = [of.get(size) for size in sizes] or [None]
            if 0 in of:
                line[0] = of[0]
            lines.append((name, line))
    return sizes, lines


def tables_of(
    parts: Sequence[Part], contender: str
) -> Iterator[tuple[str, list[int], list[tuple[str, list[Row | None]]]]]:
    """The tables of one contender that have a line: title, sizes, and lines as of lines_of()."""
    for group in groups_of(parts):
        sizes, lines = lines_of(parts, contender, group)
        if lines:
            yield title_of(contender, group), sizes, lines


def closing_lines(parts: Sequence[Part], contender: str, metric: str) -> list[str]:
    """How many cells are lost and won by a contender, and each that is lost."""
    rows = [row for part in parts for row in part.rows if row.algorithm == contender]
    if not rows:
        return []
    of = {verdict: [row for row in rows if row.verdict == verdict] for verdict in MARKS}
    judged = len(rows) - len(of["none"])
    lines = [
        f"{contender}: slower than native (!) in {len(of['SLOWER'])} of {judged} cells, faster (+) "
        f"in {len(of['faster'])}, shown to be no slower than allowed in "
        f"{sum(row.is_within for row in rows)}; {metric} time, rank-sum tests corrected for all "
        f"cells"
    ]
    if of["none"]:
        lines.append(f"no verdict (?) in {len(of['none'])} cells: {of['none'][0].limit}")
    for part in parts:
        for row in part.rows:
            if row.algorithm == contender and row.verdict in ("SLOWER", "WRONG"):
                title = output.cell_title(part.grid, row.result.cell)
                lines.append(f"{row.verdict}: {title}: {row.ratio:.3f}, p {row.p_slower:.2g}")
    return lines
