"""`sibyl bench`: collectives under arrival patterns, Sibyl's beside the MPI library's own."""

import sys
from typing import Annotated

import typer

from sibyl.arguments import complete_collective
from sibyl.bench.options import Outputs, Wishes, check_used, options_of
from sibyl.option_classes import takes_options

# What takes a few of the options only: their fields.
USED = {
    "clairvoyant-schedule": ("iterations", "seed", "csv", "plot"),
    "thread": ("ranks", "mpi", "iterations", "compute", "json"),
    "calls": ("csv", "json"),
}


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
            f"generators of reduce schedules ({options_of(USED['clairvoyant-schedule'])}); or "
            f"thread: what the thread in the background costs ({options_of(USED['thread'])}); or "
            "calls: whether Sibyl is ever slower, from samples of bare calls on standard input "
            f"that sibyl-bench-FLAVOUR prints ({options_of(USED['calls'])}).",
            show_default=False,
            autocompletion=complete_collective,
        ),
    ],
    wishes: Wishes,
    outputs: Outputs,
) -> int:
    """Measure a collective under arrival patterns, Sibyl's algorithms beside the native one."""
    if collective in USED:
        check_used(collective, USED[collective], wishes, outputs)
        outputs.check(wishes)
    if collective == "clairvoyant-schedule":  # needs no MPI
        from sibyl.bench.clairvoyant_schedule import clairvoyant_schedule

        iterations = 32 if wishes.iterations is None else wishes.iterations
        return clairvoyant_schedule(
            iterations, seed=wishes.seed, csv=outputs.csv, plot=outputs.plot
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
