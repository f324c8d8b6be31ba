"""What a better schedule would give back at a site: its recorded arrivals, simulated.

Calls of the site are taken at even steps from the cheapest to the dearest, so that their mean
stands for all, and simulated under each of Sibyl's algorithms, told these arrivals. The waiting
that is left then is held against the waiting that was measured: both follow from the arrivals.
The moving depends on the model of the network, so it is held against the simulated moving of the
MPI library's algorithm - of those that the libraries use, the one whose times are nearest to the
measured ones - and where less was measured than simulated, less is gained by the same ratio. So
what the model does not know of, such as ranks that share a core, is no gain.
"""

import math
from dataclasses import dataclass

import numpy

from sibyl import _core, collectives
from sibyl.errors import CommandError
from sibyl.profile.costs import Costs
from sibyl.profile.sites import PARTS_OF_RESULT, Site
from sibyl.profile.world import World
from sibyl.simulator.bounds import run_time_bound
from sibyl.simulator.contenders import Contender, contenders
from sibyl.simulator.model import Network
from sibyl.simulator.run import Simulated, run_prepared
from sibyl.simulator.session import Problem, Settings, request_of, simulation_of

# What Open MPI and MPICH use, by the names of Sibyl's table.
LIBRARY = {
    "reduce": "binomial,rabenseifner,ring",
    "allreduce": "recursive-doubling,ring,rabenseifner",
    "bcast": "binomial,binary-tree,chain,scatter-allgather",
    "gather": "linear,binomial,linear-synchronised",
    "scatter": "linear,binomial",
    "gatherv": "linear",
    "scatterv": "linear",
    "allgather": "ring,circulant",
    "allgatherv": "ring,circulant",
    "alltoall": "shifted,pairwise,bruck",
    "alltoallv": "shifted,pairwise",
    "reduce_scatter": "pairwise,ring,doubling",
    "reduce_scatter_block": "pairwise,ring,doubling",
    "scan": "doubling",
    "exscan": "two-op-doubling",
    "barrier": "dissemination",
}
# These can be served in the order in which ranks come (sibyl run --predict).
ORDERED = ("gather", "scatter", "gatherv", "scatterv")
# What all ranks count together is the size of these, what one counts of the others.
SUMMED = (*ORDERED, "allgather", "allgatherv", *PARTS_OF_RESULT)
IRREGULAR = ("gatherv", "scatterv", "allgatherv", "reduce_scatter")
BOUND_CALLS = 64
STEPS_MOST = 5e5  # of one simulation
RANKS_MOST = 4096
SMALL_PART = 0.01
# Nobody changes for less than the model can tell.
LAST_EXIT_SLACK = 1.02


@dataclass(frozen=True)
class Gain:
    """What a site's best algorithm would give back, in seconds of all ranks.

    Attributes:
        contender: the algorithm, and whether it is told the order of arrival.
        library: what stands for the MPI library's algorithm.
        waiting: less waiting.
        moving: less moving.
        slowdown: the measured moving over what the library's algorithm takes in the model.
    """

    contender: Contender
    library: str
    waiting: float
    moving: float
    slowdown: float

    @property
    def seconds(self) -> float:
        """Both."""
        return self.waiting + self.moving


@dataclass(frozen=True)
class _Times:
    """Of a contender: per call, seconds of all ranks, and the last exit after the last arrival."""

    waiting: numpy.ndarray
    moving: numpy.ndarray
    absorbed: numpy.ndarray


def network_of(site: Site, world: World, costs: Costs) -> Network:
    """The network of a site's ranks."""
    return costs.network_of([world.hosts[rank] for rank in site.members])


def can_simulate(site: Site) -> bool:
    """Whether Sibyl has algorithms for it, and all ranks of its calls are known."""
    return (
        site.collective in collectives()
        and len(site.enter) > 0
        and 2 <= len(site.members) <= RANKS_MOST
        and len(site.members) == site.communicator_size
        and not site.has_messages
    )


def problem_of(site: Site, call: int) -> Problem:
    """The size of a call, as the simulator counts it."""
    given = site.given[call]
    size = int(given.sum() if site.collective in SUMMED else given.max())
    return Problem(len(site.members), size, "flat", 0.0)


def arrivals_of(site: Site, call: int) -> numpy.ndarray:
    """Seconds after the first rank."""
    return numpy.ascontiguousarray(site.enter[call] - site.enter[call].min())


def ranks_that_stay(collective: str, arrivals: numpy.ndarray, root: int, after: float) -> int:
    """At least so many stay so long after the last arrival, whatever the algorithm.

    Args:
        collective: of the call.
        arrivals: of all ranks, in seconds.
        root: where it has one.
        after: what is left for the rank that leaves last.
    """
    ranks = len(arrivals)
    last = int(arrivals.argmax())
    all_at_once = float(arrivals.max() - arrivals.min()) <= after
    if collective in ("barrier", "allreduce"):  # all hear from the last one
        return ranks
    if collective in ("reduce", "gather", "gatherv"):
        return 1 if root == last else 2
    if collective in ("scatter", "scatterv", "scan", "exscan"):
        return 1
    if collective == "bcast":
        return ranks if all_at_once or root == last else 1
    return ranks if all_at_once else 1  # of others' blocks each has most before


def bound_of(site: Site, network: Network) -> float:
    """The least of its moving that the network asks for, in seconds of all ranks.

    Of irregular blocks it is that of blocks as large as the smallest. In an alltoallv a rank may
    give all that it gives to itself: there is none.
    """
    if not can_simulate(site) or site.collective == "alltoallv":
        return 0.0
    step = max(1, len(site.enter) // BOUND_CALLS)
    chosen = numpy.arange(0, len(site.enter), step)
    moving = site.attribution.moving[chosen].sum(axis=1)
    least = []
    for call, most in zip(chosen, moving, strict=True):
        arrivals = arrivals_of(site, call)
        root = max(0, int(site.root[call]))
        size = problem_of(site, call).size
        if site.collective in IRREGULAR:
            size = len(arrivals) * int(site.given[call].min())
        after = 0.0
        if size > 0 or site.collective not in IRREGULAR:
            whole = run_time_bound(site.collective, network, arrivals, root, size)
            after = max(0.0, whole - float(arrivals.max()))
        stay = ranks_that_stay(site.collective, arrivals, root, after)
        least.append(min(float(most), after * stay))
    recorded = float(moving.sum())
    return site.moving * sum(least) / recorded if recorded > 0 else 0.0


def find_gain(site: Site, network: Network) -> Gain | None:
    """Simulate a site under all algorithms, and take the best; None where none can be simulated.

    The best may be one that the MPI library has too: then it gains nothing.
    """
    if not can_simulate(site):
        return None
    calls = _sample(site)
    entrants = contenders(site.collective, None)
    if site.collective in ORDERED:
        rows = [entrant.row for entrant in entrants if entrant.row.order != "none"]
        entrants += [Contender(f"{row.name}:sorted", row, True) for row in rows]
    times: dict[str, _Times] = {}
    for entrant in entrants:
        found = _simulate_calls(site, calls, entrant, network)
        if found is not None:
            times[entrant.name] = found
    moved = site.attribution.moving[calls].sum(axis=1)
    waited = site.attribution.waiting[calls].sum(axis=1)
    library = _library_of(site.collective, times, float(waited.sum()), float(moved.sum()))
    if library is None:
        return None
    usual, best = times[library], None
    trusted = numpy.divide(moved, usual.moving, out=numpy.zeros(len(calls)), where=usual.moving > 0)
    trusted = numpy.minimum(trusted, 1.0)
    # The mean of these calls, times what each stands for, times the calls with records.
    scale = site.weight[calls].mean(axis=1) * (len(site.enter) / len(calls))
    for entrant in entrants:
        own = times.get(entrant.name)
        if own is None or own.absorbed.mean() > usual.absorbed.mean() * LAST_EXIT_SLACK:
            continue
        gain = Gain(
            entrant,
            library,
            float(((waited - own.waiting) * scale).sum()),
            float(((usual.moving - own.moving) * trusted * scale).sum()),
            float(moved.sum()) / max(float(usual.moving.sum()), 1e-12),
        )
        if best is None or gain.seconds > best.seconds:
            best = gain
    return best


def simulate_call(
    site: Site, call: int, contender: Contender, network: Network, record: bool = False
) -> Simulated:
    """One call of a site under an algorithm; times count from the first arrival."""
    arrivals = arrivals_of(site, call)
    settings = Settings(site.collective, network, max(0, int(site.root[call])))
    prepared = simulation_of(problem_of(site, call), contender, settings, arrivals)
    return run_prepared(prepared, network, arrivals, record)


def _sample(site: Site) -> numpy.ndarray:
    """Calls at even steps from the one that took least to the one that took most."""
    ranks = len(site.members)
    wanted = min(len(site.enter), 15 if ranks <= 32 else 9 if ranks <= 256 else 3)
    order = numpy.argsort((site.leave - site.enter).sum(axis=1), kind="stable")
    places = (numpy.arange(wanted) + 0.5) * len(order) / wanted
    return order[places.astype(int)]


def _simulate_calls(
    site: Site, calls: numpy.ndarray, contender: Contender, network: Network
) -> _Times | None:
    """None where the algorithm cannot do this, or takes too long to simulate."""
    waiting, moving, absorbed = [], [], []
    prepared: dict[tuple[int, int], _core.Simulation] = {}
    for call in calls:
        arrivals = arrivals_of(site, call)
        problem, root = problem_of(site, call), max(0, int(site.root[call]))
        settings = Settings(site.collective, network, root)
        known = (problem.size, root)
        try:
            if contender.depends_on_arrivals or known not in prepared:
                request = request_of(problem, contender, settings, arrivals)
                if _core.estimate_steps(request) > STEPS_MOST:
                    return None
                prepared[known] = simulation_of(problem, contender, settings, arrivals)
            result = run_prepared(prepared[known], network, arrivals)
        except (CommandError, ValueError):
            return None
        inside = result.exits - arrivals
        waits = numpy.maximum(numpy.minimum(result.exits, arrivals.max()) - arrivals, 0.0)
        waiting.append(float(waits.sum()))
        moving.append(float((inside - waits).sum()))
        absorbed.append(result.absorbed)
    return _Times(numpy.array(waiting), numpy.array(moving), numpy.array(absorbed))


def _library_of(
    collective: str, times: dict[str, _Times], waited: float, moved: float
) -> str | None:
    """The algorithm of MPI libraries whose waiting and moving are nearest to the measured ones."""
    known = [name for name in LIBRARY.get(collective, "").split(",") if name in times]
    if not known:
        return None
    # What is small beside the whole tells nothing.
    least = max(SMALL_PART * (waited + moved), 1e-12)

    def distance(name: str) -> float:
        pairs = ((times[name].waiting, waited), (times[name].moving, moved))
        return sum(abs(math.log((least + own.sum()) / (least + real))) for own, real in pairs)

    return min(known, key=distance)
