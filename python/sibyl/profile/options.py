"""The options of `sibyl profile`."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from sibyl.errors import CommandError
from sibyl.files import check_all_writable
from sibyl.mpi.programs import program_of
from sibyl.mpi.run_options import (
    HostfileOption,
    LauncherArgsOption,
    LauncherOption,
    MpiOption,
    RanksOption,
)
from sibyl.paths import is_directory, is_file, why_absent


@dataclass(frozen=True, kw_only=True)
class Launch:
    """How the program is run."""

    ranks: RanksOption = None
    mpi: MpiOption = None
    launcher: LauncherOption = None
    launcher_args: LauncherArgsOption = None
    hostfile: HostfileOption = None
    serve: Annotated[
        bool,
        typer.Option(
            "--serve", help="Have Sibyl serve the program, and say what its calls took less."
        ),
    ] = False
    traces: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Run nothing: read what ranks with SIBYL_PROFILE=DIR have left there.",
        ),
    ] = None

    def check(self, program: list[str]) -> None:
        """Raise CommandError for what can be seen to be wrong before anything is started."""
        if self.traces is None:
            if not program:
                raise CommandError("which program? say: sibyl profile -n 4 -- ./app")
            return
        if (
            program
            or self.ranks is not None
            or self.hostfile
            or self.launcher
            or self.launcher_args
            or self.serve
        ):
            what = "the program" if program else "the options of a run"
            raise CommandError(f"--traces reads traces and runs nothing: leave out {what}")
        if not is_directory(self.traces):
            why = why_absent(self.traces, "no such directory")
            raise CommandError(f"--traces {self.traces}: there is {why}")


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """What is made of it."""

    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with pictures.")
    ] = None
    json: Annotated[
        Path | None, typer.Option(metavar="FILE|-", help="Write everything; - is stdout.")
    ] = None
    trace: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write all calls: JSON for ui.perfetto.dev, or NAME.otf2."
        ),
    ] = None
    table: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a selection table of better algorithms."),
    ] = None
    top: Annotated[int, typer.Option(metavar="K", help="Sites in the terminal.")] = 10
    calibration: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json",
            help="alpha and beta (seconds) of messages, between hosts if there are several.",
        ),
    ] = None

    def check(
        self,
        hostfile: Path | None = None,
        program: Sequence[str] = (),
        traces: Path | None = None,
    ) -> None:
        """Notice before a long run what cannot be written, or read.

        Args:
            hostfile: names the hosts of the run.
            program: the program and its arguments, where one is run.
            traces: the directory whose traces are read, where none is.
        """
        if self.top < 1:
            raise CommandError(f"--top {self.top}: at least 1")
        if self.calibration is not None and not is_file(self.calibration):
            why = why_absent(self.calibration, "no such file")
            raise CommandError(f"--calibration {self.calibration}: there is {why}")
        if self.calibration is not None:
            from sibyl.simulator.calibration import read

            read(self.calibration)
        files = {"--html": self.html, "--table": self.table, "--json": self.json}
        if self.trace is not None and self.trace.suffix == ".otf2":
            from sibyl.profile import otf2_archive

            otf2_archive.check("--trace", self.trace)
        else:
            files["--trace"] = self.trace
        read = [("--calibration", self.calibration), ("--hostfile", hostfile), program_of(program)]
        read += [("--traces", path) for path in (traces.glob("*.trace") if traces else ())]
        table = os.environ.get("SIBYL_TABLE")
        read += [("SIBYL_TABLE", Path(table))] if table else []
        check_all_writable(files, read)
