"""The performance guidelines, and which measurements they need.

(1) and (2) are those of paper 002, section 4, with their twins for scatter; the others are
self-consistent guidelines between regular collectives, of which the left side delivers a part of
what the right side does.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sibyl.experiment.grid import COUNTS


@dataclass(frozen=True)
class Guideline:
    """The left side must not be slower than the right one.

    Attributes:
        name: how tables refer to it.
        left: the collective that is judged.
        right: what it is compared with, an operation of the benchmark.
        text: for people.
        everywhere: it holds on irregular problems too, not only where all blocks are equal.
        family: collectives of one family are measured in turns, and share a table.
        remedy: what a program can do about a violation.
    """

    name: str
    left: str
    right: str
    text: str
    everywhere: bool
    family: str
    remedy: str


GUIDELINES = (
    Guideline(
        "(1)",
        "gather",
        "gatherv",
        "Gather(m) <= Gatherv(m)",
        False,
        "gather",
        "call MPI_Gatherv where MPI_Gather would do",
    ),
    Guideline(
        "(2)",
        "gatherv",
        "padded-gather",
        "Gatherv(m) <= Allreduce(1) + Gather(m')",
        True,
        "gather",
        "agree on the largest block and call MPI_Gather on padded blocks",
    ),
    Guideline(
        "(3)",
        "gather",
        "allgather",
        "Gather(m) <= Allgather(m)",
        False,
        "gather",
        "call MPI_Allgather and use the result at the root only",
    ),
    Guideline(
        "(1s)",
        "scatter",
        "scatterv",
        "Scatter(m) <= Scatterv(m)",
        False,
        "scatter",
        "call MPI_Scatterv where MPI_Scatter would do",
    ),
    Guideline(
        "(2s)",
        "scatterv",
        "padded-scatter",
        "Scatterv(m) <= Bcast(1) + Scatter(m')",
        True,
        "scatter",
        "broadcast the largest block's size and call MPI_Scatter on padded blocks",
    ),
    Guideline(
        "(3s)",
        "scatter",
        "bcast",
        "Scatter(m) <= Bcast(m)",
        False,
        "scatter",
        "call MPI_Bcast with all blocks and use one of them",
    ),
    Guideline(
        "(4)",
        "exscan",
        "scan",
        "Exscan(b) <= Scan(b)",
        False,
        "exscan",
        "call MPI_Scan and take the own contribution off, where the operator has an inverse",
    ),
    Guideline(
        "(5)",
        "reduce",
        "allreduce",
        "Reduce(b) <= Allreduce(b)",
        False,
        "reduce",
        "call MPI_Allreduce and use the result at the root only",
    ),
)
LEFT_SIDES = tuple(dict.fromkeys(guideline.left for guideline in GUIDELINES))
REGULAR = "same"
PROBLEMS = COUNTS

# How a table names what it times.
TITLES = {
    "gather": "MPI_Gather",
    "gatherv": "MPI_Gatherv",
    "padded-gather": "Guideline (2)",
    "allgather": "MPI_Allgather",
    "scatter": "MPI_Scatter",
    "scatterv": "MPI_Scatterv",
    "padded-scatter": "Guideline (2s)",
    "bcast": "MPI_Bcast",
    "exscan": "MPI_Exscan",
    "scan": "MPI_Scan",
    "reduce": "MPI_Reduce",
    "allreduce": "MPI_Allreduce",
}
# The order of a family's columns: the paper's for gather.
COLUMNS = {
    "gather": ("gather", "padded-gather", "gatherv", "allgather"),
    "scatter": ("scatter", "padded-scatter", "scatterv", "bcast"),
    "exscan": ("exscan", "scan"),
    "reduce": ("reduce", "allreduce"),
}


def chosen(left_sides: Iterable[str]) -> list[Guideline]:
    """The guidelines that judge these collectives."""
    wanted = set(left_sides)
    return [guideline for guideline in GUIDELINES if guideline.left in wanted]


def side(operation: str, algorithm: str = "native") -> str:
    """A contender of the benchmark."""
    return f"{operation}/{algorithm}"


def side_title(text: str) -> str:
    """The heading of a contender's column."""
    operation, _, algorithm = text.partition("/")
    if algorithm == "native":
        return TITLES[operation]
    if algorithm == "auto":
        return TITLES[operation].replace("MPI_", "SIBYL_")
    return f"{TITLES[operation]} {algorithm.removeprefix('native:')}"


@dataclass(frozen=True)
class Group:
    """Guidelines of one family on problems that they share: measured in one run, in turns.

    Attributes:
        collective: of the grid; says how many links a measurement keeps busy.
        operations: what is timed, in the order of the columns.
    """

    family: str
    collective: str
    problems: tuple[str, ...]
    guidelines: tuple[Guideline, ...]
    operations: tuple[str, ...]


def groups(guidelines: Sequence[Guideline], problems: Sequence[str]) -> list[Group]:
    """What has to be measured together, irregular problems of a family in one group."""
    found = []
    for family in dict.fromkeys(guideline.family for guideline in guidelines):
        of_family = [guideline for guideline in guidelines if guideline.family == family]
        for regular in (True, False):
            here = tuple(problem for problem in problems if (problem == REGULAR) == regular)
            apply = tuple(g for g in of_family if regular or g.everywhere)
            if not here or not apply:
                continue
            found.append(_group(family, here, apply))
    return found


def _group(family: str, problems: tuple[str, ...], apply: tuple[Guideline, ...]) -> Group:
    needed = {operation for g in apply for operation in (g.left, g.right)}
    if any(g.everywhere for g in apply):
        needed.add(family)  # the regular collective on padded blocks, as in the paper
    operations = tuple(name for name in COLUMNS[family] if name in needed)
    # A guideline between collectives in which everybody sends keeps all links busy.
    busy = {"allgather", "scan", "allreduce"} & needed
    return Group(family, "reduce" if busy else family, problems, apply, operations)
