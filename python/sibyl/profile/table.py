"""The selection table that follows from what was simulated: `SIBYL_TABLE=F sibyl run ...`."""

import math
from collections import defaultdict

import numpy

from sibyl.errors import one_line
from sibyl.guidelines.selection import own
from sibyl.guidelines.selection.choices import RankRules, Rule
from sibyl.profile.judgement import SCHEDULE
from sibyl.profile.profile import Profile
from sibyl.profile.sites import Site

# A size that was seen stands for others that are nearer than this factor.
NEAR = math.sqrt(2)


def to_table(profile: Profile) -> str:
    """The table; where nothing is better than the MPI library's own, it has no rules."""
    seen: dict[tuple[str, int], dict[int, tuple[float, str]]] = defaultdict(dict)
    for site, judgement in zip(profile.sites, profile.judgements, strict=True):
        if judgement.advice != SCHEDULE or judgement.gain is None:
            continue
        size = _size_of(site)
        known = seen[site.collective, site.communicator_size]
        better = judgement.gain.seconds, judgement.gain.contender.row.name
        known[size] = max(known.get(size, (0.0, "")), better)
    learned = []
    for (collective, ranks), sizes in sorted(seen.items()):
        chosen = [(size, name) for size, (_, name) in sorted(sizes.items())]
        learned.append(RankRules(collective, ranks, ranks, tuple(_rules(chosen))))
    comment = [
        "Simulated by `sibyl profile` from the arrivals of:",
        "  " + one_line(" ".join(profile.command)),
        *([f"costs of messages: {one_line(profile.costs.origin)}"] if profile.costs.origin else []),
    ]
    return own.to_text(learned, comment)


def _size_of(site: Site) -> int:
    """The bytes that a rule counts: what all ranks know of a call."""
    if site.collective in own.SIZELESS:
        return 0
    if site.collective == "allgatherv":  # all blocks together
        return int(numpy.median(site.given.sum(axis=1)))
    return site.size


def _rules(chosen: list[tuple[int, str]]) -> list[Rule]:
    """Each algorithm around the size at which it was best, and nothing between them."""
    rules: list[Rule] = [] if chosen[0][0] <= 1 else [Rule(0, None)]
    for place, (size, name) in enumerate(chosen):
        least, most = math.ceil(size / NEAR), math.floor(size * NEAR)
        if place > 0:
            before = chosen[place - 1][0]
            least = max(least, math.isqrt(before * size) + 1)
        if place + 1 < len(chosen):
            most = min(most, math.isqrt(size * chosen[place + 1][0]))
        if rules and rules[-1].algorithm is None and rules[-1].bytes >= least:
            rules.pop()
        rules += [Rule(0 if size == 0 else least, name), Rule(most + 1, None)]
    return rules
