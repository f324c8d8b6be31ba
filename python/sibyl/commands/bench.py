"""`sibyl bench`: collectives under arrival patterns, Sibyl's beside the MPI library's own."""

import sys
from typing import Annotated

import typer

from sibyl.arguments import complete_collective
from sibyl.bench.options import Outputs, Wishes
from sibyl.option_classes import takes_options


@takes_options
def bench(
    collective: Annotated[
        str,
        typer.Argument(
            metavar="COLLECTIVE",
            help="A collective; or all: every collective, judged together, on one page "
            "(`governed` beside native if --algorithms is absent); or grid: the same on one host "
            "and on clusters, under several MPIs, of ranks that sleep and that spin (--pieces, "
            "--minutes, --resume, --page); or clairvoyant-schedule: the "
            "generators of reduce schedules (--iterations, --seed, --csv, --plot); or thread: what "
            "the thread in the background costs (-n, --mpi, --iterations, --compute, --json); or "
            "calls: whether Sibyl is ever slower, from samples of bare calls on standard input "
            "that sibyl-bench-FLAVOUR prints (--csv, --json).",
            show_default=False,
            autocompletion=complete_collective,
        ),
    ],
    wishes: Wishes,
    outputs: Outputs,
) -> int:
    """Measure a collective under arrival patterns, Sibyl's algorithms beside the native one."""
    if collective == "clairvoyant-schedule":  # needs no MPI
        from sibyl.bench.clairvoyant_schedule import clairvoyant_schedule

        return clairvoyant_schedule(
            wishes.iterations or 32, seed=wishes.seed, csv=outputs.csv, plot=outputs.plot
        )
    if collective == "calls":
        from sibyl.bench.calls import judge_input

        return judge_input(outputs)
    if collective == "thread":
        from sibyl.bench.thread_cost import thread_cost

        return thread_cost(wishes, outputs.json)
    if collective == "all":
        from sibyl.bench.all_collectives import run_all

        return run_all(wishes, outputs, sys.argv[2:])
    if collective == "grid":
        from sibyl.bench.whole_grid import run_grid

        return run_grid(wishes, outputs, sys.argv[2:])
    from sibyl.bench.session import run_session

    return run_session(collective, wishes, outputs, sys.argv[2:])
