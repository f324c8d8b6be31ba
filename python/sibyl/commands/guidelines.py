"""`sibyl guidelines`: judge an MPI library by performance guidelines."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sibyl.commands import where


def guidelines(
    collectives: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Whose guidelines: gather, gatherv, scatter, scatterv, exscan, reduce; all if "
            "absent.",
        ),
    ] = None,
    problems: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Block sizes: same, random, spikes, decreasing, alternating, two-blocks; all if "
            "absent.",
        ),
    ] = None,
    blocks: Annotated[
        str, typer.Option(metavar="B,...", help="Average blocks, in MPI_INTs.")
    ] = "1,10,100,1000,10000",
    under: Annotated[
        str,
        typer.Option(
            metavar="native|sibyl",
            help="sibyl: judge the left sides that Sibyl serves as well, beside the MPI library's.",
        ),
    ] = "native",
    pattern: Annotated[
        str,
        typer.Option(
            metavar="none|SHAPE,...|FILE",
            help="Arrivals: none (a barrier before each call, as in the paper), flat, uniform, "
            "skewed, root-late, fixed, normal, exponential, or a file of arrival times.",
        ),
    ] = "none",
    max_delay: Annotated[
        str, typer.Option(metavar="T,...", help="Largest delays of the patterns, as in 1ms.")
    ] = "0",
    ranks: Annotated[
        str | None,
        typer.Option(
            "-n",
            "--ranks",
            metavar="N,...",
            help="Ranks; on the cluster, hosts. The root is N/2.",
        ),
    ] = None,
    on: where.On = "local",
    mpi: where.Mpi = None,
    rate: where.Rate = "100mbit",
    platform: where.Platform = "infiniband-35x16",
    ranks_per_node: where.RanksPerNode = 1,
    iterations: Annotated[
        int | None,
        typer.Option(metavar="K", help="Measurements per side and case; 75, simulated 1."),
    ] = None,
    warm_up: Annotated[
        int | None,
        typer.Option(metavar="K", help="Unmeasured ones before them; 10, simulated 1."),
    ] = None,
    compute: Annotated[
        str, typer.Option(metavar="T", help="Emulated computation before late arrivals.")
    ] = "5ms",
    seed: Annotated[int, typer.Option(metavar="S", help="Of counts, patterns, turns.")] = 1,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a table.")] = None,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write everything, with raw samples.")
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR|FILE.html", help="Write a page with pictures, in one file (index.html)."
        ),
    ] = None,
    tables: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Measure each library's own algorithms too, and write what was learned as "
            "selection tables: for Sibyl, and for the MPI library.",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where the same command was interrupted.")
    ] = False,
) -> int:
    """Judge an MPI library by performance guidelines: no collective slower than its substitutes."""
    from sibyl.guidelines.session import Outputs, Wishes, run_session

    wishes = Wishes(
        collectives=collectives,
        problems=problems,
        blocks=blocks,
        under=under,
        pattern=pattern,
        max_delay=max_delay,
        ranks=ranks,
        on=on,
        mpi=mpi,
        rate=rate,
        iterations=iterations,
        warm_up=warm_up,
        compute=compute,
        seed=seed,
        platform=platform,
        ranks_per_node=ranks_per_node,
    )
    return run_session(wishes, Outputs(csv, json, page, tables, resume), sys.argv[2:])
