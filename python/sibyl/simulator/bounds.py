"""What no algorithm can beat on a network where a rank sends and receives one message at a time."""

import math

import numpy

from sibyl.simulator.model import Network


def run_time_bound(
    collective: str, network: Network, arrivals: numpy.ndarray, root: int, total: int
) -> float:
    """The least run time, from the first arrival to the last exit.

    Args:
        collective: what is done.
        network: how it is connected; nodes are taken as ranks of their own.
        arrivals: of each rank, in seconds.
        root: of rooted collectives.
        total: bytes in all at the root or at every rank (gather, scatter, allgather), or of each
            rank's vector.
    """
    ranks = len(arrivals)
    first = float(arrivals.min())
    spread = float(arrivals.max()) - first
    if ranks == 1:
        return 0.0
    others = numpy.delete(arrivals, root)
    port = network.per_byte()
    if collective in ("gather", "gatherv"):
        block = total / ranks
        # The root may receive in the background, its leaves send once they are there.
        by_last = float(others.max()) - first + network.message(block)
        by_link = float(others.min()) - first + network.message(0) + port * block * (ranks - 1)
        return max(spread, by_last, by_link)
    if collective in ("scatter", "scatterv"):
        block = total / ranks
        by_link = float(arrivals[root]) - first + network.message(0) + port * block * (ranks - 1)
        return max(spread, by_link)
    if collective == "reduce":
        by_last = float(others.max()) - first + network.message(total)
        return max(spread, by_last)
    rounds = math.ceil(math.log2(ranks))
    if collective == "barrier":
        return spread + rounds * network.message(0)
    if collective == "bcast":
        by_root = float(arrivals[root]) - first + network.message(total)
        return max(spread, by_root, float(arrivals[root]) - first + rounds * network.message(0))
    if collective == "allreduce":
        # The last rank's operand goes out, and the result comes in.
        return max(spread + network.message(total), spread + rounds * network.message(0))
    by_port = network.message(0) + port * total * (ranks - 1) / ranks
    if collective in ("allgather", "allgatherv"):
        # Blocks of others may be there before the last rank is.
        return max(spread + network.message(total / ranks), by_port)
    if collective in ("alltoall", "alltoallv", "reduce_scatter", "reduce_scatter_block"):
        return spread + by_port  # something for each of the others goes out of the last rank
    # Scans: the last rank needs the first operand of every other, in rounds of doubling.
    by_data = float(arrivals[:-1].max()) - first + network.message(total)
    return max(spread, by_data, rounds * network.message(0))
