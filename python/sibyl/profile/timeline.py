"""One call in time: as it was, beside Sibyl's schedule of the same arrivals, as simulated.

Both pictures have the same ranks and the same scale. A rank's line is computing until it arrives,
then waiting for later ranks, then moving data until it leaves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy

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


def timelines(site: Site, judgement: Judgement, network: Network | None) -> str:
    """The pictures of a site, as HTML; "" without a call of several ranks."""
    if len(site.members) < 2 or not len(site.enter):
        return ""
    typical, worst = typical_and_worst(site)
    parts = [_pair(site, typical, "A typical call", judgement, network)]
    if worst != typical:
        parts.append(_pair(site, worst, "The worst call", judgement, network))
    return "".join(parts)


def _pair(site: Site, call: int, title: str, judgement: Judgement, network: Network | None) -> str:
    arrivals = arrivals_of(site, call)
    leave = site.leave[call] - site.enter[call].min()
    simulated = None
    if judgement.gain is not None and network is not None:
        simulated = simulate_call(site, call, judgement.gain.contender, network, record=True)
    end = float(max(leave.max(), simulated.exits.max() if simulated else 0.0)) or 1e-9
    shown = _shown(site, call)
    row = 17.0 if len(shown) <= 16 else 11.0
    scale = _Scale(end, row, {member: place for place, member in enumerate(shown)})
    when = time_text(float(site.enter[call].min()))
    begin = f"{title}, number {call}, {when} after MPI_Init"
    panels = [_panel(f"As it was: {_took(arrivals, leave)}", site, arrivals, leave, scale)]
    if simulated is not None and judgement.gain is not None:
        name = judgement.gain.contender.name
        heading = f"By Sibyl's {name}, simulated: {_took(arrivals, simulated.exits)}"
        panels.append(_panel(heading, site, arrivals, simulated.exits, scale, simulated))
    left_out = len(site.members) - len(shown)
    more = f" {left_out} ranks are left out." if left_out else ""
    return f'<h4>{escape(begin)}.{more}</h4><div class="pair">{"".join(panels)}</div>'


def _took(arrivals: numpy.ndarray, leave: numpy.ndarray) -> str:
    inside = float((leave - arrivals).sum())
    after = max(0.0, float(leave.max() - arrivals.max()))
    return f"{time_text(inside)} of all ranks, {time_text(after)} after the last arrival"


def _shown(site: Site, call: int) -> list[int]:
    """All members, or some at even steps, with the root and the one that came last."""
    count = len(site.members)
    if count <= RANKS_MOST:
        return list(range(count))
    chosen = {int(place) for place in numpy.linspace(0, count - 1, RANKS_MOST - 2)}
    chosen |= {int(site.enter[call].argmax()), max(0, int(site.root[call]))}
    return sorted(chosen)


def _panel(
    heading: str,
    site: Site,
    arrivals: numpy.ndarray,
    leave: numpy.ndarray,
    scale: _Scale,
    simulated: Simulated | None = None,
) -> str:
    bottom = TOP + scale.row * len(scale.places)
    latest, half = float(arrivals.max()), scale.row * 0.36
    out = [
        f'<svg viewBox="0 0 {LEFT + WIDTH + 12} {bottom + 24}" role="img" '
        f'aria-label="{escape(heading)}">'
    ]
    every = 1 if scale.row > 12 else 2
    for member, place in scale.places.items():
        rank, y = site.members[member], scale.y(member)
        came, left = float(arrivals[member]), float(leave[member])
        waits = min(left, latest)
        bars = [(-BEFORE * scale.end, came, "computing"), (came, waits, "waiting")]
        bars.append((max(came, waits), left, "moving"))
        for begin, stop, kind in bars:
            if stop > begin:
                width = max(0.7, scale.x(stop) - scale.x(begin))
                out.append(
                    f'<rect x="{scale.x(begin):.1f}" y="{y - half:.1f}" width="{width:.1f}" '
                    f'height="{2 * half:.1f}" class="{kind}"><title>rank {rank} {kind}: '
                    f"{time_text(stop - max(begin, 0.0))}</title></rect>"
                )
        if place % every == 0:
            out.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" class="end">{rank}</text>')
    if simulated is not None and simulated.events is not None:
        out += _messages(simulated.events, scale)
    return (
        f"<figure><figcaption>{escape(heading)}</figcaption>"
        f"{''.join([*out, *_axis(bottom, scale)])}</svg></figure>"
    )


def _messages(events: numpy.ndarray, scale: _Scale) -> Sequence[str]:
    """Thin lines from sender to receiver, where they can be told apart."""
    if len(events) > MESSAGES_MOST:
        return []
    lines = []
    kind = ' class="dense"' if len(events) > MESSAGES_DENSE else ""
    for event in events:
        source, target = int(event[0]), int(event[1])
        if source in scale.places and target in scale.places:
            lines.append(
                f'<line{kind} x1="{scale.x(float(event[6])):.1f}" y1="{scale.y(source):.1f}" '
                f'x2="{scale.x(float(event[7])):.1f}" y2="{scale.y(target):.1f}"/>'
            )
    return lines


def _axis(bottom: float, scale: _Scale) -> list[str]:
    out = [
        f'<line class="axis" x1="{LEFT}" y1="{bottom + 2}" x2="{LEFT + WIDTH}" y2="{bottom + 2}"/>'
    ]
    for tick in ticks(scale.end, 5):
        x = scale.x(tick)
        out.append(f'<text x="{x:.1f}" y="{bottom + 17}" class="mid">{time_text(tick)}</text>')
        out.append(f'<line class="axis" x1="{x:.1f}" y1="{bottom + 2}" x2="{x:.1f}" ')
        out.append(f'y2="{bottom + 6}"/>')
    return out
