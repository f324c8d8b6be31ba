"""The options that say which ranks share a node: --ranks-per-node, or --nodes and --placement."""

from dataclasses import dataclass
from typing import Annotated

import typer

from sibyl.errors import CommandError
from sibyl.inputs import whole_number
from sibyl.placement import Placement, nodes_of_ranks, placement_of

# More could be said in a few letters, and the list of their nodes would not fit into memory.
MOST_RANKS = 2**24


@dataclass(frozen=True, kw_only=True)
class NodeOptions:
    """Where the ranks lie, and how many of a node send and receive between nodes."""

    ranks_per_node: Annotated[
        int, typer.Option(metavar="K", help="Consecutive ranks that share a node and its link.")
    ] = 1
    nodes: Annotated[
        str | None,
        typer.Option(
            metavar="K,K,...",
            help="Ranks of each node, as in 3,1,4; says the number of ranks, too.",
        ),
    ] = None
    placement: Annotated[
        str | None,
        typer.Option(
            metavar="consecutive|cyclic",
            help="Ranks fill the --nodes one after the other, or in turns while there is room.",
            show_default="consecutive",
        ),
    ] = None
    lanes: Annotated[
        int,
        typer.Option(
            metavar="L",
            help="Two-level: ranks of a node that send and receive, each a part of the vector.",
        ),
    ] = 1

    def check(self) -> None:
        """Raise CommandError for what can be seen to be wrong before anything is planned."""
        if self.ranks_per_node < 1:
            raise CommandError(
                f"--ranks-per-node {self.ranks_per_node}: a node holds at least 1 rank"
            )
        if self.ranks_per_node > MOST_RANKS:
            raise CommandError(
                f"--ranks-per-node {self.ranks_per_node}: there can be {MOST_RANKS} at most"
            )
        if self.lanes < 1:
            raise CommandError(f"--lanes {self.lanes}: there is at least 1")
        if self.nodes is not None and self.ranks_per_node != 1:
            raise CommandError("--nodes and --ranks-per-node both say where ranks lie: say one")
        if self.placement not in (None, "consecutive", "cyclic"):
            raise CommandError(f"--placement {self.placement}: there are consecutive and cyclic")
        if self.placement is not None and self.nodes is None:
            raise CommandError("--placement says how --nodes are filled, which is absent")
        if self.nodes is not None:
            _read_sizes(self.nodes)

    def check_ranks(self, ranks: int) -> None:
        """Raise CommandError where --nodes hold another number of ranks than --ranks says."""
        named = self.named()
        if named is not None and len(named) != ranks:
            raise CommandError(
                f"--ranks {ranks}: --nodes {self.nodes} hold {len(named)}; leave one of them out"
            )

    def named(self) -> list[int] | None:
        """The node of each rank, where --nodes says it."""
        if self.nodes is None:
            return None
        return nodes_of_ranks(_read_sizes(self.nodes), self.placement == "cyclic")

    def placed(self) -> Placement:
        """Where the ranks lie."""
        named = self.named()
        return Placement(self.ranks_per_node) if named is None else placement_of(named)


def _read_sizes(text: str) -> list[int]:
    sizes = []
    for word in text.split(","):
        size = whole_number(word.strip())
        if not size:
            raise CommandError(
                f"--nodes: '{word.strip()}' is no number of ranks; write 1 or more for each node, "
                "as in 3,1,4"
            )
        sizes.append(size)
    if sum(sizes) > MOST_RANKS:
        raise CommandError(f"--nodes: {sum(sizes)} ranks; there can be {MOST_RANKS} at most")
    return sizes
