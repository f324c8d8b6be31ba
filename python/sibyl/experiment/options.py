"""How the options of commands that measure are read: lists of words and of numbers, ranks, nodes.

Every function raises CommandError with one line that says what is wrong and how to mend it.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from sibyl.cluster.state import check_queue
from sibyl.errors import CommandError
from sibyl.experiment.grid import BARE, SHAPES, SIZELESS
from sibyl.experiment.recording import (
    Site,
    choose_site,
    is_recording,
    pattern_paths,
    pattern_text,
)
from sibyl.experiment.units import read_size
from sibyl.files import Read, check_all_writable
from sibyl.inputs import whole_number

PLACES = ("local", "cluster", "smpi")
USUAL_SIZE = 1 << 20
MOST_ITERATIONS = 1_000_000_000  # the benchmark adds up those of the warm-up in an int


@dataclass(frozen=True, kw_only=True)
class MeasureOptions:
    """Where and how often is measured, under which arrivals: as it stands on the command line."""

    ranks: Annotated[
        str | None,
        typer.Option("-n", "--ranks", metavar="N,...", help="Ranks; on the cluster, hosts."),
    ] = None
    on: Annotated[
        str, typer.Option(metavar="local|cluster|smpi", help="Where; smpi: a simulated cluster.")
    ] = "local"
    mpi: Annotated[
        str | None,
        typer.Option(
            metavar="openmpi|mpich|DIR", help="Which MPI; whose choices are simulated on smpi."
        ),
    ] = None
    rate: Annotated[
        str, typer.Option(metavar="RATE", help="Of each host's link on the cluster.")
    ] = "100mbit"
    queue: Annotated[
        str | None,
        typer.Option(
            metavar="BYTES",
            help="What the cluster's switch keeps in front of each link; the rest is lost, and "
            "messages collide. As much as comes if absent.",
        ),
    ] = None
    platform: Annotated[
        str, typer.Option(metavar="NAME", help="Of the simulated cluster, see platforms/.")
    ] = "tryton"
    ranks_per_node: Annotated[
        int, typer.Option(metavar="K", help="Of the cluster; -n is a multiple.")
    ] = 1
    pattern: Annotated[
        str,
        typer.Option(
            metavar="SHAPE,...|FILE",
            help="Arrivals: flat, uniform, skewed, root-late, fixed, normal, exponential, a file "
            "of arrival times (of a recording the call site of the collective and --size; FILE#N: "
            "call site N), or none: bare calls after a barrier.",
        ),
    ] = "uniform"
    max_delay: Annotated[
        str, typer.Option(metavar="T,...", help="Largest delays, as in 0,1ms,5ms.")
    ] = "0"
    iterations: Annotated[
        int | None, typer.Option(metavar="K", help="Measurements per case and contender.")
    ] = None
    warm_up: Annotated[
        int | None, typer.Option(metavar="K", help="Unmeasured ones before them.")
    ] = None
    compute: Annotated[
        str, typer.Option(metavar="T", help="Emulated computation without the delay.")
    ] = "20ms"
    seed: Annotated[int, typer.Option(metavar="S", help="Of patterns, counts, turns.")] = 1
    given: frozenset[str] = frozenset()  # what stands on the command line

    def check_place(self) -> None:
        """Refuse what would be ignored in the place where is measured."""
        for name, place in (("rate", "cluster"), ("platform", "smpi")):
            if name in self.given and self.on != place:
                raise CommandError(f"--{name} is for --on {place}; say that too, or leave it out")

    @property
    def queue_bytes(self) -> int:
        """Of --queue; 0 where nothing is lost."""
        if self.queue is None:
            return 0
        if self.on != "cluster":
            raise CommandError("--queue is for --on cluster")
        return check_queue(read_size(self.queue))

    @property
    def read(self) -> list[Read]:
        """The files of arrival times that are replayed, and the one of a simulated cluster."""
        files = pattern_paths(words_of("--pattern", self.pattern))
        found: list[Read] = [("--pattern", path) for path in files]
        if self.simulated and "/" in self.platform:
            found.append(("--platform", Path(self.platform)))
        return found

    @property
    def simulated(self) -> bool:
        """Simulated times repeat, and need no repetition."""
        return self.on == "smpi"


@dataclass(frozen=True, kw_only=True)
class MeasuredOutputs:
    """What becomes of samples, in every command that measures."""

    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a table.")] = None
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write everything, with raw samples.")
    ] = None
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where the same command was interrupted.")
    ] = False

    def files(self) -> dict[str, Path | None]:
        """Where results go, by option."""
        return {"--csv": self.csv, "--json": self.json}

    def written(self) -> dict[str, Path | None]:
        """These, and what is written beside them."""
        return self.files()

    def check(self, wishes: MeasureOptions) -> None:
        """Notice before a long run what would fail after it."""
        check_all_writable(self.written(), wishes.read)


def words_of(option: str, text: str) -> list[str]:
    """The values of an option, at least one, that stand between commas."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise CommandError(f"{option} '{text}': name at least one value")
    return words


def of_known(option: str, word: str, allowed: Sequence[str]) -> str:
    """Return `word` if it is among `allowed`."""
    if word not in allowed:
        raise CommandError(f"{option} {word}: there are {', '.join(allowed)}")
    return word


def numbers_of(option: str, text: str, most: int) -> list[int]:
    """The whole numbers from 1 to `most` that stand between commas."""
    numbers = []
    for word in words_of(option, text):
        number = whole_number(word)
        if number is None or not 1 <= number <= most:
            raise CommandError(f"{option} {word}: write numbers from 1 to {most}, as in 4,8,48")
        numbers.append(number)
    return numbers


def numbers_of_ranks(text: str | None, on: str, recorded: Site | None = None) -> list[int]:
    """What --ranks says; else as many as were recorded, or what suits the place."""
    if text is None and recorded is not None:
        return [recorded.ranks]
    if text is None:
        return [8] if on in ("cluster", "smpi") else [max(2, min(os.cpu_count() or 2, 8))]
    return numbers_of("--ranks", text, 100_000)


def check_nodes(on: str, ranks: Sequence[int], per_node: int) -> None:
    """Notice ranks that do not fill their nodes, and nodes where there is no cluster."""
    if per_node < 1:
        raise CommandError(f"--ranks-per-node {per_node}: write a number from 1 on")
    if on == "local" and per_node > 1:
        raise CommandError(f"--ranks-per-node {per_node}: is for --on cluster and --on smpi")
    if on == "cluster" and 1 < per_node >= min(ranks):
        raise CommandError(f"--ranks-per-node {per_node}: -n {min(ranks)} is one host; take more")
    for number in ranks:
        if number % per_node != 0:
            raise CommandError(f"-n {number}: not a multiple of --ranks-per-node {per_node}")


def read_patterns(text: str, ranks: Sequence[int]) -> list[str]:
    """The patterns of --pattern: shapes, or one file that fits the ranks."""
    patterns = words_of("--pattern", text)
    files = [pattern for pattern in patterns if pattern not in (*SHAPES, BARE)]
    if len(files) > 1 or (files and len(ranks) > 1):
        raise CommandError("--pattern: replay one file, on the ranks that it was recorded on")
    for name in files:
        pattern_text(name, ranks[0])
    return patterns


def recorded_pattern(text: str, collective: str, sizes: Sequence[int]) -> tuple[str, Site | None]:
    """--pattern with the call site that suits, where it is a recording.

    Args:
        text: what it says.
        collective: that is measured.
        sizes: that --size says, if it says any.

    Returns:
        The text, and the call site where it names a recording, by itself or beside shapes.
    """
    patterns = words_of("--pattern", text)
    found = None
    for place, name in enumerate(patterns):
        if is_recording(name):
            patterns[place], found = choose_site(name, collective, sizes)
    return ",".join(patterns), found


def root_and_sizes(
    collective: str, root: int | None, sizes: Sequence[int], recorded: Site | None
) -> tuple[int, list[int]]:
    """--root and --size; where they are absent those of recorded calls of this collective.

    Args:
        collective: that is measured, or simulated.
        root: that --root says; None where it is absent.
        sizes: that --size says; none where it is absent.
        recorded: the call site that is replayed.
    """
    if recorded is not None and recorded.collective == collective:
        root = max(recorded.root, 0) if root is None else root  # -1: it has none
        sizes = sizes or [recorded.whole_size or USUAL_SIZE]
    return root or 0, [0] if collective == SIZELESS else list(sizes or [USUAL_SIZE])


def repetitions(
    iterations: int | None, warm_up: int | None, seed: int, default: tuple[int, int]
) -> tuple[int, int]:
    """--iterations and --warm-up, checked along with --seed; `default` where they are absent."""
    found = (
        default[0] if iterations is None else iterations,
        default[1] if warm_up is None else warm_up,
    )
    if found[0] < 1 or found[1] < 0 or seed < 0:
        raise CommandError("--iterations wants at least 1; --warm-up and --seed at least 0")
    if max(found) > MOST_ITERATIONS or seed >= 2**32:
        raise CommandError(
            f"--iterations and --warm-up go to {MOST_ITERATIONS}, --seed to {2**32 - 1}"
        )
    return found
