"""A profile as one HTML page that needs nothing else: no network, no mouse, no colour vision.

The pictures are in the page; sites are details that open by themselves or by key. The style and a
small script stand in data/profile.html.
"""

from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources

from sibyl.mpi.report import seconds_text
from sibyl.profile import words
from sibyl.profile.calls import members_text
from sibyl.profile.heat_map import heat_map
from sibyl.profile.judgement import NONE, SCHEDULE, Judgement
from sibyl.profile.profile import Profile
from sibyl.profile.sites import Site
from sibyl.profile.timeline import timelines
from sibyl.profile.whatif import network_of

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
    headline = words.headline(profile)
    parts = [
        f"<header><h1>{escape(headline)}</h1><p>{escape(_what_ran(profile))}</p></header><main>"
    ]
    parts.append(_run_bar(profile))
    parts.append(_remedy(profile))
    parts.append(_ranks(profile))
    parts.append(_sites_table(profile))
    parts += _site_details(profile)
    parts.append(_messages(profile))
    parts.append(_limits(profile))
    parts.append("</main>")
    template = resources.files("sibyl").joinpath("data/profile.html").read_text("utf-8")
    body = "\n".join(part for part in parts if part)
    return template.replace("@TITLE@", escape(headline)).replace("@BODY@", body)


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


def _bar(parts: Iterable[tuple[str, float]], whole: float) -> str:
    pieces = [
        f'<i class="{kind}" style="width:{100 * seconds / whole:.3f}%"></i>'
        for kind, seconds in parts
        if seconds > 0 and whole > 0
    ]
    return f'<div class="bar" aria-hidden="true">{"".join(pieces)}</div>'


def _run_bar(profile: Profile) -> str:
    """What all ranks' time went into."""
    if profile.run_seconds <= 0:
        return ""
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
    kinds = [(kind, text, seconds) for kind, text, seconds in kinds if seconds > 0]
    key = "".join(
        f'<li><i class="{kind}"></i>{escape(text)}: {words.number(seconds)} rank-seconds, '
        f"{words.percent(profile.part_of_run(seconds))}</li>"
        for kind, text, seconds in kinds
    )
    bar = _bar([(kind, seconds) for kind, _, seconds in kinds], profile.run_seconds)
    return f'<section class="run" aria-label="The run">{bar}<ul class="key">{key}</ul></section>'


def _remedy(profile: Profile) -> str:
    lines = words.remedy_lines(profile)
    if not lines:
        return ""
    text = "".join(f"<p>{escape(line[0].upper() + line[1:])}.</p>" for line in lines)
    return f'<section class="remedy" aria-label="What can be done">{text}</section>'


def _ranks(profile: Profile) -> str:
    """Whom others waited for."""
    late = [(rank, seconds) for rank, seconds in profile.ranks_late if seconds > 0]
    if not late:
        return ""
    rows = []
    for rank, seconds in late[:RANKS_SHOWN]:
        part = words.percent(seconds / profile.waiting if profile.waiting else 0.0)
        rows.append(
            (
                *(str(rank), profile.world.hosts.get(rank, ""), words.number(seconds), part),
                _bar([("waiting", seconds)], late[0][1]),
            )
        )
    titles = ("rank", "host", "cost others [rank-s]", "of all waiting", "")
    rest = len(late) - RANKS_SHOWN
    more = f'<p class="dim">{rest} more ranks cost less.</p>' if rest > 0 else ""
    table = _table(titles, rows, "Whom others waited for", (1,), (4,))
    return f"<h2>Who was waited for</h2>{table}{more}"


def _sites_table(profile: Profile) -> str:
    if not profile.sites:
        return '<h2 id="sites">Call sites</h2><p>There are none.</p>'
    rows = []
    longest = profile.sites[0].seconds
    pairs = list(zip(profile.sites, profile.judgements, strict=True))
    for place, (site, judgement) in enumerate(pairs[:ROWS_MOST]):
        name = (
            f"{words.what_is_called(profile, site)}<br>{escape(words.where(profile, site.place))}"
        )
        if place < SITES_SHOWN:
            name = f'<a href="#site-{place}">{name}</a>'
        late = escape(words.who_is_late(site.late[0])) if site.late and site.waiting > 0 else ""
        split = [("waiting", site.waiting), ("moving", site.moving - judgement.bound)]
        split += [("bound", judgement.bound), ("unsplit", site.unsplit)]
        rows.append(
            (
                *(name, words.number(site.seconds), words.number(site.waiting)),
                *(words.number(site.moving), words.number(judgement.bound), str(site.calls)),
                *(_bar(split, longest), late, escape(words.advice_text(judgement) or "-")),
            )
        )
    titles = ("site", "rank-s", "waiting", "moving", "bound", "calls", "", "late", "advice")
    rest = len(pairs) - ROWS_MOST
    more = f'<p class="dim">{rest} more sites took less.</p>' if rest > 0 else ""
    table = _table(titles, rows, "Call sites by cost", (0, 7, 8), (0, 6, 7, 8))
    return f'<h2 id="sites">Call sites</h2>{table}{more}'


def _table(
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    label: str,
    in_words: Sequence[int],
    as_html: Sequence[int],
) -> str:
    """A table that scrolls sideways where it must.

    Args:
        titles: of the columns.
        rows: their cells.
        label: what it is, for those who do not see it.
        in_words: columns that are aligned to the left.
        as_html: columns that are HTML already.
    """

    def cell(kind: str, column: int, text: str) -> str:
        words_class = ' class="words"' if column in in_words else ""
        scope = ' scope="col"' if kind == "th" else ""
        shown = text if kind == "td" and column in as_html else escape(text)
        return f"<{kind}{words_class}{scope}>{shown}</{kind}>"

    head = "".join(cell("th", column, title) for column, title in enumerate(titles))
    body = "".join(
        f"<tr>{''.join(cell('td', column, text) for column, text in enumerate(row))}</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _site_details(profile: Profile) -> Iterable[str]:
    """Each site with its pictures; the first is open."""
    pairs = list(zip(profile.sites, profile.judgements, strict=True))[:SITES_SHOWN]
    for place, (site, judgement) in enumerate(pairs):
        network = None
        if profile.costs.network is not None and judgement.gain is not None:
            network = network_of(site, profile.world, profile.costs)
        title = f"{words.what_is_called(profile, site)} at {words.where(profile, site.place)}"
        parts = [f"<p>{escape(_facts(profile, site, judgement))}</p>"]
        parts.append(_late_table(profile, site))
        parts.append(heat_map(site))
        parts.append(timelines(site, judgement, network))
        yield (
            f'<details id="site-{place}"{" open" if place == 0 else ""}><summary>{escape(title)}: '
            f"{words.number(site.seconds)} rank-seconds</summary>{''.join(parts)}</details>"
        )


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


def _late_table(profile: Profile, site: Site) -> str:
    if not site.late or site.waiting <= 0:
        return ""
    rows = [
        (
            *(str(late.rank), profile.world.hosts.get(late.rank, ""), words.percent(late.share)),
            *(seconds_text(max(0.0, late.median_lateness)), words.number(late.seconds_caused)),
        )
        for late in site.late
    ]
    titles = ("rank", "host", "last in", "late by (median)", "cost others [rank-s]")
    return _table(titles, rows, "Late ranks of this site", (1,), ())


def _messages(profile: Profile) -> str:
    if not profile.messages:
        return ""
    rows = []
    for site in profile.messages[:RANKS_SHOWN]:
        rows.append(
            (
                *(site.function, words.where(profile, site.place)),
                *(str(site.calls), words.number(site.seconds)),
            )
        )
    titles = ("function", "place", "calls", "rank-s")
    table = _table(titles, rows, "Receiving and waiting for messages", (0, 1), ())
    return f"<h2>Receiving and waiting for messages</h2>{table}"


def _limits(profile: Profile) -> str:
    world = profile.world
    lines = words.closing_lines(profile)
    if not world.missing and world.size > 0:
        lines.append("no rank is missing")
    if world.clock_error == 0 and world.size > 1:
        lines.append("all ranks shared one clock: times compare without error")
    if profile.costs.network is not None and not profile.costs.assumed:
        lines.append(f"costs of messages: {profile.costs.origin}")
    items = "".join(f"<li>{escape(line[0].upper() + line[1:])}.</li>" for line in lines if line)
    meanings = "".join(f"<dt>{escape(t)}</dt><dd>{escape(d)}</dd>" for t, d in DEFINITIONS)
    key = "".join(
        f'<li><i class="{kind}"></i>{text}</li>'
        for kind, text in (
            ("computing", "computing, not there yet"),
            ("waiting", "waiting (hatched)"),
            ("moving", "moving"),
        )
    )
    return (
        f"<h2>How far to trust it</h2><ul>{items}</ul><p>To repeat it: <code>"
        f"{escape(' '.join(profile.command))}</code></p><h2>What the words mean</h2>"
        f'<dl>{meanings}</dl><p>In the timelines:</p><ul class="key">{key}</ul>'
    )
