"""How a profile is said in words, the same in the terminal and on the page."""

from sibyl.experiment.units import size_text
from sibyl.profile.calls import members_text
from sibyl.profile.judgement import BALANCE, SCHEDULE, Judgement
from sibyl.profile.measured import measured_gain
from sibyl.profile.places import Place
from sibyl.profile.profile import Profile
from sibyl.profile.sites import Late, Site
from sibyl.terminal import seconds_text

RANKS_NAMED = 8
MODULES_NAMED = 4
MEMBERS_MOST = 16  # characters of a list of ranks that are still easy to read


def number(seconds: float) -> str:
    """Rank-seconds with three digits."""
    if 0 < seconds < 0.001:
        return "< 0.001"
    return f"{seconds:.3g}" if seconds < 999.5 else f"{seconds:.0f}"


def percent(part: float) -> str:
    """A part of something."""
    if part >= 0.01:
        return f"{100 * part:.0f} %"
    return f"{100 * part:.1f} %" if part >= 0.0005 else "0 %" if part == 0 else "< 0.1 %"


def headline(profile: Profile) -> str:
    """What there is to know first, in one line."""
    world = profile.world
    if not world.traces:
        return "No rank left a trace: the program made no MPI call, or was started without one"
    if not profile.sites:
        return "No collective call was seen: the program makes none, or ended before its first"
    if world.size == 1:
        return f"One rank waits for nobody; it was {seconds_text(profile.seconds)} in collectives"
    if profile.seconds == profile.unsplit:
        return (
            f"Collectives took {number(profile.seconds)} rank-seconds, and no call could be put "
            f"together: who was late is not known"
        )
    part = percent(profile.part_of_run(profile.waiting))
    text = f"Late ranks cost {number(profile.waiting)} rank-seconds, {part} of the run"
    rank, seconds = profile.ranks_late[0]
    return f"{text}; rank {rank} alone {number(seconds)}" if seconds > 0 else text


def what_is_called(profile: Profile, site: Site) -> str:
    """Such as: reduce of 8 KiB on 16 ranks, or: barrier on ranks 1,3."""
    low, high = site.sizes
    size = ""
    if high > 0:
        size = f" of {size_text(low)}" if low == high else f" of {size_text(site.size)} or so"
    ranks = "1 rank" if site.communicator_size == 1 else f"{site.communicator_size} ranks"
    members = members_text(site.members)
    if site.communicator_size < profile.world.size and 0 < len(members) <= MEMBERS_MOST:
        ranks = f"rank{'s' if len(site.members) > 1 else ''} {members}"
    return f"{site.collective}{size} on {ranks}" if site.communicator_size else site.collective


def line_of(profile: Profile, place: Place) -> str:
    """Such as: app.c:12."""
    file = profile.files[place]
    return f"{file}:{place.line}" if place.line else file


def where(profile: Profile, place: Place) -> str:
    """Such as: app.c:12 in step."""
    text = line_of(profile, place)
    return f"{text} in {place.function}" if place.function else text


def who_is_late(late: Late) -> str:
    """Such as: rank 3 last in 97 % of calls, by 4.1 ms."""
    if late.share == 0:
        return f"rank {late.rank} {seconds_text(late.median_lateness)} late, never last"
    by = f", by {seconds_text(late.median_lateness)}" if late.median_lateness > 0 else ""
    return f"rank {late.rank} last in {percent(late.share)} of calls{by}"


def advice_text(judgement: Judgement) -> str:
    """What is to be done; "" for nothing."""
    if judgement.advice == SCHEDULE and judgement.gain is not None:
        gain = judgement.gain
        return f"schedule: {gain.contender.name} gives back {number(gain.seconds)} rank-s"
    return "balance the load" if judgement.advice == BALANCE else ""


def measured_text(site: Site) -> str:
    """What Sibyl's calls took less than the library's; "" where not served in turns."""
    gain = measured_gain(site)
    if gain is None:
        return ""
    what = "gave back" if gain >= 0 else "cost"
    return f"measured: Sibyl {what} {number(abs(gain))} rank-s"


def remedy_lines(profile: Profile) -> list[str]:
    """What a better schedule gives back, and what only balancing can."""
    if not profile.waiting and not profile.scheduled:
        return []
    lines = []
    if profile.scheduled > 0:
        lines.append(
            f"a better schedule gives back about {number(profile.scheduled)} rank-seconds "
            f"({percent(profile.part_of_run(profile.scheduled))} of the run), as simulated"
        )
    elif profile.costs.network is not None:
        lines.append("no better schedule of these calls is known that would be worth it")
    if profile.balanced > 0:
        lines.append(
            f"only an even load gives back "
            f"{'the other ' if profile.scheduled > 0 else ''}{number(profile.balanced)} "
            f"rank-seconds of waiting"
        )
    return lines


def node_line(profile: Profile) -> str:
    """Which node was waited for most; "" where ranks share none, or nobody waited."""
    if not profile.nodes_late or not profile.waiting:
        return ""
    node = profile.nodes_late[0]
    last = percent(node.share)
    part = percent(node.seconds_caused / profile.waiting)
    text = f"node {node.host} was last in {last} of calls and caused {part} of all waiting"
    if not node.share:
        return text
    return f"{text}; its {node.ranks} ranks came {seconds_text(node.apart)} apart"


def closing_lines(profile: Profile) -> list[str]:
    """What limits the report, and how far it can be trusted."""
    world = profile.world
    lines = [*world.notes]
    if world.missing:
        lines.append(f"no trace of {_ranks(world.missing)}: what these did is not known")
    if world.unfinished:
        lines.append(f"{_ranks(world.unfinished)} did not reach MPI_Finalize: up to there")
        lines += _last_calls(profile)
    if profile.modules_without_lines:
        lines.append(_no_debug_information(profile.modules_without_lines))
    if profile.unsplit > 0:
        lines.append(
            f"{number(profile.unsplit)} rank-seconds are neither waiting nor moving: not all ranks "
            f"have recorded these calls"
        )
    if world.clock_error:
        lines.append(f"clocks of hosts agree within {seconds_text(world.clock_error)}")
    if profile.sites and world.size > 1 and profile.costs.network is None and profile.costs.origin:
        lines.append(f"no bounds and no gains: {profile.costs.origin}")
    if profile.costs.assumed:
        lines.append(f"costs of messages {profile.costs.origin}")
    if world.overhead_seconds > 0:
        part = percent(profile.part_of_run(world.overhead_seconds))
        lines.append(f"recording took {seconds_text(world.overhead_seconds)}, {part} of the run")
    return lines


def _no_debug_information(modules: list[str]) -> str:
    named = modules[:MODULES_NAMED]
    more = len(modules) - len(named)
    names = ", ".join([*named, *([f"{more} more"] if more else [])])
    return (
        f"no debug information for calls in {names}: they are told by offset; compile with -g "
        f"for file and line"
    )


def message_line(profile: Profile) -> str:
    """The time in messages, and where most of it was spent; "" for none."""
    if not profile.messages:
        return ""
    total = sum(site.seconds for site in profile.messages)
    most = profile.messages[0]
    return (
        f"receiving and waiting for messages took {number(total)} rank-seconds, most of it "
        f"{most.function} at {line_of(profile, most.place)}: {number(most.seconds)}"
    )


def _last_calls(profile: Profile) -> list[str]:
    """Where ranks were when they ended, those together that were in the same call."""
    at: dict[str, list[int]] = {}
    for call in profile.last_calls:
        text = f"in {call.function} at {where(profile, call.place)}"
        at.setdefault(text, []).append(call.rank)
    named = {call.rank for call in profile.last_calls}
    outside = [rank for rank in profile.world.unfinished if rank not in named]
    if at and outside:
        at["in none of the calls that are watched"] = outside
    return [f"{_ranks(ranks)} ended {text}" for text, ranks in at.items()]


def _ranks(ranks: list[int]) -> str:
    shown = ", ".join(str(rank) for rank in ranks[:RANKS_NAMED])
    more = len(ranks) - RANKS_NAMED
    word = "rank" if len(ranks) == 1 else "ranks"
    return f"{word} {shown}{f' and {more} more' if more > 0 else ''}"
