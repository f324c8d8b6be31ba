"""Every persistent collective of sibyl.persistent on every rank; exit status 1 when one is wrong.

Started under mpiexec by test_persistent.py with a Python that has mpi4py.
"""

import array
import sys

import numpy as np
from mpi4py import MPI

from sibyl.persistent import (
    PAPER_ALGORITHMS,
    allgather_init,
    allgatherv_init,
    allreduce_init,
    alltoall_init,
    bcast_init,
    exscan_init,
    gather_init,
    gatherv_init,
    reduce_init,
    scatter_init,
    scatterv_init,
)

comm = MPI.COMM_WORLD.Dup()
rank, size = comm.rank, comm.size
last = size - 1


def turn(request, contribute, edge=True):
    """One iteration; `contribute` writes what this rank gives."""
    request.start()
    if edge:
        request.edge(0.5)
    contribute()
    request.arrive()
    if rank % 2:
        while not request.test():
            pass
    else:
        request.wait()


def raises(error_class, action, *arguments, **options):
    """The action must fail with this class of MPI's errors."""
    try:
        action(*arguments, **options)
    except MPI.Exception as error:
        assert error.Get_error_class() == error_class, error
    else:
        raise AssertionError(f"{action} has not failed")


def gathers():
    mine = np.empty(30, np.int32)
    everyones = np.empty((size, 30), np.int32) if rank == last else None
    for algorithm in ("auto", "native", *PAPER_ALGORITHMS):
        with gather_init(mine, everyones, comm, last, algorithm=algorithm) as request:
            for k in range(3):
                turn(request, lambda k=k: mine.fill(100 * k + rank), edge=k != 1)
                if rank == last:
                    assert (everyones == np.arange(size)[:, None] + 100 * k).all(), algorithm
        assert request.freed


def gathers_in_place():
    everyones = np.zeros(2 * size)
    own = MPI.IN_PLACE if rank == 0 else array.array("d", [rank, -rank])
    with gather_init(own, everyones if rank == 0 else None, comm) as request:
        turn(request, lambda: None)
    if rank == 0:
        assert everyones.tolist() == [s * r for r in range(size) for s in (1, -1)]


def scatters():
    blocks = np.empty((size, 7), np.complex64) if rank == 0 else None
    mine = np.empty(7, np.complex64)
    with scatter_init(blocks, mine, comm, algorithm="BSBN", background=False) as request:
        for k in range(3):
            turn(request, lambda k=k: rank or blocks.fill(1j * k))
            assert (mine == 1j * k).all()


def irregular():
    counts = [(3 * r) % 5 for r in range(size)]
    places = [10 * r + 2 for r in range(size)]
    at_root = [np.full(10 * size + 9, -1, np.int64), (counts, places), MPI.INT64_T]
    mine = np.full(counts[rank] + 1, -7, np.int64)
    own = [mine, counts[rank], MPI.INT64_T]
    with gatherv_init(own, at_root if rank == last else None, comm, last) as request:
        turn(request, lambda: mine.fill(rank))
    if rank == last:
        expected = np.full(10 * size + 9, -1)
        for r in range(size):
            expected[places[r] : places[r] + counts[r]] = r
        assert (at_root[0] == expected).all()
    sent = [np.arange(10 * size + 9), (counts, places), MPI.INT64_T] if rank == 0 else None
    mine[:] = -7
    with scatterv_init(sent, own, comm, algorithm="BSLIN") as request:
        turn(request, lambda: None)
    assert mine.tolist() == [*range(places[rank], places[rank] + counts[rank]), -7]


def to_all():
    mine, everyones = np.empty(5, np.int32), np.empty((size, 5), np.int32)
    for algorithm in ("auto", "native", "ring"):
        with allgather_init(mine, everyones, comm, algorithm=algorithm) as request:
            for k in range(3):
                turn(request, lambda k=k: mine.fill(10 * k + rank), edge=k != 1)
                assert (everyones == np.arange(size)[:, None] + 10 * k).all(), algorithm
    with allgather_init(MPI.IN_PLACE, everyones, comm) as request:
        turn(request, lambda: everyones[rank].fill(-rank))
    assert (everyones == -np.arange(size)[:, None]).all()
    counts = [r % 3 + 1 for r in range(size)]
    places = [sum(counts[:r]) for r in range(size)]
    own, all_of_them = np.empty(counts[rank]), np.empty(sum(counts))
    into = [all_of_them, (counts, places), MPI.DOUBLE]
    with allgatherv_init(own, into, comm) as request:
        turn(request, lambda: own.fill(rank))
    assert all_of_them.tolist() == [r for r in range(size) for _ in range(counts[r])]
    sent, got = np.empty((size, 2), np.int32), np.empty((size, 2), np.int32)
    with alltoall_init(sent, got, comm) as request:
        turn(request, lambda: np.copyto(sent, np.arange(size)[:, None] + 100 * rank))
    assert (got == 100 * np.arange(size)[:, None] + rank).all()
    word = np.empty(3)
    with bcast_init(word, comm, last) as request:
        for k in range(3):
            turn(request, lambda k=k: word.fill(k) if rank == last else None)
            assert (word == k).all()
    total = np.empty(3)
    with allreduce_init(word, total, comm, reproducible=True) as request:
        turn(request, lambda: word.fill(rank))
    assert (total == size * last / 2).all()


def reductions():
    mine, total = np.empty(50), np.full(50, -1.0)
    for algorithm in ("auto", "native", "clairvoyant"):
        with reduce_init(mine, total, comm, op=MPI.MAX, algorithm=algorithm) as request:
            for k in range(3):
                turn(request, lambda k=k: mine.fill(rank + k))
                if rank == 0:
                    assert (total == last + k).all(), algorithm

    def larger(given, result, _):
        pair = np.frombuffer(given, np.float64), np.frombuffer(result, np.float64)
        np.maximum(*pair, out=pair[1])

    op = MPI.Op.Create(larger, commute=True)
    with reduce_init(mine, total, comm, op=op, algorithm="binomial") as request:
        turn(request, lambda: mine.fill(10 + rank))
    assert rank != 0 or (total == 10 + last).all()
    op.Free()
    with exscan_init(MPI.IN_PLACE, mine, comm, op=MPI.SUM) as request:
        turn(request, lambda: mine.fill(rank + 1))
    if rank > 0:
        assert (mine == rank * (rank + 1) / 2).all()


def between_groups():
    """A root takes what the other group gives, and names no vector of its own."""
    if size < 2:
        return
    half = size // 2
    own = comm.Split(rank < half, rank)
    both = own.Create_intercomm(0, comm, half if rank < half else 0)
    given = np.full(5, rank, np.int64)
    result = np.empty(5, np.int64) if rank == 0 else None
    root = 0 if rank >= half else MPI.ROOT if rank == 0 else MPI.PROC_NULL
    with reduce_init(given if rank >= half else None, result, both, root) as request:
        request.start()
        request.arrive()
        request.wait()
    if rank == 0:
        assert (result == sum(range(half, size))).all(), result
    both.Free()
    own.Free()


def misuse():
    mine, everyones = np.zeros(3), np.zeros(3 * size)
    raises(MPI.ERR_INFO_VALUE, gather_init, mine, everyones, comm, algorithm="quick")
    raises(MPI.ERR_INFO_VALUE, gather_init, mine, everyones, comm, order="size")
    request = gather_init(mine, everyones, comm, algorithm="SLIN")
    raises(MPI.ERR_REQUEST, request.edge, 0.5)
    raises(MPI.ERR_REQUEST, request.arrive)
    assert request.test()
    request.start()
    assert not request.test()
    for action in (request.start, request.wait, request.free):
        raises(MPI.ERR_REQUEST, action)
    for fraction in (0, 1, 1.5, float("nan")):
        raises(MPI.ERR_ARG, request.edge, fraction)
    request.edge(0.5)
    raises(MPI.ERR_REQUEST, request.edge, 0.6)
    request.arrive()
    request.wait()
    request.free()
    request.free()
    raises(MPI.ERR_REQUEST, request.start)
    for wrong in ([mine, 4, MPI.DOUBLE], [mine, -1, MPI.DOUBLE], np.zeros(2, "U3"), [mine] * 4):
        try:
            gather_init(wrong, everyones, comm)
        except ValueError:
            continue
        raise AssertionError(f"{wrong} was taken")
    try:
        scatter_init(everyones, b"fixed", comm)
    except (TypeError, BufferError):
        pass
    else:
        raise AssertionError("an array that may not be written was taken")


def what_is_wrong_at_one_rank_is_refused_at_all():
    mine, everyones = np.zeros(3), np.zeros(3 * size)
    wrong = np.zeros(2, "U3")  # no datatype of MPI
    sizes = ([3] * size, [3 * r for r in range(size)])
    binds = (
        lambda own: gather_init(own, everyones, comm),
        lambda own: scatter_init(everyones, own, comm, root=size - 1),
        lambda own: gatherv_init(own, [everyones, sizes, MPI.DOUBLE], comm),
        lambda own: scatterv_init([everyones, sizes, MPI.DOUBLE], own, comm, root=size - 1),
        lambda own: reduce_init(own, np.zeros(3), comm),
        lambda own: exscan_init(own, np.zeros(3), comm),
        lambda own: allreduce_init(own, np.zeros(3), comm),
        lambda own: bcast_init(own, comm),
        lambda own: allgather_init(own, everyones, comm),
        lambda own: allgatherv_init(own, [everyones, sizes, MPI.DOUBLE], comm),
        lambda own: alltoall_init(own, np.zeros(3), comm),
    )
    for bind in binds:
        for culprit in {0, size - 1}:
            if rank != culprit:
                raises(MPI.ERR_OTHER, bind, mine)
                continue
            try:
                bind(wrong)
            except ValueError:
                continue
            raise AssertionError("an array of strings was taken")
        with bind(mine) as request:  # and the ranks are in step
            request.start()
            request.arrive()
            request.wait()


def what_an_int_does_not_count_is_refused_at_all():
    mine = np.zeros(3, np.int8)
    huge = np.empty(2**32 + 8, np.int8)  # nobody writes to it, and so it takes no memory
    far = [huge, ([3] * size, [2**31] * size), MPI.BYTE]
    binds = (
        lambda own, root: gather_init(own, np.zeros(3 * size, np.int8), comm, root),
        lambda own, root: scatter_init(np.zeros(3 * size, np.int8), own, comm, root),
        lambda own, root: gatherv_init(mine, far, comm, root),
        lambda own, root: scatterv_init(far, mine, comm, root),
        lambda own, root: reduce_init(MPI.IN_PLACE if rank == root else own, own, comm, root),
        lambda own, root: exscan_init(MPI.IN_PLACE, own, comm),
        lambda own, root: allreduce_init(MPI.IN_PLACE, own, comm),
        lambda own, root: bcast_init(own, comm, root),
        lambda own, root: allgather_init(own, np.zeros(3 * size, np.int8), comm),
    )
    for bind in binds:
        if rank != last:
            raises(MPI.ERR_OTHER, bind, mine, last)
            continue
        try:
            bind(huge, last)
        except ValueError as error:
            assert "an int counts to 2147483647" in str(error), error
            continue
        raise AssertionError("a number that is cut off was taken")


def a_block_that_fails_leaves_by_its_own_exception():
    mine, everyones = np.zeros(3), np.zeros(3 * size)
    try:
        with gather_init(mine, everyones, comm) as request:
            request.start()
            raise KeyError("of the program")
    except KeyError:
        pass
    assert not request.freed
    request.arrive()
    request.wait()
    request.free()


for check in (
    gathers,
    gathers_in_place,
    scatters,
    irregular,
    to_all,
    reductions,
    between_groups,
    misuse,
    what_is_wrong_at_one_rank_is_refused_at_all,
    what_an_int_does_not_count_is_refused_at_all,
    a_block_that_fails_leaves_by_its_own_exception,
):
    check()
comm.Free()
MPI.COMM_WORLD.Barrier()
if rank == 0:
    print(f"all correct on {size} ranks")
sys.exit(0)
