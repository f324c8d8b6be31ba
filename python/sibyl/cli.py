"""The `sibyl` command: its grammar, and how errors leave it.

Every subcommand returns its exit code. Bad input ends in one line on stderr and exit code 2,
whether typer or Sibyl notices it.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from sibyl import __version__
from sibyl.commands.bench import bench
from sibyl.commands.cluster import cluster
from sibyl.commands.guidelines import guidelines
from sibyl.commands.reproduce import reproduce
from sibyl.commands.simulate import simulate
from sibyl.errors import CommandError, one_line

app = typer.Typer(
    help="MPI collectives that know who is late: run programs under Sibyl, look into its plans.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
)


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


@app.command(
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": False},
    options_metavar="[OPTIONS] --",
)
def run(
    program: Annotated[list[str], typer.Argument(metavar="PROGRAM [ARGS]", show_default=False)],
    ranks: Annotated[
        int | None,
        typer.Option("-n", "--ranks", metavar="N", help="Ranks; the launcher's default if absent."),
    ] = None,
    mpi: Annotated[
        str | None,
        typer.Option(
            metavar="openmpi|mpich|DIR",
            help="Which MPI; the one that the program is linked with if absent.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="COLLECTIVE=ALGORITHM",
            help="Algorithm of a collective; also native (the MPI library's own) and auto.",
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="Write the report of the run to this file."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print no table at the end.")] = False,
    launcher_args: Annotated[
        str | None,
        typer.Option(metavar="WORDS", help="More words for the launcher, as in '--host a,b'."),
    ] = None,
    hostfile: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The hosts: HOST, HOST slots=N or HOST:N a line."),
    ] = None,
    launcher: Annotated[
        str | None,
        typer.Option(
            metavar="srun|mpiexec",
            help="What starts the ranks; inside a Slurm job srun if absent.",
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json",
            help="Write when each rank joined each collective; sibyl bench --pattern replays it.",
        ),
    ] = None,
    predict: Annotated[
        str | None,
        typer.Option(
            metavar="root-led|periodic|background",
            help="Serve gather and scatter in the order in which ranks are predicted to arrive.",
        ),
    ] = None,
) -> int:
    """Run an unmodified MPI program with its collectives served by Sibyl."""
    from sibyl.mpi.run import RunOptions, run_program

    options = RunOptions(
        ranks,
        mpi,
        settings or [],
        report,
        quiet,
        launcher_args,
        launcher,
        record=record,
        predict=predict,
    )
    return run_program(program, options, hostfile)


@app.command()
def algorithms(
    json: Annotated[bool, typer.Option("--json", help="The whole table as JSON.")] = False,
) -> int:
    """List the algorithms, their restrictions and their sources."""
    from sibyl.commands.algorithms import list_algorithms

    return list_algorithms(json)


@app.command()
def plan(
    collective: Annotated[str, typer.Argument(metavar="COLLECTIVE", show_default=False)],
    algorithm: Annotated[
        str, typer.Option(metavar="NAME", help="See: sibyl algorithms.", show_default=False)
    ],
    ranks: Annotated[int, typer.Option(metavar="P", help="Number of ranks.", show_default=False)],
    root: Annotated[int, typer.Option(metavar="R", help="Root of gather, scatter and reduce.")] = 0,
    count: Annotated[
        int | None,
        typer.Option(metavar="M", help="Elements per vector or block; recorded, sizes in GOAL."),
    ] = None,
    order: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Order of the ranks other than the root, one a line."),
    ] = None,
    in_place: Annotated[bool, typer.Option("--in-place", help="Plan for MPI_IN_PLACE.")] = False,
    background: Annotated[
        bool, typer.Option("--background", help="Open the gates that the algorithm can open.")
    ] = False,
    operator_rounds: Annotated[
        int, typer.Option(metavar="Q", help="Scan family: rounds with the operator; 0: its own.")
    ] = 0,
    ranks_per_node: Annotated[
        int,
        typer.Option(metavar="K", help="Two-level, trees: consecutive ranks that share a node."),
    ] = 1,
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|A,B,...",
            help="Gatherv, scatterv: size of each rank's block; all alike if absent.",
        ),
    ] = None,
    direct_from: Annotated[
        int | None,
        typer.Option(metavar="SIZE", help="Gatherv, scatterv: blocks of this size go straight."),
    ] = None,
    arrivals: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|SHAPE",
            help="Reduce: one arrival time a line, or flat, uniform:MAX:SEED, skewed:MAX, ... with "
            "MAX in seconds; all at once if absent.",
        ),
    ] = None,
    segments: Annotated[
        int, typer.Option(metavar="N", help="Reduce: parts that the vector is cut into.")
    ] = 1,
    round_time: Annotated[
        float, typer.Option(metavar="D", help="Reduce: seconds that a round takes.")
    ] = 1.0,
    generator: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Reduce: linear, pairing-heap, segment-tree or fast; all give the same schedule.",
        ),
    ] = "fast",
    root_order: Annotated[
        str,
        typer.Option(
            metavar="first|availability", help="Reduce: where the root stands among senders."
        ),
    ] = "first",
    events: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.csv|-", help="Reduce: write the schedule: round,sender,receiver,segment."
        ),
    ] = None,
    json: Annotated[
        str | None, typer.Option(metavar="FILE|-", help="Write the plan as JSON (-: stdout).")
    ] = None,
    svg: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw the plan as a space-time picture.")
    ] = None,
    goal: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the plan for LogGOPSim.")
    ] = None,
    html: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Clairvoyant: a page that plays the schedule."),
    ] = None,
) -> int:
    """Plan a collective: print a summary, or write the plan as JSON, SVG or GOAL."""
    from sibyl.commands.plan import PlanOptions, write_plan

    return write_plan(
        PlanOptions(
            collective=collective,
            algorithm=algorithm,
            ranks=ranks,
            root=root,
            count=count,
            order=order,
            in_place=in_place,
            background=background,
            operator_rounds=operator_rounds,
            ranks_per_node=ranks_per_node,
            sizes=sizes,
            direct_from=direct_from,
            arrivals=arrivals,
            segments=segments,
            round_time=round_time,
            generator=generator,
            root_order=root_order,
        ),
        json,
        svg,
        goal,
        events,
        html,
    )


@app.command()
def verify(
    collective: Annotated[str, typer.Argument(metavar="COLLECTIVE", show_default=False)],
    ranks: Annotated[
        str, typer.Option(metavar="A..B", help="Numbers of ranks, both ends included.")
    ],
    algorithm: Annotated[
        str | None, typer.Option(metavar="NAME", help="One algorithm; all if absent.")
    ] = None,
    roots: Annotated[
        str, typer.Option(metavar="all|sample", help="Every root, or up to eight of them.")
    ] = "sample",
) -> int:
    """Prove plans: complete, nothing twice, in order, matched, free of deadlock."""
    from sibyl.commands.verify import verify_plans

    return verify_plans(collective, algorithm, ranks, roots)


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
        Path | None, typer.Option(metavar="FILE", help="Write the errors as JSON.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Draw predicted and true arrivals.")
    ] = None,
) -> int:
    """Replay recorded arrivals through the predictors: how far each is off, which is best."""
    from sibyl.commands.predict import predict_trace

    return predict_trace(trace, predictor or [], csv, json, plot)


@app.command()
def doctor() -> int:
    """Say what is installed, whether Sibyl fits it, what is missing and how to mend it."""
    from sibyl.commands.doctor import examine

    return examine()


app.add_typer(cluster)


app.command()(bench)
app.command()(guidelines)
app.command()(simulate)
app.command()(reproduce)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and leave the process with its exit code.

    Args:
        arguments: the words after `sibyl`; those of the process if None.
    """
    try:
        code = app(args=arguments, prog_name="sibyl", standalone_mode=False)
    except CommandError as error:
        print(f"sibyl: {one_line(str(error))}", file=sys.stderr)
        code = error.exit_code
    except typer.Abort:
        code = 130
    except Exception as error:
        # typer's own errors of usage (unknown option, missing argument, ...) carry the line and
        # the exit code; their class has moved between versions of typer.
        format_message = getattr(error, "format_message", None)
        if format_message is None:
            raise
        message = one_line(format_message())
        if not message:  # the help was asked for and has been printed
            sys.exit(getattr(error, "exit_code", 2))
        print(f"sibyl: {message} (see: sibyl --help)", file=sys.stderr)
        code = getattr(error, "exit_code", 2)
    sys.exit(code or 0)
