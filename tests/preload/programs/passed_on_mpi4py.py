"""Collectives that Sibyl leaves to the MPI library and yet counts, from Python."""

from mpi4py import MPI

world = MPI.COMM_WORLD
EACH = 3
lines = []


def ints(length, first):
    array = memoryview(bytearray(4 * length)).cast("i")
    for i in range(length):
        array[i] = first + i
    return array


send = ints(EACH * world.size, 1000 * world.rank)
counts = [EACH] * world.size
places = [EACH * r for r in range(world.size)]
in_bytes = [4 * place for place in places]
types = [MPI.INT] * world.size
for _ in range(3):
    receive = ints(EACH * world.size, 0)
    world.Alltoallw([send, counts, in_bytes, types], [receive, counts, in_bytes, types])
    lines.append(f"{world.rank} alltoallw {list(receive)}")
ring = world.Create_cart([world.size], [True])
counts, places, in_bytes, types = counts[:2], places[:2], in_bytes[:2], types[:2]
for _ in range(2):
    receive = ints(2 * EACH, 0)
    ring.Neighbor_allgather([send, EACH, MPI.INT], [receive, EACH, MPI.INT])
    lines.append(f"{world.rank} neighbor_allgather {list(receive)}")
    ring.Neighbor_allgatherv([send, EACH, MPI.INT], [receive, counts, places, MPI.INT])
    lines.append(f"{world.rank} neighbor_allgatherv {list(receive)}")
    ring.Neighbor_alltoall([send, EACH, MPI.INT], [receive, EACH, MPI.INT])
    lines.append(f"{world.rank} neighbor_alltoall {list(receive)}")
    ring.Neighbor_alltoallv([send, counts, places, MPI.INT], [receive, counts, places, MPI.INT])
    lines.append(f"{world.rank} neighbor_alltoallv {list(receive)}")
    ring.Neighbor_alltoallw([send, counts, in_bytes, types], [receive, counts, in_bytes, types])
    lines.append(f"{world.rank} neighbor_alltoallw {list(receive)}")
print("\n".join(lines))
