"""What `sibyl` and `sibyl.persistent` give to programs, with the types that a user expects of it.

mypy --strict reads it: in the checkout, and beside an installed wheel. It runs without an MPI.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

import sibyl

if TYPE_CHECKING:
    from mpi4py import MPI

    from sibyl import persistent

plan: sibyl.Plan = sibyl.make_plan("exscan", "123-doubling", ranks=8)
plan.verify()
rounds: int = plan.rounds
sends: bool = plan.one_ported
texts: list[str] = [plan.to_json(), plan.to_svg(), plan.to_goal(count=4, element_bytes=8)]
names: list[str] = [row.name for row in sibyl.algorithms("reduce") if row.arrivals]
collectives: tuple[str, ...] = sibyl.collectives()

arrivals: numpy.ndarray = sibyl.arrival_pattern("skewed:0.02", ranks=8)
events: numpy.ndarray = sibyl.clairvoyant(arrivals, segments=4, round_time=1e-3)

network = sibyl.Network(alpha=1e-6, nodes=sibyl.Nodes(ranks=4, alpha=2e-7))
result: sibyl.Simulated = sibyl.simulate(
    "allreduce", "ring", 8, 1 << 20, arrivals=arrivals, network=network
)
absorbed: float = result.absorbed


def refused(algorithm: str) -> str:
    """Return why a plan cannot be made or proven, or an empty text."""
    try:
        sibyl.make_plan("scatter", algorithm, ranks=4, root=1, order=[0, 2, 3]).verify()
    except (ValueError, sibyl.VerificationError) as error:
        return str(error)
    return ""


def gather(mine: numpy.ndarray, comm: MPI.Comm) -> persistent.Request:
    """Gather from all ranks, in the background."""
    from sibyl.persistent import gather_init

    everyones = numpy.empty((comm.size, len(mine)))
    request: persistent.Request = gather_init(mine, everyones, comm, root=0, algorithm="BSLS")
    request.start()
    request.edge(0.5)
    request.arrive()
    request.wait()
    return request


if __name__ == "__main__":
    assert rounds > 2 and refused("linear") == "" and refused("no-such-algorithm")
    assert events.dtype.names == ("round", "sender", "receiver", "segment")
    print(f"{len(names)} algorithms listen, {1e3 * absorbed:.3f} ms absorbed")
