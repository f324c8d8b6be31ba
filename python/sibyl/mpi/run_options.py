"""How a program is to be run: the options of every command that starts one."""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from sibyl.arguments import parse_setting
from sibyl.errors import CommandError
from sibyl.files import check_all_writable
from sibyl.mpi.programs import program_of

# What SIBYL_PREDICT may say.
PREDICTION_MODES = ("off", "piggyback", "root-led", "periodic", "background")

# Options that every command has which starts a program.
RanksOption = Annotated[
    int | None,
    typer.Option("-n", "--ranks", metavar="N", help="Ranks; the launcher's default if absent."),
]
MpiOption = Annotated[
    str | None,
    typer.Option(
        metavar="openmpi|mpich|DIR",
        help="Which MPI; the one that the program is linked with if absent.",
    ),
]
LauncherOption = Annotated[
    str | None,
    typer.Option(
        metavar="srun|mpiexec", help="What starts the ranks; inside a Slurm job srun if absent."
    ),
]
LauncherArgsOption = Annotated[
    str | None,
    typer.Option(metavar="WORDS", help="More words for the launcher, as in '--host a,b'."),
]
HostfileOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The hosts: HOST, HOST slots=N or HOST:N a line."),
]


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How a program is to be run: the options that `sibyl run` and `sibyl cluster run` share.

    Attributes:
        settings: the last of a collective holds.
        native: leave Sibyl out of it.
        launcher: srun, mpiexec, or None: srun inside a Slurm job, else mpiexec.
        predict: one of PREDICTION_MODES, or None: as the environment says.
        reproducible: reductions give the same bits in every run.
        govern: whether choices are held against the MPI library's own, or None: as the environment
            says.
        learn: where the verdicts on them go, as a selection table.
        variables: more of them for every rank.
        durations: where the wall time of each run goes, in seconds, if anywhere.
    """

    ranks: RanksOption = None
    mpi: MpiOption = None
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="COLLECTIVE=ALGORITHM",
            help="Algorithm of a collective; also native (the MPI library's own) and auto.",
        ),
    ] = None
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="Write the report of the run to this file."),
    ] = None
    quiet: Annotated[bool, typer.Option("--quiet", help="Print no table at the end.")] = False
    launcher_args: LauncherArgsOption = None
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json",
            help="Write when each rank joined each collective; sibyl bench --pattern replays it.",
        ),
    ] = None
    launcher: str | None = None
    native: bool = False
    predict: str | None = None
    reproducible: bool = False
    govern: bool | None = None
    learn: Path | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    durations: list[float] | None = None

    @property
    def predicts(self) -> bool:
        """Whether prediction is asked for, and what it found is to be told."""
        return self.predict not in (None, "off")

    @property
    def records(self) -> bool:
        """Whether arrivals are recorded."""
        return self.record is not None or self.predicts

    def check(self, words: Sequence[str] = (), hostfile: Path | None = None) -> None:
        """Raise CommandError for what can be seen to be wrong before anything is started.

        Args:
            words: the program and its arguments.
            hostfile: names the hosts.
        """
        if self.ranks is not None and self.ranks < 1:
            raise CommandError(f"-n {self.ranks}: a job has at least 1 rank; say -n 1 or more")
        if self.launcher not in (None, "srun", "mpiexec"):
            raise CommandError(f"--launcher {self.launcher}: say srun or mpiexec")
        if self.native and (self.settings or self.report or self.record or self.predict):
            raise CommandError(
                "--native runs without Sibyl; leave out --set, --report, --record, --predict"
            )
        if self.learn is not None and self.govern is False:
            raise CommandError("--learn writes what the governor finds; leave out --no-govern")
        if self.predict is not None and self.predict not in PREDICTION_MODES:
            modes = ", ".join(PREDICTION_MODES[:-1])
            raise CommandError(f"--predict {self.predict}: say {modes} or {PREDICTION_MODES[-1]}")
        for text in self.settings or []:
            parse_setting(text)
        self.launcher_words()
        outputs = {"--report": self.report, "--record": self.record, "--learn": self.learn}
        table = os.environ.get("SIBYL_TABLE")
        read = [("--hostfile", hostfile), program_of(words)]
        check_all_writable(outputs, [*read, ("SIBYL_TABLE", Path(table) if table else None)])

    def launcher_words(self) -> list[str]:
        """The words of `launcher_args`."""
        try:
            return shlex.split(self.launcher_args or "")
        except ValueError as error:
            raise CommandError(f"--launcher-args: {error}; close the quotes") from error
