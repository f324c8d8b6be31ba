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
from sibyl.profile.flight import FlightRecorder, Process, ThreadState, position_lines
from sibyl.profile.trace import TraceError
from sibyl.terminal import printable

LOOK_EVERY = 0.5  # seconds
Thread = tuple[Process, int]  # a rank's, by its place in the trace


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
        self._states: dict[Thread, ThreadState] = {}
        self._since: dict[Thread, float] = {}
        self._reported: dict[Thread, ThreadState] = {}

    def look(self, now: float, asked: bool = False) -> None:
        """Look once.

        Args:
            now: seconds of any clock.
            asked: print where the ranks are, whatever they do.
        """
        self._recorder.look()
        states = self._recorder.state()
        for thread, state in states.items():
            if self._states.get(thread) != state:
                self._since[thread] = now
        self._states = states
        if asked:  # before records are compared, which may be many
            self._print("sibyl: where the ranks are:")
        for mismatch in self._recorder.mismatches():
            self._say(f"sibyl: {mismatch.text()}")
        stuck = self._stuck(now)
        news = any(self._reported.get(thread) != state for thread, state in stuck.items())
        if not asked and news and not self._goes_on():
            self._reported = stuck
            seconds = f"{self._hang_after:g} s"
            self._print(f"sibyl: a call has lasted for {seconds}; where the ranks are:")

    def _stuck(self, now: float) -> dict[Thread, ThreadState]:
        """Threads whose call lasts too long.

        One that waits for messages may be there for nothing else, as long as other threads of its
        rank go on.
        """
        moved: dict[Process, float] = {}
        for process, number in self._states:
            since = self._since[process, number]
            moved[process] = max(moved.get(process, since), since)
        return {
            thread: state
            for thread, state in self._states.items()
            if state.inside
            and now - (self._since[thread] if state.collective else moved[thread[0]])
            >= self._hang_after
        }

    def _goes_on(self) -> bool:
        """Whether all that was reported before is still so: others have joined it."""
        return bool(self._reported) and all(
            self._states.get(thread) == state for thread, state in self._reported.items()
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
