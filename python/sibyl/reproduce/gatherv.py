"""Irregular gather of paper 002: tables 1 to 5.

A homogeneous, fully connected network as in the paper's theorem, with the startup latency and the
bandwidth that its tables 1 and 2 show (two blocks in 1.9 us; 22.4 MB in 7.7 ms). The tables' native
MPI_Gatherv is taken for a linear gather without empty blocks, whose time is equation 3; the tree is
simulated, with its construction.
"""

import random
from collections.abc import Callable
from typing import Any

from sibyl.reproduce.outcome import Claim, Outcome, judge, published
from sibyl.simulator.model import Network
from sibyl.simulator.run import simulate

NETWORK = Network(alpha=1.9e-6, beta=1 / 2.9e9)
PROBLEMS = ("same", "random", "spikes", "decreasing", "alternating", "two-blocks")
BLOCKS = (1, 10, 100, 1000, 10000)
SPIKE = 5

Factors = dict[tuple[str, int], float]  # of a problem and its average block
Published = dict[tuple[str, str, int], float]  # of a table as well


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


def _linear(sizes: list[int], root: int) -> float:
    """Seconds of a linear gather that leaves out empty blocks, as the libraries do: equation 3."""
    others = [4 * size for rank, size in enumerate(sizes) if rank != root and size]
    return sum(NETWORK.message(size) for size in others)


def _tree(sizes: list[int], root: int) -> float:
    return simulate(
        "gatherv", "ordered-tree", len(sizes), 0, network=NETWORK, root=root,
        block_sizes=[4 * size for size in sizes],
    ).run_time  # fmt: skip


def _published(of: tuple[str, ...]) -> Published:
    """How many times as fast as MPI_Gatherv the paper's tree was, by table, problem and block."""
    factors: Published = {}
    places: dict[tuple[str, str], int] = {}
    for row in published("gatherv_tables_1_to_5"):
        if row["table"] not in of or row["problem"] not in PROBLEMS:
            continue
        where = row["table"], row["problem"]
        places[where] = place = places.get(where, -1) + 1
        factor = float(row["gatherv_min_us"]) / float(row["tuw_gatherv_min_us"])
        factors[(*where, BLOCKS[place])] = factor
    return factors


def _claims(ours: Factors) -> list[Claim]:
    irregular = [problem for problem in PROBLEMS if problem != "two-blocks"]

    def cells(blocks: tuple[int, ...], holds: Callable[[float], bool]) -> list[tuple[str, bool]]:
        return [(f"{p} {b}", holds(ours[p, b])) for p in irregular for b in blocks]

    small = [ours[p, 1] for p in irregular]
    large = [ours[p, 10000] for p in irregular]
    two = [ours["two-blocks", b] for b in BLOCKS]
    return [
        judge(
            "for blocks of up to 100 integers the tree is several times as fast as MPI_Gatherv",
            cells((1, 10, 100), lambda f: f > 2),
            f"{min(small):.1f} to {max(small):.1f} times for blocks of 1: log p latencies for p.",
        ),
        judge(
            "for blocks of 10 000 integers the linear gather of some libraries is up to twice as "
            "fast as the tree",
            cells((10000,), lambda f: f < 1),
            f"The tree takes {1 / max(large):.2f} to {1 / min(large):.2f} of "
            "the linear time in the model: every byte crosses the root's port once in either, and "
            "other ranks forward meanwhile. Copies at inner ranks and nodes that 16 ranks share "
            "are not in the model.",
        ),
        judge(
            "two blocks: two messages suffice, the construction alone costs more",
            [(f"two-blocks {b}", ours["two-blocks", b] < 1) for b in BLOCKS],
            f"The linear gather takes {min(two):.2f} to {max(two):.2f} of the tree's time. Sibyl "
            "keeps its tree, so that only the first call constructs it.",
        ),
    ]


def _draw(plt: Any, of: tuple[str, ...], ours: Factors, theirs: Published) -> Any:
    figure, axes = plt.subplots(2, 3, figsize=(11, 6), sharex=True, sharey=True)
    for place, problem in zip(axes.flat, PROBLEMS, strict=True):
        for number, table in enumerate(of):
            known = [b for b in BLOCKS if (table, problem, b) in theirs]
            place.plot(
                known, [theirs[table, problem, b] for b in known], "o--", alpha=0.6,
                color=f"C{number + 1}", label=f"table {table}",
            )  # fmt: skip
        place.plot(BLOCKS, [ours[problem, b] for b in BLOCKS], "ks-", label="simulated", zorder=3)
        place.axhline(1, color="#888888", linewidth=1)
        place.set(xscale="log", yscale="log", title=problem)
        place.grid(alpha=0.3)
    axes[0, 0].legend(fontsize=8)
    for place in axes[1]:
        place.set_xlabel("average block [MPI_INT]")
    for place in axes[:, 0]:
        place.set_ylabel("linear over tree")
    figure.tight_layout()
    return figure


def tables(ranks: int, of: tuple[str, ...], advance: Callable[[], None]) -> Outcome:
    """The cells of the published tables `of` with so many ranks."""
    theirs = _published(of)
    root = ranks // 2
    rows: list[list[Any]] = []
    ours: Factors = {}
    for problem in PROBLEMS:
        for block in BLOCKS:
            sizes = sizes_of(problem, ranks, block)
            linear, tree = _linear(sizes, root), _tree(sizes, root)
            ours[problem, block] = linear / tree
            given = [theirs.get((table, problem, block)) for table in of]
            rows.append(
                [problem, block, sum(sizes), round(linear * 1e6, 2), round(tree * 1e6, 2),
                 *("" if f is None else round(f, 3) for f in given), round(linear / tree, 3)]
            )  # fmt: skip
        advance()
    columns = (
        *("problem", "block_ints", "ints", "linear_us", "ordered_tree_us"),
        *(f"published_factor_table_{table}" for table in of),
        "simulated_factor",
    )
    setting = (
        f"simulated: {ranks} ranks, root {root}, alpha 1.9 us, 2.9 GB/s, every rank a port of its "
        "own; the tree with its construction, linear without empty blocks"
    )
    return Outcome(setting, columns, rows, _claims(ours), lambda plt: _draw(plt, of, ours, theirs))


def tables_1_to_3(_iterations: int, advance: Callable[[], None]) -> Outcome:
    """35 nodes of 16 ranks."""
    return tables(560, ("1", "2", "3"), advance)


def tables_4_and_5(_iterations: int, advance: Callable[[], None]) -> Outcome:
    """400 nodes of 16 ranks."""
    return tables(6400, ("4", "5"), advance)
