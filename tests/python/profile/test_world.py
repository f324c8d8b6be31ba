"""Ranks on one clock, ranks that are missing or were killed, runs that lie in one directory."""

from pathlib import Path

import numpy
import pytest
from profile_traces import MS, Writer, write_pattern

from sibyl.profile.trace import (
    CLOCK_UNKNOWN,
    COPIED,
    SESSIONS_ONLY,
    SPAWNED,
    TraceError,
    read_trace,
)
from sibyl.profile.world import common, read_world


def test_a_file_that_is_no_trace_is_named_with_the_reason(tmp_path: Path) -> None:
    for name, content in {"a": b"", "b": b"x" * 2000, "c": b"SIBYLTRC"}.items():
        path = tmp_path / f"{name}.trace"
        path.write_bytes(content)
        with pytest.raises(TraceError):
            read_trace(path)
    world = read_world(tmp_path)
    assert world.size == 0
    assert [note.partition(" cannot")[0] for note in world.notes] == [
        *("a.trace", "b.trace", "c.trace")
    ]


def test_another_version_and_tables_behind_the_end_are_refused(tmp_path: Path) -> None:
    writer = Writer(0, 1, header={"version": 1})
    with pytest.raises(TraceError, match="version is 1"):
        read_trace(writer.write(tmp_path))
    for damage in (
        *({"world_size": 2**31 - 1}, {"world_rank": 2**30}, {"world_rank": 0xFFFF00}),
        {"kept_every_log2": 2**31},
    ):
        with pytest.raises(TraceError, match="header is damaged"):
            read_trace(Writer(0, 1, header=damage).write(tmp_path))
    writer = Writer(0, 1)
    writer.call(2 * MS, 3 * MS)
    path = writer.write(tmp_path)
    path.write_bytes(path.read_bytes()[:-64])
    with pytest.raises(TraceError, match="end behind the file"):
        read_trace(path)


def test_an_entry_that_names_what_is_not_there_is_refused(tmp_path: Path) -> None:
    writer = Writer(0, 1)
    writer.call(2 * MS, 3 * MS)
    writer.row(77, 0, 0)
    with pytest.raises(TraceError, match="sites that is not there"):
        read_trace(writer.write(tmp_path))


def test_a_name_that_is_not_there_is_refused(tmp_path: Path) -> None:
    writer = Writer(0, 1)
    writer.call(2 * MS, 3 * MS)
    writer.communicator("0-5", 1, name=3)
    del writer._strings[-5:]
    with pytest.raises(TraceError, match="communicators is not there"):
        read_trace(writer.write(tmp_path))


def test_a_list_of_many_ranks_is_read_to_its_end(tmp_path: Path) -> None:
    writer = Writer(0, 1)
    members = ",".join(str(rank) for rank in range(1, 60_000, 2))
    writer.communicator(members, 30_000)
    trace = read_trace(writer.write(tmp_path))
    assert len(members) > 65536
    assert trace.text(trace.tables["communicators"][0]["members"]) == members


def test_times_of_other_hosts_follow_an_offset_that_drifts(tmp_path: Path) -> None:
    offset = {"offset_begin_ns": 5000, "compared_begin_ns": 1_000_000}
    drift = {"offset_end_ns": 7000, "compared_end_ns": 2_000_000}
    times = numpy.array([1_000_000, 1_500_000, 2_000_000])
    for end in (1_200_000, 2_000_000):  # whenever it comes to MPI_Finalize
        writer = Writer(1, 2, end=end, header=offset | drift)
        trace = read_trace(writer.write(tmp_path))
        assert common(trace, times).tolist() == [1_005_000, 1_506_000, 2_007_000]
    killed = Writer(1, 2, end=0, header=offset)
    assert common(read_trace(killed.write(tmp_path)), times)[1] == 1_505_000


def test_the_error_of_the_clock_is_that_of_two_hosts(tmp_path: Path) -> None:
    for rank, error in enumerate([0, 3000, 4000]):
        header = {"error_begin_ns": error, "error_end_ns": 2 * error}
        Writer(rank, 3, host=f"h{rank}", header=header).write(tmp_path)
    assert read_world(tmp_path).clock_error == pytest.approx(14e-6)


@pytest.mark.parametrize(("hosts", "error"), [(("a", "a"), 0), (("a", "b"), None)])
def test_the_error_of_clocks_that_were_not_compared_is_known_on_one_host(
    tmp_path: Path, hosts: tuple[str, str], error: float | None
) -> None:
    for rank, host in enumerate(hosts):
        Writer(rank, 2, host=host, header={"flags": CLOCK_UNKNOWN}).write(tmp_path)
    assert read_world(tmp_path).clock_error == error


def test_of_a_run_that_was_killed_the_error_is_known_on_one_host(tmp_path: Path) -> None:
    for names, error in ((("a", "a"), 3e-6), (("a", "b"), None)):
        place = tmp_path / "".join(names)
        place.mkdir()
        for rank, host in enumerate(names):
            Writer(rank, 2, host=host, end=0, header={"error_begin_ns": 3000}).write(place)
        assert read_world(place).clock_error == error


def test_missing_and_unfinished_ranks_are_told(tmp_path: Path) -> None:
    Writer(0, 4).write(tmp_path)
    Writer(2, 4, end=0).write(tmp_path)
    world = read_world(tmp_path)
    assert (world.size, world.missing, world.unfinished) == (4, [1, 3], [2])


def test_the_wall_time_is_from_the_first_init_to_the_last_finalize(tmp_path: Path) -> None:
    Writer(0, 2, init=1 * MS, end=9 * MS).write(tmp_path)
    Writer(1, 2, init=2 * MS, end=11 * MS).write(tmp_path)
    assert read_world(tmp_path).wall_seconds == pytest.approx(10e-3)


def test_recording_costs_what_the_header_says_for_every_call(tmp_path: Path) -> None:
    for rank in range(2):
        writer = Writer(rank, 2, header={"overhead_ns": 150})
        writer.call(2 * MS, 3 * MS)
        writer.wait("MPI_Recv", 9, MS)
        writer.write(tmp_path)
    assert read_world(tmp_path).overhead_seconds == pytest.approx(2 * 10 * 150e-9)


def test_a_call_from_python_costs_what_finds_its_line_too(tmp_path: Path) -> None:
    writer = Writer(0, 1, header={"overhead_ns": 150, "python_ns": 100})
    writer.call(2 * MS, 3 * MS)
    writer.call(4 * MS, 5 * MS, site=writer.site(module="/bin/program", offset=16))
    writer.call(6 * MS, 7 * MS, site=writer.site(module="/bin/program", offset=16))
    writer.write(tmp_path)
    assert read_world(tmp_path).overhead_seconds == pytest.approx((3 * 150 + 100) * 1e-9)


def test_of_programs_one_after_the_other_the_longest_is_taken(tmp_path: Path) -> None:
    write_pattern(tmp_path, [[2.0, 2.0]], [[3.0, 3.0]])
    for rank in range(2):
        later = Writer(rank, 2, init=50 * MS, begin=51 * MS)
        later.call(60 * MS, 99 * MS)
        later.write(tmp_path, pid=2000 + rank)
    world = read_world(tmp_path)
    assert {int(trace.header["pid"]) for trace in world.traces.values()} == {2000, 2001}
    assert "2 MPI programs" in world.notes[0]


def test_programs_with_sessions_alone_have_ranks_by_their_files(tmp_path: Path) -> None:
    for pid in (1, 2):
        header = {"flags": SESSIONS_ONLY}
        Writer(-1, 0, header=header).write(tmp_path, pid=pid)
    world = read_world(tmp_path)
    assert (world.size, sorted(world.traces)) == (2, [0, 1])
    assert "no MPI_COMM_WORLD" in world.notes[0]


def test_what_limits_the_report_is_noted(tmp_path: Path) -> None:
    flags = {"flags": CLOCK_UNKNOWN}
    Writer(0, 2, header={"kept_every_log2": 3, **flags}).write(tmp_path)
    Writer(1, 2, header=flags).write(tmp_path)
    notes = " ".join(read_world(tmp_path).notes)
    assert "one call in 8" in notes and "could not be compared" not in notes
    Writer(1, 2, host="there", header=flags).write(tmp_path)
    (tmp_path / "here-1001.trace").unlink()
    assert "could not be compared" in " ".join(read_world(tmp_path).notes)


def test_spawned_processes_are_a_run_of_their_own(tmp_path: Path) -> None:
    write_pattern(tmp_path, [[2.0, 2.0]], [[9.0, 9.0]])
    child = Writer(0, 1, header={"flags": SPAWNED})
    child.call(4 * MS, 5 * MS)
    child.write(tmp_path, pid=7)
    world = read_world(tmp_path)
    assert (world.size, world.missing) == (2, [])
    assert int(world.traces[0].header["pid"]) == 1000


def test_a_program_on_fewer_ranks_before_another_is_a_run_of_its_own(tmp_path: Path) -> None:
    for kind in (0, SPAWNED):
        for first, size in ((0, 2), (50, 3)):
            for rank in range(size):
                header = {"flags": kind}
                writer = Writer(rank, size, init=first * MS, begin=first * MS, header=header)
                writer.call((first + 1) * MS, (first + 2 * size) * MS)
                writer.write(tmp_path, pid=100 * size + rank)
        world = read_world(tmp_path)
        assert (world.size, world.missing) == (3, [])
        assert {int(trace.header["pid"]) for trace in world.traces.values()} == {300, 301, 302}
        assert "2 MPI programs" in world.notes[0]


def test_a_rank_without_a_trace_in_one_job_has_none_of_the_next(tmp_path: Path) -> None:
    for job, ranks in ((7, (0, 2)), (8, (0, 1, 2))):
        for rank in ranks:
            begin = 50 * job * MS
            writer = Writer(rank, 3, init=begin, begin=begin, header={"job": job})
            writer.call(begin, begin + (9 - job) * 9 * MS)
            writer.write(tmp_path, pid=100 * job + rank)
    world = read_world(tmp_path)
    assert (world.size, world.missing) == (3, [1])
    assert {int(trace.header["job"]) for trace in world.traces.values()} == {7}


def test_communicators_that_threads_may_have_mixed_up_are_noted(tmp_path: Path) -> None:
    for names, threads, noted in (
        *(((1, 2), 2, True), ((1, 2), 1, False), ((0, 1), 2, False)),
        ((1, int(COPIED) + 1, int(COPIED) + 2), 2, False),
    ):
        writer = Writer(0, 2)
        communicators = [writer.communicator(name=name) for name in names]
        for _ in range(threads):
            writer.under_way(30 * MS, communicator=communicators[0])
        writer.write(tmp_path)
        assert any("several threads" in note for note in read_world(tmp_path).notes) == noted
