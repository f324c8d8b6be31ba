"""Put together what the ranks have recorded of their arrivals: the file of `sibyl run --record`.

The library writes one file per process at MPI_Finalize, arrivals-<world rank>-<pid>.json
(src/communicator/recording.hpp). A call is the same on all ranks when communicator and number are;
only calls that every rank of the communicator has recorded are kept. The format of the result is
described in sibyl.bench.recording.
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FORMAT = "sibyl-arrivals"

Communicator = tuple[tuple[int, ...], int]  # ranks of the world, ordinal
Call = tuple[str, int, int, float]  # collective, root, bytes, time


def _read(directory: Path) -> list[dict[str, Any]]:
    """The ranks' files; one that is none is left out, and its calls with it."""
    parts = []
    for path in sorted(directory.glob("arrivals-*.json")):
        try:
            part = json.loads(path.read_text(encoding="utf-8"))
            parts.append({name: part[name] for name in _NAMES})
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return parts


_NAMES = ("mpi", "rank", "world_size", "clock", "wall_minus_clock", "communicators")


def merge_arrivals(directory: Path, program: Sequence[str]) -> dict[str, Any]:
    """The recording of a run, from the ranks' files in a directory."""
    parts = _read(directory)
    # Ranks on one machine share its clock; between machines only their wall clocks compare.
    common = len({part["clock"] for part in parts}) <= 1
    calls: dict[Communicator, dict[int, dict[int, Call]]] = defaultdict(lambda: defaultdict(dict))
    for part in parts:
        shift = 0 if common else part["wall_minus_clock"]
        for communicator in part["communicators"]:
            key = (tuple(communicator["group"]), communicator["ordinal"])
            for number, collective, root, size, time in communicator["calls"]:
                calls[key][number][part["rank"]] = (collective, root, size, time + shift)
    return {
        "format": FORMAT,
        "version": 1,
        "program": list(program),
        "mpi": "; ".join(dict.fromkeys(part["mpi"] for part in parts)),
        "world_size": max((part["world_size"] for part in parts), default=0),
        "clock": "monotonic clock of one machine" if common else "wall clocks of several machines",
        "sites": _sites(calls),
    }


def _sites(calls: dict[Communicator, dict[int, dict[int, Call]]]) -> list[dict[str, Any]]:
    sites: dict[tuple[int, str, int, int], dict[str, Any]] = {}
    for place, (group, _) in enumerate(sorted(calls)):
        of_ranks = calls[sorted(calls)[place]]
        for number in sorted(of_ranks):
            arrivals = of_ranks[number]
            if any(rank not in arrivals for rank in group):
                continue
            collective, root = arrivals[group[0]][:2]
            size = max(call[2] for call in arrivals.values())
            first = min(call[3] for call in arrivals.values())
            site = sites.setdefault(
                (place, collective, root, size),
                {
                    "communicator": place,
                    "group": list(group),
                    "collective": collective,
                    "root": root,
                    "bytes": size,
                    "calls": [],
                },
            )
            times = [round((arrivals[rank][3] - first) * 1e-9, 9) for rank in group]
            site["calls"].append({"number": number, "times": times})
    return list(sites.values())
