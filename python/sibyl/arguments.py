"""Read the command's own notations: ranges of ranks, order files, COLLECTIVE=ALGORITHM.

Every function raises CommandError with one line that says what is wrong and how to mend it.
"""

from collections.abc import Iterable
from pathlib import Path

import typer

from sibyl import algorithms, collectives
from sibyl.errors import CommandError
from sibyl.inputs import read_text, whole_number

# Values of COLLECTIVE=VALUE that are no algorithm: the MPI library's own collective, and Sibyl's
# own choice.
SPECIAL_VALUES = ("native", "auto")


def complete_collective(incomplete: str) -> list[str]:
    """For the shell: the collectives that begin so."""
    return [name for name in collectives() if name.startswith(incomplete)]


def complete_algorithm(context: typer.Context, incomplete: str) -> list[str]:
    """For the shell: algorithms, of the collective that is given already, that begin so."""
    given = context.params.get("collective")
    names = [row.name for row in algorithms(given if given in collectives() else None)]
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]


def check_collective(name: str) -> str:
    """Return `name` if it is a collective that Sibyl plans."""
    if name not in collectives():
        raise CommandError(f"unknown collective '{name}'; Sibyl plans {', '.join(collectives())}")
    return name


def check_algorithm(collective: str, name: str, also: Iterable[str] = ()) -> str:
    """Return `name` if `collective` has an algorithm of that name or it is one of `also`."""
    check_collective(collective)
    known = [row.name for row in algorithms(collective)] + list(also)
    if name not in known:
        raise CommandError(
            f"unknown algorithm '{name}' for {collective}; there are {', '.join(known)} "
            f"(see: sibyl algorithms)"
        )
    return name


def parse_setting(text: str) -> tuple[str, str]:
    """Read COLLECTIVE=ALGORITHM; return both."""
    collective, equals, value = text.partition("=")
    if not equals or not collective or not value:
        raise CommandError(
            f"--set wants COLLECTIVE=ALGORITHM, as in --set exscan=123-doubling, not '{text}'"
        )
    return collective, check_algorithm(collective, value, SPECIAL_VALUES)


def parse_ranks(text: str) -> range:
    """Read A..B (both included) or P; return the numbers of ranks as a range."""
    first_text, dots, last_text = text.partition("..")
    if not dots:
        last_text = first_text
    first, last = whole_number(first_text), whole_number(last_text)
    if first is None or last is None:
        raise CommandError(f"--ranks wants A..B or P, as in 1..128, not '{text}'")
    if first < 1:
        raise CommandError(f"--ranks {text}: there is no job of 0 ranks; begin at 1")
    if last < first:
        raise CommandError(f"--ranks {text}: the range ends before it begins; say {last}..{first}")
    if last > 2**31 - 1:
        raise CommandError(f"--ranks {text}: MPI counts ranks up to {2**31 - 1}")
    return range(first, last + 1)


def read_order(path: Path, ranks: int, root: int) -> list[int]:
    """Read an order file: one rank a line, `#` begins a comment, empty lines are skipped.

    Returns the ranks other than `root` in the file's order. The file holds every rank exactly
    once; the root may be left out, and is skipped wherever it stands.
    """
    try:
        text = read_text(path)
    except OSError as error:
        raise CommandError(f"cannot read the order file {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"the order file {path} is not text; write one rank a line") from error
    line_of: dict[int, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        word = line.partition("#")[0].strip()
        if not word:
            continue
        rank = whole_number(word)
        if rank is None:
            raise CommandError(f"{path}:{number}: '{word}' is not a rank; write one rank a line")
        if rank >= ranks:
            raise CommandError(f"{path}:{number}: rank {word} is not among 0..{ranks - 1}")
        if rank in line_of:
            raise CommandError(f"{path}:{number}: rank {word} stands on line {line_of[rank]} too")
        line_of[rank] = number
    order = [rank for rank in line_of if rank != root]
    if len(order) != ranks - 1:
        missing = next(r for r in range(ranks) if r != root and r not in line_of)
        raise CommandError(
            f"{path}: rank {missing} is missing; name all ranks, or all but the root {root}"
        )
    return order


def read_sizes(text: str) -> list[int]:
    """Read sizes of blocks: A,B,... or the name of a file with one number a line (`#` comments)."""
    if "," in text or whole_number(text) is not None:
        where, words = "--sizes", [word.strip() for word in text.split(",")]
    else:
        try:
            lines = read_text(Path(text)).splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text"
            raise CommandError(
                f"cannot read the sizes {text}: {reason}; name a file with one number a line, or "
                "say them as in --sizes 4,0,12"
            ) from error
        where = text
        words = [word for line in lines if (word := line.partition("#")[0].strip())]
    sizes = []
    for word in words:
        size = whole_number(word)
        if size is None:
            raise CommandError(f"{where}: '{word}' is not the size of a block; write whole numbers")
        sizes.append(size)
    return sizes
