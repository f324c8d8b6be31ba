"""What is to be done about a site: another schedule, an even load, or nothing.

`schedule` where that would give back a twentieth of the site's seconds and half a percent of the
run; else `balance` where half of the site's seconds are waiting, and one percent of the run; else
`none`. The seconds of a run are its wall time by its ranks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sibyl.profile.costs import Costs
from sibyl.profile.sites import Site
from sibyl.profile.whatif import Gain, bound_of, can_simulate, find_gain, network_of
from sibyl.profile.world import World

SCHEDULE, BALANCE, NONE = "schedule", "balance", "none"
SCHEDULE_OF_SITE, SCHEDULE_OF_RUN = 0.05, 0.005
BALANCE_OF_SITE, BALANCE_OF_RUN = 0.5, 0.01
SIMULATED_MOST = 12  # sites


@dataclass(frozen=True)
class Judgement:
    """What is known of a site besides what was measured.

    Attributes:
        advice: schedule, balance or none.
        bound: seconds of its moving that the network asks for, as far as is known.
        gain: by the best algorithm, which may be none; None where it was not simulated.
    """

    advice: str
    bound: float
    gain: Gain | None

    @property
    def given_back(self) -> float:
        """Seconds that the best algorithm would give back."""
        return max(0.0, self.gain.seconds) if self.gain is not None else 0.0


def judge(
    world: World,
    sites: Sequence[Site],
    costs: Costs,
    advance: Callable[[float], None] = lambda _amount: None,
) -> list[Judgement]:
    """One for each site, in their order; `advance` is called with 1 after each."""
    run = world.wall_seconds * world.size
    found = []
    simulated = 0
    for site in sites:
        bound, gain = 0.0, None
        if costs.network is not None and can_simulate(site):
            network = network_of(site, world, costs)
            bound = 0.0 if costs.assumed else bound_of(site, network)
            if site.seconds >= SCHEDULE_OF_RUN * run and simulated < SIMULATED_MOST:
                simulated += 1
                gain = _limited(find_gain(site, network), site, bound)
        found.append(Judgement(_advice(site, gain, run), bound, gain))
        advance(1)
    return found


def _limited(gain: Gain | None, site: Site, bound: float) -> Gain | None:
    """No more than there is."""
    if gain is None:
        return None
    moving = min(gain.moving, site.moving - bound)
    return replace(gain, waiting=min(gain.waiting, site.waiting), moving=moving)


def _advice(site: Site, gain: Gain | None, run: float) -> str:
    given_back = gain.seconds if gain is not None else 0.0
    if given_back >= max(SCHEDULE_OF_SITE * site.seconds, SCHEDULE_OF_RUN * run) > 0:
        return SCHEDULE
    if site.waiting >= max(BALANCE_OF_SITE * site.seconds, BALANCE_OF_RUN * run) > 0:
        return BALANCE
    return NONE
