"""One call in time: as it was, beside Sibyl's schedule of the same arrivals, as simulated.

Both pictures have the same ranks and the same scale. A rank's line is computing until it arrives,
then waiting for later ranks, then moving data until it leaves.
"""

from contextlib import suppress
from dataclasses import dataclass

import numpy

from sibyl.errors import CommandError
from sibyl.experiment.units import time_text
from sibyl.profile.judgement import Judgement
from sibyl.profile.sites import Site
from sibyl.profile.whatif import arrivals_of, simulate_call
from sibyl.simulator.model import Network
from sibyl.simulator.picture import ticks
from sibyl.simulator.run import Simulated

RANKS_MOST = 32
MESSAGES_MOST, MESSAGES_DENSE = 600, 100
LEFT, TOP, WIDTH = 40.0, 8.0, 520.0
BESIDE = 24.0  # right of the axis: half of its last label
# Of the whole picture, that is left of the first arrival.
BEFORE = 0.03


@dataclass(frozen=True)
class _Scale:
    """Where times and ranks lie."""

    end: float
    row: float
    places: dict[int, int]  # member to line

    def x(self, time: float) -> float:
        whole = self.end * (1 + BEFORE) or 1.0
        return LEFT + WIDTH * (time + BEFORE * self.end) / whole

    def y(self, member: int) -> float:
        return TOP + self.row * (self.places[member] + 0.5)


def typical_and_worst(site: Site) -> tuple[int, int]:
    """The call that took the median of the time, and the one that took most."""
    order = numpy.argsort((site.leave - site.enter).sum(axis=1), kind="stable")
    return int(order[(len(order) - 1) // 2]), int(order[-1])


@dataclass(frozen=True)
class Panel:
    """One of both pictures, as data/pages/timeline.html draws it.

    Attributes:
        size: of the picture.
        bottom: where the axis lies, at the height of which the picture of the ranks ends.
        bars: x, y and width of what a rank does, what that is, and how to say it.
        half: half of a bar's height.
        ranks: where labels of ranks stand, and the ranks.
        messages: from where to where they go: x1, y1, x2, y2.
        dense: there are many of them.
        ticks: of the axis: where, and what they say.
    """

    heading: str
    size: tuple[float, float]
    bottom: float
    bars: list[tuple[float, float, float, str, str]]
    half: float
    ranks: list[tuple[float, int]]
    messages: list[tuple[float, float, float, float]]
    dense: bool
    ticks: list[tuple[float, str]]
    left: float = LEFT
    right: float = LEFT + WIDTH


@dataclass(frozen=True)
class Pair:
    """A call as it was and, where that is known, as it would be."""

    heading: str
    panels: list[Panel]


def timelines(site: Site, judgement: Judgement, network: Network | None) -> list[Pair]:
    """The pictures of a site; none without a call of several ranks."""
    if len(site.members) < 2 or not len(site.enter):
        return []
    typical, worst = typical_and_worst(site)
    pairs = [_pair(site, typical, "A typical call", judgement, network)]
    if worst != typical:
        pairs.append(_pair(site, worst, "The worst call", judgement, network))
    return pairs


def _pair(site: Site, call: int, title: str, judgement: Judgement, network: Network | None) -> Pair:
    arrivals = arrivals_of(site, call)
    leave = site.leave[call] - site.enter[call].min()
    simulated = None
    if judgement.gain is not None and network is not None:
        # Of calls as unlike as this one none may have been simulated before.
        with suppress(CommandError, ValueError):
            simulated = simulate_call(site, call, judgement.gain.contender, network, record=True)
    end = float(max(leave.max(), simulated.exits.max() if simulated else 0.0)) or 1e-9
    shown = _shown(site, call)
    row = 17.0 if len(shown) <= 16 else 11.0
    scale = _Scale(end, row, {member: place for place, member in enumerate(shown)})
    when = time_text(float(site.enter[call].min()))
    panels = [_panel(f"As it was: {_took(arrivals, leave)}", site, arrivals, leave, scale)]
    if simulated is not None and judgement.gain is not None:
        name = judgement.gain.contender.name
        heading = f"By Sibyl's {name}, simulated: {_took(arrivals, simulated.exits)}"
        panels.append(_panel(heading, site, arrivals, simulated.exits, scale, simulated))
    left_out = len(site.members) - len(shown)
    more = f" {left_out} ranks are left out." if left_out else ""
    return Pair(f"{title}, number {call}, {when} after MPI_Init.{more}", panels)


def _took(arrivals: numpy.ndarray, leave: numpy.ndarray) -> str:
    inside = float((leave - arrivals).sum())
    after = max(0.0, float(leave.max() - arrivals.max()))
    return f"{time_text(inside)} of all ranks, {time_text(after)} after the last arrival"


def _shown(site: Site, call: int) -> list[int]:
    """All members, or some at even steps, with the one that came last, and the root."""
    count = len(site.members)
    if count <= RANKS_MOST:
        return list(range(count))
    chosen = {int(place) for place in numpy.linspace(0, count - 1, RANKS_MOST - 2)}
    chosen.add(int(site.enter[call].argmax()))
    if count == site.communicator_size:  # else nobody says which of the members it is
        chosen.add(max(0, int(site.root[call])))
    return sorted(chosen)


def _panel(
    heading: str,
    site: Site,
    arrivals: numpy.ndarray,
    leave: numpy.ndarray,
    scale: _Scale,
    simulated: Simulated | None = None,
) -> Panel:
    bottom = TOP + scale.row * len(scale.places)
    latest = float(arrivals.max())
    every = 1 if scale.row > 12 else 2
    bars, ranks = [], []
    for member, place in scale.places.items():
        rank, y = site.members[member], scale.y(member)
        came, left = float(arrivals[member]), float(leave[member])
        waits = min(left, latest)
        parts = [(-BEFORE * scale.end, came, "computing"), (came, waits, "waiting")]
        parts.append((max(came, waits), left, "moving"))
        for begin, stop, kind in parts:
            if stop > begin:
                width = max(0.7, scale.x(stop) - scale.x(begin))
                meaning = f"rank {rank} {kind}: {time_text(stop - max(begin, 0.0))}"
                bars.append((scale.x(begin), y, width, kind, meaning))
        if place % every == 0:
            ranks.append((y, rank))
    events = None if simulated is None else simulated.events
    return Panel(
        heading=heading,
        size=(LEFT + WIDTH + BESIDE, bottom + 24),
        bottom=bottom,
        bars=bars,
        half=scale.row * 0.36,
        ranks=ranks,
        messages=[] if events is None else _messages(events, scale),
        dense=events is not None and len(events) > MESSAGES_DENSE,
        ticks=[(scale.x(tick), time_text(tick)) for tick in ticks(scale.end, 5)],
    )


def _messages(events: numpy.ndarray, scale: _Scale) -> list[tuple[float, float, float, float]]:
    """From sender to receiver, where they can be told apart."""
    if len(events) > MESSAGES_MOST:
        return []
    places = ((int(event[0]), int(event[1]), float(event[6]), float(event[7])) for event in events)
    return [
        (scale.x(begin), scale.y(source), scale.x(stop), scale.y(target))
        for source, target, begin, stop in places
        if source in scale.places and target in scale.places
    ]
