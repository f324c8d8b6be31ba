"""Run a launcher as a job of its own: terminal, signals, exit code, and nothing left behind.

The launcher leads its own process group. It gets the terminal while it runs, signals that reach
this process are forwarded, and processes that outlive an ended job are ended too: this process is
made their reaper, so that none of them escapes.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

from sibyl.signals import handled, heeded

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
# Seconds from the second signal until everything is killed. The first signal starts no clock: a
# program may take its time to write a checkpoint, or go on, and that is for it to say.
PATIENCE = 5.0

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_libc = ctypes.CDLL(None, use_errno=True)


def begin_group(parent: int) -> Callable[[], None]:
    """What the launcher does before it starts: lead a group, and end when this process dies."""

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


def _descendants(pid: int) -> list[int]:
    found = []
    for child in _children(pid):
        found += [child, *_descendants(child)]
    return found


class _Terminal:
    """The terminal's foreground, lent to a process group and taken back.

    Launchers make the standard streams non-blocking and leave them so, which whoever has the same
    terminal then reads from in vain.
    """

    def __init__(self) -> None:
        self.ours = False
        self._blocking: dict[int, bool] = {}
        for number in range(3):
            with suppress(OSError):
                self._blocking[number] = os.get_blocking(number)
        if sys.stdin is not None:
            with suppress(OSError, ValueError):
                self.ours = os.tcgetpgrp(0) == os.getpgrp()

    def give(self, group: int) -> None:
        if not self.ours:
            return
        # Only the foreground may hand it on without being stopped; taking it back is not.
        with handled([signal.SIGTTOU], signal.SIG_IGN), suppress(OSError):
            os.tcsetpgrp(0, group)

    def restore_streams(self) -> None:
        """As they were before the launcher had them."""
        for number, blocking in self._blocking.items():
            with suppress(OSError):
                os.set_blocking(number, blocking)


def reap_orphans() -> None:
    """From now on, processes whose parent among our descendants dies become our children."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_leftovers() -> None:
    """End what the launcher left behind: first politely, then not.

    This process must have called reap_orphans() before, or some of it escapes.
    """
    deadline = time.monotonic() + 2.0
    sent: set[int] = set()
    while left := _descendants(os.getpid()):
        harsh = time.monotonic() > deadline
        for pid in left:
            if harsh or pid not in sent:
                sent.add(pid)
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL if harsh else signal.SIGTERM)
        with suppress(OSError):
            while os.waitpid(-1, os.WNOHANG)[0] > 0:
                pass
        time.sleep(0.02)


def run_job(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a launcher to its end.

    stdin, stdout and stderr are this process's own.

    Args:
        command: the launcher's words.
        environment: of the launcher.

    Returns:
        Its exit code; 128 plus the signal's number where a signal ended it, or where it ended
        with 0 although a signal had been forwarded to it.

    Raises:
        OSError: the launcher could not be started.
    """
    reap_orphans()
    terminal = _Terminal()
    job: subprocess.Popen[bytes] | None = None
    received: list[int] = []

    def forward(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        if job is None:
            return
        if len(received) == 2:
            signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        with suppress(OSError):
            os.killpg(job.pid, number)

    def lose_patience(_number: int, _frame: FrameType | None) -> None:
        for pid in _descendants(os.getpid()):
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    # A signal that was ignored when this process began (nohup) stays ignored, here and there.
    with handled([signal.SIGALRM], lose_patience), handled(heeded(FORWARDED), forward):
        try:
            job = subprocess.Popen(command, env=environment, preexec_fn=begin_group(os.getpid()))
            if received:  # between the handler and the start
                os.killpg(job.pid, received[-1])
            terminal.give(job.pid)
            with suppress(OSError):
                os.killpg(job.pid, signal.SIGCONT)  # it may have asked for the terminal too early
            code = _wait(job.pid, terminal)
            job.returncode = code
        finally:
            terminal.give(os.getpgrp())
            signal.setitimer(signal.ITIMER_REAL, 0)
    # Above 128 the launcher reports that a signal ended a rank, or itself (Ctrl-C in a terminal
    # reaches the launcher and not this process).
    if code < 0 or code > 128 or received:
        end_leftovers()
    terminal.restore_streams()
    if code < 0:
        return 128 - code
    if code == 0 and received:
        return 128 + received[0]
    return code


def _wait(pid: int, terminal: _Terminal) -> int:
    """Wait for the launcher's end; when the terminal stops it (Ctrl-Z), stop along with it.

    Returns:
        Its exit code, or minus the number of the signal that ended it.
    """
    while True:
        ended, status = os.waitpid(pid, os.WUNTRACED)
        if ended == pid and not os.WIFSTOPPED(status):
            return os.waitstatus_to_exitcode(status)
        if terminal.ours:
            terminal.give(os.getpgrp())
        os.kill(os.getpid(), signal.SIGSTOP)
        terminal.give(pid)
        with suppress(OSError):
            os.killpg(pid, signal.SIGCONT)
