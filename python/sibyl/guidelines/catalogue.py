"""The performance guidelines.

The number of a name says what the right side is, the letters whose guideline it is: s scatter(v), a
allgather(v), b bcast, r reduce-scatters, t all-to-all(v), v what goes by irregular collectives.

    (1) the irregular collective         (6) by way of a root
    (2) the regular one, padded          (7), (8) by way of a part for each rank
    (3) to (5) one that delivers more    (9) a barrier

(1) and (2) are those of Traeff 2017, section 4, the others are from Traeff, Gropp and Thakur and
from Hunold and Carpen-Amarie (docs/how-to/guidelines.md).
"""

from collections.abc import Iterable
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
    Guideline(
        "(8)",
        "reduce",
        "reduce_scatter_block+gather",
        "Reduce(b) <= Reduce_scatter_block(b') + Gather(b')",
        False,
        "reduce",
        "pad the vector, call MPI_Reduce_scatter_block, then MPI_Gather",
    ),
    Guideline(
        "(8v)",
        "reduce",
        "reduce_scatter+gatherv",
        "Reduce(b) <= Reduce_scatter(b) + Gatherv(b)",
        False,
        "reduce",
        "call MPI_Reduce_scatter, then MPI_Gatherv",
    ),
    Guideline(
        "(1a)",
        "allgather",
        "allgatherv",
        "Allgather(m) <= Allgatherv(m)",
        False,
        "allgather",
        "call MPI_Allgatherv where MPI_Allgather would do",
    ),
    Guideline(
        "(2a)",
        "allgatherv",
        "allgather",
        "Allgatherv(m) <= Allgather(m')",
        True,
        "allgather",
        "call MPI_Allgather on blocks padded to the largest, which all ranks know",
    ),
    Guideline(
        "(3a)",
        "allgather",
        "alltoall",
        "Allgather(m) <= Alltoall(m)",
        False,
        "allgather",
        "call MPI_Alltoall with a copy of the block for every rank",
    ),
    Guideline(
        "(5a)",
        "allgather",
        "allgather-by-allreduce",
        "Allgather(m) <= Allreduce(m)",
        False,
        "allgather",
        "call MPI_Allreduce (MPI_BOR) on vectors that are zero but for the own block",
    ),
    Guideline(
        "(6a)",
        "allgather",
        "gather+bcast",
        "Allgather(m) <= Gather(m) + Bcast(m)",
        False,
        "allgather",
        "call MPI_Gather, then MPI_Bcast",
    ),
    Guideline(
        "(6av)",
        "allgatherv",
        "gatherv+bcast",
        "Allgatherv(m) <= Gatherv(m) + Bcast(m)",
        True,
        "allgather",
        "call MPI_Gatherv, then MPI_Bcast",
    ),
    Guideline(
        "(3b)",
        "bcast",
        "bcast-by-allgatherv",
        "Bcast(m) <= Allgatherv(m)",
        False,
        "bcast",
        "call MPI_Allgatherv with empty blocks but for the root's",
    ),
    Guideline(
        "(7b)",
        "bcast",
        "scatter+allgather",
        "Bcast(m) <= Scatter(m) + Allgather(m)",
        False,
        "bcast",
        "call MPI_Scatter, then MPI_Allgather",
    ),
    Guideline(
        "(6)",
        "allreduce",
        "reduce+bcast",
        "Allreduce(b) <= Reduce(b) + Bcast(b)",
        False,
        "allreduce",
        "call MPI_Reduce, then MPI_Bcast",
    ),
    Guideline(
        "(7)",
        "allreduce",
        "reduce_scatter_block+allgather",
        "Allreduce(b) <= Reduce_scatter_block(b') + Allgather(b')",
        False,
        "allreduce",
        "pad the vector, call MPI_Reduce_scatter_block, then MPI_Allgather",
    ),
    Guideline(
        "(7v)",
        "allreduce",
        "reduce_scatter+allgatherv",
        "Allreduce(b) <= Reduce_scatter(b) + Allgatherv(b)",
        False,
        "allreduce",
        "call MPI_Reduce_scatter, then MPI_Allgatherv",
    ),
    Guideline(
        "(1r)",
        "reduce_scatter_block",
        "reduce_scatter",
        "Reduce_scatter_block(m) <= Reduce_scatter(m)",
        False,
        "reduce_scatter_block",
        "call MPI_Reduce_scatter where MPI_Reduce_scatter_block would do",
    ),
    Guideline(
        "(2r)",
        "reduce_scatter",
        "reduce_scatter_block",
        "Reduce_scatter(m) <= Reduce_scatter_block(m')",
        True,
        "reduce_scatter_block",
        "call MPI_Reduce_scatter_block on blocks padded to the largest",
    ),
    Guideline(
        "(5r)",
        "reduce_scatter_block",
        "reduce_scatter_block-by-allreduce",
        "Reduce_scatter_block(m) <= Allreduce(m)",
        False,
        "reduce_scatter_block",
        "call MPI_Allreduce and use the own block",
    ),
    Guideline(
        "(6r)",
        "reduce_scatter_block",
        "reduce+scatter",
        "Reduce_scatter_block(m) <= Reduce(m) + Scatter(m)",
        False,
        "reduce_scatter_block",
        "call MPI_Reduce, then MPI_Scatter",
    ),
    Guideline(
        "(6rv)",
        "reduce_scatter",
        "reduce+scatterv",
        "Reduce_scatter(m) <= Reduce(m) + Scatterv(m)",
        True,
        "reduce_scatter_block",
        "call MPI_Reduce, then MPI_Scatterv",
    ),
    Guideline(
        "(1t)",
        "alltoall",
        "alltoallv",
        "Alltoall(m) <= Alltoallv(m)",
        False,
        "alltoall",
        "call MPI_Alltoallv where MPI_Alltoall would do",
    ),
    Guideline(
        "(2t)",
        "alltoallv",
        "padded-alltoall",
        "Alltoallv(m) <= Allreduce(1) + Alltoall(m')",
        True,
        "alltoall",
        "agree on the largest block and call MPI_Alltoall on padded blocks",
    ),
    Guideline(
        "(9)",
        "barrier",
        "allreduce",
        "Barrier <= Allreduce(1)",
        False,
        "barrier",
        "call MPI_Allreduce on one element",
    ),
)
LEFT_SIDES = tuple(dict.fromkeys(guideline.left for guideline in GUIDELINES))
REGULAR = "same"
PROBLEMS = COUNTS


def chosen(left_sides: Iterable[str]) -> list[Guideline]:
    """The guidelines that judge these collectives."""
    wanted = set(left_sides)
    return [guideline for guideline in GUIDELINES if guideline.left in wanted]
