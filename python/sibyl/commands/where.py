"""The options that say where collectives are measured, of every command that measures them."""

from typing import Annotated

import typer

On = Annotated[
    str, typer.Option(metavar="local|cluster|smpi", help="Where; smpi: a simulated cluster.")
]
Mpi = Annotated[
    str | None,
    typer.Option(
        metavar="openmpi|mpich|DIR", help="Which MPI; whose choices are simulated on smpi."
    ),
]
Rate = Annotated[str, typer.Option(metavar="RATE", help="Of each host's link on the cluster.")]
Platform = Annotated[
    str, typer.Option(metavar="NAME", help="Of the simulated cluster, see platforms/.")
]
RanksPerNode = Annotated[int, typer.Option(metavar="K", help="Of the cluster; -n is a multiple.")]
