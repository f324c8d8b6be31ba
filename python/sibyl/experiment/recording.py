"""Recorded arrival times: the file of `sibyl run --record`, and patterns to replay from it.

    {"format": "sibyl-arrivals", "version": 1, "program": [...], "mpi": "...", "clock": "...",
     "left_out": 0,
     "sites": [{"communicator": 0, "group": [0, 1, 2, 3], "collective": "gather", "root": 0,
                "bytes": 4096, "calls": [{"number": 3, "times": [0.0, 0.0012, 0.0003, 0.0]}]}]}

A site is a communicator, a collective, its root and its bytes per rank. The number counts the calls
on the communicator; times are in seconds after the first rank's arrival, one per rank of the group.
`left_out` is how many calls the rank that ran out of room first (a million calls) did not keep.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sibyl.errors import CommandError, one_line

FORMAT = "sibyl-arrivals"
# Seconds: thirty thousand years. Predictors add times up, and larger ones could become infinite.
LATEST_ARRIVAL = 1e12


@dataclass(frozen=True)
class Site:
    """The calls of one call site."""

    collective: str
    root: int
    size: int
    ranks: int
    calls: list[list[float]]

    def __str__(self) -> str:
        root = f" to or from {self.root}" if self.root >= 0 else ""
        return (
            f"{self.collective}{root}, {self.size} bytes a rank, {self.ranks} ranks, "
            f"{len(self.calls)} calls"
        )


def is_arrival_time(time: object) -> bool:
    """Whether it is a time at which a rank can arrive: a number of seconds, not negative."""
    return (
        isinstance(time, int | float) and not isinstance(time, bool) and 0 <= time <= LATEST_ARRIVAL
    )


def _site(number: int, data: dict[str, Any]) -> Site:
    collective, root, size = data["collective"], data["root"], data["bytes"]
    ranks = len(data["group"])
    if ranks < 1:
        raise ValueError(f"site {number}: group names no rank")
    if not isinstance(collective, str):
        raise ValueError(f"site {number}: collective is no name")
    if not isinstance(root, int) or not -1 <= root < ranks:
        raise ValueError(f"site {number}: root is no rank of {ranks}, nor -1 for none")
    if not isinstance(size, int) or size < 0:
        raise ValueError(f"site {number}: bytes is no number of bytes")
    calls = []
    for place, call in enumerate(data["calls"]):
        wrong = [time for time in call["times"] if not is_arrival_time(time)]
        if wrong:
            raise ValueError(
                f"call {place} of site {number}: {str(wrong[0])[:40]} is no arrival time; "
                f"times are seconds, 0 or more"
            )
        calls.append([float(time) for time in call["times"]])
    return Site(collective, root, size, ranks, calls)


def read_recording(path: Path) -> list[Site]:
    """The call sites of a recording, the one with the most calls first.

    Raises:
        CommandError: the file is no recording.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != FORMAT or data["version"] != 1:
            raise ValueError(f"format {data['format']}, version {data['version']}")
        sites = [_site(number, site) for number, site in enumerate(data["sites"])]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        reason = one_line(str(error)) or "it ends too early"
        raise CommandError(f"{path} is no recording of `sibyl run --record`: {reason}") from error
    return sorted(sites, key=lambda site: -len(site.calls))


def split_name(name: str) -> tuple[Path, int]:
    """FILE or FILE#N: the file and the number of the site, 0 for the one with the most calls."""
    stem, mark, number = name.rpartition("#")
    if mark and number.isdigit() and not Path(name).exists():
        return Path(stem), int(number)
    return Path(name), 0


def pattern_text(name: str, ranks: int) -> str:
    """The text that the MPI program replays: a pattern a call, each begun by a line "# call".

    Args:
        name: FILE or FILE#N: a recording, or a text file with one time a line.
        ranks: of the job.

    Raises:
        CommandError: no such file, no such site, or recorded with other ranks.
    """
    path, number = split_name(name)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(
            f"--pattern {name}: neither a shape nor a file that can be read; shapes are flat, "
            f"uniform, skewed, root-late, fixed, normal, exponential"
        ) from error
    if not text.lstrip().startswith("{"):
        return text
    sites = read_recording(path)
    if number >= len(sites):
        raise CommandError(
            f"--pattern {name}: the recording has {len(sites)} call site(s), from #0"
        )
    site = sites[number]
    if site.ranks != ranks:
        raise CommandError(
            f"--pattern {name}: recorded on {site.ranks} ranks, not {ranks}; say --ranks "
            f"{site.ranks}"
        )
    parts = []
    for i, times in enumerate(site.calls):
        parts.append("\n".join([f"# call {i} of {site}", *(repr(time) for time in times)]))
    return "\n".join(parts) + "\n"
