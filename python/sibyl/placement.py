"""Which ranks share a node."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sibyl._core import Algorithm


@dataclass(frozen=True)
class Placement:
    """Where ranks lie.

    Attributes:
        ranks_per_node: of nodes of consecutive ranks; 1 where `nodes` says it.
        nodes: the number of each rank's node, where ranks lie in another way.
    """

    ranks_per_node: int = 1
    nodes: tuple[int, ...] = ()

    def asked(self) -> dict[str, Any]:
        """The same as arguments of make_plan, which refuses what an algorithm cannot plan for."""
        return {"nodes": self.nodes} if self.nodes else {"ranks_per_node": self.ranks_per_node}

    def asked_of(self, row: Algorithm) -> dict[str, Any]:
        """As much of it as an algorithm plans for, as in the library.

        What knows nodes of consecutive ranks only takes ranks that lie otherwise for one a node.
        """
        if self.nodes:
            knows = row.any_placement or (row.uneven_nodes and self.is_consecutive())
        else:
            knows = row.nodes
        return self.asked() if knows else {}

    def is_consecutive(self) -> bool:
        """Whether every node holds consecutive ranks, in the order of the nodes' numbers."""
        return list(self.nodes) == sorted(self.nodes)


def nodes_of_ranks(sizes: Sequence[int], cyclic: bool = False) -> list[int]:
    """The node of each rank.

    Args:
        sizes: how many ranks each node holds.
        cyclic: ranks are dealt out in turns to the nodes that have room; else a node is filled
            before the next.

    >>> nodes_of_ranks([3, 1, 4], cyclic=True)
    [0, 1, 2, 0, 2, 0, 2, 2]
    """
    if not cyclic:
        return [node for node, size in enumerate(sizes) for _ in range(size)]
    turns = [(turn, node) for node, size in enumerate(sizes) for turn in range(size)]
    return [node for _, node in sorted(turns)]


def placement_of(nodes: Sequence[int]) -> Placement:
    """Say it by ranks per node where that is the same: every algorithm for nodes knows that."""
    per_node = next((rank for rank, node in enumerate(nodes) if node != 0), len(nodes))
    if per_node and all(node == rank // per_node for rank, node in enumerate(nodes)):
        return Placement(per_node)
    return Placement(nodes=tuple(nodes))
