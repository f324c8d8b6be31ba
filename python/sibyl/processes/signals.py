"""Signal handlers for a while: set, and afterwards what they were before.

A tool that was preloaded into this interpreter may have installed handlers which Python does not
know: signal.signal() then says None and takes no None to put them back. So what was there before
is kept as the system has it, and Python's own handlers as Python has them.
"""

import ctypes
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

Handler = Callable[[int, FrameType | None], object] | signal.Handlers

_libc = ctypes.CDLL(None, use_errno=True)
_ACTION_BYTES = 512  # a struct sigaction of the C library takes 152


class _Before:
    """The handler of a signal as it was found."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._handler = signal.getsignal(number)
        self._action = ctypes.create_string_buffer(_ACTION_BYTES)
        if self._handler is None and _libc.sigaction(number, None, self._action) != 0:
            raise OSError(ctypes.get_errno(), f"sigaction of signal {number}")

    def restore(self) -> None:
        if self._handler is not None:
            signal.signal(self._number, self._handler)
        else:
            _libc.sigaction(self._number, self._action, None)


def heeded(numbers: Iterable[signal.Signals]) -> list[signal.Signals]:
    """Those that were not ignored when this process began (nohup) and so are to stay ignored."""
    return [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]


@contextmanager
def handled(numbers: Iterable[signal.Signals], handler: Handler) -> Iterator[None]:
    """Have a handler for these signals within the body.

    Args:
        numbers: signals; their handlers are as before after the body, however it ends.
        handler: a function, SIG_IGN or SIG_DFL.
    """
    before = []
    try:
        for number in numbers:
            before.append(_Before(number))
            signal.signal(number, handler)
        yield
    finally:
        for one in before:
            one.restore()


def leave(number: int, _frame: FrameType | None) -> NoReturn:
    """A handler: end the process by way of all that cleans up, with the code a shell tells."""
    raise SystemExit(128 + number)


@contextmanager
def put_off(numbers: Iterable[signal.Signals]) -> Iterator[None]:
    """Within the body none of these signals comes; the first that did comes right behind it."""
    came: list[int] = []
    try:
        with handled(numbers, lambda number, _frame: came.append(number)):
            yield
    finally:
        if came:
            signal.raise_signal(came[0])
