"""What is to be measured: a grid of cells, and the jobs that measure them.

A cell is one problem under one arrival pattern. Cells with the same number of ranks share a job of
the MPI program, so that processes are started once.
"""

import hashlib
import itertools
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from sibyl.inputs import is_int

SHAPES = ("flat", "uniform", "skewed", "root-late", "fixed", "normal", "exponential")
COUNTS = ("same", "random", "spikes", "decreasing", "alternating", "two-blocks")
SPIKE = 5  # a block of the spikes over the average one
MOST_ELEMENTS = 2**31 - 1  # of a vector: MPI counts them in an int
COLLECTIVES = (
    *("gather", "scatter", "reduce", "gatherv", "scatterv", "exscan", "scan"),
    *("allreduce", "bcast", "reduce_scatter", "reduce_scatter_block"),
    *("allgather", "allgatherv", "alltoall", "alltoallv", "barrier"),
)
IRREGULAR = ("gatherv", "scatterv", "reduce_scatter", "allgatherv", "alltoallv")
# One link is busy, the root's; in all others every rank sends.
ROOTED_BLOCKS = ("gather", "scatter", "gatherv", "scatterv")
# A size is that of all blocks together; else of a rank: its vector, or all that it sends.
SIZES_IN_ALL = (*ROOTED_BLOCKS, "allgather", "allgatherv")
SIZELESS = "barrier"
SCANS = ("exscan", "scan")
OPERATORS = ("sum", "int-sum", "bxor", "matrix", "modular")
# What those of Sibyl's collectives that plan for arrivals are told about those of a turn.
FALSE_LATE = "false-late"
PREDICTIONS = ("right", "none", "flat", "shuffled", "one-late", FALSE_LATE)
TOLD = ("reduce", "allreduce", "bcast")
# In the place of a pattern: bare calls after a barrier, the time of the slowest rank.
BARE = "none"
# Exclusive scans written by hand over point-to-point, as MPICH, Open MPI and Traeff 2025 have them.
LOOPS = ("loop-123", "loop-recursive-doubling", "loop-chain")
# The persistent form, told by edges: Sibyl's choice, and the names of Proficz 2020 (BLIN: as blocks
# come). But for BLIN the linear ones take one rank at a time, as published.
PERSISTENT = {
    "gather": (
        "persistent",
        "persistent-governed",
        "LIN",
        "BLIN",
        "LS",
        "SLS",
        "BSLS",
        "BNOM",
        "SBN",
        "BSBN",
    ),
    "scatter": ("persistent", "LIN", "SLIN", "BSLIN", "BNOM", "SBN", "BSBN"),
    "gatherv": ("persistent",),
    "scatterv": ("persistent",),
    "reduce": ("persistent",),
    "exscan": ("persistent",),
    "allreduce": ("persistent",),
    "bcast": ("persistent",),
    "allgather": ("persistent",),
    "allgatherv": ("persistent",),
    "alltoall": ("persistent",),
}
# Those that serve in another order than the ranks', and what else they may be told at their edges:
# that all come at once, and the times of others.
SORTED = ("persistent", "SLS", "BSLS", "SLIN", "BSLIN", "SBN", "BSBN")
MISLED = ("none", "shuffled")
# PREFIX:NAME, an algorithm of the table that predicts the arrivals itself: from edges of the
# computation, in the persistent form; of reduce also from its earlier turns. With a PREFIX of
# PREDICTIONS it is told that, whatever the others are told.
PREDICTING = ("edges", "history")
# The collective whose algorithms learn arrivals from their own messages, with this prefix.
LEARNING, PIGGYBACK = "allreduce", "piggyback"
# What a program under the preload gets: Sibyl's choice, told nothing, with its governor.
GOVERNED = "governed"
# The MPI library's own once more, on another communicator: what a comparison finds where nothing
# differs.
AGAIN = "native-again"
# Words that stand for all of the MPI library's own algorithms, forced, and for all of Sibyl's.
ALL_VARIANTS, ALL_OF_SIBYL = "native:*", "sibyl:*"


def is_persistent_form(collective: str, name: str) -> bool:
    """Whether it is one of PERSISTENT, or one told something else, or NAME@K of K transfers."""
    told, colon, rest = name.rpartition(":")
    form, at, transfers = rest.partition("@")
    return (
        form in PERSISTENT.get(collective, ())
        and (not colon or (told in MISLED and form in SORTED))
        and (not at or (form != "LS" and is_int(transfers)) or transfers == "1")
    )


@dataclass(frozen=True)
class Cell:
    """One problem under one arrival pattern.

    Attributes:
        ranks: of the job.
        size: bytes in all (SIZES_IN_ALL), else of each rank's vector, or of all that it sends; 0
            for a barrier.
        counts: how the total is cut into blocks (IRREGULAR).
        pattern: shape of the arrival times, the name of a pattern file, or BARE.
        max_delay: the largest delay in seconds; 0 for flat patterns and files.
        block: instead of size: the average block of a problem of Traeff 2017, in elements.
    """

    ranks: int
    size: int
    counts: str
    pattern: str
    max_delay: float
    block: int = 0

    def words(self, pattern_file: str | None = None) -> list[str]:
        """The options of the MPI program for this cell."""
        known = self.pattern in (*SHAPES, BARE)
        pattern = self.pattern if known or pattern_file is None else pattern_file
        size = f"block={self.block}," if self.block else f"bytes={self.size}," if self.size else ""
        text = f"{size}delay={self.max_delay!r},counts={self.counts},pattern={pattern}"
        return ["--cell", text]


@dataclass(frozen=True)
class Grid:
    """Everything that decides what is measured.

    Attributes:
        algorithms: the contenders; the first one is the reference. One of another collective is
            COLLECTIVE/NAME.
        cells: in the order in which they are measured.
        iterations: measurements per cell and contender.
        warm_up: unmeasured ones before them.
        compute: emulated computation in seconds, without the delay.
        operator: of reductions and scans; gives the element type of the others.
        prediction: what Sibyl's collectives that plan for arrivals are told about those of a turn.
        on: local, cluster or smpi.
        mpi: openmpi, mpich or a prefix; None for the first in PATH.
        rate: of each host's link, cluster only.
        queue: bytes that the cluster's switch keeps in front of each link; 0: as much as comes.
        platform: of the simulated cluster, smpi only.
        ranks_per_node: of the cluster, simulated or of namespaces.
        waiting: what ranks on the cluster do that wait: sleep or spin.
    """

    collective: str
    algorithms: tuple[str, ...]
    cells: tuple[Cell, ...]
    iterations: int = 32
    warm_up: int = 3
    compute: float = 0.02
    operator: str = "sum"
    root: int = 0
    seed: int = 1
    on: str = "local"
    mpi: str | None = None
    rate: str = "100mbit"
    queue: int = 0
    prediction: str = "right"
    platform: str = ""
    ranks_per_node: int = 1
    waiting: str = "sleep"

    @property
    def amount(self) -> str:
        """Whose bytes a cell's size counts, in words."""
        return "in all" if self.collective in SIZES_IN_ALL else "a rank"

    def jobs(self) -> list["Grid"]:
        """One grid for each number of ranks, in the order of the cells."""
        ranks = dict.fromkeys(cell.ranks for cell in self.cells)
        return [replace(self, cells=tuple(c for c in self.cells if c.ranks == n)) for n in ranks]

    def without(self, done: Sequence[Cell]) -> "Grid":
        """The same with the cells that are still to be measured."""
        return replace(self, cells=tuple(cell for cell in self.cells if cell not in done))

    def fingerprint(self, *more: str) -> str:
        """Equal for equal grids only; `more` are other things that results depend on."""
        text = json.dumps([asdict(self), *more], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def words(self, cells: Sequence[Cell], pattern_file: str | None = None) -> list[str]:
        """The command line of the MPI program, without its name."""
        words = ["arrivals", "--collective", self.collective]
        words += ["--algorithms", ",".join(self.algorithms), "--reference", self.algorithms[0]]
        words += ["--operators", self.operator, "--root", str(self.root), "--seed", str(self.seed)]
        words += ["--iterations", str(self.iterations), "--warm-up", str(self.warm_up)]
        words += ["--compute", repr(self.compute), "--prediction", self.prediction]
        words += ["--ranks-per-node", str(self.ranks_per_node)]
        for cell in cells:
            words += cell.words(pattern_file)
        return words

    @property
    def samples(self) -> int:
        """How many a cell has, those of the warm-up among them."""
        return (self.iterations + self.warm_up) * len(self.algorithms)

    def seconds_expected(self, cell: Cell) -> float:
        """What a cell takes at least, for the progress bar."""
        each = 1e-3 if cell.pattern == BARE else self.compute + cell.max_delay + 1e-3
        return each * self.samples


def make_cells(
    ranks: Sequence[int],
    sizes: Sequence[int],
    counts: Sequence[str],
    patterns: Sequence[str],
    max_delays: Sequence[float],
    blocks: Sequence[int] = (),
) -> tuple[Cell, ...]:
    """All combinations, each once: a flat pattern or a file has no maximal delay to vary.

    Args:
        ranks: of the jobs.
        sizes: in all, or of a vector; not used where `blocks` are given.
        counts: how a total is cut into blocks, or the paper's problems.
        patterns: shapes of arrival times, a file, or BARE.
        max_delays: in seconds.
        blocks: average blocks of the problems of Traeff 2017, in elements.
    """
    amounts = [(0, block) for block in blocks] or [(size, 0) for size in sizes]
    cells = []
    for n, (size, block), count, pattern, delay in itertools.product(
        ranks, amounts, counts, patterns, max_delays
    ):
        takes_delay = pattern in SHAPES and pattern != "flat"
        cells.append(Cell(n, size, count, pattern, delay if takes_delay else 0.0, block))
    return tuple(dict.fromkeys(cells))
