"""Processes in namespaces: find them, end them, and clean up when this process is killed."""

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from sibyl.cluster.state import NETNS
from sibyl.processes.identity import send_if

# Ends of guardians' pipes. A program that changes the machine is given them, so that the guardian
# does not begin to clean up before it has ended, too.
held_open: list[int] = []

# Seconds that a process has to end after SIGTERM.
GRACE = 0.5


def _namespace(path: Path) -> tuple[int, int] | None:
    """What tells a network namespace from all others; None if there is none at the path."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _network_of(pid: int | str) -> tuple[int, int] | None:
    return _namespace(Path(f"/proc/{pid}/ns/net"))


def _wanted(namespaces: Iterable[str]) -> set[tuple[int, int]]:
    """The namespaces of these names, but never the machine's or that of this process.

    A name may lead anywhere (`ip netns attach`), and who ends all processes of the machine's own
    namespace ends the machine.
    """
    found = {_namespace(NETNS / name) for name in namespaces}
    found -= {None, _network_of("self"), _network_of(1)}
    return {one for one in found if one is not None}


def processes_in(namespaces: Iterable[str]) -> list[int]:
    """The processes whose network namespace is one of these; never this process."""
    wanted = _wanted(namespaces)
    if not wanted:
        return []
    numbers = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return [pid for pid in numbers if pid != os.getpid() and _network_of(pid) in wanted]


def end_processes(namespaces: Iterable[str]) -> int:
    """End every process in the namespaces, first politely; return how many there were."""
    names = list(namespaces)
    wanted = _wanted(names)
    ended: set[int] = set()
    begin = time.monotonic()
    while left := processes_in(names):
        harsh = time.monotonic() > begin + GRACE
        for pid in left:
            if harsh or pid not in ended:
                ended.add(pid)
                number = signal.SIGKILL if harsh else signal.SIGTERM
                send_if(pid, number, lambda pid=pid: _network_of(pid) in wanted)
        if time.monotonic() > begin + 20:  # in a system call that cannot be ended
            break
        time.sleep(0.02)
    return len(ended)


class Guardian:
    """A process of its own that does `clean` if this one ends without having released it.

    It leads a session of its own and heeds no signal that a terminal or a batch system sends, so
    that killing the command, or its whole process group, does not kill it. What it inherits of
    this process's files are `keep` (a lock, which it so holds on to) and its end of a pipe.
    """

    def __init__(self, clean: Callable[[], None], keep: int) -> None:
        reader, self._writer = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                # Twice, so that it is nobody's child: not waited for, not ended with the rest.
                if os.fork() == 0:
                    self._watch(clean, reader, keep)
                status = 0
            finally:
                os._exit(status)
        os.close(reader)
        held_open.append(self._writer)
        os.waitpid(child, 0)

    @staticmethod
    def _watch(clean: Callable[[], None], reader: int, keep: int) -> None:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, signal.SIG_IGN)
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


def remove_tree(path: Path) -> None:
    """Remove a directory; what cannot be removed stays."""
    shutil.rmtree(path, ignore_errors=True)
