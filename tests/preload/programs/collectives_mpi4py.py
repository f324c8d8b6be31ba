"""The four collectives from Python; it knows nothing of Sibyl."""

from mpi4py import MPI

world = MPI.COMM_WORLD
lines = []


def show(what, variant, values):
    lines.append(f"{what} {variant} rank {world.rank}: {list(values)}")


for comm in (world, world.Split(world.rank % 2, -world.rank)):
    for variant in range(6):
        send = memoryview(bytearray(32)).cast("i")
        for i in range(len(send)):
            send[i] = comm.rank * 7 + i * 3 + variant
        receive = memoryview(bytearray(b"\x07" * 32)).cast("i")
        comm.Exscan([send, MPI.INT], [receive, MPI.INT], op=MPI.SUM)
        show("exscan", variant, receive)
        receive[:] = send
        comm.Exscan(MPI.IN_PLACE, [receive, MPI.INT], op=MPI.BXOR)
        show("exscan in place", variant, receive)
        comm.Scan([send, MPI.INT], [receive, MPI.INT], op=MPI.MAX)
        show("scan", variant, receive)
        show("scan of objects", variant, [comm.scan(f"<{comm.rank}>")])
        for root in range(comm.size):
            everything = memoryview(bytearray(32 * comm.size)).cast("i")
            comm.Gather([send, MPI.INT], [everything, MPI.INT] if comm.rank == root else None, root)
            show("gather", root, everything)
            comm.Reduce(
                MPI.IN_PLACE if comm.rank == root else [send, MPI.INT],
                [receive, MPI.INT] if comm.rank == root else None,
                MPI.SUM,
                root,
            )
            show("reduce", root, receive)
            comm.Scatter(
                [everything, MPI.INT] if comm.rank == root else None, [receive, MPI.INT], root
            )
            show("scatter", root, receive)
            counts = [(r * 5 + variant) % 9 for r in range(comm.size)]
            places = [8 * r for r in range(comm.size)]
            whole = [everything, counts, places, MPI.INT] if comm.rank == root else None
            comm.Gatherv([send, counts[comm.rank], MPI.INT], whole, root)
            show("gatherv", root, everything)
            comm.Scatterv(whole, [receive, counts[comm.rank], MPI.INT], root)
            show("scatterv", root, receive)
print("\n".join(lines))
