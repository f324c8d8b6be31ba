"""Collectives from Python; the last rank comes late to every reduce of the loop.

Lines that tests name end in a comment.
"""

import time

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
late = world.rank == world.size - 1


def step(send, receive):
    for _ in range(5):
        if late:
            time.sleep(0.02)
        world.Reduce(send, receive)  # late reduce


def main():
    send = np.arange(100, dtype="i")
    receive = np.zeros(100 * world.size, dtype="i")
    world.Barrier()  # first barrier
    world.Barrier()  # second barrier
    step(send, receive[:100])
    world.Bcast(send[:9], root=0)  # bcast
    total = world.allreduce(world.rank)  # of an object
    world.Allgather(MPI.IN_PLACE, receive[: 7 * world.size])
    for pair in (send[:2], receive[:2]), (send[:3], receive[:3]):
        _ = world.Scan(*pair), world.Scan(*pair)  # two on a line
    world.Alltoall(np.arange(8 * world.size, dtype="i"), receive[: 8 * world.size])
    right, left = (world.rank + 1) % world.size, (world.rank - 1) % world.size
    world.Sendrecv(send[:1], right, 0, receive[:1], left, 0)  # sendrecv
    request = world.Isend(send[:1], right)
    world.Recv(receive[:1], left)  # recv
    request.Wait()
    if world.rank == 0:
        print("done", total)


main()
