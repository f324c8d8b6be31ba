"""Collectives in which every rank gets a result, from Python; it knows nothing of Sibyl."""

from mpi4py import MPI

world = MPI.COMM_WORLD
lines = []


def show(what, variant, values):
    lines.append(f"{what} {variant} rank {world.rank}: {list(values)}")


def ints(length, value=7):
    """A buffer of ints."""
    array = memoryview(bytearray(4 * length)).cast("i")
    array[:] = memoryview(b"".join(value.to_bytes(4, "little") for _ in range(length))).cast("i")
    return array


for comm in (world, world.Split(world.rank % 2, -world.rank)):
    p, me = comm.size, comm.rank
    for variant in range(6):
        send = ints(8 * p)
        for i in range(len(send)):
            send[i] = me * 7 + i * 3 + variant
        receive = ints(8 * p)
        comm.Allreduce([send, MPI.INT], [receive, MPI.INT], op=MPI.SUM)
        show("allreduce", variant, receive)
        receive[:] = send
        comm.Allreduce(MPI.IN_PLACE, [receive, MPI.INT], op=MPI.BXOR)
        show("allreduce in place", variant, receive)
        show("allreduce of objects", variant, [comm.allreduce(f"<{me}>")])
        for root in range(p):
            receive[:] = send
            comm.Bcast([receive, MPI.INT], root)
            show("bcast", root, receive)
            show("bcast of objects", root, [comm.bcast({"from": me}, root)])
        counts = [(r * 5 + variant) % 8 for r in range(p)]
        places = [8 * (p - 1 - r) for r in range(p)]
        receive = ints(8 * p)
        vector = [send, sum(counts), MPI.INT]
        comm.Reduce_scatter(vector, [receive, counts[me], MPI.INT], counts, MPI.SUM)
        show("reduce_scatter", variant, receive)
        comm.Reduce_scatter_block([send, MPI.INT], [receive, 8, MPI.INT], MPI.MAX)
        show("reduce_scatter_block", variant, receive)
        comm.Allgather([send, 8, MPI.INT], [receive, 8, MPI.INT])
        show("allgather", variant, receive)
        comm.Allgather(MPI.IN_PLACE, [receive, 8, MPI.INT])
        show("allgather in place", variant, receive)
        show("allgather of objects", variant, comm.allgather("x" * me))
        receive = ints(8 * p)
        comm.Allgatherv([send, counts[me], MPI.INT], [receive, counts, places, MPI.INT])
        show("allgatherv", variant, receive)
        comm.Allgatherv(MPI.IN_PLACE, [receive, counts, places, MPI.INT])
        show("allgatherv in place", variant, receive)
        comm.Alltoall([send, 8, MPI.INT], [receive, 8, MPI.INT])
        show("alltoall", variant, receive)
        comm.Alltoall(MPI.IN_PLACE, [receive, 8, MPI.INT])
        show("alltoall in place", variant, receive)
        show("alltoall of objects", variant, comm.alltoall([(me, r) for r in range(p)]))
        counts = [(r + me + variant) % 8 for r in range(p)]
        receive = ints(8 * p)
        comm.Alltoallv([send, counts, places, MPI.INT], [receive, counts, places, MPI.INT])
        show("alltoallv", variant, receive)
        comm.Alltoallv(MPI.IN_PLACE, [receive, counts, places, MPI.INT])
        show("alltoallv in place", variant, receive)
        comm.Barrier()
print("\n".join(lines))
