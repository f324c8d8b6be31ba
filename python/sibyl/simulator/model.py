"""What is simulated: a network, the cost of computing, and how it is told to the simulator."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sibyl import _core
from sibyl.placement import Placement, placement_of


@dataclass(frozen=True)
class Nodes:
    """Several ranks a node.

    Attributes:
        ranks: consecutive ranks that share a node.
        alpha: startup latency between two ranks of a node, in seconds.
        beta: seconds per byte between them.
        shared_link: the ranks of a node share one link to the others.
        link_beta: seconds per byte of that link; 0: as a single message.
        of: the number of each rank's node, where ranks lie in another way; `ranks` is 1 then.
    """

    ranks: int = 1
    alpha: float = 0.0
    beta: float = 0.0
    shared_link: bool = True
    link_beta: float = 0.0
    of: Sequence[int] = ()

    def placement(self) -> Placement:
        """Where the ranks lie, for planners."""
        return placement_of(self.of) if self.of else Placement(self.ranks)


@dataclass(frozen=True)
class LogGP:
    """The LogGP model, in seconds: L, o, g and G."""

    latency: float
    overhead: float
    gap: float
    gap_per_byte: float


@dataclass(frozen=True)
class Queue:
    """What a switch keeps of what it cannot send on at once.

    Attributes:
        size: bytes in front of each port, at most; what does not fit is lost.
        window: bytes that a sender sends without having heard of its receiver.
        timeout: after so many seconds a sender that has heard nothing sends again.
    """

    size: int
    window: int = 14480
    timeout: float = 0.2


@dataclass(frozen=True)
class Network:
    """A network and its hosts; include/sibyl/simulator.hpp says what the numbers mean.

    Attributes:
        alpha: startup latency of a message, in seconds.
        beta: seconds per byte.
        loggp: used in the place of alpha and beta where it is given.
        nodes: several ranks a node; None: a rank is a node.
        full_duplex: a rank sends and receives at once.
        eager: messages up to so many bytes do not wait for their receiver; None: all do.
        sharing: messages that are under way together share ports and links, as TCP's do, instead
            of taking turns.
        handshake: where they share, those that wait for their receiver are announced and answered,
            a latency each.
        queue: of the switch, where they share; None: it loses nothing.
        combine: seconds per byte of the operator.
        copy: seconds per byte of a local copy.
        planning: seconds from a rank's arrival until its program is there.
        blocking: one send and one receive at a time, in program order.
    """

    alpha: float = 25e-6
    beta: float = 8e-9
    loggp: LogGP | None = None
    nodes: Nodes | None = None
    full_duplex: bool = True
    eager: int | None = None
    sharing: bool = False
    handshake: bool = False
    queue: Queue | None = None
    combine: float = 0.0
    copy: float = 0.0
    planning: float = 0.0
    blocking: bool = False
    start: float = field(default=0.0)

    def options(self, record: bool = False) -> _core.SimulationOptions:
        """The same for the simulator."""
        options = _core.SimulationOptions()
        if self.loggp is None:
            options.set_hockney(self.alpha, self.beta)
        else:
            model = self.loggp
            options.set_loggp(model.latency, model.overhead, model.gap, model.gap_per_byte)
        if self.nodes is not None:
            nodes = self.nodes
            options.set_nodes(
                nodes.ranks, nodes.alpha, nodes.beta, nodes.shared_link, nodes.link_beta, nodes.of
            )
        if self.eager is not None:
            options.set_eager(self.eager)
        if self.queue is not None:
            options.set_sharing(self.queue.size, self.queue.window, self.queue.timeout)
        elif self.sharing:
            options.set_sharing(0, 0, 0.0)
        options.set_compute(self.combine, self.copy, self.planning)
        options.handshake = self.handshake
        options.full_duplex = self.full_duplex
        options.blocking = self.blocking
        options.start = self.start
        options.record = record
        return options

    def asked_of(self, row: _core.Algorithm) -> dict[str, Any]:
        """What an algorithm plans for of the nodes, as arguments of make_plan."""
        return {} if self.nodes is None else self.nodes.placement().asked_of(row)

    def count_nodes(self, ranks: int) -> int:
        """How many nodes hold so many ranks."""
        if self.nodes is None:
            return ranks
        return len(set(self.nodes.of)) if self.nodes.of else -(-ranks // self.nodes.ranks)

    def message(self, size: float) -> float:
        """Seconds that a message between nodes takes."""
        if self.loggp is None:
            return self.alpha + self.beta * size
        model = self.loggp
        return 2 * model.overhead + model.latency + model.gap_per_byte * max(size - 1, 0)

    def per_byte(self) -> float:
        """Seconds that a byte keeps a port."""
        return self.beta if self.loggp is None else self.loggp.gap_per_byte
