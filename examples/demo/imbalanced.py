"""The program of imbalanced.c in Python: `imbalanced.py STEPS COMPUTE_MS LATE_MS`."""

import sys
import time

import numpy
from mpi4py import MPI

ELEMENTS, SLOW_RANK = 1 << 17, 3

steps, compute, late = map(int, sys.argv[1:])
world = MPI.COMM_WORLD
own = (compute + (late if world.rank == SLOW_RANK else 0)) * 1e-3
index = numpy.arange(ELEMENTS)
sums, weights = numpy.empty(ELEMENTS), numpy.zeros(ELEMENTS)
begin = MPI.Wtime()
for step in range(steps):
    time.sleep(own)
    gradients = (world.rank + 1.0) * ((index + step) % 17)
    world.Allreduce(gradients, sums)
    weights += sums
seconds = MPI.Wtime() - begin
if world.rank == 0:
    print(f"seconds {seconds:.3f} checksum {weights @ (index % 7 + 1.0):.17g}")
