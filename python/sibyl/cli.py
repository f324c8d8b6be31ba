"""The `sibyl` command: its grammar, and how errors leave it.

Every subcommand returns its exit code. Bad input ends in one line on stderr and exit code 2,
whether typer or Sibyl notices it.
"""

import errno
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from sibyl import __version__
from sibyl.arguments import complete_algorithm, complete_collective
from sibyl.commands.bench import bench
from sibyl.commands.cluster import cluster
from sibyl.commands.guidelines import guidelines
from sibyl.commands.plan import PlanOptions, PlanOutputs, write_plan
from sibyl.commands.profile import profile
from sibyl.commands.reproduce import reproduce
from sibyl.commands.simulate import simulate
from sibyl.errors import CommandError, one_line
from sibyl.files import STDOUT
from sibyl.mpi.run import run_program
from sibyl.mpi.run_options import HostfileOption, LauncherOption, RunOptions
from sibyl.node_options import NodeOptions
from sibyl.option_classes import takes_options
from sibyl.streams import NotPrinted, take_streams
from sibyl.terminal import say

app = typer.Typer(
    help="MPI collectives that know who is late: run programs under Sibyl, look into its plans.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
)


Collective = Annotated[
    str,
    typer.Argument(metavar="COLLECTIVE", show_default=False, autocompletion=complete_collective),
]


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"sibyl {__version__}")
        raise typer.Exit(0)


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class LocalRunOptions(RunOptions):
    """How a program is to be run where no cluster of ours is."""

    launcher: LauncherOption = None
    predict: Annotated[
        str | None,
        typer.Option(
            metavar="off|piggyback|root-led|periodic|background",
            help="Who is predicted to be late, and how that is found out "
            "(docs/explanation/prediction.md).",
        ),
    ] = None
    reproducible: Annotated[
        bool,
        typer.Option("--reproducible", help="Reductions give the same bits in every run."),
    ] = False
    govern: Annotated[
        bool | None,
        typer.Option(
            "--govern/--no-govern",
            help="Whether call sites that the MPI library serves faster are left to it "
            "(docs/explanation/governor.md).",
            show_default=False,
        ),
    ] = None
    learn: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write what that finds as a selection table, for SIBYL_TABLE."
        ),
    ] = None


@app.command(
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": False},
    options_metavar="[OPTIONS] --",
)
@takes_options
def run(
    program: Annotated[list[str], typer.Argument(metavar="PROGRAM [ARGS]", show_default=False)],
    options: LocalRunOptions,
    hostfile: HostfileOption = None,
    hang_after: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="When a call has lasted so long, and at SIGUSR1, print where every rank is; "
            "collectives that do not match are named at once.",
        ),
    ] = None,
    compare: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            help="Run it K times with and without Sibyl, in turns, and compare the wall times; its "
            "output is not shown.",
        ),
    ] = None,
    same_output: Annotated[
        bool,
        typer.Option("--same-output", help="With --compare: all runs must print the same lines."),
    ] = False,
    json: Annotated[
        Path | None,
        typer.Option(metavar="FILE|-", help="With --compare: write the times and their ratio."),
    ] = None,
) -> int:
    """Run an unmodified MPI program with its collectives served by Sibyl."""
    if compare is not None:
        if hang_after is not None:
            raise CommandError("--hang-after watches one run; leave out --compare")
        from sibyl.commands.compare import compare as compare_runs

        return compare_runs(program, options, hostfile, compare, same_output, json)
    if same_output or json is not None:
        raise CommandError("--same-output and --json go with --compare; see --report")
    if hang_after is not None:
        from sibyl.commands.watched_run import run_watched

        return run_watched(program, options, hostfile, hang_after)
    return run_program(program, options, hostfile)


@app.command()
def algorithms(
    json: Annotated[bool, typer.Option("--json", help="The whole table as JSON.")] = False,
    file: Annotated[
        Path, typer.Argument(metavar="FILE|-", help="Where --json goes.", show_default="stdout")
    ] = STDOUT,
) -> int:
    """List the algorithms, their restrictions and their sources."""
    from sibyl.commands.algorithms import list_algorithms

    return list_algorithms(json, file)


@app.command()
@takes_options
def plan(
    collective: Collective,
    options: PlanOptions,
    nodes: NodeOptions,
    outputs: PlanOutputs,
) -> int:
    """Plan a collective: print a summary, or write the plan as JSON, SVG or GOAL."""
    return write_plan(collective, options, nodes, outputs)


@app.command()
def verify(
    collective: Collective,
    ranks: Annotated[
        str, typer.Option(metavar="A..B", help="Numbers of ranks, both ends included.")
    ],
    algorithm: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="One algorithm; all if absent.",
            autocompletion=complete_algorithm,
        ),
    ] = None,
    roots: Annotated[
        str, typer.Option(metavar="all|sample", help="Every root, or up to eight of them.")
    ] = "sample",
    json: Annotated[
        Path | None, typer.Option(metavar="FILE|-", help="Write what was proven as JSON.")
    ] = None,
) -> int:
    """Prove plans: complete, nothing twice, in order, matched, free of deadlock."""
    from sibyl.commands.verify import verify_plans

    return verify_plans(collective, algorithm, ranks, roots, json)


@app.command("fft-plot")
def fft_plot(
    document: Annotated[
        Path, typer.Argument(metavar="FILE.json", help="What sibyl-fft --json has written.")
    ],
    picture: Annotated[Path, typer.Argument(metavar="PICTURE", help="A .png, .svg or .pdf file.")],
) -> int:
    """Draw the spectrum and the waterfall of a run of sibyl-fft."""
    from sibyl.commands.fft_plot import draw

    return draw(document, picture)


@app.command()
def predict(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", show_default=False)],
    predictor: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="last, sma:K, ewma:A or best, as often as wanted; a choice of all if absent.",
        ),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write every arrival and prediction.")
    ] = None,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE|-", help="Write the errors as JSON.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Draw predicted and true arrivals.")
    ] = None,
) -> int:
    """Replay recorded arrivals through the predictors: how far each is off, which is best."""
    from sibyl.commands.predict import predict_trace

    return predict_trace(trace, predictor or [], csv, json, plot)


@app.command()
def doctor(
    json: Annotated[
        Path | None, typer.Option(metavar="FILE|-", help="Write what was found as JSON.")
    ] = None,
) -> int:
    """Say what is installed, whether Sibyl fits it, what is missing and how to mend it."""
    from sibyl.commands.doctor import examine

    return examine(json)


app.add_typer(cluster)


app.command()(bench)
app.command()(guidelines)
app.command()(simulate)
app.command(
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": False},
    options_metavar="[OPTIONS] --",
)(profile)
app.command()(reproduce)


def _command_named(words: Sequence[str]) -> str:
    """The command of these words, as far as they name one: not all of typer's errors know it."""
    command: Any = typer.main.get_command(app)
    path = ["sibyl"]
    for word in words:
        command = getattr(command, "commands", {}).get(word)
        if command is None:
            break
        path.append(word)
    return " ".join(path)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and leave the process with its exit code.

    Args:
        arguments: the words after `sibyl`; those of the process if None.
    """
    take_streams()
    words = sys.argv[1:] if arguments is None else arguments
    code = _told(lambda: _run_command(words))
    unprinted = _told(_flush)
    sys.exit(code or unprinted)


def _told(action: Callable[[], int]) -> int:
    """The exit code of an action; why it cannot be done is told."""
    try:
        return action()
    except CommandError as error:
        say(str(error))
        return error.exit_code
    except NotPrinted as error:
        say(str(error))
        return CommandError.exit_code


def _flush() -> int:
    sys.stdout.flush()
    return 0


def _no_place(error: FileNotFoundError) -> str:
    """In words, of an error that names no file: Python's tempfile knows the usual reason not."""
    if error.strerror == os.strerror(errno.ENOENT):
        return "the working directory is gone; change to one that is there"
    return f"{error.strerror}: make room in one of them, or set TMPDIR"


def _run_command(words: Sequence[str]) -> int:
    """The exit code of the command of these words; errors of usage are told.

    Raises:
        CommandError: it cannot be done.
    """
    try:
        return app(args=words, prog_name="sibyl", standalone_mode=False) or 0
    except typer.Abort:
        return 130
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            where = error.filename or "the working directory or that of temporary files"
            raise CommandError(f"{error.strerror}: {where}; make room there") from error
        if isinstance(error, FileNotFoundError) and error.filename is None:
            raise CommandError(_no_place(error)) from error
        raise
    except MemoryError as error:
        raise CommandError("there is not enough memory for that; ask for less of it") from error
    except Exception as error:
        # typer's own errors of usage (unknown option, missing argument, ...) carry the line and
        # the exit code; their class has moved between versions of typer.
        format_message = getattr(error, "format_message", None)
        if format_message is None:
            raise
        message = one_line(format_message())
        if not message:  # the help was asked for and has been printed
            return int(getattr(error, "exit_code", 2))
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else _command_named(words)
        say(f"{message} (see: {command} --help)")
        return int(getattr(error, "exit_code", 2))
