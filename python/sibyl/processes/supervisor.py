"""Start a program as a group of its own, and leave nothing of it behind.

Whatever starts an MPI job does it here: the launcher leads its process group, ends when this
process dies, and what outlives it is ended too. While it is supervised this process is the reaper
of its descendants, so that none of them escapes. Those that were there before (of a shell that has
made way for this command by `exec`, or of the Python program that calls this) are none of the
program's: they are neither ended nor waited for. What other threads of that Python program start
while one is supervised is taken for the program's.
"""

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sibyl.processes.ending import end_all
from sibyl.processes.guardian import is_guardian
from sibyl.processes.identity import Identity
from sibyl.processes.signals import handled, heeded, put_off

# What ends a command, from a terminal or a batch system.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# Seconds that what a program left behind has to end after SIGTERM.
GRACE = 2.0

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_CHILD_SUBREAPER = 37
_libc = ctypes.CDLL(None, use_errno=True)


def _begin_group(parent: int) -> Callable[[], None]:
    """What the program does before it starts: lead a group, and end when this process dies."""

    def begin() -> None:
        os.setpgid(0, 0)
        _libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        if os.getppid() != parent:  # died in between
            os.kill(os.getpid(), signal.SIGTERM)

    return begin


def _children(pid: int) -> list[int]:
    found = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += [int(word) for word in path.read_text().split()]
    return found


def descendants(pid: int, but: Collection[Identity] = ()) -> list[int]:
    """The children of a process, theirs, and so on; not guardians, which are to outlive it.

    Args:
        pid: of the process.
        but: these and their descendants are left out.
    """
    found = []
    for child in _children(pid):
        if not is_guardian(child) and Identity.of(child) not in but:
            found += [child, *descendants(child, but)]
    return found


def _reap_orphans(wanted: bool) -> bool:
    """Whether processes whose parent among our descendants dies become our children; as before."""
    before = ctypes.c_int()
    _libc.prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0)
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0)
    return bool(before.value)


class Supervised:
    """A program that was started as a group of its own.

    Attributes:
        process: the program, which leads the group.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], **streams: Any
    ) -> None:
        """Start it.

        Args:
            command: the words.
            environment: of the program.
            streams: stdin, stdout, stderr and text as subprocess.Popen takes them.

        Raises:
            OSError: it could not be started.
        """
        # Taken before the program starts: whoever comes later is its.
        self._others = {Identity.of(pid) for pid in descendants(os.getpid())} - {None}
        self._reaped_orphans = _reap_orphans(True)
        try:
            self.process = subprocess.Popen(
                command, env=environment, preexec_fn=_begin_group(os.getpid()), **streams
            )
        except BaseException:
            self.release()
            raise

    def send(self, number: signal.Signals | int) -> None:
        """Send a signal to the whole group, if there is one still."""
        with suppress(OSError):
            os.killpg(self.process.pid, number)

    def descendants(self) -> list[int]:
        """The program, if it is there, and all that it has started."""
        return descendants(os.getpid(), self._others)

    def release(self) -> None:
        """Its orphans are nobody's of ours any more."""
        _reap_orphans(self._reaped_orphans)

    def end_leftovers(self) -> None:
        """End what the program left behind: first politely, then not; and release it.

        An impatient second signal would leave what ignores the first: it comes afterwards.
        """

        def left() -> list[int]:
            self.process.poll()  # its exit status belongs to whoever asks it
            for child in _children(os.getpid()):
                if child != self.process.pid and Identity.of(child) not in self._others:
                    with suppress(OSError):
                        os.waitpid(child, os.WNOHANG)
            return self.descendants()

        def send(pid: int, number: signal.Signals) -> None:
            with suppress(OSError):
                os.kill(pid, number)

        try:
            with put_off(heeded([*ENDING, signal.SIGQUIT])):
                end_all(left, send, GRACE)
        finally:
            self.release()

    def end(self, patience: float) -> None:
        """End the program and everything that it has started; nothing keeps us from it.

        Args:
            patience: seconds that it has after it was told to end.
        """
        with handled(ENDING, signal.SIG_IGN):
            self.send(signal.SIGTERM)
            deadline = time.monotonic() + patience
            while self.process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
            self.send(signal.SIGKILL)
            with suppress(OSError, subprocess.SubprocessError):
                self.process.wait(timeout=2)
            self.end_leftovers()


def run_captured(
    command: Sequence[str],
    environment: Mapping[str, str],
    patience: float,
    patience_at_end: float = 2.0,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end and keep what it prints.

    Args:
        command: the words.
        environment: of the program.
        patience: seconds that it may take.
        patience_at_end: seconds that it then has to end.

    Raises:
        subprocess.TimeoutExpired: it took longer; it has been ended with all that it had started.
    """
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    program = Supervised(command, environment, text=True, errors="replace", **streams)
    try:
        output, messages = program.process.communicate(timeout=patience)
    except BaseException:
        program.end(patience_at_end)
        raise
    if program.process.returncode == 0:
        program.release()
    else:  # a launcher that has died leaves its ranks
        program.end_leftovers()
    return subprocess.CompletedProcess(command, program.process.returncode, output, messages)
