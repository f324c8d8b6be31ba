"""Run a launcher as a job of its own: terminal, signals, exit code, and nothing left behind.

The launcher leads its own process group (supervisor.py). It gets the terminal while it runs, and
signals that reach this process are forwarded; those that programs give a meaning of their own go to
the launcher alone, which passes them on as it does without Sibyl.
"""

import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import FrameType

from sibyl.processes.signals import handled, heeded
from sibyl.processes.supervisor import Supervised

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
PROGRAMS_OWN = (signal.SIGUSR1, signal.SIGUSR2)
# Seconds from the second signal until everything is killed. The first signal starts no clock: a
# program may take its time to write a checkpoint, or go on, and that is for it to say.
PATIENCE = 5.0


class _Terminal:
    """The terminal's foreground, lent to a process group and taken back.

    Launchers make the standard streams non-blocking and leave them so, which whoever has the same
    terminal then reads from in vain.
    """

    def __init__(self) -> None:
        self._lent = os.getpgrp()
        self._blocking: dict[int, bool] = {}
        for number in range(3):
            with suppress(OSError):
                self._blocking[number] = os.get_blocking(number)

    def has(self, group: int) -> bool:
        """Whether a group is in the foreground."""
        try:
            return os.tcgetpgrp(0) == group
        except OSError:  # no terminal
            return False

    def give(self, group: int) -> None:
        """Lend it, if it is ours: a shell has it while we are stopped or in the background."""
        # Only the foreground may hand it on without being stopped; taking it back is not.
        if self.has(os.getpgrp()) or self.has(self._lent):
            with handled([signal.SIGTTOU], signal.SIG_IGN), suppress(OSError):
                os.tcsetpgrp(0, group)
                self._lent = group

    def restore_streams(self) -> None:
        """As they were before the launcher had them."""
        for number, blocking in self._blocking.items():
            with suppress(OSError):
                os.set_blocking(number, blocking)


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
    terminal = _Terminal()
    job: Supervised | None = None
    received: list[int] = []

    def forward(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        if job is None:
            return
        if len(received) == 2:
            signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        job.send(number)

    def pass_on(number: int, _frame: FrameType | None) -> None:
        if job is not None:
            with suppress(OSError):
                os.kill(job.process.pid, number)

    def lose_patience(_number: int, _frame: FrameType | None) -> None:
        for pid in job.descendants() if job is not None else ():
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    # A signal that was ignored when this process began (nohup) stays ignored, here and there; one
    # that asks this process where the ranks are is not the program's.
    own = [number for number in PROGRAMS_OWN if signal.getsignal(number) == signal.SIG_DFL]
    with (
        handled([signal.SIGALRM], lose_patience),
        handled(heeded(FORWARDED), forward),
        handled(own, pass_on),
    ):
        try:
            job = Supervised(command, environment)
            if received:  # between the handler and the start
                job.send(received[-1])
            terminal.give(job.process.pid)
            code = _wait(job, terminal)
            job.process.returncode = code
        finally:
            terminal.give(os.getpgrp())
            signal.setitimer(signal.ITIMER_REAL, 0)
        # Above 128 the launcher reports that a signal ended a rank, or itself (Ctrl-C in a terminal
        # reaches the launcher and not this process).
        if code < 0 or code > 128 or received:
            job.end_leftovers()
            signal.setitimer(signal.ITIMER_REAL, 0)  # by a signal that has come meanwhile
        else:
            job.release()
    terminal.restore_streams()
    if code < 0:
        return 128 - code
    if code == 0 and received:
        return 128 + received[0]
    return code


def _wait(job: Supervised, terminal: _Terminal) -> int:
    """Wait for the launcher's end; when the terminal stops it (Ctrl-Z), stop along with it.

    Returns:
        Its exit code, or minus the number of the signal that ended it.
    """
    pid = job.process.pid
    while True:
        ended, status = os.waitpid(pid, os.WUNTRACED)
        if ended == pid and not os.WIFSTOPPED(status):
            return os.waitstatus_to_exitcode(status)
        # It asked before it was lent the terminal, or a shell's `fg` after its `bg` gave that to
        # us, and said nothing.
        asks = os.WSTOPSIG(status) in (signal.SIGTTIN, signal.SIGTTOU)
        if not (asks and (terminal.has(pid) or terminal.has(os.getpgrp()))):
            terminal.give(os.getpgrp())
            os.kill(os.getpid(), signal.SIGSTOP)
        terminal.give(pid)
        job.send(signal.SIGCONT)
