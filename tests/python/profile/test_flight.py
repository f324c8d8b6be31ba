"""Where ranks are, which calls last, which do not match: traces whose answers are known."""

from pathlib import Path

import pytest
from profile_traces import MS, Writer

from sibyl.profile.flight import FlightRecorder, position_lines
from sibyl.profile.trace import SPAWNED
from sibyl.profile.watch import Watch


def write_running(directory: Path, writers: list[Writer]) -> None:
    for writer in writers:
        writer.end = 0
        writer.write(directory)


def places(directory: Path) -> list[str]:
    recorder = FlightRecorder(directory)
    recorder.look()
    return position_lines(recorder.positions(), recorder.missing)


def test_ranks_at_the_same_place_share_a_line_and_who_is_outside_comes_first(
    tmp_path: Path,
) -> None:
    writers = [Writer(rank, 5) for rank in range(4)]
    for writer in writers[:3]:
        writer.call(10 * MS, 20 * MS)
        writer.under_way(30 * MS, line=12)
    writers[3].call(10 * MS, 20 * MS, "MPI_Barrier", line=9)
    writers[3].under_way(10 * MS, "MPI_Barrier", inside=False, line=9)
    write_running(tmp_path, writers)
    lines = places(tmp_path)
    assert lines == [
        "  rank 3: outside MPI, after MPI_Barrier at app.py:9 in step, call 1 on 5 ranks",
        "  rank 4: not in MPI yet, or on another host",
        "  ranks 0-2: in MPI_Allreduce at app.py:12 in step, call 1 on 5 ranks",
    ]


def test_communicators_that_are_not_the_world_are_told_by_their_ranks(tmp_path: Path) -> None:
    writers = [Writer(rank, 4) for rank in range(4)]
    for writer in writers[:2]:
        writer.under_way(30 * MS, communicator=writer.communicator("0-1", 2))
    writers[2].under_way(30 * MS, communicator=writers[2].communicator("2", 1))
    writers[3].communicator()
    writers[3].under_way(30 * MS, communicator=writers[3].communicator(name=1))
    write_running(tmp_path, writers)
    at = "in MPI_Allreduce at app.py:1 in step, call 0 on"
    assert places(tmp_path) == [
        f"  ranks 0-1: {at} the communicator of ranks 0-1",
        f"  rank 2: {at} the communicator of rank 2",
        f"  rank 3: {at} communicator 2 of ranks 0-3",
    ]


def test_copies_have_the_same_number_at_all_ranks_whichever_they_came_to_first(
    tmp_path: Path,
) -> None:
    writers = [Writer(rank, 2) for rank in range(2)]
    for writer, names in zip(writers, ((0, 70, 50), (0, 50, 70)), strict=True):
        copies = {name: writer.communicator(name=name) for name in names}
        writer.under_way(30 * MS, communicator=copies[70])
    write_running(tmp_path, writers)
    assert places(tmp_path) == [
        "  ranks 0-1: in MPI_Allreduce at app.py:1 in step, call 0 on communicator 3 of ranks 0-1"
    ]


def test_a_rank_that_has_made_no_call_and_one_that_is_done(tmp_path: Path) -> None:
    first, second = Writer(0, 2), Writer(1, 2)
    write_running(tmp_path, [first])
    second.end = 50 * MS
    second.write(tmp_path)
    assert places(tmp_path) == [
        "  rank 0: outside MPI, after MPI_Init",
        "  rank 1: past MPI_Finalize",
    ]


def watch(directory: Path, after: float) -> tuple[Watch, list[str]]:
    said: list[str] = []
    return Watch(directory, after, said.append), said


def test_a_call_that_lasts_is_told_once_until_something_moves(tmp_path: Path) -> None:
    watched, said = watch(tmp_path, 10)
    watched.look(0)
    assert said == []
    writer = Writer(0, 2)
    writer.under_way(30 * MS)
    other = Writer(1, 2)
    other.under_way(20 * MS, inside=False)
    write_running(tmp_path, [writer, other])
    for now in (1, 5, 10.9):
        watched.look(now)
    assert said == []
    for now in (11.1, 20, 40):
        watched.look(now)
    assert len(said) == 1
    assert said[0].startswith("sibyl: a call has lasted for 10 s; where the ranks are:\n  rank 1")
    watched.look(41, asked=True)
    assert said[1].startswith("sibyl: where the ranks are:\n")
    # The call ends, and the next one lasts.
    writer.call(30 * MS, 50 * MS)
    writer._tables["threads"].clear()
    writer.under_way(60 * MS)
    write_running(tmp_path, [writer, other])
    watched.look(42)
    watched.look(51.9)
    assert len(said) == 2
    watched.look(52.1)
    assert len(said) == 3


@pytest.mark.parametrize(("function", "told"), [("MPI_Allreduce", True), ("MPI_Recv", False)])
def test_a_thread_in_a_collective_lasts_whatever_others_do_and_one_that_listens_may(
    tmp_path: Path, function: str, told: bool
) -> None:
    watched, said = watch(tmp_path, 10)
    for now in range(0, 30, 5):
        writer = Writer(0, 1)
        writer.under_way(20 * MS, function, kind=1 if told else 2)
        writer.under_way((30 + now) * MS, "MPI_Barrier", inside=now % 2 == 0)
        write_running(tmp_path, [writer])
        watched.look(now)
    assert len(said) == (1 if told else 0)


def test_a_program_that_is_busy_outside_of_mpi_hangs_in_nothing(tmp_path: Path) -> None:
    watched, said = watch(tmp_path, 10)
    writer = Writer(0, 1)
    writer.under_way(20 * MS, inside=False)
    write_running(tmp_path, [writer])
    watched.look(0)
    watched.look(100)
    assert said == []


@pytest.mark.parametrize("finished", [False, True])
def test_calls_that_do_not_match_are_named_once(tmp_path: Path, finished: bool) -> None:
    writers = [Writer(rank, 3) for rank in range(3)]
    for writer in writers:
        for call in range(4):
            writer.call((10 + call) * MS, (11 + call) * MS)
        odd = writer.rank == 1
        name, signature, line = ("MPI_Bcast", 8, 40) if odd else ("MPI_Reduce", 9, 41)
        if finished:
            writer.call(30 * MS, 31 * MS, name, root=0, line=line, signature=signature)
        else:
            writer.under_way(30 * MS, name, root=0, line=line, signature=signature)
    write_running(tmp_path, writers)
    watched, said = watch(tmp_path, 100)
    watched.look(0)
    watched.look(1)
    assert said == [
        "sibyl: call 4 on the communicator of ranks 0-2 does not match: rank 0 calls MPI_Reduce "
        "(root 0, 8 B) at app.py:41 in step, and rank 1 calls MPI_Bcast (root 0, 8 B) at "
        "app.py:40 in step"
    ]


def test_calls_that_differ_in_their_operator_alone_say_so(tmp_path: Path) -> None:
    writers = [Writer(rank, 2) for rank in range(2)]
    for writer in writers:
        writer.call(10 * MS, 11 * MS, signature=5 + writer.rank)
    write_running(tmp_path, writers)
    watched, said = watch(tmp_path, 100)
    watched.look(0)
    assert said == [
        "sibyl: call 0 on the communicator of ranks 0-1 does not match: rank 0 calls MPI_Allreduce "
        "(8 B) at app.py:1 in step, and rank 1 calls MPI_Allreduce (8 B, another operator) at "
        "app.py:1 in step"
    ]


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("MPI_Allgatherv", "other counts"),
        ("MPI_Reduce_scatter", "other counts or another operator"),
    ],
)
def test_ranks_give_unlike_blocks_and_differ_in_their_counts_alone(
    tmp_path: Path, function: str, said: str
) -> None:
    writers = [Writer(rank, 2) for rank in range(2)]
    for writer in writers:
        writer.call(10 * MS, 11 * MS, function, size=8 + writer.rank, signature=5 + writer.rank)
    write_running(tmp_path, writers)
    watched, lines = watch(tmp_path, 100)
    watched.look(0)
    assert f"and rank 1 calls {function} (9 B, {said}) at app.py:1 in step" in lines[0]


def test_a_call_that_sibyl_has_served_is_said_with_its_own_size(tmp_path: Path) -> None:
    writers = [Writer(rank, 2) for rank in range(2)]
    writers[0].call(10 * MS, 11 * MS, size=8 | 1 << 63, signature=5)
    writers[1].under_way(10 * MS, size=16, signature=6)
    write_running(tmp_path, writers)
    watched, said = watch(tmp_path, 100)
    watched.look(0)
    assert "rank 0 calls MPI_Allreduce (8 B) at" in said[0]
    assert "rank 1 calls MPI_Allreduce (16 B) at" in said[0]


def test_what_moves_nothing_is_said_without_a_size(tmp_path: Path) -> None:
    writers = [Writer(rank, 2) for rank in range(2)]
    writers[0].call(10 * MS, 11 * MS, "MPI_Barrier", size=0, signature=5)
    writers[1].call(10 * MS, 11 * MS, "MPI_Bcast", root=1, size=0, signature=6)
    write_running(tmp_path, writers)
    watched, said = watch(tmp_path, 100)
    watched.look(0)
    assert "rank 0 calls MPI_Barrier at app.py" in said[0]
    assert "rank 1 calls MPI_Bcast (root 1, 0 B) at app.py" in said[0]


def test_calls_are_compared_as_they_come_and_dropped_when_all_have_made_them(
    tmp_path: Path,
) -> None:
    writers = [Writer(rank, 2) for rank in range(2)]
    watched, said = watch(tmp_path, 100)
    for turn in range(20):
        for writer in writers:
            for call in range(50 + 10 * writer.rank):  # rank 1 runs ahead
                at = 100 * turn + call
                writer.call(at * MS, (at + 1) * MS)
        write_running(tmp_path, writers)
        watched.look(turn)
    kept = [len(c) for s in watched._recorder._seen.values() for c in s.calls.values()]
    assert max(kept) <= 10 * 20 + 1
    assert said == []
    for writer, signature in zip(writers, (5, 6), strict=True):
        writer.call(5000 * MS, 5001 * MS, number=1300, signature=signature)
    write_running(tmp_path, writers)
    watched.look(21)
    assert len(said) == 1


def test_other_communicators_do_not_mix(tmp_path: Path) -> None:
    writers = [Writer(rank, 4) for rank in range(4)]
    for writer in writers:
        members = "0,2" if writer.rank % 2 == 0 else "1,3"
        own = writer.communicator(members, 2)
        signature = 10 + writer.rank % 2
        writer.call(10 * MS, 20 * MS, communicator=own, signature=signature)
    write_running(tmp_path, writers)
    watched, said = watch(tmp_path, 100)
    watched.look(0)
    assert said == []


def spawned(rank: int, size: int) -> Writer:
    """A rank that MPI_Comm_spawn has started after all others."""
    return Writer(rank, size, host="child", init=40 * MS, header={"flags": SPAWNED})


def test_what_was_spawned_is_a_world_of_its_own(tmp_path: Path) -> None:
    master, child = Writer(0, 2), spawned(0, 3)
    master.under_way(30 * MS)
    child.under_way(50 * MS, communicator=child.communicator("0-1", 2))
    write_running(tmp_path, [master, child])
    at = "in MPI_Allreduce at app.py:1 in step, call 0 on"
    absent = "not in MPI yet, or on another host"
    assert places(tmp_path) == [
        f"  rank 1: {absent}",
        f"  spawned ranks 1-2: {absent}",
        f"  rank 0: {at} 2 ranks",
        f"  spawned rank 0: {at} the communicator of spawned ranks 0-1",
    ]


def test_a_master_that_hangs_when_its_workers_are_done_is_told(tmp_path: Path) -> None:
    watched, said = watch(tmp_path, 10)
    master, worker = Writer(0, 1), spawned(0, 1)
    master.under_way(30 * MS)
    write_running(tmp_path, [master])
    worker.end = 50 * MS
    worker.write(tmp_path)
    watched.look(0)
    watched.look(11)
    (text,) = said
    assert "rank 0: in MPI_Allreduce at app.py:1 in step, call 0 on 1 rank" in text
    assert "  spawned rank 0: past MPI_Finalize" in text


def test_calls_of_different_worlds_are_not_compared(tmp_path: Path) -> None:
    writers = [*(Writer(rank, 2) for rank in range(2)), *(spawned(rank, 2) for rank in range(2))]
    for writer in writers:
        writer.call(10 * MS, 20 * MS, signature=5 + bool(writer.header))
    write_running(tmp_path, writers)
    watched, said = watch(tmp_path, 100)
    watched.look(0)
    assert said == []
    writers[2].call(30 * MS, 31 * MS, size=4, signature=8)
    writers[3].call(30 * MS, 31 * MS, size=4, signature=9)
    write_running(tmp_path, writers)
    watched.look(1)
    (text,) = said
    assert text.startswith(
        "sibyl: call 1 on the communicator of spawned ranks 0-1 does not match: spawned rank 0 "
        "calls MPI_Allreduce (4 B) at app.py:1 in step, and spawned rank 1 calls MPI_Allreduce"
    )
