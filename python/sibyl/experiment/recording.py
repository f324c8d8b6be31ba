"""Recorded arrival times: the file of `sibyl run --record`, and patterns to replay from it.

    {"format": "sibyl-arrivals", "version": 1, "program": [...], "mpi": "...", "clock": "...",
     "left_out": 0,
     "sites": [{"communicator": 0, "group": [0, 1, 2, 3], "collective": "gather", "root": 0,
                "bytes": 4096, "calls": [{"number": 3, "times": [0.0, 0.0012, 0.0003, 0.0]}]}]}

A site is a communicator, a collective, its root and its bytes per rank. The number counts the calls
on the communicator; times are in seconds after the first rank's arrival, one per rank of the group.
Where the costs of messages were measured, `message_seconds` is what one of the site's bytes takes.
`left_out` is how many calls the rank that ran out of room first (a million calls) did not keep.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from sibyl.errors import CommandError, counted, one_line
from sibyl.experiment.grid import BARE, SHAPES, SIZES_IN_ALL
from sibyl.inputs import LARGE, read_text, whole_number
from sibyl.mpi.arrivals import EMPTY
from sibyl.paths import is_directory, is_file, is_there

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

    @property
    def whole_size(self) -> int:
        """Its bytes as `--size` counts them: of all blocks where they are blocks of one vector."""
        whole = (*SIZES_IN_ALL, "reduce_scatter", "reduce_scatter_block")
        return self.size * self.ranks if self.collective in whole else self.size

    def __str__(self) -> str:
        root = f" to or from {self.root}" if self.root >= 0 else ""
        return (
            f"{self.collective}{root}, {counted(self.size, 'byte')} a rank, "
            f"{counted(self.ranks, 'rank')}, {counted(len(self.calls), 'call')}"
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
    if not isinstance(size, int) or not 0 <= size < 2**63:
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
        text = read_text(path, LARGE)
    except (OSError, ValueError) as error:
        raise _no_recording(path, error) from error
    return parse_recording(path, text)


def _no_recording(path: Path, error: Exception) -> CommandError:
    reason = one_line(str(error)) or "it ends too early"
    if isinstance(error, KeyError):
        reason = f"it has no {reason}"
    return CommandError(f"{path} is no recording of `sibyl run --record`: {reason}")


@lru_cache(maxsize=1)
def parse_recording(path: Path, text: str) -> list[Site]:
    """As read_recording, of a file whose text was read.

    The last one is kept, to be read and not changed: every collective of `bench all` asks for it.
    By its text, since a file may be written twice within a tick of its clock.
    """
    try:
        data = json.loads(text)
        if data["format"] != FORMAT or data["version"] != 1:
            raise ValueError(f"format {data['format']}, version {data['version']}")
        sites = [_site(number, site) for number, site in enumerate(data["sites"])]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _no_recording(path, error) from error
    if not any(site.calls for site in sites):
        raise CommandError(f"{path}: {EMPTY}")
    return sorted(sites, key=lambda site: -len(site.calls))


def split_name(name: str) -> tuple[Path, int | None]:
    """FILE or FILE#N: the file and, if it is named, the number of the site."""
    stem, mark, number = name.rpartition("#")
    if mark and whole_number(number) is not None and not is_there(Path(name)):
        return Path(stem), whole_number(number)
    return Path(name), None


def pattern_paths(patterns: Iterable[str]) -> list[Path]:
    """The files among arrival patterns, in an order that depends on their names alone."""
    return [split_name(name)[0] for name in sorted({*patterns} - {*SHAPES, BARE})]


def read_text_calls(path: Path, text: str) -> list[list[float]]:
    """The calls of a text file of times: one a line for each rank, "# call" before each call.

    Raises:
        CommandError: it is none; what stands in it is not repeated, it may be anything.
    """
    calls: list[list[float]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        words, _, comment = line.partition("#")
        if comment.split()[:1] == ["call"]:
            calls.append([])
        word = words.strip()
        if not word:
            continue
        try:
            time = float(word)
        except ValueError:
            time = -1.0
        if not is_arrival_time(time):
            raise CommandError(
                f"{path}:{number}: this is no arrival time; write one a line, in seconds, 0 or "
                f"more, and '# call' before each call"
            )
        if not calls:
            calls.append([])
        calls[-1].append(time)
    return [call for call in calls if call]


def is_recording(name: str) -> bool:
    """Whether a pattern's name, FILE or FILE#N, is that of a recording.

    Raises:
        CommandError: of a pipe, which could be read once only.
    """
    path = split_name(name)[0]
    if is_there(path) and not is_file(path) and not is_directory(path):
        raise CommandError(
            f"--pattern {name}: no regular file; it is read several times, so write it to one"
        )
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(64).lstrip().startswith("{")
    except (OSError, UnicodeDecodeError):
        return False


def choose_site(name: str, collective: str, sizes: Sequence[int] = ()) -> tuple[str, Site]:
    """The call site of a recording that suits what is measured, and FILE#N, its name.

    FILE#N is that site whatever it is of; FILE the one of the collective or, where there are
    several, of these sizes; or the only one.

    Args:
        name: FILE or FILE#N.
        collective: that is measured.
        sizes: as `--size` counts them; none where that is not said.

    Raises:
        CommandError: no recording, no such site, or several: which ones there are.
    """
    path, number = split_name(name)
    if number is not None:
        return name, recorded_site(name)
    sites = list(enumerate(read_recording(path)))
    of_collective = [entry for entry in sites if entry[1].collective == collective]
    of_size = [entry for entry in of_collective if entry[1].whole_size in sizes]
    for suit in (of_size, of_collective, sites):
        if len(suit) == 1:
            place, site = suit[0]
            return f"{name}#{place}" if place else name, site
    shown = of_size or of_collective or sites
    listed = "; ".join(f"#{place} {site}" for place, site in shown[:8])
    more = f"; and {len(shown) - 8} more" if len(shown) > 8 else ""
    count = counted(len(of_collective), "call site") if of_collective else "no call site"
    raise CommandError(
        f"--pattern {name}: {count} of {collective}; say which, as in {name}#{shown[0][0]}: "
        f"{listed}{more}"
    )


def recorded_site(name: str) -> Site:
    """The call site of FILE or FILE#N."""
    path, number = split_name(name)
    sites = read_recording(path)
    number = number or 0
    if number >= len(sites):
        count = counted(len(sites), "call site")
        raise CommandError(f"--pattern {name}: the recording has {count}, from #0")
    return sites[number]


def pattern_text(name: str, ranks: int) -> str:
    """The text that the MPI program replays: a pattern a call, each begun by a line "# call".

    Args:
        name: FILE or FILE#N: a recording, or a text file with one time a line.
        ranks: of the job.

    Raises:
        CommandError: no such file, no such site, or recorded with other ranks.
    """
    what, calls = replayed_calls(name, ranks)
    parts = []
    for i, times in enumerate(calls):
        heading = f"# call {i} of {one_line(what)}"
        parts.append("\n".join([heading, *(repr(time) for time in times)]))
    return "\n".join(parts) + "\n"


def replayed_calls(name: str, ranks: int) -> tuple[str, list[list[float]]]:
    """What a pattern file is of, in words, and the arrival times of each of its calls, from 0 on.

    Args:
        name: FILE or FILE#N: a recording, or a text file with one time a line.
        ranks: of the job.

    Raises:
        CommandError: no such file, no such site, or of other ranks.
    """
    path, _ = split_name(name)
    try:
        text = read_text(path, LARGE)
    except OSError as error:
        raise CommandError(
            f"--pattern {name}: neither a shape nor a file that can be read; shapes are flat, "
            f"uniform, skewed, root-late, fixed, normal, exponential"
        ) from error
    except UnicodeDecodeError as error:
        raise CommandError(
            f"--pattern {name}: not text; name a recording of `sibyl run --record`, or a file with "
            f"one arrival time a line"
        ) from error
    if text.lstrip().startswith("{"):
        site = recorded_site(name)
        what, calls = str(site), site.calls
        if site.ranks != ranks:
            raise CommandError(
                f"--pattern {name}: recorded on {counted(site.ranks, 'rank')}, not {ranks}; say "
                f"--ranks {site.ranks}"
            )
    else:
        what, calls = path.name, read_text_calls(path, text)
    if not calls:
        raise CommandError(f"--pattern {name}: there are no arrival times in it")
    for number, call in enumerate(calls):
        if len(call) != ranks:
            raise CommandError(
                f"--pattern {name}: call {number} has {counted(len(call), 'arrival time')}, for "
                f"{counted(ranks, 'rank')}"
            )
    # Times are from any common origin, even 1970's: what counts is how far apart they are.
    return what, [[time - min(call) for time in call] for call in calls]
