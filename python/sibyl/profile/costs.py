"""What messages cost where the program ran: the model for bounds and for what-if.

Within a host they are measured by two ranks after the run, as `sibyl simulate --calibrate` does;
between hosts they are read from a file, or assumed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sibyl.errors import CommandError
from sibyl.profile.world import World
from sibyl.simulator.calibration import Calibration, measure, read
from sibyl.simulator.model import Network, Nodes

# Longer messages wait for their receiver, as in Open MPI between processes of a host. MPICH and
# networks send longer ones at once; a simulation that lets ranks go too late promises too little.
EAGER = 4096
ASSUMED = "assumed: 25 us and 8 ns/B, so there are no bounds (--calibration says them)"


@dataclass(frozen=True)
class Costs:
    """Costs of messages.

    Attributes:
        network: with one node; None where nothing is known.
        inside: what messages within a host cost, where there are several.
        origin: where this is from, or why there is nothing.
        assumed: part of it was neither measured nor read, so that no bound can rest on it.
    """

    network: Network | None
    inside: Calibration | None
    origin: str
    assumed: bool = False

    def network_of(self, hosts: Sequence[str]) -> Network:
        """The network of ranks that ran on these hosts."""
        assert self.network is not None
        numbers = list(dict.fromkeys(hosts))
        if self.inside is None or len(numbers) == len(hosts):
            return self.network
        nodes = Nodes(
            alpha=self.inside.alpha,
            beta=self.inside.beta,
            of=[numbers.index(host) for host in hosts],
        )
        return replace(self.network, nodes=nodes)


def find_costs(world: World, mpi: str | None, calibration: Path | None) -> Costs:
    """The costs for a run; without any where they cannot be measured.

    Args:
        world: what was run.
        mpi: openmpi, mpich or a prefix.
        calibration: a file with what messages between hosts cost, or within the only one.
    """
    several = len(set(world.hosts.values())) > 1
    given = read(calibration) if calibration is not None else None
    if given is not None and not several:
        return Costs(_network(given), None, given.origin)
    try:
        inside = measure(mpi)
    except CommandError as error:
        why = f"the costs of messages could not be measured: {error}"
        if given is None:
            return Costs(None, None, why)
        return Costs(_network(given), given, f"{given.origin}, within hosts too, where {why}")
    except KeyboardInterrupt:  # the run is over, and its report worth more than these
        return Costs(None, None, "the measurement of the costs of messages was interrupted")
    if not several:
        return Costs(_network(inside), None, inside.origin)
    between = given or Calibration(Network.alpha, Network.beta, inside.gamma, "")
    origin = f"between hosts {between.origin or ASSUMED}; within {inside.origin}"
    return Costs(_network(between), inside, origin, assumed=given is None)


def _network(costs: Calibration) -> Network:
    # Measured on a busy machine, a slope may be 0; the simulator needs time to pass.
    return Network(
        alpha=max(costs.alpha, 1e-9),
        beta=max(costs.beta, 1e-13),
        combine=costs.gamma or 0.0,
        eager=EAGER,
    )
