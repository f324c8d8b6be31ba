"""What a run has finished, kept until its results are written, so that --resume can go on.

One file per run under the user's cache directory, a line per entry: what an end in the middle left
of the last line is no entry, nor is what else is damaged. The file is named by a fingerprint of
what was asked for and of what results depend on, so that nothing is mixed with measurements of
something else.
"""

import fcntl
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Generic, Protocol, TypeVar

from sibyl.errors import CommandError
from sibyl.inputs import LARGE, read_text

# How to go on after an interrupt.
AGAIN = "the same command and --resume"


class Entry(Protocol):
    """What can be kept."""

    def as_json(self) -> dict[str, Any]:
        """All that there is to know."""


T = TypeVar("T", bound=Entry)


class Journal(Generic[T]):
    """The finished entries of one run.

    Attributes:
        problem: why entries are not kept beyond this process; "" where they are.
    """

    def __init__(self, fingerprint: str, from_json: Callable[[dict[str, Any]], T]) -> None:
        """Open it, whether there is one or not.

        Args:
            fingerprint: equal for runs that may go on with each other's entries only.
            from_json: the inverse of an entry's as_json().
        """
        self.path = _cache() / "sibyl" / "journal" / f"{fingerprint}.jsonl"
        self.problem = ""
        self._from_json = from_json
        self._held: BinaryIO | None = None
        self._entries = self._read()

    def _read(self) -> list[T]:
        entries: list[T] = []
        with suppress(OSError, UnicodeDecodeError):
            for line in read_text(self.path, LARGE).splitlines():
                with suppress(AttributeError, KeyError, RecursionError, TypeError, ValueError):
                    entries.append(self._from_json(json.loads(line)))
        return entries

    def hold(self) -> None:
        """Keep other processes from the same run, until this object is gone.

        Raises:
            CommandError: one is under way.
        """
        while True:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                file = self.path.open("ab")
            except OSError:  # nothing will be kept, as add() says
                return
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.close()
                raise CommandError(
                    "the same measurement is under way in another process; wait for its end"
                ) from None
            except OSError:  # a file system without locks
                file.close()
                return
            with suppress(OSError):
                if self.path.stat().st_ino == os.fstat(file.fileno()).st_ino:
                    break
            file.close()  # whoever had it has forgotten it
        self._held = file
        self._entries = self._read()  # what whoever had it has added last

    def renew(self) -> None:
        """Remove everything of one that is held, and hold what comes."""
        self.forget()
        self.hold()

    def read(self) -> list[T]:
        """What is there, in the order in which it was finished."""
        return list(self._entries)

    def add(self, entry: T) -> None:
        """Keep an entry."""
        self._entries.append(entry)
        if self.problem:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab+") as file:
                # Whatever an interrupted run left of a line is not to take this one with it.
                begun = file.tell() > 0 and _last_byte(self.path) != b"\n"
                file.write(b"\n" * begun + json.dumps(entry.as_json()).encode() + b"\n")
        except OSError as error:  # results are worth more than their journal
            self.problem = f"{self.path} cannot be written: {error.strerror}"

    def forget(self) -> None:
        """Remove everything."""
        self._entries.clear()
        with suppress(OSError):
            self.path.unlink()


def _cache() -> Path:
    """Where the user's files are kept that can be made anew."""
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # of a user without a home: nothing is kept, as add() says
        return Path(os.devnull)


def _last_byte(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read()


def say_kept(
    journals: Sequence[Journal[T]],
    total: int,
    what: str,
    how: str = AGAIN,
    why: str = "interrupted; ",
) -> None:
    """When a run has ended early: what there is, and how to go on.

    Args:
        journals: of the run.
        total: what there is to do.
        what: cells, rows, jobs.
        how: go on with ...
        why: it has ended, where nothing else says that.
    """
    done = f"{sum(len(journal.read()) for journal in journals)} of {total} {what} are"
    lost = next((journal.problem for journal in journals if journal.problem), "")
    said = f"{done} finished and not kept: {lost}" if lost else f"{done} kept, go on with {how}"
    print(f"sibyl: {why}{said}", file=sys.stderr)


@contextmanager
def kept_on_failure(journals: Sequence[Journal[T]], total: int, what: str) -> Iterator[None]:
    """Within: before an error is told, so is what is kept: the command without --resume forgets it.

    Args:
        journals: of the run.
        total: what there is to do.
        what: cells, rows, jobs.
    """
    try:
        yield
    except Exception:
        if any(journal.read() for journal in journals):
            say_kept(journals, total, what, why="")
        raise
