"""What no algorithm can beat on a network where a rank sends and receives one message at a time.

Of ranks that share nodes only what crosses between nodes is counted, as if nothing inside cost
anything; where all share one, the ports that its ranks have inside.
"""

import math
from dataclasses import dataclass, replace

import numpy

from sibyl.simulator.model import Network


@dataclass(frozen=True)
class _Placed:
    """Ranks on a network.

    Attributes:
        node: the number of each rank's node.
    """

    network: Network
    node: numpy.ndarray

    def beyond(self, rank: int) -> numpy.ndarray:
        """Which ranks share no node with this one."""
        return self.node != self.node[rank]

    def crossing(self, size: float) -> float:
        """What so many bytes take at least to leave a node, or to come into one."""
        nodes = self.network.nodes
        one_link = nodes is None or (nodes.shared_link and not nodes.link_beta)
        # Without a link as slow as a port, every rank of a node may carry a part.
        return self.network.message(size if one_link else size / self.sizes().max())

    def sizes(self) -> numpy.ndarray:
        """How many ranks each node holds."""
        return numpy.unique(self.node, return_counts=True)[1]

    def rounds(self) -> int:
        """Messages one after the other until all ranks have heard of something."""
        network = self.network
        overlap = network.loggp is not None or network.sharing or network.queue is not None
        # The ranks of a node may send in parallel, and so may one whose messages overlap.
        if overlap or self.sizes().max() > 1:
            return 1
        return math.ceil(math.log2(len(self.node)))


def _placed(network: Network, ranks: int) -> _Placed:
    alone = numpy.arange(ranks)
    nodes = network.nodes
    if nodes is None:
        return _Placed(network, alone)
    node = numpy.array(nodes.of) if nodes.of else alone // nodes.ranks
    if (node != node[0]).any():
        return _Placed(network, node)
    inside = replace(network, alpha=nodes.alpha, beta=nodes.beta, loggp=None, nodes=None)
    return _Placed(inside, alone)


def run_time_bound(
    collective: str, network: Network, arrivals: numpy.ndarray, root: int, total: int
) -> float:
    """The least run time, from the first arrival to the last exit.

    Args:
        collective: what is done.
        network: how it is connected.
        arrivals: of each rank, in seconds.
        root: of rooted collectives.
        total: bytes in all at the root or at every rank (gather, scatter, allgather), or of each
            rank's vector.
    """
    ranks = len(arrivals)
    if ranks == 1:
        return 0.0
    after = arrivals - arrivals.min()
    spread = float(after.max())
    placed = _placed(network, ranks)
    others = after[placed.beyond(root)]
    block = total / ranks
    if collective in ("gather", "gatherv"):
        # The root may receive in the background, its leaves send once they are there.
        by_last = float(others.max()) + placed.crossing(block)
        by_link = float(others.min()) + placed.crossing(block * len(others))
        return max(spread, by_last, by_link)
    if collective in ("scatter", "scatterv"):
        return max(spread, float(after[root]) + placed.crossing(block * len(others)))
    if collective == "reduce":
        return max(spread, float(others.max()) + placed.crossing(total))
    latencies = placed.rounds() * placed.network.message(0)
    if collective == "barrier":
        return spread + latencies
    if collective == "bcast":
        return max(spread, float(after[root]) + max(placed.crossing(total), latencies))
    if collective == "allreduce":
        # The last rank's operand goes out, and the result comes in.
        return spread + max(placed.crossing(total), latencies)
    if collective in ("allgather", "allgatherv"):
        # Blocks of others may be there before the last rank is.
        most = block * (ranks - int(placed.sizes().min()))
        return max(spread + placed.crossing(block), placed.crossing(most))
    last = int(after.argmax())
    out = block * int(placed.beyond(last).sum())
    if collective in ("alltoall", "alltoallv"):
        # The link of its node carries what each of its ranks sends once it is there.
        late_first = numpy.sort(after[~placed.beyond(last)])[::-1]
        return max(
            float(come) + placed.crossing(out * number) for number, come in enumerate(late_first, 1)
        )
    if collective in ("reduce_scatter", "reduce_scatter_block"):
        return spread + placed.crossing(out)  # something for each of the others
    # Scans: the last rank needs the first operand of every other, in rounds of doubling.
    by_data = float(after[placed.beyond(ranks - 1)].max()) + placed.crossing(total)
    return max(spread, by_data, latencies)
