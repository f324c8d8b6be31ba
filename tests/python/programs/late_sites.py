"""Known ranks are late at known lines of a program of mpi4py; see late_sites.c."""

import time

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD


class Model:
    """Something with a method."""

    def step(self) -> None:
        world.Barrier()
        if world.rank == 2:
            time.sleep(0.06)
        world.Allreduce(numpy.ones(50), numpy.zeros(50))  # at allreduce

    def report(self) -> None:
        world.Barrier()
        if world.rank == 1:
            time.sleep(0.06)
        world.bcast({"rank": world.rank}, root=1)  # at bcast


model = Model()
for _ in range(12):
    model.step()
    model.report()
