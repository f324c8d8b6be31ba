"""A profile as JSON; docs/how-to/profile.md describes it, and what is in it stays in it."""

import json
from typing import Any

from sibyl.profile.calls import members_text
from sibyl.profile.judgement import Judgement
from sibyl.profile.measured import measured_gain
from sibyl.profile.profile import Profile
from sibyl.profile.sites import Site

INDENTED_RANKS = 4096  # of more nobody reads the lists, and lines take seconds to write


def to_json(profile: Profile) -> str:
    """The document."""
    indent = 2 if profile.world.size <= INDENTED_RANKS else None
    return json.dumps(to_document(profile), indent=indent) + "\n"


def to_document(profile: Profile) -> dict[str, Any]:
    """The same as values."""
    world = profile.world
    return {
        "version": 1,
        "ranks": world.size,
        "wall_seconds": world.wall_seconds,
        "collectives": {
            "seconds": profile.seconds,
            "waiting": profile.waiting,
            "moving": profile.moving,
            "bound": profile.bound,
            "unsplit": profile.unsplit,
        },
        "ranks_late": [
            {"rank": rank, "seconds_caused": seconds} for rank, seconds in profile.ranks_late
        ],
        "nodes_late": [
            {
                "host": node.host,
                "ranks": node.ranks,
                "share": node.share,
                "apart": node.apart,
                "seconds_caused": node.seconds_caused,
            }
            for node in profile.nodes_late
        ],
        "sites": [
            _site(profile, site, judgement)
            for site, judgement in zip(profile.sites, profile.judgements, strict=True)
        ],
        "point_to_point": [
            {
                "function": site.function,
                "file": profile.files[site.place],
                "line": site.place.line,
                "in": site.place.function,
                "calls": site.calls,
                "seconds": site.seconds,
            }
            for site in profile.messages
        ],
        "clock_error": world.clock_error,
        "overhead_seconds": world.overhead_seconds,
        "missing_ranks": world.missing,
        "unfinished_ranks": world.unfinished,
        "last_calls": [
            {
                "rank": call.rank,
                "function": call.function,
                "file": profile.files[call.place],
                "line": call.place.line,
                "in": call.place.function,
            }
            for call in profile.last_calls
        ],
        "costs": profile.costs.origin,
        "command": profile.command,
        "notes": world.notes,
    }


def _site(profile: Profile, site: Site, judgement: Judgement) -> dict[str, Any]:
    gain = judgement.gain
    return {
        "collective": site.collective,
        "file": profile.files[site.place],
        "line": site.place.line,
        "function": site.place.function,
        "path": site.place.path,
        "also_at": [
            {"file": profile.files[place], "line": place.line, "function": place.function}
            for place in site.also_at
        ],
        "communicator_size": site.communicator_size,
        "members": members_text(site.members),
        "calls": site.calls,
        "bytes": site.bytes,
        "size": site.size,
        "seconds": site.seconds,
        "waiting": site.waiting,
        "moving": site.moving,
        "bound": judgement.bound,
        "unsplit": site.unsplit,
        "late": [
            {
                "rank": late.rank,
                "share": late.share,
                "median_lateness": late.median_lateness,
                "seconds_caused": late.seconds_caused,
            }
            for late in site.late
        ],
        "advice": judgement.advice,
        "gain": {
            "predicted_seconds": judgement.given_back,
            "measured_seconds": measured_gain(site),
            "algorithm": gain.contender.name if gain and judgement.given_back > 0 else None,
        },
    }
