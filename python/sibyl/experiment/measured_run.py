"""A run over grids: measured one after the other, under one bar, with journals to go on from."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

from sibyl.errors import CommandError
from sibyl.experiment.grid import Cell, Grid
from sibyl.experiment.journal import AGAIN, Journal, kept_on_failure, say_kept
from sibyl.experiment.places import measure, place
from sibyl.experiment.provenance import file_hash, processor, programs_hash, settings
from sibyl.experiment.recording import pattern_paths
from sibyl.experiment.runner import Interrupted, signals_interrupt
from sibyl.experiment.samples import CellResult
from sibyl.experiment.simulated import platform_file
from sibyl.mpi.installation import Launcher
from sibyl.mpi.library import find_benchmark
from sibyl.progress import progress_bar

# Is called for every sample, with its grid and its cell.
Seen = Callable[[Grid, Cell], None]


def _contents(grid: Grid, launcher: Launcher) -> list[str]:
    """Of the files that a grid names: what lies under a name today need not tomorrow."""
    files = pattern_paths(cell.pattern for cell in grid.cells)
    if grid.on == "smpi":
        files.append(platform_file(launcher, grid.platform))
    found = []
    for path in files:
        try:
            found.append(file_hash(path))
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}; it is read for the run") from error
    return found


class MeasuredRun:
    """Grids that are measured in one place.

    Attributes:
        journals: of each of them.
        done: what was there of each when the run began.
    """

    def __init__(
        self, grids: Sequence[Grid], launcher: Launcher, resume: bool, more: Sequence[str] = ()
    ) -> None:
        """Open their journals.

        Args:
            grids: what to measure; all at one place.
            launcher: of their MPI.
            resume: go on with what an interrupted run has left; else that is forgotten.
            more: what else results depend on, where the caller knows it.

        Raises:
            CommandError: a grid names a platform that does not exist, or another process measures
                the same.
        """
        self.grids = grids
        self.launcher = launcher
        program = file_hash(find_benchmark(launcher.flavour))
        here = (program, programs_hash(), str(launcher), processor(), settings(), *more)
        self.journals = [
            Journal(grid.fingerprint(*here, *_contents(grid, launcher)), CellResult.from_json)
            for grid in grids
        ]
        for journal in self.journals:
            journal.hold()
        if not resume:
            for journal in self.journals:
                journal.renew()
        self.done = [journal.read() for journal in self.journals]

    @property
    def cells(self) -> int:
        """How many cells there are in all."""
        return sum(len(grid.cells) for grid in self.grids)

    def finished(self) -> list[list[CellResult]]:
        """What there is of every grid by now, in the order of its cells."""
        found = []
        for grid, journal in zip(self.grids, self.journals, strict=True):
            results = {result.cell: result for result in journal.read()}
            found.append([results[cell] for cell in grid.cells if cell in results])
        return found

    def measure(self, seen: Seen) -> list[list[CellResult]]:
        """Measure what is missing; the results of every grid, in the order of its cells.

        Args:
            seen: hears of every sample.

        Raises:
            Interrupted: by a signal; what was finished is kept.
        """
        whole = replace(self.grids[0], cells=tuple(c for grid in self.grids for c in grid.cells))
        missing = any(
            {*grid.cells} - {one.cell for one in done}
            for done, grid in zip(self.done, self.grids, strict=True)
        )
        found = []
        collectives = {grid.collective for grid in self.grids}
        with signals_interrupt(), place(whole, self.launcher, missing, collectives) as run:
            for grid, journal in zip(self.grids, self.journals, strict=True):
                found.append(measure(grid, journal, lambda cell, grid=grid: seen(grid, cell), run))
        return found

    @contextmanager
    def bar(self, title: str) -> Iterator[Seen]:
        """A progress bar, by the time that cells take at least."""
        grids = list(zip(self.grids, self.done, strict=True))
        total = sum(grid.seconds_expected(cell) for grid, _ in grids for cell in grid.cells)
        already = sum(grid.seconds_expected(one.cell) for grid, done in grids for one in done)
        with progress_bar(title, total, already) as advance:
            yield lambda grid, cell: advance(grid.seconds_expected(cell) / grid.samples)

    def say_kept(self, how: str = AGAIN) -> None:
        """After an interrupt."""
        say_kept(self.journals, self.cells, "cells", how)

    def interrupted(self, signal: Interrupted) -> int:
        """Say what is kept; the exit status."""
        self.say_kept()
        return 128 + signal.number

    def kept_on_failure(self) -> AbstractContextManager[None]:
        """Within: an error that ends the run is told with what is kept."""
        return cells_kept_on_failure([self])

    def forget(self) -> None:
        """When results are written: nothing is left to go on with."""
        for journal in self.journals:
            journal.forget()


def cells_kept_on_failure(runs: Sequence[MeasuredRun]) -> AbstractContextManager[None]:
    """Within: an error that ends the command is told with what is kept of these runs."""
    journals = [journal for run in runs for journal in run.journals]
    return kept_on_failure(journals, sum(run.cells for run in runs), "cells")
