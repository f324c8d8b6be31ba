"""A profile: all that is known of a run, from its traces."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sibyl.profile.costs import Costs
from sibyl.profile.judgement import Judgement, judge
from sibyl.profile.nodes import LateNode, late_nodes
from sibyl.profile.places import Place, Places, short_names
from sibyl.profile.sites import MessageSite, Site, find_sites
from sibyl.profile.unfinished import LastCall, last_calls
from sibyl.profile.world import World


@dataclass(frozen=True)
class Profile:
    """What a run was spent with.

    Attributes:
        world: its ranks.
        sites: of collectives, those that took most first.
        judgements: one for each site.
        messages: places at which messages are received or waited for.
        last_calls: in which ranks were that did not reach MPI_Finalize.
        costs: what bounds and gains rest on.
        command: the words with which it can be repeated.
    """

    world: World
    sites: list[Site]
    judgements: list[Judgement]
    messages: list[MessageSite]
    last_calls: list[LastCall]
    costs: Costs
    command: list[str]

    @cached_property
    def places(self) -> list[Place]:
        """All that the report names, in order."""
        places = {site.place for site in self.sites} | {site.place for site in self.messages}
        places |= {call.place for call in self.last_calls}
        places |= {place for site in self.sites for place in site.also_at}
        return sorted(places)

    @cached_property
    def files(self) -> dict[Place, str]:
        """The file of each place, as short as it can be."""
        return short_names(self.places)

    @property
    def modules_without_lines(self) -> list[str]:
        """Programs and libraries of whose calls the line is not known."""
        return sorted({Path(place.path).name for place in self.places if place.offset})

    @property
    def seconds(self) -> float:
        """In collectives, of all ranks."""
        return sum(site.seconds for site in self.sites)

    @cached_property
    def waiting(self) -> float:
        """Of them, for late ranks."""
        return sum(site.waiting for site in self.sites)

    @property
    def moving(self) -> float:
        """Of them, from the last arrival on."""
        return sum(site.moving for site in self.sites)

    @property
    def unsplit(self) -> float:
        """Of them, what could not be split."""
        return sum(site.unsplit for site in self.sites)

    @property
    def bound(self) -> float:
        """Of the moving, what the network asks for."""
        return sum(judgement.bound for judgement in self.judgements)

    @property
    def run_seconds(self) -> float:
        """Of all ranks, from MPI_Init to MPI_Finalize."""
        return self.world.wall_seconds * self.world.size

    @cached_property
    def ranks_late(self) -> list[tuple[int, float]]:
        """The seconds that others waited for each rank, the one that cost most first."""
        caused = dict.fromkeys(range(self.world.size), 0.0)
        for site in self.sites:
            if not len(site.enter):
                continue
            for rank, seconds in zip(site.members, site.caused, strict=True):
                caused[rank] += float(seconds)
        return sorted(caused.items(), key=lambda item: (-item[1], item[0]))

    @cached_property
    def nodes_late(self) -> list[LateNode]:
        """The same of nodes, where ranks share them; else none."""
        return late_nodes(self.world.hosts, self.sites)

    @property
    def scheduled(self) -> float:
        """Seconds that better schedules give back where that is advised."""
        return sum(j.gain.seconds for j in self.judgements if j.gain and j.advice == "schedule")

    @property
    def balanced(self) -> float:
        """Seconds of waiting that are left then: an even load alone gives them back."""
        saved = sum(j.gain.waiting for j in self.judgements if j.gain and j.advice == "schedule")
        return max(0.0, self.waiting - max(0.0, saved))

    def part_of_run(self, seconds: float) -> float:
        """As a part of all ranks' time."""
        return seconds / self.run_seconds if self.run_seconds > 0 else 0.0


def make_profile(
    world: World,
    find_costs: Callable[[], Costs],
    command: list[str],
    advance: Callable[[float], None] = lambda _amount: None,
) -> Profile:
    """Analyse the traces of a run.

    Args:
        world: its ranks.
        find_costs: measures costs; called where there is something to judge by them.
        command: that repeats it.
        advance: called with parts of 1 as it goes on.
    """
    places = Places()
    sites, messages = find_sites(world, places)
    last = last_calls(world, places)
    advance(0.3)
    worth = world.size > 1 and any(len(site.enter) for site in sites)
    costs = find_costs() if worth else Costs(None, None, "")
    advance(0.4)
    judgements = judge(world, sites, costs, lambda one: advance(0.3 * one / len(sites)))
    return Profile(world, sites, judgements, messages, last, costs, command)
