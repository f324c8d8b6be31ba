"""`sibyl verify`: prove the plans of a collective for a range of ranks."""

import itertools
import json
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

import sibyl
from sibyl.arguments import check_algorithm, check_collective, parse_ranks
from sibyl.errors import CommandError, counted, one_line
from sibyl.files import check_writable, console_beside, write_result
from sibyl.memory import check_plan_memory
from sibyl.progress import progress_bar
from sibyl.terminal import seconds_text

# Up to this many ranks every combination of order, gates and MPI_IN_PLACE is proven.
ALL_VARIANTS_UP_TO = 16
SAMPLED_ROOTS = 8
DIRECT_FROM = 500
SEGMENTS = 5
PLACEMENTS = ("consecutive", "cyclic", "uneven")
RANKS_PER_NODE = 4
MOST_LANES = 3


@dataclass(frozen=True)
class Case:
    """One plan to prove: what make_plan takes besides collective and algorithm."""

    ranks: int
    root: int
    shuffled: bool
    background: bool
    in_place: bool
    irregular: bool
    segments: int = 1
    placement: str = ""
    lanes: int = 1

    def placed(self) -> dict[str, Any]:
        """Where the ranks lie, as arguments of make_plan; one a node where nothing is said."""
        nodes = -(-self.ranks // RANKS_PER_NODE)
        if self.placement == "consecutive":
            return {"ranks_per_node": RANKS_PER_NODE}
        if self.placement == "cyclic":
            return {"nodes": [rank % nodes for rank in range(self.ranks)]}
        if self.placement == "uneven":
            draw = random.Random(self.ranks * 1_000_003 + self.root)
            return {"nodes": [draw.randrange(nodes) for _ in range(self.ranks)]}
        if self.placement == "runs":
            draw = random.Random(self.ranks * 1_000_003 + self.root)
            begins = itertools.accumulate(int(draw.random() < 0.3) for _ in range(self.ranks - 1))
            return {"nodes": [0, *begins]}
        return {}

    def sizes(self, collective: str) -> list[int] | None:
        """Sizes of the blocks with holes, the same ones every time; None: all alike."""
        if not self.irregular:
            return None
        draw = random.Random(self.ranks * 1_000_003 + self.root)
        blocks = self.ranks**2 if collective == "alltoallv" else self.ranks
        return [draw.choice((0, 1, draw.randrange(100), 900)) for _ in range(blocks)]

    def arrivals(self) -> list[float] | None:
        """Arrival times of a plan in segments; None: all at once."""
        if self.segments == 1:
            return None
        draw = random.Random(self.ranks * 1_000_003 + self.root)
        return [draw.uniform(0, 2 * self.segments) for _ in range(self.ranks)]

    def order(self) -> list[int] | None:
        """The order of the ranks other than the root; the same one every time for a case."""
        if not self.shuffled:
            return None
        order = [rank for rank in range(self.ranks) if rank != self.root]
        random.Random(self.ranks * 1_000_003 + self.root).shuffle(order)
        return order

    def __str__(self) -> str:
        words = [counted(self.ranks, "rank")]
        words.append(f"root {self.root}")
        words += ["shuffled order"] * self.shuffled
        words += ["background"] * self.background
        words += ["in place"] * self.in_place
        words += ["blocks of different sizes"] * self.irregular
        words += [f"{self.segments} segments"] * (self.segments > 1)
        words += [f"{self.placement} ranks on nodes"] * bool(self.placement)
        words += [f"{self.lanes} lanes"] * (self.lanes > 1)
        return ", ".join(words)


def roots_of(row: sibyl.Algorithm, ranks: int, choice: str) -> list[int]:
    """The roots to prove: 0 alone without a root, all, or a sample with the ends and the middle."""
    if not row.rooted:
        return [0]
    if choice == "all" or ranks <= SAMPLED_ROOTS:
        return list(range(ranks))
    roots = {0, 1, ranks // 2, ranks - 1}
    draw = random.Random(ranks)
    while len(roots) < SAMPLED_ROOTS:
        roots.add(draw.randrange(ranks))
    return sorted(roots)


def placements_of(row: sibyl.Algorithm, ranks: int) -> list[tuple[str, int]]:
    """How ranks lie on nodes, and how many lanes go between these.

    Few ranks lie in every way with every number of lanes, more in every way with one of them.
    """
    if not row.nodes:
        return [("", 1)]
    if not row.any_placement:
        uneven = [("runs", 1)] if row.uneven_nodes else []
        return [("", 1), ("consecutive", 1), *uneven]
    lanes = range(1, min(MOST_LANES, ranks) + 1 if row.lanes else 2)
    if ranks <= ALL_VARIANTS_UP_TO:
        return [("", 1), *itertools.product(PLACEMENTS, lanes)]
    turned = (lanes[(ranks + number) % len(lanes)] for number in range(len(PLACEMENTS)))
    return [("", 1), *zip(PLACEMENTS, turned, strict=True)]


def cases_of(row: sibyl.Algorithm, ranks: int, roots: str) -> Iterator[Case]:
    """Every plan of an algorithm to prove for a number of ranks.

    Each root is proven with and without MPI_IN_PLACE, in rank order with closed gates and, where
    the algorithm takes them, in a shuffled order with open gates; for few ranks in all
    combinations of the three. Where blocks may differ in size, plans for equal and for different
    sizes are proven, the largest going direct to the root. Where data are cut into segments,
    plans for one and for several are, these for different arrival times where they are planned for.
    Where it plans for nodes, plans for one rank a node and for several are, and where these may lie
    in any way, for consecutive, cyclic and uneven ones with up to three lanes; for consecutive ones
    of different sizes where these are all it plans for.
    """
    orders = (False, True) if row.order != "none" else (False,)
    gates = (False, True) if row.background else (False,)
    ways = [(order, gate) for order in orders for gate in gates]
    if ranks > ALL_VARIANTS_UP_TO:
        ways = list(dict.fromkeys([ways[0], ways[-1]]))
    choices = itertools.product(
        roots_of(row, ranks, roots),
        ways,
        (False, True) if row.in_place else (False,),
        (False, True) if row.sizes else (False,),
        (1, SEGMENTS) if row.segments else (1,),
        placements_of(row, ranks),
    )
    for root, (shuffled, background), in_place, irregular, segments, (placement, lanes) in choices:
        yield Case(
            ranks, root, shuffled, background, in_place, irregular, segments, placement, lanes
        )


@dataclass(frozen=True)
class Proof:
    """What became of the plans of one algorithm; `problem` says which one failed, and why."""

    algorithm: str
    plans: int
    steps: int
    seconds: float
    problem: str


def verify_plans(
    collective: str,
    algorithm: str | None,
    ranks_text: str,
    roots: str,
    json_file: Path | None = None,
) -> int:
    """Prove the plans; see `sibyl verify --help`.

    Returns:
        0 when every plan is proven, 1 when one fails.
    """
    check_collective(collective)
    if algorithm is not None:
        check_algorithm(collective, algorithm)
    ranks = parse_ranks(ranks_text)
    if roots not in ("all", "sample"):
        raise CommandError(f"--roots wants all or sample, not '{roots}'")
    rows = [row for row in sibyl.algorithms(collective) if algorithm in (None, row.name)]

    if json_file is not None:
        check_writable("--json", json_file)
    for row in rows:
        check_plan_memory(row, ranks[-1], SEGMENTS if row.segments else 1, proven=True)
    console = console_beside(json_file)
    proofs = [_verify_algorithm(row, ranks, roots, console) for row in rows]
    if json_file is not None:
        document = {
            "format": "sibyl-verify",
            "version": 1,
            "collective": collective,
            "ranks": [ranks[0], ranks[-1]],
            "roots": roots,
            "proven": not any(proof.problem for proof in proofs),
            "algorithms": [{**vars(proof), "problem": proof.problem or None} for proof in proofs],
        }
        write_result(json_file, json.dumps(document, indent=2) + "\n")
    return 1 if any(proof.problem for proof in proofs) else 0


def _verify_algorithm(row: sibyl.Algorithm, ranks: range, roots: str, console: Console) -> Proof:
    """Prove one algorithm and print its line; stop at the first plan that fails."""
    span = f"{ranks[0]}..{ranks[-1]} ranks" if len(ranks) > 1 else counted(ranks[0], "rank")
    title = f"{row.collective} {row.name}"
    begin = time.monotonic()
    plans = steps = 0
    problem = ""
    with progress_bar(f"{title}, {span}", sum(ranks)) as advance:
        for count in ranks:
            for case in cases_of(row, count, roots):
                try:
                    steps += _prove(row, case)
                except sibyl.VerificationError as error:
                    problem = f"{case}: {one_line(str(error))}"
                    break
                plans += 1
            if problem:
                break
            advance(count)
    seconds = time.monotonic() - begin
    said = f"FAILED for {problem}"
    if not problem:
        said = f"{counted(plans, 'plan')} proven ({span}), {counted(steps, 'step')}, "
        said += seconds_text(seconds)
    console.print(f"{title}: {said}", markup=False, highlight=False, soft_wrap=True)
    console.file.flush()
    return Proof(row.name, plans, steps, seconds, problem)


def _prove(row: sibyl.Algorithm, case: Case) -> int:
    """Prove one plan; return its number of steps."""
    return sibyl.prove(
        row.collective,
        row.name,
        case.ranks,
        root=case.root,
        order=case.order(),
        background=case.background,
        in_place=case.in_place,
        sizes=case.sizes(row.collective),
        segments=case.segments,
        arrivals=case.arrivals() if row.arrivals else None,
        direct_from=DIRECT_FROM,
        lanes=case.lanes,
        **case.placed(),
    )
