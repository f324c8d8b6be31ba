"""Watches a running program: where its ranks are, calls that last, calls that do not match.

A thread beside the one that waits for the launcher looks at the traces: twice a second for `sibyl
run --hang-after`; for `sibyl profile`, whose program is to be left alone, only when it is asked.
SIGUSR1 has it print where the ranks are at once.
"""

import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sibyl.processes.signals import handled
from sibyl.profile.flight import FlightRecorder, Process, position_lines
from sibyl.profile.trace import TraceError
from sibyl.terminal import printable

LOOK_EVERY = 0.5  # seconds


class Watch:
    """What is known of the program from look to look.

    Args:
        directory: of the traces.
        hang_after: seconds in one call after which the ranks' places are printed; endless where
            only SIGUSR1 asks.
        say: prints a line.
    """

    def __init__(self, directory: Path, hang_after: float, say: Callable[[str], None]) -> None:
        self._recorder = FlightRecorder(directory)
        self._hang_after = hang_after
        self._say = say
        self._states: dict[Process, tuple] = {}
        self._since: dict[Process, float] = {}
        self._reported: dict[Process, tuple] = {}

    def look(self, now: float, asked: bool = False) -> None:
        """Look once.

        Args:
            now: seconds of any clock.
            asked: print where the ranks are, whatever they do.
        """
        self._recorder.look()
        states = self._recorder.state()
        for process, state in states.items():
            if self._states.get(process) != state:
                self._since[process] = now
        self._states = states
        for mismatch in self._recorder.mismatches():
            self._say(f"sibyl: {mismatch.text()}")
        stuck = [
            process
            for process, state in states.items()
            if any(inside for _, inside, _, _ in state)
            and now - self._since[process] >= self._hang_after
        ]
        news = any(self._reported.get(process) != states[process] for process in stuck)
        if asked:
            self._print("sibyl: where the ranks are:")
        elif stuck and news and not self._goes_on():
            self._reported = {process: states[process] for process in stuck}
            seconds = f"{self._hang_after:g} s"
            self._print(f"sibyl: a call has lasted for {seconds}; where the ranks are:")

    def _goes_on(self) -> bool:
        """Whether all that was reported before is still so: others have joined it."""
        return bool(self._reported) and all(
            self._states.get(process) == state for process, state in self._reported.items()
        )

    def _print(self, title: str) -> None:
        lines = position_lines(self._recorder.positions(), self._recorder.missing)
        self._say("\n".join([title, *(lines or ["  no rank has come to MPI_Init"])]))


@contextmanager
def watching(directory: Path, hang_after: float = math.inf) -> Iterator[None]:
    """Watch while the body runs the program; where nothing is to hang, only when asked."""
    watch = Watch(
        directory,
        hang_after,
        lambda text: print(printable(text), file=sys.stderr, flush=True),
    )
    wake, ended = threading.Event(), threading.Event()
    pause = LOOK_EVERY if math.isfinite(hang_after) else None

    def look(asked: bool = False) -> None:
        # Traces are written to while they are read, and go with the program's end.
        with suppress(TraceError, IndexError, OSError):
            watch.look(time.monotonic(), asked)

    def run() -> None:
        while True:
            asked = wake.wait(pause)
            wake.clear()
            if ended.is_set():
                return
            if pause is not None or asked:
                look(asked)

    thread = threading.Thread(target=run, name="watch", daemon=True)
    with handled([signal.SIGUSR1], lambda *_: wake.set()):
        thread.start()
        try:
            yield
        finally:
            ended.set()
            wake.set()
            thread.join()
            if pause is not None:
                look()  # the last one may have been before the program's last calls
