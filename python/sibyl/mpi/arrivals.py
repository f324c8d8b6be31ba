"""Put together what the ranks have recorded of their arrivals: the file of `sibyl run --record`.

The library writes one file per process at MPI_Finalize, arrivals-<world rank>-<pid>.json
(src/telemetry/recording.hpp). A call is the same on all ranks when communicator and number are;
only calls that every rank of the communicator has recorded are kept. The format of the result is
described in sibyl.experiment.recording.

A rank may write several files: a script starts MPI programs one after the other, and what
MPI_Comm_spawn starts counts its ranks from 0 as well. The n-th files of all ranks whose worlds are
of one size, as their processes began, are one program's.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from sibyl.inputs import LARGE, read_text

FORMAT = "sibyl-arrivals"
EMPTY = (
    "an empty recording: no call was recorded at all of its ranks; the program called no "
    "collective, or some rank did not reach MPI_Finalize"
)


class Communicator(NamedTuple):
    """One of a program's: of which program, by its place among them and the size of its world."""

    program: int
    world_size: int
    group: tuple[int, ...]  # ranks of the world
    ordinal: int


@dataclass(frozen=True, slots=True)  # there may be millions
class Call:
    """A call at one rank; the last three where calls were predicted."""

    collective: str
    root: int
    size: int
    arrival: float
    departure: float = 0.0
    served: str | None = None
    version: int = 0


def _read(directory: Path) -> list[dict[str, Any]]:
    """The ranks' files; one that is none is left out, and its calls with it."""
    parts = []
    for path in sorted(directory.glob("arrivals-*.json")):
        try:
            part = json.loads(read_text(path, LARGE))
            found = {name: part[name] for name in _NAMES}
            # A file of an earlier library may lack these.
            found |= {name: part.get(name, 0) for name in ("left_out", "began")}
            _check(found)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
        parts.append(found)
    return parts


def _check(part: dict[str, Any]) -> None:
    """Of one rank's file, what is reckoned with.

    Raises:
        ValueError, KeyError, TypeError, AttributeError: it is none.
    """

    def whole(*values: object) -> None:
        if not all(type(value) is int for value in values):
            raise ValueError("no whole number")

    whole(*(part[name] for name in _NUMBERS))
    if not isinstance(part["mpi"], str) or not isinstance(part["clock"], str):
        raise ValueError("no text")
    for communicator in part["communicators"]:
        group = communicator["group"]
        whole(communicator["ordinal"], *group)
        if not group or part["rank"] not in group:
            raise ValueError("a communicator without its rank")
        for number, collective, root, size, arrival, *more in communicator["calls"]:
            departure, served, version = more or (arrival, "", 0)
            whole(number, root, size, arrival, departure, version)
            if not isinstance(collective, str) or not isinstance(served, str):
                raise ValueError("no text")
            if not -1 <= root < len(group):
                raise ValueError("no root")
        for collective, root, size, version, times in communicator.get("patterns", []):
            whole(root, size, version, *times)
            if not isinstance(collective, str):
                raise ValueError("no text")
        latency, a_byte = communicator.get("message", (0.0, 0.0))
        if not 0 <= latency + a_byte < float("inf"):
            raise ValueError("no costs")


# Per communicator, collective, root and bytes: the times of each version.
Patterns = dict[tuple[Communicator, str, int, int], dict[int, list[int]]]
_NUMBERS = ("rank", "world_size", "wall_minus_clock", "left_out", "began")
_NAMES = ("mpi", "rank", "world_size", "clock", "wall_minus_clock", "communicators")


def _of_programs(parts: list[dict[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The files, each with the number of those before it of the same rank and size of the world."""
    before: Counter[tuple[int, int]] = Counter()
    for part in sorted(parts, key=lambda part: part["began"] + part["shift"]):
        whose = (part["world_size"], part["rank"])
        yield before[whose], part
        before[whose] += 1


def merge_arrivals(directory: Path, program: Sequence[str]) -> dict[str, Any]:
    """The recording of a run, from the ranks' files in a directory."""
    parts = _read(directory)
    # Ranks on one machine share its clock; between machines only their wall clocks compare.
    common = len({part["clock"] for part in parts}) <= 1
    calls: dict[Communicator, dict[int, dict[int, Call]]] = defaultdict(lambda: defaultdict(dict))
    patterns: Patterns = defaultdict(dict)
    messages: dict[Communicator, list[float]] = {}
    for part in parts:
        part["shift"] = 0 if common else part["wall_minus_clock"]
    for which, part in _of_programs(parts):
        shift = part["shift"]
        for communicator in part["communicators"]:
            key = Communicator(
                which,
                part["world_size"],
                tuple(communicator["group"]),
                communicator["ordinal"],
            )
            # They go as they are taken over: together they would take twice the memory.
            for number, collective, root, size, arrival, *more in communicator.pop("calls"):
                departure, served, version = more or (arrival, None, 0)
                calls[key][number][part["rank"]] = Call(
                    collective, root, size, arrival + shift, departure + shift, served, version
                )
            for collective, root, size, version, times in communicator.get("patterns", []):
                # Of a call without a root the pattern is rank 0's, where it was exchanged.
                patterns[key, collective, max(root, 0), size][version] = times
            if "message" in communicator:
                messages[key] = communicator["message"]
    return {
        "format": FORMAT,
        "version": 1,
        "program": list(program),
        "mpi": "; ".join(dict.fromkeys(part["mpi"] for part in parts)),
        "world_size": max((part["world_size"] for part in parts), default=0),
        "left_out": max((part["left_out"] for part in parts), default=0),
        "clock": "monotonic clock of one machine" if common else "wall clocks of several machines",
        "sites": _sites(calls, patterns, messages),
    }


def _sites(
    calls: dict[Communicator, dict[int, dict[int, Call]]],
    patterns: Patterns,
    messages: dict[Communicator, list[float]],
) -> list[dict[str, Any]]:
    sites: dict[tuple[int, str, int, int], dict[str, Any]] = {}
    for place, communicator in enumerate(sorted(calls)):
        group, of_ranks = communicator.group, calls[communicator]
        for number in sorted(of_ranks):
            at = of_ranks[number]
            if any(rank not in at for rank in group):
                continue
            one = at[group[0]]
            size = max(call.size for call in at.values())
            first = min(call.arrival for call in at.values())
            site = sites.setdefault(
                (place, one.collective, one.root, size),
                {
                    "communicator": place,
                    "group": list(group),
                    "collective": one.collective,
                    "root": one.root,
                    "bytes": size,
                    "calls": [],
                },
            )
            if communicator in messages:
                latency, a_byte = messages[communicator]
                site["message_seconds"] = latency + a_byte * size
            times = [round((at[rank].arrival - first) * 1e-9, 9) for rank in group]
            site["calls"].append({"number": number, "times": times})
            if all(call.served for call in at.values()):
                # Who the root says served the call: in root-led mode it alone knows the order.
                root = at[group[one.root]]
                departures = [round((at[rank].departure - first) * 1e-9, 9) for rank in group]
                site["calls"][-1] |= {
                    "departures": departures,
                    "served": root.served,
                    "version": root.version,
                }
                if "patterns" in site:
                    continue  # they are the site's: a recording may have as many as calls
                known = patterns.get((communicator, one.collective, max(one.root, 0), size), {})
                site["patterns"] = [
                    {"version": version, "times": [time * 1e-9 for time in known[version]]}
                    for version in sorted(known)
                ]
    return list(sites.values())
