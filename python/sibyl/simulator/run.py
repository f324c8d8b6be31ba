"""Simulate one plan, from Python."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sibyl import _core
from sibyl.simulator.model import Network

if TYPE_CHECKING:
    import numpy
    import numpy.typing

MESSAGE_FIELDS = (
    *("source", "destination", "round", "bytes"),
    *("send_posted", "receive_posted", "begin", "end"),
)


@dataclass(frozen=True)
class Simulated:
    """What a simulated call took, in seconds.

    Attributes:
        run_time: from the first arrival to the last exit.
        absorbed: from the last arrival to the last exit.
        elapsed: mean over the ranks of the time from arrival to exit.
        messages: of all ranks.
        bytes: of all messages.
        exits: shape (P,): when each rank is through.
        events: shape (E, 8), one message a row, with the columns of MESSAGE_FIELDS; None where
            nothing was recorded.
        work: shape (W, 4): rank, 0 for a copy and 1 for the operator, begin, end; likewise.
        waits: shape (V, 4): rank, the rank it waited for, begin, end; likewise.
    """

    run_time: float
    absorbed: float
    elapsed: float
    messages: int
    bytes: int
    exits: "numpy.ndarray"
    events: "numpy.ndarray | None" = None
    work: "numpy.ndarray | None" = None
    waits: "numpy.ndarray | None" = None


def run_prepared(
    simulation: _core.Simulation,
    network: Network,
    arrivals: "numpy.ndarray",
    record: bool = False,
) -> Simulated:
    """Run programs that have been taken over already."""
    result = simulation.run(network.options(record), arrivals)
    return Simulated(
        result.run_time,
        result.absorbed,
        result.elapsed,
        result.messages,
        result.bytes,
        result.exits(),
        result.message_rows() if record else None,
        result.work_rows() if record else None,
        result.wait_rows(arrivals.tolist()) if record else None,
    )


def simulate(
    collective: str,
    algorithm: str,
    ranks: int,
    size: int,
    *,
    arrivals: "numpy.typing.ArrayLike | None" = None,
    network: Network | None = None,
    root: int = 0,
    order: Sequence[int] | None = None,
    background: bool = False,
    segments: int = 1,
    round_time: float | None = None,
    in_order: bool = False,
    lanes: int = 1,
    block_sizes: Sequence[int] | None = None,
    element_bytes: int = 1,
    sizes_known: bool = True,
    constructed: bool = False,
    first_segment: int = 1024,
    record: bool = False,
) -> Simulated:
    """Simulate one call of a collective by one of Sibyl's algorithms.

    Args:
        collective: one of sibyl.collectives().
        algorithm: a name of the table.
        ranks: P.
        size: bytes of each rank's vector, or of each block.
        arrivals: shape (P,): when each rank joins, in seconds; all at 0 if None. Algorithms that
            plan for arrival times get them too.
        network: the model; 25 us and 8 ns/byte if None.
        root: of collectives that have one.
        order: the ranks other than the root as they are served or placed.
        background: open the gates that the algorithm can open.
        segments: parts that the vector or a block is cut into.
        round_time: clairvoyant: seconds of a round; that of a message of one segment if None.
        in_order: clairvoyant: ranks send strictly in the order of the schedule, as the library does
            where links carry messages in turn; else what is ready goes, the earliest first.
        lanes: two-level reduce, allreduce, bcast, allgather, allgatherv: ranks of a node that send
            and receive, each a part of the vector or of every block.
        block_sizes: gatherv and the like: bytes of each rank's block; alltoallv: of each pair's,
            row by row.
        sizes_known: the algorithm plans for the sizes; else as if all blocks were alike.
        constructed: gatherv: the tree is there from an earlier call.
        element_bytes: vectors are cut between elements.
        first_segment: linear-synchronised: bytes of a block's first segment.
        record: keep every message.

    Raises:
        ValueError: the algorithm cannot plan this; one line says why.

    >>> import sibyl
    >>> network = sibyl.Network(alpha=1.0, beta=0.5)
    >>> sibyl.simulate("exscan", "123-doubling", ranks=36, size=8, network=network).run_time
    30.0
    """
    import numpy

    network = network or Network()
    times = numpy.zeros(ranks) if arrivals is None else numpy.ascontiguousarray(arrivals, float)
    rows = {row.name: row for row in _core.algorithms(collective)}
    row = rows.get(algorithm)
    planned = times.tolist() if row is not None and row.arrivals else None
    if round_time is None:
        round_time = network.message(size / segments) if planned is not None else 1.0
    request = _core.plan_request(
        collective,
        algorithm,
        ranks,
        root=root,
        order=order,
        background=background,
        arrivals=planned,
        segments=segments,
        round_time=round_time or 1e-9,
        in_order=in_order,
        sizes=block_sizes if sizes_known else None,
        lanes=lanes,
        constructed=constructed,
        **(network.asked_of(row) if row is not None else {}),
    )
    blocks = [] if sizes_known or block_sizes is None else list(block_sizes)
    prepared = _core.simulation(request, size, element_bytes, first_segment, blocks)
    return run_prepared(prepared, network, times, record)
