"""Irregular gather of Traeff 2017: tables 1 to 5, each by its own claims.

Tables 1 to 3 are one cluster under three MPI libraries, 35 nodes of 16 ranks; tables 4 and 5
another one, 400 nodes of 16, under a fourth library: 4 with what that chooses by itself, 5 with
the best of what it has, a binomial MPI_Gather and a k-nomial MPI_Gatherv. What a library does is
simulated by the algorithm that the paper takes it for; its k-nomial MPI_Gatherv first finds out how
much comes, to which the paper puts down that it violates guideline 2, here by a gather of sizes.
Each machine has a network of its own, with the startup latency and the bandwidth that its tables
show: two blocks in 1.9 us and 22.4 MB in 7.7 ms (tables 1 and 2); the tree's gather of single
integers in 50 us and of 256 MB in 81 ms (table 4). Inside a node both are assumed.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sibyl.reproduce.gatherv_claims import (
    AS_SIBYL,
    BLOCKS,
    GATHER,
    KEPT,
    NATIVE,
    PADDED,
    PRINTED,
    PROBLEMS,
    TREE,
    CellTimes,
    Published,
    claims_1_to_3,
    claims_4,
    claims_5,
    factor,
    found_again,
    violations,
    worth_of_keeping,
)
from sibyl.reproduce.outcome import Claim, Outcome, deviation, published
from sibyl.simulator.model import Network, Nodes
from sibyl.simulator.run import simulate

RANKS_PER_NODE = 16
SPIKE = 5
NODES = Nodes(RANKS_PER_NODE, alpha=0.5e-6, beta=1 / 4e9)
SMALL_CLUSTER = Network(alpha=1.9e-6, beta=1 / 2.9e9, nodes=NODES)
LARGE_CLUSTER = Network(alpha=1.4e-6, beta=1 / 3.16e9, nodes=NODES)
# Sibyl constructs its tree anew at every so many calls (SIBYL_CONSTRUCT_EVERY).
CONSTRUCT_EVERY = 64


@dataclass(frozen=True)
class Tables:
    """Published tables that are simulated alike.

    Attributes:
        names: their numbers.
        ranks: of their machine.
        network: of their machine.
        native: what their library's MPI_Gatherv is taken for: linear or k-nomial.
    """

    names: tuple[str, ...]
    ranks: int
    network: Network
    native: str


TABLES_1_TO_3 = Tables(("1", "2", "3"), 560, SMALL_CLUSTER, "linear")
TABLE_4 = Tables(("4",), 6400, LARGE_CLUSTER, "linear")
TABLE_5 = Tables(("5",), 6400, LARGE_CLUSTER, "k-nomial")


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


def _direct(network: Network, blocks: Sequence[int], root: int) -> float:
    """Seconds of a linear gather that leaves out empty blocks, as the libraries do."""
    own = root // RANKS_PER_NODE
    messages = [
        NODES.alpha + NODES.beta * size if rank // RANKS_PER_NODE == own else network.message(size)
        for rank, size in enumerate(blocks)
        if size and rank != root
    ]
    return sum(messages)


def _root(ranks: int) -> int:
    return ranks // 2


def _took(
    network: Network, collective: str, algorithm: str, ranks: int, size: int = 0, **more: Any
) -> float:
    root = 0 if collective == "allreduce" else _root(ranks)
    done = simulate(collective, algorithm, ranks, size, network=network, root=root, **more)
    return done.run_time


# Tables have cells in common, and what depends on the largest block alone does not depend on the
# others.
@lru_cache
def _gather(network: Network, ranks: int, size: int) -> float:
    """MPI_Gather of blocks of so many bytes."""
    return _took(network, "gather", "binomial", ranks, size)


@lru_cache
def _largest(network: Network, ranks: int) -> float:
    """The allreduce by which guideline 2 has ranks agree on the largest block."""
    return _took(network, "allreduce", "recursive-doubling", ranks, 4)


@lru_cache(maxsize=64)
def _tree(network: Network, ranks: int, blocks: tuple[int, ...], constructed: bool) -> float:
    """The tree with its construction, or kept from an earlier call."""
    more: dict[str, Any] = {"block_sizes": blocks, "constructed": constructed}
    return _took(network, "gatherv", "ordered-tree", ranks, **more)


def _native(tables: Tables, blocks: tuple[int, ...]) -> float:
    network, ranks = tables.network, tables.ranks
    if tables.native != "linear":  # a binomial tree that does not mind the sizes
        more: dict[str, Any] = {"block_sizes": blocks, "sizes_known": False}
        sent = _took(network, "gatherv", "ordered-tree", ranks, **more)
        return _gather(network, ranks, 4) + sent
    if all(blocks):
        return _took(network, "gatherv", "linear", ranks, block_sizes=blocks)
    return _direct(network, blocks, _root(ranks))


def simulated(tables: Tables, sizes: Sequence[int], keeps: bool = True) -> dict[str, float]:
    """Seconds of each contender with blocks of so many integers.

    Args:
        tables: whose contenders.
        sizes: of all ranks' blocks, the root's in the middle.
        keeps: the tree, kept from an earlier call, too, of which the paper has no column, and in
            the mean of Sibyl's calls.
    """
    network, ranks = tables.network, tables.ranks
    blocks = tuple(4 * size for size in sizes)
    gather = _gather(network, ranks, max(blocks))
    constructed = _tree(network, ranks, blocks, False)
    found = {
        GATHER: gather,
        PADDED: _largest(network, ranks) + gather,
        NATIVE: _native(tables, blocks),
        TREE: constructed,
    }
    if not keeps:
        return found
    kept = _tree(network, ranks, blocks, True)
    return found | {KEPT: kept, AS_SIBYL: kept + (constructed - kept) / CONSTRUCT_EVERY}


def as_printed(names: Sequence[str]) -> Published:
    """Minimal times of the published tables, in seconds."""
    found: Published = {name: {} for name in names}
    for row in published("gatherv_tables_1_to_5"):
        if row["table"] not in found or row["problem"] not in PROBLEMS:
            continue
        table = found[row["table"]]
        block = BLOCKS[sum(problem == row["problem"] for problem, _ in table)]
        table[row["problem"], block] = {
            name: 1e-6 * float(row[f"{name}_min_us"]) for name in PRINTED
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
NAMES = ("gather", "guideline_2", "gatherv", "tuw_gatherv")  # of the columns, as PRINTED
VIOLATIONS = ("gather_violates_1", "gatherv_violates_2", "tuw_gatherv_violates_2")


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
            row += [round(1e6 * times[name], 2) for name in (*PRINTED, KEPT, AS_SIBYL)]
            row += [*violations(times), round(factor(times), 3)]
            row += [round(times[NATIVE] / times[name], 3) for name in (KEPT, AS_SIBYL)]
            for printed in theirs.values():
                given = printed[problem, block]
                row += [round(1e6 * given[name], 2) for name in PRINTED]
                row += [*violations(given), round(factor(given), 3)]
            rows.append(row)
        advance()
    printed_columns = (*(f"{name}_us" for name in NAMES), *VIOLATIONS, "factor")
    columns = (
        *("problem", "block_ints", "ints", "padded_ints"),
        *(f"{name}_us" for name in (*NAMES, "tree_kept", "tree_as_sibyl")),
        *(*VIOLATIONS, "factor", "factor_tree_kept", "factor_tree_as_sibyl"),
        *(f"published_{name}_table_{t}" for t in tables.names for name in printed_columns),
    )
    root, network = _root(tables.ranks), tables.network
    setting = (
        f"simulated: {tables.ranks // RANKS_PER_NODE} nodes of {RANKS_PER_NODE} ranks, root "
        f"{root}, alpha {1e6 * network.alpha:.1f} us, {1e-9 / network.beta:.3g} GB/s, one link a "
        f"node, inside 0.5 us and 4 GB/s; MPI_Gather binomial, MPI_Gatherv {tables.native}; the "
        "tree with its construction at every call, as the paper charges it, kept, and constructed "
        f"at every {CONSTRUCT_EVERY}th call, as Sibyl does"
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
