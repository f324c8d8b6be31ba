"""Which measurements guidelines need: the columns of their tables, and what takes turns."""

from collections.abc import Sequence
from dataclasses import dataclass

from sibyl.experiment.grid import ROOTED_BLOCKS, SIZELESS
from sibyl.guidelines.catalogue import REGULAR, Guideline

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
    "reduce_scatter_block+gather": "Reduce_scatter_block + Gather",
    "reduce_scatter+gatherv": "Reduce_scatter + Gatherv",
    "allgatherv": "MPI_Allgatherv",
    "alltoall": "MPI_Alltoall",
    "allgather-by-allreduce": "Allreduce of all",
    "gather+bcast": "Gather + Bcast",
    "gatherv+bcast": "Gatherv + Bcast",
    "bcast-by-allgatherv": "Allgatherv of one",
    "scatter+allgather": "Scatter + Allgather",
    "reduce+bcast": "Reduce + Bcast",
    "reduce_scatter_block+allgather": "Reduce_scatter_block + Allgather",
    "reduce_scatter+allgatherv": "Reduce_scatter + Allgatherv",
    "reduce_scatter_block": "MPI_Reduce_scatter_block",
    "reduce_scatter": "MPI_Reduce_scatter",
    "reduce_scatter_block-by-allreduce": "Allreduce of all",
    "reduce+scatter": "Reduce + Scatter",
    "reduce+scatterv": "Reduce + Scatterv",
    "alltoallv": "MPI_Alltoallv",
    "padded-alltoall": "Guideline (2t)",
    "barrier": "MPI_Barrier",
}
# The order of a family's columns: the paper's for gather.
COLUMNS = {
    "gather": ("gather", "padded-gather", "gatherv", "allgather"),
    "scatter": ("scatter", "padded-scatter", "scatterv", "bcast"),
    "exscan": ("exscan", "scan"),
    "reduce": ("reduce", "allreduce", "reduce_scatter_block+gather", "reduce_scatter+gatherv"),
    "allgather": (
        *("allgather", "allgatherv", "alltoall"),
        *("allgather-by-allreduce", "gather+bcast", "gatherv+bcast"),
    ),
    "bcast": ("bcast", "bcast-by-allgatherv", "scatter+allgather"),
    "allreduce": (
        *("allreduce", "reduce+bcast"),
        *("reduce_scatter_block+allgather", "reduce_scatter+allgatherv"),
    ),
    "reduce_scatter_block": (
        *("reduce_scatter_block", "reduce_scatter", "reduce_scatter_block-by-allreduce"),
        *("reduce+scatter", "reduce+scatterv"),
    ),
    "alltoall": ("alltoall", "padded-alltoall", "alltoallv"),
    "barrier": ("barrier", "allreduce"),
}
# Families in which every rank holds as much as all blocks together.
HOLD_ALL = ("allgather", "bcast", "reduce_scatter_block", "alltoall")


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

    def blocks(self, wanted: Sequence[int]) -> Sequence[int]:
        """The average blocks that are measured; a barrier has none."""
        return (0,) if self.family == SIZELESS else wanted


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
    busy = family in ROOTED_BLOCKS and "allgather" in needed
    return Group(family, "reduce" if busy else family, problems, apply, operations)
