"""`sibyl bench`: collectives under arrival patterns, Sibyl's beside the MPI library's own."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sibyl.commands import where


def bench(
    collective: Annotated[
        str,
        typer.Argument(
            metavar="COLLECTIVE",
            help="A collective; or clairvoyant-schedule: the generators of reduce schedules "
            "(--iterations, --seed, --csv, --plot); or thread: what the thread in the background "
            "costs (-n, --mpi, --iterations, --compute, --json).",
            show_default=False,
        ),
    ],
    algorithms: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Contenders: native, native:VARIANT, auto, names from `sibyl algorithms`; in the "
            "persistent form persistent, the papers' LIN, LS, SLS, BSLS, BNOM, ... and "
            "edges:NAME; of reduce history:NAME, told what earlier turns suggest. "
            "native, auto and all of Sibyl's if absent.",
        ),
    ] = None,
    reference: Annotated[
        str, typer.Option(metavar="NAME", help="The contender that all others are compared with.")
    ] = "native",
    pattern: Annotated[
        str,
        typer.Option(
            metavar="SHAPE,...|FILE",
            help="Arrivals: flat, uniform, skewed, root-late, fixed, normal, exponential, a file "
            "of arrival times (FILE#N: call site N of a recording), or none: bare calls after a "
            "barrier.",
        ),
    ] = "uniform",
    max_delay: Annotated[
        str, typer.Option(metavar="T,...", help="Largest delays, as in 0,1ms,5ms.")
    ] = "0",
    size: Annotated[
        str,
        typer.Option(
            metavar="BYTES,...",
            help="In all at the root (gather, scatter), of each rank's vector (reduce, scans).",
        ),
    ] = "1MiB",
    blocks: Annotated[
        str | None,
        typer.Option(
            metavar="B,...",
            help="Instead of --size (gatherv, scatterv): average blocks of the problems of paper "
            "002, in elements, as in `sibyl guidelines`.",
        ),
    ] = None,
    counts: Annotated[
        str,
        typer.Option(
            metavar="SHAPE,...",
            help="Block sizes of gatherv and scatterv: same, random, spikes, decreasing, "
            "alternating, two-blocks.",
        ),
    ] = "same",
    ranks: Annotated[
        str | None,
        typer.Option("-n", "--ranks", metavar="N,...", help="Ranks; on the cluster, hosts."),
    ] = None,
    on: where.On = "local",
    mpi: where.Mpi = None,
    rate: where.Rate = "100mbit",
    platform: where.Platform = "tryton",
    ranks_per_node: where.RanksPerNode = 1,
    iterations: Annotated[
        int | None,
        typer.Option(metavar="K", help="Measurements per cell and contender; 32, simulated 5."),
    ] = None,
    warm_up: Annotated[
        int | None, typer.Option(metavar="K", help="Unmeasured ones before them; 3, simulated 1.")
    ] = None,
    compute: Annotated[
        str, typer.Option(metavar="T", help="Emulated computation without the delay.")
    ] = "20ms",
    prediction: Annotated[
        str,
        typer.Option(
            metavar="right|none|flat|shuffled|one-late",
            help="What Sibyl's reduce is told about the arrivals.",
        ),
    ] = "right",
    operator: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="sum (floats), int-sum, bxor (longs), matrix, modular; sum, and bxor for scans, "
            "if absent.",
        ),
    ] = None,
    root: Annotated[int, typer.Option(metavar="R", help="Of rooted collectives.")] = 0,
    seed: Annotated[int, typer.Option(metavar="S", help="Of patterns, counts, turns.")] = 1,
    metric: Annotated[
        str, typer.Option(metavar="run|elapsed|absorbed", help="The time that is judged.")
    ] = "run",
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a table.")] = None,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write everything, with raw samples.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw (.png, .svg, .pdf); the distributions go to FILE's name with -distribution.",
        ),
    ] = None,
    format: Annotated[str, typer.Option(metavar="table|osu", help="What is printed.")] = "table",
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where the same command was interrupted.")
    ] = False,
) -> int:
    """Measure a collective under arrival patterns, Sibyl's algorithms beside the native one."""
    if collective == "clairvoyant-schedule":  # needs no MPI
        from sibyl.bench.clairvoyant_schedule import clairvoyant_schedule

        return clairvoyant_schedule(instances=iterations or 32, seed=seed, csv=csv, plot=plot)
    if collective == "thread":
        from sibyl.bench.thread_cost import thread_cost
        from sibyl.experiment.units import read_time

        return thread_cost(ranks, mpi, iterations, read_time(compute), json)
    from sibyl.bench.session import Outputs, Wishes, run_session

    wishes = Wishes(
        collective=collective,
        algorithms=algorithms,
        pattern=pattern,
        max_delay=max_delay,
        size=size,
        blocks=blocks,
        counts=counts,
        ranks=ranks,
        on=on,
        mpi=mpi,
        rate=rate,
        platform=platform,
        ranks_per_node=ranks_per_node,
        iterations=iterations,
        warm_up=warm_up,
        compute=compute,
        prediction=prediction,
        operator=operator,
        root=root,
        seed=seed,
        reference=reference,
    )
    return run_session(wishes, Outputs(metric, csv, json, plot, format, resume), sys.argv[2:])
