"""Known ranks are late at known lines of a program of mpi4py; see late_sites.c."""

import os
import time
from pathlib import Path

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
folder = os.environ.get("ARRIVALS")
arrivals = (Path(folder) / str(world.rank)).open("w") if folder else None


def arrive(site: str) -> None:
    if arrivals is not None:
        arrivals.write(f"{site} {time.monotonic_ns()}\n")


class Model:
    """Something with a method."""

    def step(self) -> None:
        world.Barrier()
        if world.rank == 2:
            time.sleep(0.04)
        arrive("allreduce")
        world.Allreduce(numpy.ones(50), numpy.zeros(50))  # at allreduce

    def report(self) -> None:
        world.Barrier()
        if world.rank == 1:
            time.sleep(0.04)
        arrive("bcast")
        world.bcast({"rank": world.rank}, root=1)  # at bcast

    def total(self) -> None:
        world.Barrier()
        if world.rank == 1:
            time.sleep(0.04)
        arrive("sum")
        world.allreduce(world.rank)  # at sum


model = Model()
world.allreduce(0)  # mpi4py makes its communicator, for which all wait
for _ in range(24):
    model.step()
    model.total()
    model.report()
if arrivals is not None:
    arrivals.close()
