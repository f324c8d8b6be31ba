"""Two reduces of one size on two lines - allreduces, where an argument says so - with another rank
late before each: rank 1 before the first, rank 2 before the second. Prints OK."""

import sys
import time
from array import array

from mpi4py import MPI

STEPS, COUNT = 40, 1 << 18
world = MPI.COMM_WORLD


def come_late(late):
    world.Barrier()
    if world.rank == late:
        time.sleep(0.02)


total = array("i", [0]) * COUNT
right = True
for step in range(STEPS):
    own = array("i", [step + world.rank]) * COUNT
    if len(sys.argv) > 1:
        come_late(1)
        world.Allreduce(own, total)
        first = total[-1]
        come_late(2)
        world.Allreduce(own, total)
    else:
        come_late(1)
        world.Reduce(own, total)
        first = total[-1]
        come_late(2)
        world.Reduce(own, total)
    expected = world.size * step + world.size * (world.size - 1) // 2
    right = right and (world.rank != 0 or first == total[0] == expected)
if world.rank == 0:
    print("OK" if right else "wrong sums", flush=True)
