"""Who a process is, beyond its number, which the system gives to another one after its end.

A process is told from a later one of its number by when it began, and signals go through a handle
(pidfd) that was opened before that was looked at, so that they reach this process or none.
"""

import os
import re
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


def _status(pid: int) -> tuple[str, int] | None:
    """The state of a process and when it began, in ticks since the machine did; None if gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    words = text.rpartition(")")[2].split()  # a name may hold blanks and brackets
    return words[0], int(words[19])


@dataclass(frozen=True)
class Identity:
    """A process: its number, and when it began."""

    pid: int
    began: int

    @staticmethod
    def of(pid: int) -> "Identity | None":
        """Who has this number now; None if nobody."""
        status = _status(pid)
        return Identity(pid, status[1]) if status else None

    @staticmethod
    def parse(text: str) -> "Identity | None":
        """Read what str() wrote; None if it is something else."""
        match = re.fullmatch(r"([1-9][0-9]{0,9}) ([0-9]{1,19})\s*", text)
        return Identity(int(match.group(1)), int(match.group(2))) if match else None

    def __str__(self) -> str:
        return f"{self.pid} {self.began}"

    @property
    def alive(self) -> bool:
        """Whether it is there and not merely waiting for its parent to take note of its end."""
        status = _status(self.pid)
        return status is not None and status[1] == self.began and status[0] not in ("Z", "X")

    def send(self, number: signal.Signals) -> bool:
        """Send it a signal; False if it is not there any more, whoever has its number."""
        return send_if(self.pid, number, lambda: self.alive)


def send_if(pid: int, number: signal.Signals, meant: Callable[[], bool]) -> bool:
    """Send a signal to a process if it is the one that is meant.

    Args:
        pid: its number.
        number: the signal.
        meant: asked while the process is held, so that its number cannot change hands after it.
    """
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    except (OSError, AttributeError):  # an old kernel, or a container that forbids it
        return meant() and _sent(lambda: os.kill(pid, number))
    try:
        return meant() and _sent(lambda: signal.pidfd_send_signal(handle, number))
    finally:
        os.close(handle)


def _sent(send: Callable[[], None]) -> bool:
    try:
        send()
    except OSError:
        return False
    return True
