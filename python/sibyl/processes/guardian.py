"""Cleaning up after this process even where it is killed: somebody else waits for its end."""

import ctypes
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

# Ends of guardians' pipes. A program that changes what a guardian cleans up is given them, so that
# the guardian does not begin before it has ended, too.
held_open: list[int] = []
# By which a guardian is told from what a program has left behind.
NAME = "sibyl-guardian"

_PR_SET_NAME = 15
_libc = ctypes.CDLL(None)


def is_guardian(pid: int) -> bool:
    """Whether a process is one."""
    try:
        return Path(f"/proc/{pid}/comm").read_bytes() == f"{NAME}\n".encode()
    except OSError:
        return False


class Guardian:
    """A process of its own that does `clean` if this one ends without having released it.

    It leads a session of its own and heeds no signal that a terminal or a batch system sends, so
    that killing the command, or its whole process group, does not kill it. What it inherits of
    this process's files are `keep` (a lock, which it so holds on to) and its end of a pipe.
    """

    def __init__(self, clean: Callable[[], object], keep: int | None = None) -> None:
        reader, self._writer = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                # Whoever ends this process's group from now on is not to end it. Twice, so that it
                # is nobody's child: not waited for, not ended with the rest.
                self._stand_apart()
                if os.fork() == 0:
                    self._watch(clean, reader, keep)
                status = 0
            finally:
                os._exit(status)
        os.close(reader)
        held_open.append(self._writer)
        os.waitpid(child, 0)

    @staticmethod
    def _stand_apart() -> None:
        os.setsid()
        _libc.prctl(_PR_SET_NAME, NAME.encode(), 0, 0, 0)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, signal.SIG_IGN)

    @staticmethod
    def _watch(clean: Callable[[], object], reader: int, keep: int | None) -> None:
        held_open.clear()  # those of this process's guardians are closed below
        null = os.open(os.devnull, os.O_RDWR)
        for standard in range(3):
            os.dup2(null, standard)
        for handle in [int(path.name) for path in Path("/proc/self/fd").iterdir()]:
            if handle > 2 and handle not in (reader, keep):
                with suppress(OSError):
                    os.close(handle)
        os.chdir("/")
        if os.read(reader, 1) == b"":
            clean()

    def release(self) -> None:
        """Let the guardian go: everything is in order."""
        with suppress(OSError):
            os.write(self._writer, b".")
        held_open.remove(self._writer)
        os.close(self._writer)

    def __enter__(self) -> "Guardian":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()
