"""Ends processes, first politely, then not, until there are none."""

import signal
import time
from collections.abc import Callable, Collection

# Seconds after which processes stay: one may be in a system call that cannot be ended.
PATIENCE = 20.0
_PAUSE = 0.02  # seconds between two looks


def end_all(
    find: Callable[[], Collection[int]],
    send: Callable[[int, signal.Signals], object],
    grace: float,
    patience: float = PATIENCE,
) -> int:
    """End all processes that there are, those among them that others start meanwhile.

    Args:
        find: the numbers of those that are left.
        send: a signal to one of them.
        grace: seconds that they have to end after SIGTERM.
        patience: seconds after which those that are left stay.

    Returns:
        How many there were.
    """
    begin = time.monotonic()
    told: set[int] = set()
    while left := find():
        passed = time.monotonic() - begin
        if passed > patience:
            break
        for pid in left:
            if passed > grace or pid not in told:
                told.add(pid)
                send(pid, signal.SIGKILL if passed > grace else signal.SIGTERM)
        time.sleep(_PAUSE)
    return len(told)
