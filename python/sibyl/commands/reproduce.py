"""`sibyl reproduce`: published tables and figures, and what becomes of their claims."""

from pathlib import Path
from typing import Annotated

import typer

ITERATIONS = 64


def reproduce(
    items: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ITEM]...", help="Listed if absent.", show_default=False),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option("--all", help="All items that are not finished yet, but those on a cluster."),
    ] = False,
    to: Annotated[Path, typer.Option(metavar="DIR", help="Where results go.")] = Path(
        "reproduction"
    ),
    clusters: Annotated[
        bool,
        typer.Option("--clusters", help="With --all: those on a cluster too; root's, and hours."),
    ] = False,
    judge: Annotated[
        bool,
        typer.Option(
            "--judge",
            help="Measure nothing: judge the samples anew that are kept there of items on a "
            "cluster; all of them, or those named.",
        ),
    ] = False,
    iterations: Annotated[
        int | None,
        typer.Option(metavar="K", help="Arrival patterns or instances per cell; 64 if absent."),
    ] = None,
    hosts: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Of the cluster, for items that are measured on one; the paper's if absent.",
        ),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            metavar="RATE",
            help="Of each host's link there; delays scale with it. What a machine of a few "
            "processors plays if absent.",
        ),
    ] = None,
    mpi: Annotated[
        str | None, typer.Option(metavar="openmpi|mpich|DIR", help="Which MPI there.")
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option(metavar="FILE|-", help="Write what became of the claims, or the list."),
    ] = None,
) -> int:
    """Repeat published tables and figures, ours beside theirs, and judge their claims."""
    from sibyl.errors import CommandError
    from sibyl.reproduce.session import Wishes, judge_again, run

    wishes = Wishes(hosts, rate, mpi)
    if judge:
        if everything or clusters or iterations is not None or wishes != Wishes():
            raise CommandError("--judge measures nothing: it goes with names of items and --to")
        return judge_again(items or [], to, json)
    count = ITERATIONS if iterations is None else iterations
    return run(items or [], everything, to, count, wishes, clusters, json)
