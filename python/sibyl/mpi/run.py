"""`sibyl run`: start an unmodified MPI program with Sibyl's preload library."""

import json
import os
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from sibyl.arguments import parse_setting
from sibyl.errors import CommandError
from sibyl.files import check_writable, write_result
from sibyl.mpi import slurm
from sibyl.mpi.arrivals import EMPTY, merge_arrivals
from sibyl.mpi.command_line import launcher_command, launcher_environment, rank_environment
from sibyl.mpi.governed_report import to_table
from sibyl.mpi.installation import (
    Launcher,
    choose_flavour,
    choose_launcher,
    launcher_in_path,
    launcher_of_directory,
    mismatch,
)
from sibyl.mpi.library import find_implementation, find_own_program, find_shim
from sibyl.mpi.placement import Placement, check_room, read_hostfile, write_hosts
from sibyl.mpi.prediction_report import print_predictions
from sibyl.mpi.report import merge_reports, print_report
from sibyl.processes.job import run_job

# Programs that come with Sibyl: found without PATH, in the flavour of the MPI that is to run them.
OWN_PROGRAMS = ("sibyl-fft",)

# What SIBYL_PREDICT may say.
PREDICTION_MODES = ("off", "piggyback", "root-led", "periodic", "background")

# Given the launcher and a directory for the run: where the ranks go.
Placing = Callable[[Launcher, Path], Placement]


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

    def check(self) -> None:
        """Raise CommandError for what can be seen to be wrong before anything is started."""
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
        if self.report is not None:
            check_writable("--report", self.report)
        if self.record is not None:
            check_writable("--record", self.record)
        if self.learn is not None:
            check_writable("--learn", self.learn)

    def launcher_words(self) -> list[str]:
        """The words of `launcher_args`."""
        try:
            return shlex.split(self.launcher_args or "")
        except ValueError as error:
            raise CommandError(f"--launcher-args: {error}; close the quotes") from error


def find_program(name: str) -> Path:
    """The file that `name` starts: a path if it has a slash, else looked for in PATH."""
    if "/" not in name:
        found = shutil.which(name)
        if found is not None:
            return Path(found)
        if Path(name).is_file():
            raise CommandError(f"program '{name}' is not in PATH; say ./{name} for the file here")
        raise CommandError(
            f"program '{name}' was not found in PATH; check its name, or give a path"
        )
    path = Path(name)
    if not path.exists():
        raise CommandError(f"program '{name}' does not exist; check the path")
    if path.is_dir():
        raise CommandError(f"program '{name}' is a directory; give a program in it")
    if not os.access(path, os.X_OK):
        raise CommandError(f"program '{name}' may not be executed; try: chmod +x {name}")
    return path


def resolve_program(words: Sequence[str], mpi: str | None) -> tuple[list[str], Path]:
    """The words with which the ranks are started, and the program's file.

    Args:
        words: the program and its arguments.
        mpi: openmpi, mpich, a prefix, or None: for a program of Sibyl's own, the MPI in PATH.
    """
    if words[0] not in OWN_PROGRAMS:
        return list(words), find_program(words[0])
    flavour = mpi
    if mpi is None:
        launcher = launcher_in_path(None)
        flavour = launcher.flavour if launcher else "openmpi"
    elif mpi not in ("openmpi", "mpich"):
        flavour = launcher_of_directory(Path(mpi)).flavour
    program = find_own_program(words[0], str(flavour))
    return [str(program), *words[1:]], program


def run_program(words: Sequence[str], options: RunOptions, hostfile: Path | None = None) -> int:
    """Run a program on this machine, on the hosts of a file, or on those of the Slurm job.

    Args:
        words: the program and its arguments.
        options: see `sibyl run --help`.
        hostfile: names the hosts.

    Returns:
        The program's exit code.
    """
    options.check()
    words, program = resolve_program(words, options.mpi)
    if hostfile is not None:
        if options.launcher == "srun":
            raise CommandError("--hostfile is for mpiexec; under srun Slurm names the hosts")
        hosts = read_hostfile(hostfile)
        ranks = check_room(options.ranks, hosts, "add hosts or slots to the host file")
        options = replace(options, ranks=ranks)

        def place(launcher: Launcher, scratch: Path) -> Placement:
            return Placement(options=write_hosts(launcher, hosts, scratch))

        with scratch_directory(shared=True) as scratch:
            return run_placed(words, program, options, scratch, place)
    if options.launcher == "srun":
        slurm.check_inside_job()
    if options.launcher == "srun" or (options.launcher is None and slurm.inside_job()):
        with scratch_directory(shared=True) as scratch:
            return _run_by_srun(words, program, options, scratch)
    with scratch_directory(shared=False) as scratch:
        return run_placed(words, program, options, scratch)


def run_placed(
    words: Sequence[str],
    program: Path,
    options: RunOptions,
    scratch: Path,
    place: Placing | None = None,
) -> int:
    """Run a program by its MPI's own launcher.

    Args:
        words: the program and its arguments.
        program: the program's file.
        options: checked.
        scratch: an empty directory for the files of this run.
        place: says where the ranks go; None leaves it to the launcher.

    Returns:
        The program's exit code.
    """
    launcher = choose_launcher(options.mpi, program)
    warning = mismatch(launcher, program)
    if warning:
        print(f"sibyl: {warning}", file=sys.stderr)
    variables = _rank_variables(launcher.flavour, options, scratch)
    placement = place(launcher, scratch) if place is not None else None
    if placement is not None:
        variables |= placement.rank_environment
        for library in placement.preload:
            before = variables.get("LD_PRELOAD") or os.environ.get("LD_PRELOAD")
            variables["LD_PRELOAD"] = f"{before}:{library}" if before else str(library)
    command = launcher_command(
        launcher, options.ranks, variables, words, options.launcher_words(), placement
    )
    return _run(words, command, launcher_environment(launcher, placement), options, scratch)


def _run_by_srun(words: Sequence[str], program: Path, options: RunOptions, scratch: Path) -> int:
    flavour = choose_flavour(options.mpi, program)
    variables = _rank_variables(flavour, options, scratch)
    command = slurm.srun_command(flavour, options.ranks, variables, words, options.launcher_words())
    return _run(words, command, os.environ, options, scratch)


def _rank_variables(flavour: str, options: RunOptions, scratch: Path) -> dict[str, str]:
    variables: dict[str, str] = {}
    if not options.native:
        shim = find_shim()
        find_implementation(shim, flavour)
        settings = dict(map(parse_setting, options.settings or []))
        variables |= rank_environment(shim, settings, scratch)
    before = variables.get("LD_PRELOAD") or os.environ.get("LD_PRELOAD")
    variables["SIBYL_PYTHON"] = sys.executable  # a program of Sibyl's own draws its picture by it
    variables |= options.variables
    if "LD_PRELOAD" in options.variables and before:  # what is asked for here sees calls first
        variables["LD_PRELOAD"] += f":{before}"
    if options.native:
        return variables
    if options.record is not None or options.predict is not None:
        variables["SIBYL_RECORD"] = str(scratch)
    if options.predict is not None:
        variables["SIBYL_PREDICT"] = options.predict
    if options.reproducible:
        variables["SIBYL_REPRODUCIBLE"] = "1"
    govern = True if options.learn is not None else options.govern
    if govern is not None:
        variables["SIBYL_GOVERN"] = "1" if govern else "0"
    return variables


def _run(
    words: Sequence[str],
    command: Sequence[str],
    environment: Mapping[str, str],
    options: RunOptions,
    scratch: Path,
) -> int:
    """Run the launcher, then put the ranks' reports together."""
    begin = time.monotonic()
    try:
        code = run_job(command, environment)
    except OSError as error:
        raise CommandError(f"cannot start {command[0]}: {error.strerror}") from error
    if options.durations is not None:
        options.durations.append(time.monotonic() - begin)
    if options.native:
        return code
    report = merge_reports(scratch)
    files = {}
    if options.report is not None:
        files[options.report] = json.dumps(report.as_json(words, code), indent=2)
    if options.learn is not None:
        files[options.learn] = to_table(report.sites()).rstrip("\n")
    recording = None
    if options.record is not None or options.predict is not None:
        recording = merge_arrivals(scratch, words)
    if options.record is not None:
        files[options.record] = json.dumps(recording)
    written = [_write(path, text + "\n") for path, text in files.items()]
    if options.record is not None and not recording["sites"]:
        print(f"sibyl: {options.record}: {EMPTY}", file=sys.stderr)
    if not options.quiet:
        if os.environ.get("LD_PRELOAD"):
            below = os.environ.get("SIBYL_INTERCEPT") == "pmpi"
            how = "PMPI_X, below" if below else "MPI_X, above"
            print(f"sibyl: calls are taken by {how} the libraries in LD_PRELOAD", file=sys.stderr)
        print_report(report, Console(stderr=True))
        if recording is not None:
            _print_recording(recording, options)
    return code if all(written) else code or 1


def _write(path: Path, text: str) -> bool:
    """Write a file after a run, whose exit code is worth more than what cannot be written."""
    try:
        write_result(path, text)
    except CommandError as error:
        print(f"sibyl: {error}", file=sys.stderr)
        return False
    return True


def _print_recording(recording: Mapping[str, Any], options: RunOptions) -> None:
    if options.record is not None and recording["left_out"]:
        print(
            f"sibyl: {options.record} holds the first calls alone; {recording['left_out']} later "
            f"ones are left out",
            file=sys.stderr,
        )
    if options.predict is not None:
        print_predictions(dict(recording), Console(stderr=True))


@contextmanager
def scratch_directory(shared: bool) -> Iterator[Path]:
    """A directory for the files of one run.

    Args:
        shared: where other hosts see it as well, so that their ranks' reports arrive: the working
            directory, as far as one may write there.
    """
    place = Path.cwd() if shared and os.access(Path.cwd(), os.W_OK) else None
    prefix = ".sibyl-report-" if place else "sibyl-report-"
    with tempfile.TemporaryDirectory(prefix=prefix, dir=place) as directory:
        yield Path(directory)
