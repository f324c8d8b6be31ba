"""Types of sibyl._core, the bindings of Sibyl's floors without MPI (python/bindings)."""

from collections.abc import Sequence

import numpy

__version__: str

class VerificationError(Exception):
    """A plan does not do what its collective asks for; the message names rank, step and reason."""

class Algorithm:
    """A row of the table of algorithms (include/sibyl/planners.hpp).

    Attributes:
        collective: one of collectives().
        name: in commands, settings and JSON.
        published: the names in the papers.
        idea: one sentence.
        cost: in alpha (startup latency) and beta (time per unit) for p ranks.
        source: paper, section, listing.
        order: none, root_only or all_ranks: who must hold the order of the ranks.
        background: has gates that can be opened.
        commutative_only: not for operators that do not commute.
        in_place: has a program for MPI_IN_PLACE.
        nodes: plans for several consecutive ranks a node.
        uneven_nodes: plans for nodes of different numbers of consecutive ranks, too.
        any_placement: plans for ranks that lie on nodes in any way, too.
        lanes: several ranks of a node may send and receive between nodes.
        segments: cuts the vector into segments.
        arrivals: plans for arrival times, in rounds.
        sizes: plans for blocks of different sizes.
        rooted: its collective has a root.
        combines: its collective applies an operator.
    """

    @property
    def rooted(self) -> bool: ...
    @property
    def combines(self) -> bool: ...
    @property
    def collective(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def published(self) -> str: ...
    @property
    def idea(self) -> str: ...
    @property
    def cost(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def order(self) -> str: ...
    @property
    def background(self) -> bool: ...
    @property
    def commutative_only(self) -> bool: ...
    @property
    def in_place(self) -> bool: ...
    @property
    def nodes(self) -> bool: ...
    @property
    def uneven_nodes(self) -> bool: ...
    @property
    def any_placement(self) -> bool: ...
    @property
    def lanes(self) -> bool: ...
    @property
    def segments(self) -> bool: ...
    @property
    def arrivals(self) -> bool: ...
    @property
    def sizes(self) -> bool: ...

class Plan:
    """The programs of all ranks; made by make_plan.

    Attributes:
        collective: as it was asked for, with `algorithm`, `ranks` and `root`.
        partition: vector (scans, reduce) or blocks (gather, scatter).
        segments: units per vector or per block.
        rounds: rounds of messages.
        messages: messages of all ranks, control messages included.
        steps: steps of all ranks.
        one_ported: at most one send and one receive per rank and round.
        keeps_order: operands are combined in rank order.
    """

    @property
    def collective(self) -> str: ...
    @property
    def algorithm(self) -> str: ...
    @property
    def ranks(self) -> int: ...
    @property
    def root(self) -> int: ...
    @property
    def partition(self) -> str: ...
    @property
    def segments(self) -> int: ...
    @property
    def rounds(self) -> int: ...
    @property
    def one_ported(self) -> bool: ...
    @property
    def keeps_order(self) -> bool: ...
    @property
    def messages(self) -> int: ...
    @property
    def steps(self) -> int: ...
    def verify(self) -> None:
        """Prove the plan.

        Raises:
            VerificationError: it does not do what its collective asks for.
        """

    def to_json(self) -> str:
        """The plan in the form that docs/reference/command.md describes, on one line."""

    def to_svg(self) -> str:
        """A space-time picture: ranks as lines, rounds as columns, messages as arrows."""

    def to_goal(self, count: int = 1, element_bytes: int = 8) -> str:
        """The plan as a GOAL schedule for LogGOPSim.

        Args:
            count: elements per vector (scans) or per block (gather, scatter).
            element_bytes: bytes of an element.
        """

def collectives() -> tuple[str, ...]:
    """The collectives that Sibyl plans."""

def algorithms(collective: str | None = None) -> list[Algorithm]:
    """The table of algorithms, or the rows of one collective.

    Raises:
        ValueError: there is no such collective.
    """

def make_plan(
    collective: str,
    algorithm: str,
    ranks: int,
    root: int = 0,
    order: Sequence[int] | None = None,
    background: bool = False,
    in_place: bool = False,
    operator_rounds: int = 0,
    arrivals: Sequence[float] | None = None,
    segments: int = 1,
    round_time: float = 1.0,
    generator: str = "fast",
    root_order: str = "first",
    ranks_per_node: int = 1,
    sizes: Sequence[int] | None = None,
    direct_from: int | None = None,
    in_order: bool = False,
    nodes: Sequence[int] | None = None,
    lanes: int = 1,
    constructed: bool = False,
    outstanding: int = 1,
) -> Plan:
    """Plan a collective for all ranks.

    Args:
        collective: one of collectives().
        algorithm: a name of the table.
        ranks: at least 1.
        root: of all collectives but the scans.
        order: the ranks other than the root in the order in which they are served or placed; a
            permutation of all ranks is accepted too.
        background: open the gates that the algorithm can open.
        in_place: MPI_IN_PLACE at every rank, or at the root where there is one.
        operator_rounds: scan family: rounds in which the prefix with the own value is sent; 0 takes
            the algorithm's own.
        arrivals: reduce: the arrival time of each rank in seconds; all at once if None.
        segments: algorithms that cut the vector: into how many parts.
        round_time: reduce: seconds that a round with one segment takes.
        generator: reduce: linear, pairing-heap, segment-tree or fast; all plan the same.
        root_order: reduce: first or availability, where the root stands when a sender is sought.
        ranks_per_node: two-level algorithms, ordered trees: consecutive ranks that share a node.
        sizes: gatherv, scatterv: of each rank's block, in any unit; all alike if None.
        direct_from: gatherv, scatterv: from this size on blocks go direct; None: none does.
        in_order: reduce: ranks send strictly in the order of the schedule; else what is ready goes,
            the earliest first.
        nodes: algorithms for any placement: the number of each rank's node, below `ranks`; as
            ranks_per_node says if None.
        lanes: two-level reduce, allreduce, bcast, allgather, allgatherv: how many ranks of every
            node send and receive between nodes, each a part of the vector or of every block.
        constructed: trees that ranks build by messages where sizes differ: it is there already.
        outstanding: linear: transfers that the root has under way at a time; 0: all.

    Raises:
        ValueError: the algorithm cannot plan this; one line says why.
    """

def prove(
    collective: str,
    algorithm: str,
    ranks: int,
    root: int = 0,
    order: Sequence[int] | None = None,
    background: bool = False,
    in_place: bool = False,
    operator_rounds: int = 0,
    arrivals: Sequence[float] | None = None,
    segments: int = 1,
    round_time: float = 1.0,
    generator: str = "fast",
    root_order: str = "first",
    ranks_per_node: int = 1,
    sizes: Sequence[int] | None = None,
    direct_from: int | None = None,
    in_order: bool = False,
    nodes: Sequence[int] | None = None,
    lanes: int = 1,
    constructed: bool = False,
    outstanding: int = 1,
) -> int:
    """Plan and verify without keeping the plan; other Python threads run meanwhile.

    Takes what make_plan takes.

    Returns:
        The number of steps of all ranks.

    Raises:
        ValueError: the algorithm cannot plan this.
        VerificationError: the plan is wrong.
        KeyboardInterrupt: Ctrl-C.
    """

def clairvoyant_events(
    arrivals: numpy.ndarray,
    segments: int,
    round_time: float,
    root: int,
    algorithm: str,
    root_order: str,
    rank: int | None,
) -> numpy.ndarray:
    """The events of a Clairvoyant schedule; see sibyl.clairvoyant.

    Returns:
        Shape (E, 4), uint32: round, sender, receiver, segment.
    """

def clairvoyant_seconds(
    arrivals: numpy.ndarray,
    segments: int,
    round_time: float,
    root: int,
    algorithm: str,
    rank: int | None = None,
) -> tuple[float, int]:
    """Generate and forget; returns the processor time in seconds and the number of events."""

def clairvoyant_memory(algorithm: str, ranks: float, segments: float, /) -> float:
    """The bytes that a generator works with, events not counted."""

def arrival_pattern(pattern: str, ranks: int, root: int = 0) -> numpy.ndarray:
    """See sibyl.arrival_pattern."""

def predict_arrivals(times: numpy.ndarray, predictor: str) -> numpy.ndarray:
    """Replay arrival times through a predictor.

    Args:
        times: float64 of shape (calls, ranks), in C order.
        predictor: last, sma:K, ewma:A or best.

    Returns:
        Of the same shape: what was predicted for each call from those before it; 0 for the first.

    Raises:
        ValueError: no such predictor.
    """

def extrapolate_edge(start: float, edge: float, fraction: float) -> float:
    """When a computation will end that began at `start` and was at `fraction` at `edge`."""

def standard_predictors() -> list[str]:
    """The predictors among which `best` chooses."""

class Request:
    """What make_plan takes, read and checked."""

    @property
    def ranks(self) -> int: ...

class SimulationOptions:
    """A network, the cost of computing and what is kept (include/sibyl/simulator.hpp)."""

    full_duplex: bool
    handshake: bool
    start: float
    blocking: bool
    record: bool
    def set_hockney(self, alpha: float, beta: float, /) -> None: ...
    def set_loggp(
        self, latency: float, overhead: float, gap: float, gap_per_byte: float, /
    ) -> None: ...
    def set_nodes(
        self,
        ranks: int,
        alpha: float,
        beta: float,
        shared_link: bool,
        link_beta: float,
        of_each: Sequence[int],
        /,
    ) -> None: ...
    def set_eager(self, bytes: int, /) -> None: ...
    def set_sharing(self, queue: int, window: int, timeout: float, /) -> None: ...
    def set_compute(self, combine: float, copy: float, planning: float, /) -> None: ...

class SimulationResult:
    """Times of a run; see sibyl.simulator.run.Simulated."""

    @property
    def run_time(self) -> float: ...
    @property
    def absorbed(self) -> float: ...
    @property
    def elapsed(self) -> float: ...
    @property
    def messages(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def lost(self) -> int: ...
    def exits(self) -> numpy.ndarray: ...
    def message_rows(self) -> numpy.ndarray: ...
    def work_rows(self) -> numpy.ndarray: ...
    def wait_rows(self, arrivals: list[float], /) -> numpy.ndarray: ...

class Simulation:
    """The programs of all ranks, ready to be run in simulated time, as often as wanted."""

    @property
    def ranks(self) -> int: ...
    @property
    def rounds(self) -> int: ...
    @property
    def steps(self) -> int: ...
    def run(
        self, options: SimulationOptions, arrivals: numpy.ndarray | None = None
    ) -> SimulationResult:
        """Run them.

        Raises:
            ValueError: the options make no sense, or the programs cannot end.
        """

def plan_request(
    collective: str,
    algorithm: str,
    ranks: int,
    root: int = 0,
    order: Sequence[int] | None = None,
    background: bool = False,
    in_place: bool = False,
    operator_rounds: int = 0,
    arrivals: Sequence[float] | None = None,
    segments: int = 1,
    round_time: float = 1.0,
    generator: str = "fast",
    root_order: str = "first",
    ranks_per_node: int = 1,
    sizes: Sequence[int] | None = None,
    direct_from: int | None = None,
    in_order: bool = False,
    nodes: Sequence[int] | None = None,
    lanes: int = 1,
    constructed: bool = False,
    outstanding: int = 1,
) -> Request:
    """Read and check what make_plan takes."""

def simulation(
    request: Request,
    bytes: int,
    element_bytes: int = 1,
    first_segment: int = 0,
    blocks: Sequence[int] = (),
) -> Simulation:
    """Plan rank after rank, for vectors or blocks of so many bytes.

    Sizes of the request hold where there are some, and those of `blocks` before them.
    """

def estimate_steps(request: Request, /) -> float:
    """About how many steps all ranks have, from the programs of a few of them."""

def estimate_units(request: Request, /) -> float:
    """About how many units the buffers of all ranks have, alike."""

def simulation_memory(ranks: int, steps: int, record: bool, /) -> int:
    """About how many bytes a simulation of so many steps takes."""
