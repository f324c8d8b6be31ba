"""Irregular gather of Traeff 2017: tables 1 to 5, each by its own claims.

Tables 1 to 3 are one cluster under three MPI libraries, 35 nodes of 16 ranks; tables 4 and 5
another one, 400 nodes of 16, under a fourth library: 4 with what that chooses by itself, 5 with
the best of what it has, a binomial MPI_Gather and a k-nomial MPI_Gatherv. What a library does is
simulated by the algorithm that the paper takes it for. The network has the startup latency and the
bandwidth that tables 1 and 2 show (two blocks in 1.9 us; 22.4 MB in 7.7 ms); inside a node both
are assumed.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sibyl.reproduce.gatherv_claims import (
    BLOCKS,
    GATHER,
    KEPT,
    NATIVE,
    PADDED,
    PROBLEMS,
    TREE,
    CellTimes,
    Published,
    claims_1_to_3,
    claims_4,
    claims_5,
    factor,
    found_again,
    worth_of_keeping,
)
from sibyl.reproduce.outcome import Claim, Outcome, deviation, published
from sibyl.simulator.model import Network, Nodes
from sibyl.simulator.run import simulate

RANKS_PER_NODE = 16
SPIKE = 5
NETWORK = Network(
    alpha=1.9e-6, beta=1 / 2.9e9, nodes=Nodes(RANKS_PER_NODE, alpha=0.5e-6, beta=1 / 4e9)
)


@dataclass(frozen=True)
class Tables:
    """Published tables that are simulated alike.

    Attributes:
        names: their numbers.
        ranks: of their machine.
        native: what their library's MPI_Gatherv is taken for: linear or k-nomial.
    """

    names: tuple[str, ...]
    ranks: int
    native: str


TABLES_1_TO_3 = Tables(("1", "2", "3"), 560, "linear")
TABLE_4 = Tables(("4",), 6400, "linear")
TABLE_5 = Tables(("5",), 6400, "k-nomial")


def sizes_of(problem: str, ranks: int, block: int) -> list[int]:
    """Elements of each rank's block, as the paper draws them."""
    draw = random.Random(f"{problem} {ranks} {block}")
    if problem == "same":
        return [block] * ranks
    if problem == "random":
        return [draw.randint(1, 2 * block) for _ in range(ranks)]
    if problem == "spikes":
        return [SPIKE * block if draw.randrange(SPIKE) == 0 else 1 for _ in range(ranks)]
    if problem == "decreasing":
        return [2 * block * (ranks - i) // ranks + 1 for i in range(ranks)]
    if problem == "alternating":
        return [block + block // 2 if i % 2 == 0 else block - block // 2 for i in range(ranks)]
    return [block if i in (0, ranks - 1) else 0 for i in range(ranks)]


def _direct(blocks: Sequence[int], root: int) -> float:
    """Seconds of a linear gather that leaves out empty blocks, as the libraries do."""
    own = root // RANKS_PER_NODE
    messages = [
        (NETWORK.nodes.alpha + NETWORK.nodes.beta * size)
        if NETWORK.nodes and rank // RANKS_PER_NODE == own
        else NETWORK.message(size)
        for rank, size in enumerate(blocks)
        if size and rank != root
    ]
    return sum(messages)


def _root(ranks: int) -> int:
    return ranks // 2


def _took(collective: str, algorithm: str, ranks: int, size: int = 0, **more: Any) -> float:
    root = 0 if collective == "allreduce" else _root(ranks)
    done = simulate(collective, algorithm, ranks, size, network=NETWORK, root=root, **more)
    return done.run_time


# Tables have cells in common, and what depends on the largest block alone does not depend on the
# others.
@lru_cache
def _padded(ranks: int, most: int) -> tuple[float, float]:
    """MPI_Gather of blocks of so many bytes, and what guideline 2 allows MPI_Gatherv with it."""
    gather = _took("gather", "binomial", ranks, most)
    return gather, _took("allreduce", "recursive-doubling", ranks, 4) + gather


@lru_cache(maxsize=64)
def _tree(ranks: int, blocks: tuple[int, ...], constructed: bool) -> float:
    """The tree with its construction, or kept from an earlier call."""
    return _took("gatherv", "ordered-tree", ranks, block_sizes=blocks, constructed=constructed)


def simulated(tables: Tables, sizes: Sequence[int], keeps: bool = True) -> dict[str, float]:
    """Seconds of each contender with blocks of so many integers.

    Args:
        tables: whose contenders.
        sizes: of all ranks' blocks, the root's in the middle.
        keeps: the tree, kept from an earlier call, too, of which the paper has no column.
    """
    ranks = tables.ranks
    blocks = tuple(4 * size for size in sizes)
    gather, padded = _padded(ranks, max(blocks))
    if tables.native != "linear":  # a binomial tree that does not mind the sizes
        native = _took("gatherv", "ordered-tree", ranks, block_sizes=blocks, sizes_known=False)
    elif all(blocks):
        native = _took("gatherv", "linear", ranks, block_sizes=blocks)
    else:
        native = _direct(blocks, _root(ranks))
    found = {GATHER: gather, PADDED: padded, NATIVE: native, TREE: _tree(ranks, blocks, False)}
    return found | ({KEPT: _tree(ranks, blocks, True)} if keeps else {})


def as_printed(names: Sequence[str]) -> Published:
    """Minimal times of the published tables, in seconds."""
    found: Published = {name: {} for name in names}
    for row in published("gatherv_tables_1_to_5"):
        if row["table"] not in found or row["problem"] not in PROBLEMS:
            continue
        table = found[row["table"]]
        block = BLOCKS[sum(problem == row["problem"] for problem, _ in table)]
        table[row["problem"], block] = {
            name: 1e-6 * float(row[f"{name}_min_us"]) for name in (GATHER, PADDED, NATIVE, TREE)
        }
    return found


def _draw(plt: Any, ours: CellTimes, theirs: Published) -> Any:
    figure, axes = plt.subplots(2, 3, figsize=(11, 6), sharex=True, sharey=True)
    for place, problem in zip(axes.flat, PROBLEMS, strict=True):
        for number, (table, printed) in enumerate(theirs.items()):
            known = [b for b in BLOCKS if (problem, b) in printed]
            place.plot(
                known, [factor(printed[problem, b]) for b in known], "o--", alpha=0.6,
                color=f"C{number + 1}", label=f"table {table}",
            )  # fmt: skip
        model = [factor(ours[problem, b]) for b in BLOCKS]
        kept = [ours[problem, b][NATIVE] / ours[problem, b][KEPT] for b in BLOCKS]
        place.plot(BLOCKS, model, "ks-", label="simulated", zorder=3)
        place.plot(BLOCKS, kept, "k:", label="simulated, tree kept", zorder=3)
        place.axhline(1, color="#888888", linewidth=1)
        place.set(xscale="log", yscale="log", title=problem)
        place.grid(alpha=0.3)
    axes[0, 0].legend(fontsize=8)
    for place in axes[1]:
        place.set_xlabel("average block [MPI_INT]")
    for place in axes[:, 0]:
        place.set_ylabel("MPI_Gatherv over tree")
    figure.tight_layout()
    return figure


# How far a factor of the model may be from a published one.
TOLERANCE = 0.5


def outcome_of(
    tables: Tables,
    claims_of: Callable[[CellTimes, Published], list[Claim]],
    advance: Callable[[], None],
) -> Outcome:
    """The cells of published tables that are simulated alike."""
    theirs = as_printed(tables.names)
    ours: CellTimes = {}
    rows: list[list[Any]] = []
    for problem in PROBLEMS:
        for block in BLOCKS:
            sizes = sizes_of(problem, tables.ranks, block)
            times = ours[problem, block] = simulated(tables, sizes)
            row: list[Any] = [problem, block, sum(sizes), tables.ranks * max(sizes)]
            row += [round(1e6 * times[name], 2) for name in (GATHER, PADDED, NATIVE, TREE, KEPT)]
            row += [times[GATHER] > times[NATIVE], times[NATIVE] > times[PADDED]]
            row += [times[TREE] > times[PADDED], round(factor(times), 3)]
            row += [round(times[NATIVE] / times[KEPT], 3)]
            for printed in theirs.values():
                row.append(round(factor(printed[problem, block]), 3))
            rows.append(row)
        advance()
    columns = (
        *("problem", "block_ints", "ints", "padded_ints"),
        *("gather_us", "guideline_2_us", "gatherv_us", "tuw_gatherv_us", "tree_kept_us"),
        *("gather_violates_1", "gatherv_violates_2", "tuw_gatherv_violates_2"),
        *("factor", "factor_tree_kept"),
        *(f"published_factor_table_{table}" for table in tables.names),
    )
    root = _root(tables.ranks)
    setting = (
        f"simulated: {tables.ranks // RANKS_PER_NODE} nodes of {RANKS_PER_NODE} ranks, root "
        f"{root}, alpha 1.9 us, 2.9 GB/s, one link a node, inside 0.5 us and 4 GB/s; "
        f"MPI_Gather binomial, MPI_Gatherv {tables.native}; the tree with its construction at "
        "every call, as the paper charges it, and kept"
    )
    pairs = [
        (ours[cell][name], times[name])
        for printed in theirs.values()
        for cell, times in printed.items()
        for name in times
    ]
    claims = [
        *claims_of(ours, theirs),
        *found_again(ours, theirs, TOLERANCE),
        worth_of_keeping(ours),
    ]
    return Outcome(
        setting, columns, rows, claims, lambda plt: _draw(plt, ours, theirs), deviation(pairs)
    )


def tables_1_to_3(_iterations: int, advance: Callable[[], None]) -> Outcome:
    """35 nodes of 16 ranks under three libraries whose MPI_Gatherv sends direct."""
    return outcome_of(TABLES_1_TO_3, claims_1_to_3, advance)


def table_4(_iterations: int, advance: Callable[[], None]) -> Outcome:
    """400 nodes of 16 ranks under a library that chooses by itself."""
    return outcome_of(TABLE_4, claims_4, advance)


def table_5(_iterations: int, advance: Callable[[], None]) -> Outcome:
    """The same with the best that it has."""
    return outcome_of(TABLE_5, claims_5, advance)
