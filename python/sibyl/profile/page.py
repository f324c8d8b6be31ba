"""A profile as one HTML page that needs nothing else: no network, no mouse, no colour vision.

The pictures are in the page; sites are details that open by themselves or by key. How it looks, and
a small script, stand in data/pages/profile.html.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from sibyl.pages import render
from sibyl.profile import words
from sibyl.profile.calls import members_text
from sibyl.profile.heat_map import all_came_together, heat_map
from sibyl.profile.judgement import NONE, SCHEDULE, Judgement
from sibyl.profile.profile import Profile
from sibyl.profile.sites import Site
from sibyl.profile.timeline import timelines
from sibyl.profile.whatif import network_of
from sibyl.terminal import seconds_text

SITES_SHOWN = 12  # with pictures
ROWS_MOST = 200
RANKS_SHOWN = 16
SLOWER = 3  # than the model: worth a sentence
DEFINITIONS = (
    ("waiting", "from a rank's arrival to the last rank's arrival, or until it leaves"),
    ("moving", "the rest of the time in the call: data is on its way, operators are applied"),
    ("bound", "of the moving, what no algorithm can do without on a network of these costs"),
    (
        "late by",
        "a rank's arrival less the median arrival of the others, in calls in which it was last",
    ),
    ("last in", "the part of the calls in which that rank came last"),
    (
        "cost others",
        "waiting that is put down to a rank: waiting ranks split it evenly among those "
        "that are missing",
    ),
    (
        "gives back",
        "rank-seconds at these calls, by simulating their recorded arrivals; not measured, and "
        "who leaves a call earlier may wait at the next one instead",
    ),
)


def to_html(profile: Profile) -> str:
    """The page."""
    return render(
        "profile.html",
        title=words.headline(profile),
        what_ran=_what_ran(profile),
        run=_run(profile),
        remedy=[_sentence(line) for line in words.remedy_lines(profile)],
        ranks=list(_ranks(profile)),
        more_ranks=max(0, len(_late_ranks(profile)) - RANKS_SHOWN),
        nodes=list(_nodes(profile)),
        sites=list(_sites(profile)),
        more_sites=max(0, len(profile.sites) - ROWS_MOST),
        details=_details(profile),
        messages=[
            (
                *(site.function, words.where(profile, site.place)),
                *(str(site.calls), words.number(site.seconds)),
            )
            for site in profile.messages[:RANKS_SHOWN]
        ],
        limits=[_sentence(line) for line in _limits(profile)],
        command=" ".join(profile.command),
        definitions=DEFINITIONS,
    )


def _sentence(line: str) -> str:
    return f"{line[0].upper()}{line[1:]}."


def _what_ran(profile: Profile) -> str:
    world = profile.world
    if not world.traces:
        return "Command: " + " ".join(profile.command)
    first = next(iter(world.traces.values()))
    hosts = len(set(world.hosts.values()))
    place = f"{hosts} hosts" if hosts > 1 else first.host
    ranks = "1 rank" if world.size == 1 else f"{world.size} ranks"
    library = f", {first.library}" if first.library else ""
    wall = seconds_text(world.wall_seconds)
    return f"{first.program}, {ranks} on {place}, {wall}{library}"


def _bar(parts: Iterable[tuple[str, float]], whole: float) -> list[tuple[str, float]]:
    """The parts of a bar: what they are, and how many percent of the whole."""
    return [(kind, 100 * seconds / whole) for kind, seconds in parts if seconds > 0 and whole > 0]


def _run(profile: Profile) -> list[tuple[str, float, str]]:
    """What all ranks' time went into: parts of a bar, with what they mean."""
    if profile.run_seconds <= 0:
        return []
    messages = sum(site.seconds for site in profile.messages)
    spent = profile.seconds + messages
    kinds = [
        ("waiting", "waiting for late ranks in collectives", profile.waiting),
        ("moving", "moving data in collectives", profile.moving - profile.bound),
        ("bound", "of it, what the network asks for", profile.bound),
        ("unsplit", "in collectives, not split", profile.unsplit),
        ("messages", "receiving and waiting for messages", messages),
        ("computing", "everything else", max(0.0, profile.run_seconds - spent)),
    ]
    return [
        (
            *(kind, 100 * seconds / profile.run_seconds),
            f"{text}: {words.number(seconds)} rank-seconds, "
            f"{words.percent(profile.part_of_run(seconds))}",
        )
        for kind, text, seconds in kinds
        if seconds > 0
    ]


def _late_ranks(profile: Profile) -> list[tuple[int, float]]:
    return [(rank, seconds) for rank, seconds in profile.ranks_late if seconds > 0]


def _ranks(profile: Profile) -> Iterator[dict[str, Any]]:
    """Whom others waited for."""
    late = _late_ranks(profile)
    for rank, seconds in late[:RANKS_SHOWN]:
        yield {
            "rank": rank,
            "host": profile.world.hosts.get(rank, ""),
            "cost": words.number(seconds),
            "part": words.percent(seconds / profile.waiting if profile.waiting else 0.0),
            "bar": _bar([("waiting", seconds)], late[0][1]),
        }


def _nodes(profile: Profile) -> Iterator[dict[str, Any]]:
    """On which nodes these are, where ranks share nodes."""
    late = profile.nodes_late[:RANKS_SHOWN]
    for node in late:
        yield {
            "host": node.host,
            "ranks": node.ranks,
            "share": words.percent(node.share),
            "apart": seconds_text(node.apart),
            "cost": words.number(node.seconds_caused),
            "bar": _bar([("waiting", node.seconds_caused)], late[0].seconds_caused),
        }


def _sites(profile: Profile) -> Iterator[dict[str, Any]]:
    """Call sites by cost; the first ones have their details."""
    pairs = list(zip(profile.sites, profile.judgements, strict=True))
    for place, (site, judgement) in enumerate(pairs[:ROWS_MOST]):
        split = [("waiting", site.waiting), ("moving", site.moving - judgement.bound)]
        split += [("bound", judgement.bound), ("unsplit", site.unsplit)]
        seconds = (site.seconds, site.waiting, site.moving, judgement.bound)
        yield {
            "details": place < SITES_SHOWN,
            "called": words.what_is_called(profile, site),
            "where": words.where(profile, site.place),
            "figures": [*map(words.number, seconds), str(site.calls)],
            "bar": _bar(split, profile.sites[0].seconds),
            "late": words.who_is_late(site.costliest) if site.costliest else "",
            "advice": words.advice_text(judgement) or "-",
        }


def _details(profile: Profile) -> Iterator[dict[str, Any]]:
    """Each of the first sites with its pictures."""
    pairs = list(zip(profile.sites, profile.judgements, strict=True))[:SITES_SHOWN]
    for site, judgement in pairs:
        network = None
        if profile.costs.network is not None and judgement.gain is not None:
            network = network_of(site, profile.world, profile.costs)
        yield {
            "called": words.what_is_called(profile, site),
            "where": words.where(profile, site.place),
            "seconds": words.number(site.seconds),
            "facts": _facts(profile, site, judgement),
            "late": _late(profile, site),
            "together": all_came_together(site),
            "heat_map": heat_map(site),
            "timelines": timelines(site, judgement, network),
        }


def _facts(profile: Profile, site: Site, judgement: Judgement) -> str:
    calls = "1 call" if site.calls == 1 else f"{site.calls} calls"
    text = f"{calls} by ranks {members_text(site.members)}" if site.members else calls
    if site.also_at:
        places = sorted({words.line_of(profile, place) for place in site.also_at})
        text += f", some ranks from {', '.join(places[:4])}"
    text += (
        f". Waiting {words.number(site.waiting)}, moving {words.number(site.moving)} rank-seconds"
    )
    if judgement.bound > 0:
        text += f", of which the network asks for {words.number(judgement.bound)}"
    if site.unsplit > 0:
        return f"{text}; {words.number(site.unsplit)} could not be split."
    measured = words.measured_text(site)
    if measured:
        text += f". Served in turns, {measured}, beside the MPI library"
    gain = judgement.gain
    if gain is not None and gain.slowdown > SLOWER:
        text += (
            f". Moving took {gain.slowdown:.0f} times as long as the model says of the MPI "
            f"library's algorithm ({gain.library}, as it seems): ranks shared cores or links, of "
            f"which the model does not know: simulated calls look shorter than they would be"
        )
    if judgement.advice == SCHEDULE and gain is not None:
        part = words.percent(judgement.given_back / site.seconds)
        return (
            f"{text}. {gain.contender.name} would give back about "
            f"{words.number(judgement.given_back)} of them ({part}), by simulation."
        )
    if judgement.advice != NONE:
        return f"{text}. Half of it or more is waiting: only an even load gives that back."
    return f"{text}."


def _late(profile: Profile, site: Site) -> list[tuple[str, ...]]:
    """The late ranks of a site."""
    if site.waiting <= 0:
        return []
    return [
        (
            *(str(late.rank), profile.world.hosts.get(late.rank, ""), words.percent(late.share)),
            *(seconds_text(max(0.0, late.median_lateness)), words.number(late.seconds_caused)),
        )
        for late in site.late
    ]


def _limits(profile: Profile) -> list[str]:
    """How far to trust it."""
    world = profile.world
    lines = words.closing_lines(profile)
    if not world.missing and world.size > 0:
        lines.append("no rank is missing")
    if world.clock_error == 0 and world.size > 1:
        lines.append("all ranks shared one clock: times compare without error")
    if profile.costs.network is not None and not profile.costs.assumed:
        lines.append(f"costs of messages: {profile.costs.origin}")
    return [line for line in lines if line]
