"""Which node was waited for, where ranks share nodes.

A node has come when the last of its ranks has: whoever combines on a node, or hands a result to it,
waits for that one. So blame of a node is the blame of its ranks, and it was last in a call in which
one of them was. How far its ranks are apart says whose it is: a node that is late as a whole has
another cause than one with a late rank, and the earlier ranks' data can be combined meanwhile.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy

from sibyl.profile.sites import Site


@dataclass(frozen=True)
class LateNode:
    """A node that others waited for.

    Attributes:
        host: its name.
        ranks: of the program that it holds.
        share: part of the calls in which one of its ranks came last.
        apart: seconds from its first rank to its last, the median of those calls; of all, if there
            are none.
        seconds_caused: that ranks waited for its ranks, those on the node itself included.
    """

    host: str
    ranks: int
    share: float
    apart: float
    seconds_caused: float


def share_nodes(hosts: Mapping[int, str]) -> bool:
    """Whether there are several nodes, of which some hold several ranks."""
    return 1 < len(set(hosts.values())) < len(hosts)


def late_nodes(hosts: Mapping[int, str], sites: Iterable[Site]) -> list[LateNode]:
    """The nodes of a run that were waited for, the one that cost most first.

    Args:
        hosts: of each rank; none are named where each rank has one of its own, or all share one.
        sites: of collectives.
    """
    if not share_nodes(hosts):
        return []
    caused: dict[str, float] = defaultdict(float)
    last: dict[str, int] = defaultdict(int)
    apart: dict[str, list[numpy.ndarray]] = defaultdict(list)
    apart_last: dict[str, list[numpy.ndarray]] = defaultdict(list)
    calls = 0
    for site in sites:
        if len(site.members) < 2 or not len(site.enter):
            continue
        of = numpy.array([hosts[rank] for rank in site.members])
        calls += len(site.enter)
        for host in dict.fromkeys(of.tolist()):
            here = of == host
            caused[host] += float(site.caused[here].sum())
            spread = numpy.ptp(site.enter[:, here], axis=1)
            of_last = spread[here[site.attribution.last]]
            last[host] += len(of_last)
            apart[host].append(spread)
            apart_last[host].append(of_last)
    found = [
        LateNode(
            host,
            sum(name == host for name in hosts.values()),
            last[host] / calls,
            float(numpy.median(numpy.concatenate((apart_last if last[host] else apart)[host]))),
            seconds,
        )
        for host, seconds in caused.items()
        if seconds > 0
    ]
    return sorted(found, key=lambda node: (-node.seconds_caused, node.host))
