"""A profile as a trace for Perfetto (ui.perfetto.dev) and chrome://tracing.

A rank is a process with one line: its collective calls, and in each the part that was waiting.
Calls of several threads at once take further lines: slices of one must not lie over each other. The
format is the JSON array of trace events that both read; times are microseconds since MPI_Init.
"""

import json
from collections import defaultdict
from typing import Any

from sibyl.profile import words
from sibyl.profile.profile import Profile
from sibyl.profile.sites import Site

# Slices that viewers still open in time; more calls than these are thinned out.
CALLS_MOST = 200_000


def to_chrome(profile: Profile) -> str:
    """The trace."""
    recorded = sum(site.enter.size for site in profile.sites)
    every = max(1, -(-recorded // CALLS_MOST))
    events: list[dict[str, Any]] = []
    for rank, host in sorted(profile.world.hosts.items()):
        named = {"ph": "M", "pid": rank, "tid": 0}
        name = f"rank {rank} on {host}"
        events.append({**named, "name": "process_name", "args": {"name": name}})
        events.append({**named, "name": "process_sort_index", "args": {"sort_index": rank}})
        events.append({**named, "name": "thread_name", "args": {"name": "collectives"}})
    calls = [call for site in profile.sites for call in _calls(profile, site, every)]
    calls.sort(key=lambda call: call[0]["ts"])
    free: dict[int, list[float]] = defaultdict(list)  # when each line of a rank is
    for call in calls:
        rank, begin, inside = (call[0][key] for key in ("pid", "ts", "dur"))
        lines = free[rank]
        # Times are rounded to nanoseconds.
        line = next((i for i, end in enumerate(lines) if end < begin + 1e-3), len(lines))
        lines[line : line + 1] = [begin + inside]
        events += [{**slice_, "tid": line} for slice_ in call]
    for rank, lines in free.items():
        for line in range(1, len(lines)):
            named = {"ph": "M", "pid": rank, "tid": line, "name": "thread_name"}
            events.append({**named, "args": {"name": "collectives at once"}})
    document = {
        "traceEvents": events,
        "displayTimeUnit": "ms",
        "otherData": {
            "made_by": "sibyl profile",
            "command": " ".join(profile.command),
            "clock_error_s": profile.world.clock_error,
            "calls_kept": f"one in {every}",
        },
    }
    return json.dumps(document, separators=(",", ":")) + "\n"


def _calls(profile: Profile, site: Site, every: int) -> list[list[dict[str, Any]]]:
    """The slices of each call of a rank: the call, and its waiting."""
    found = site.attribution
    where = words.where(profile, site.place)
    calls = []
    for call in range(0, len(site.enter), every):
        last = site.members[int(found.last[call])]
        for place, rank in enumerate(site.members):
            enter = float(site.enter[call, place]) * 1e6
            inside = float(site.leave[call, place] - site.enter[call, place]) * 1e6
            waiting = float(found.waiting[call, place]) * 1e6
            slice_ = {"ph": "X", "pid": rank, "ts": round(enter, 3)}
            args = {
                "site": where,
                "bytes": int(site.given[call, place]),
                "last": last,
                "waiting_us": round(waiting, 3),
                "lateness_us": round(float(found.lateness[call, place]) * 1e6, 3),
            }
            call_slice = {"dur": round(inside, 3), "cat": "collective", "args": args}
            slices = [{**slice_, "name": site.collective, **call_slice}]
            if waiting > 0:
                name = {"name": f"waits for rank {last}", "cat": "waiting"}
                slices.append({**slice_, **name, "dur": round(waiting, 3)})
            calls.append(slices)
    return calls
