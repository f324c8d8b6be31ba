"""An iterative program that tells Sibyl how far its computation is, in a page of mpi4py.

    mpiexec -n 4 python persistent.py [ALGORITHM [ITERATIONS]]

Every rank computes as long as its share takes (rank r: 20 + 5 r ms); rank 0 gathers the results
with the algorithm named (BSLS by default: linear-synchronised, in the order of arrival, in the
background), checks them and prints one line.
"""

import sys
import time

import numpy as np
from mpi4py import MPI

from sibyl.persistent import gather_init

comm = MPI.COMM_WORLD
algorithm = sys.argv[1] if len(sys.argv) > 1 else "BSLS"
iterations = int(sys.argv[2]) if len(sys.argv) > 2 else 10
half = (20 + 5 * comm.rank) * 1e-3 / 2
mine = np.empty(20000)
everyones = np.empty((comm.size, mine.size)) if comm.rank == 0 else None
wrong, waited = 0, 0.0

with gather_init(mine, everyones, comm, root=0, algorithm=algorithm) as request:
    for iteration in range(iterations):
        request.start()  # from now on `everyones` belongs to Sibyl
        time.sleep(half)
        request.edge(0.5)
        time.sleep(half)
        mine[:] = comm.rank + 1000 * iteration
        begin = time.perf_counter()
        request.arrive()  # and `mine` as well
        request.wait()
        waited += time.perf_counter() - begin
        if comm.rank == 0:
            expected = np.arange(comm.size)[:, None] + 1000 * iteration
            wrong += int(np.any(everyones != expected))

if comm.rank == 0:
    print(f"{iterations} iterations of {comm.size} ranks by {algorithm}, {wrong} wrong")
    print(f"rank 0 waited {1e3 * waited / iterations:.1f} ms in each")
sys.exit(1 if wrong else 0)
