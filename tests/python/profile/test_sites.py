"""Sites of runs whose arrivals were made up: seconds, waiting, who was late."""

from pathlib import Path

import numpy
import pytest
from profile_traces import MS, Writer, write_pattern

from sibyl.profile.calls import match_calls, members_of, members_text
from sibyl.profile.places import Places
from sibyl.profile.sites import Site, find_sites
from sibyl.profile.trace import TraceError
from sibyl.profile.whatif import can_simulate
from sibyl.profile.world import read_world


def sites_in(directory: Path) -> list[Site]:
    return find_sites(read_world(directory), Places())[0]


def late_rank(calls: int, ranks: int, late: int, delay: float) -> tuple[list, list]:
    """One rank `delay` ms late in every call, which takes all 1 ms from then on."""
    arrivals, exits = [], []
    for call in range(calls):
        begin = 10.0 + call * (delay + 10)
        arrivals.append([begin + (delay if rank == late else 0) for rank in range(ranks)])
        exits.append([begin + delay + 1] * ranks)
    return arrivals, exits


def test_a_late_rank_is_named_with_its_share_lateness_and_cost(tmp_path: Path) -> None:
    write_pattern(tmp_path, *late_rank(20, 4, 2, 5.0), "MPI_Reduce", size=4096, root=0)
    (site,) = sites_in(tmp_path)
    assert (site.collective, site.calls, site.size) == ("reduce", 20, 4096)
    assert (site.place.path, site.place.line, site.place.function) == ("app.py", 1, "step")
    assert site.members == (0, 1, 2, 3) and site.communicator_size == 4
    assert site.bytes == 20 * 4 * 4096
    assert site.seconds == pytest.approx(20 * (3 * 6e-3 + 1e-3))
    assert site.waiting == pytest.approx(20 * 3 * 5e-3)
    assert site.moving == pytest.approx(20 * 4 * 1e-3)
    (late,) = site.late
    assert (late.rank, late.share) == (2, 1.0)
    assert late.median_lateness == pytest.approx(5e-3)
    assert late.seconds_caused == pytest.approx(site.waiting)


def test_where_memory_is_short_some_calls_stand_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two lines take turns: of both some are looked at."""
    arrivals, exits = late_rank(4000, 4, 2, 5.0)
    for rank in range(4):
        writer = Writer(rank, 4)
        for call, (enter, leave) in enumerate(zip(arrivals, exits, strict=True)):
            writer.call(round(enter[rank] * MS), round(leave[rank] * MS), line=1 + call % 2)
        writer.write(tmp_path)
    monkeypatch.setattr("sibyl.profile.calls.memory_limit", lambda: 4 * 4000 * 100 / 7)
    world = read_world(tmp_path)
    sites, _ = find_sites(world, Places())
    assert [site.calls for site in sites] == [2000, 2000]
    for site in sites:
        assert 150 < len(site.enter) < 350  # an eighth
        assert site.waiting == pytest.approx(2000 * 3 * 5e-3)
    assert any("memory for one call in 8 here" in note for note in world.notes)


def test_messages_that_lead_to_a_call_say_who_was_late_and_count_once(tmp_path: Path) -> None:
    """Rank 0 receives from the late rank 1 before it broadcasts: its record begins with that."""
    for rank in range(4):
        writer = Writer(rank, 4)
        for call in range(20):
            begin = (10 + 30 * call) * MS
            enter = begin + (12 * MS if rank == 1 else 0)
            writer.call(enter, begin + 13 * MS, "MPI_Bcast", root=0)
            if rank == 0:
                row = writer.row(writer.site(), writer.communicator(), writer.function("MPI_Bcast"))
                writer.count(row, 0, 0, -12 * MS)
        writer.write(tmp_path)
    (site,) = sites_in(tmp_path)
    assert [(late.rank, late.share) for late in site.late] == [(1, 1.0)]
    assert site.late[0].median_lateness == pytest.approx(12e-3)
    assert site.seconds == pytest.approx(20 * (2 * 13e-3 + 2 * 1e-3))
    assert site.waiting == pytest.approx(20 * (2 + 1 / 13) * 12e-3)
    assert site.has_messages and not can_simulate(site)


def test_ranks_that_are_late_in_turns_have_their_shares(tmp_path: Path) -> None:
    arrivals, exits = [], []
    for call in range(40):
        late, delay = (1, 8.0) if call % 4 == 0 else (3, 2.0)
        begin = 20.0 * (call + 1)
        arrivals.append([begin + (delay if rank == late else 0) for rank in range(4)])
        exits.append([begin + delay] * 4)
    write_pattern(tmp_path, arrivals, exits)
    (site,) = sites_in(tmp_path)
    assert [(late.rank, late.share) for late in site.late] == [(3, 0.75), (1, 0.25)]
    assert [late.median_lateness for late in site.late] == pytest.approx([2e-3, 8e-3])
    assert [late.seconds_caused for late in site.late] == pytest.approx([0.18, 0.24])


def test_a_rank_that_causes_much_is_named_though_another_is_last(tmp_path: Path) -> None:
    arrivals = [[0.0, 0.0, 9.0, 10.0]] * 5
    arrivals = [[100.0 * (i + 1) + time for time in call] for i, call in enumerate(arrivals)]
    write_pattern(tmp_path, arrivals, [[call[3]] * 4 for call in arrivals])
    (site,) = sites_in(tmp_path)
    assert [(late.rank, late.share) for late in site.late] == [(3, 1.0), (2, 0.0)]
    # Two wait 9 ms for both of them, and three 1 ms for the last.
    assert [late.seconds_caused for late in site.late] == pytest.approx([0.06, 0.045])
    assert site.late[1].median_lateness == pytest.approx(9e-3)


def test_the_costliest_rank_is_named_though_more_were_last_more_often(tmp_path: Path) -> None:
    """Nine ranks are last by a little twice each, a tenth by much and once."""
    ranks, turns = 10, [*range(9), *range(9), 9]
    arrivals, exits = [], []
    for call, late in enumerate(turns):
        begin, delay = 1000.0 * (call + 1), 500.0 if late == 9 else 1.0
        arrivals.append([begin + (delay if rank == late else 0) for rank in range(ranks)])
        exits.append([begin + delay] * ranks)
    write_pattern(tmp_path, arrivals, exits)
    (site,) = sites_in(tmp_path)
    assert site.costliest is not None and site.costliest.rank == 9
    assert (len(site.late), site.late[-1].rank) == (8, 9)


def test_sizes_that_all_ranks_share_are_sites_of_their_own(tmp_path: Path) -> None:
    writers = [Writer(rank, 2) for rank in range(2)]
    for call in range(6):
        for writer in writers:
            begin = (call + 1) * 10 * MS
            writer.call(begin, begin + MS * (1 + call % 2), size=8 if call % 2 else 4096)
    for writer in writers:
        writer.write(tmp_path)
    found = sites_in(tmp_path)
    assert [(site.size, site.calls, site.bytes) for site in found] == [
        (8, 3, 48),
        (4096, 3, 6 * 4096),
    ]


def test_many_sizes_are_put_together_by_powers_of_two(tmp_path: Path) -> None:
    writers = [Writer(rank, 2) for rank in range(2)]
    for call in range(100):
        for writer in writers:
            writer.call(call * 10 * MS, call * 10 * MS + MS, size=100 + call)
    for writer in writers:
        writer.write(tmp_path)
    found = sites_in(tmp_path)
    assert sorted((site.sizes, site.calls) for site in found) == [
        ((100, 128), 29),
        ((129, 199), 71),
    ]


def test_blocks_that_may_differ_are_one_site(tmp_path: Path) -> None:
    for rank in range(3):
        writer = Writer(rank, 3)
        for call in range(5):
            writer.call(
                call * 10 * MS, call * 10 * MS + MS, "MPI_Gatherv", 100 * rank + call, root=0
            )
        writer.write(tmp_path)
    (site,) = sites_in(tmp_path)
    assert site.calls == 5
    assert site.given[0].tolist() == [0, 100, 200]


def test_ranks_that_call_from_other_lines_are_one_site_of_the_lowest_rank(tmp_path: Path) -> None:
    for rank in range(3):
        writer = Writer(rank, 3)
        for call in range(4):
            writer.call(call * 10 * MS, call * 10 * MS + MS, line=10 if rank == 0 else 20)
        writer.write(tmp_path)
    (site,) = sites_in(tmp_path)
    assert site.place.line == 10
    assert [place.line for place in site.also_at] == [20]


def test_lines_and_communicators_are_sites_apart(tmp_path: Path) -> None:
    for rank in range(4):
        writer = Writer(rank, 4)
        half = writer.communicator("0-1" if rank < 2 else "2-3", 2)
        for call in range(3):
            begin = call * 100 * MS
            writer.call(begin, begin + 10 * MS, line=1)
            writer.call(begin + 20 * MS, begin + 22 * MS, line=2)
            writer.call(begin + 30 * MS, begin + 31 * MS, line=2, communicator=half)
        writer.write(tmp_path)
    found = [
        (site.place.line, members_text(site.members), site.calls) for site in sites_in(tmp_path)
    ]
    assert found == [(1, "0-3", 3), (2, "0-3", 3), (2, "0-1", 3), (2, "2-3", 3)]


def test_communicators_that_are_made_again_are_one_site(tmp_path: Path) -> None:
    for rank in range(2):
        writer = Writer(rank, 2)
        for again in range(5):
            new = writer.communicator(name=again)
            begin = again * 10 * MS
            writer.call(begin, begin + MS, communicator=new)
        writer.write(tmp_path)
    (site,) = sites_in(tmp_path)
    assert site.calls == 5


def test_calls_of_several_communicators_in_turns_are_taken_apart(tmp_path: Path) -> None:
    for rank in range(2):
        writer = Writer(rank, 2)
        made = [writer.communicator(name=name) for name in range(3)]
        for call in range(12):
            begin = (call + 1) * 10 * MS
            writer.call(begin, begin + MS * (1 + call % 3), communicator=made[call % 3])
        writer.write(tmp_path)
    found = list(match_calls(read_world(tmp_path)))
    assert [calls.number.tolist() for calls in found] == [[0, 1, 2, 3]] * 3
    inside = [(calls.leave - calls.enter).ravel() for calls in found]
    for name, seconds in enumerate(inside):
        assert seconds == pytest.approx(numpy.full(8, (name + 1) * 1e-3))


def test_calls_without_records_count_by_the_rows(tmp_path: Path) -> None:
    """Ranks that have kept every fourth and every eighth call."""
    for rank, every in enumerate([4, 8]):
        writer = Writer(rank, 2, header={"kept_every_log2": every.bit_length() - 1})
        for call in range(64):
            begin = call * 10 * MS
            enter = begin + (2 * MS if rank == 1 else 0)
            writer.call(enter, begin + 3 * MS, size=100, kept=call % every == 0)
        writer.write(tmp_path)
    (site,) = sites_in(tmp_path)
    assert len(site.enter) == 8
    assert (site.calls, site.bytes) == (64, 2 * 64 * 100)
    assert site.seconds == pytest.approx(64 * 4e-3)
    assert site.waiting == pytest.approx(64 * 2e-3)
    assert site.late[0].seconds_caused == pytest.approx(64 * 2e-3)


def test_the_first_call_stands_for_itself_where_calls_are_left_out(tmp_path: Path) -> None:
    """One rank reads the input before it: whatever calls are kept, it is among them."""
    for rank in range(2):
        writer = Writer(rank, 2, header={"kept_every_log2": 3})
        for call in range(64):
            begin = (1000 + call * 10) * MS
            last, late = (0, 1000) if call == 0 else (1, 2)
            end = begin + 3 * MS
            enter = end - (MS if rank == last else (late + 1) * MS)
            writer.call(enter, end, kept=call % 8 == 0)
        writer.write(tmp_path)
    (site,) = sites_in(tmp_path)
    assert (len(site.enter), site.calls) == (8, 64)
    assert site.seconds == pytest.approx(1.002 + 63 * 4e-3)
    assert site.waiting == pytest.approx(1.0 + 63 * 2e-3)
    assert site.caused == pytest.approx([1.0, 63 * 2e-3])


def test_rows_of_which_nothing_was_kept_are_not_split(tmp_path: Path) -> None:
    for rank in range(2):
        writer = Writer(rank, 2)
        writer.call(10 * MS, 11 * MS, line=1)
        for call in range(3):
            writer.call(20 * MS + call, 21 * MS + call, line=2, kept=False)
        writer.write(tmp_path)
    lost, kept = sites_in(tmp_path)
    assert (lost.place.line, lost.calls, lost.waiting, lost.moving) == (2, 3, 0.0, 0.0)
    assert lost.seconds == lost.unsplit == pytest.approx(6e-3)
    assert (kept.place.line, kept.unsplit) == (1, 0.0)


def test_a_killed_rank_is_told_of_as_far_as_it_got(tmp_path: Path) -> None:
    arrivals, exits = late_rank(10, 3, 1, 4.0)
    for rank in range(3):
        writer = Writer(rank, 3, end=0)
        for call in range(7 if rank == 2 else 10):
            writer.call(round(arrivals[call][rank] * MS), round(exits[call][rank] * MS))
        writer.write(tmp_path)
    (site,) = sites_in(tmp_path)
    assert len(site.enter) == 7
    assert [(late.rank, late.share) for late in site.late] == [(1, 1.0)]
    assert site.late[0].median_lateness == pytest.approx(4e-3)


def test_a_rank_without_a_trace_is_left_out_of_its_calls(tmp_path: Path) -> None:
    arrivals, exits = late_rank(5, 4, 1, 4.0)
    for writer in write_pattern(tmp_path, arrivals, exits):
        if writer.rank == 3:
            (tmp_path / "here-1003.trace").unlink()
    world = read_world(tmp_path)
    (site,), _ = find_sites(world, Places())
    assert world.missing == [3]
    assert (site.members, site.communicator_size) == ((0, 1, 2), 4)
    assert site.waiting == pytest.approx(5 * 2 * 4e-3)


def test_offsets_of_clocks_are_taken_out(tmp_path: Path) -> None:
    arrivals, exits = late_rank(10, 2, 1, 3.0)
    for rank in range(2):
        offset = 7_000_000_000 * rank
        header = {"offset_begin_ns": -offset, "offset_end_ns": -offset}
        writer = Writer(rank, 2, f"h{rank}", begin=MS + offset, init=offset, header=header)
        for enter, leave in zip(arrivals, exits, strict=True):
            writer.call(round(enter[rank] * MS) + offset, round(leave[rank] * MS) + offset)
        writer.write(tmp_path)
    (site,) = sites_in(tmp_path)
    assert site.waiting == pytest.approx(10 * 3e-3)
    assert site.late[0].median_lateness == pytest.approx(3e-3)


def test_calls_between_two_groups_are_totals(tmp_path: Path) -> None:
    for rank in range(2):
        writer = Writer(rank, 2)
        between = writer.communicator("0", 1, flags=1)
        writer.call(10 * MS, 12 * MS, "MPI_Barrier", 0, communicator=between)
        writer.write(tmp_path)
    (site,) = sites_in(tmp_path)
    assert (site.collective, site.calls) == ("barrier", 1)
    assert site.unsplit == pytest.approx(4e-3)


def test_one_rank_waits_for_nobody(tmp_path: Path) -> None:
    write_pattern(tmp_path, [[10.0], [20.0]], [[11.0], [22.0]])
    (site,) = sites_in(tmp_path)
    assert (site.waiting, site.late) == (0.0, [])
    assert site.moving == pytest.approx(3e-3)


def test_times_in_messages_are_totals_by_place(tmp_path: Path) -> None:
    for rank in range(2):
        writer = Writer(rank, 2)
        writer.wait("MPI_Recv", 10, 5 * MS, line=3)
        writer.wait("MPI_Waitall", 4, 50 * MS, line=9)
        writer.write(tmp_path)
    sites, messages = find_sites(read_world(tmp_path), Places())
    assert sites == []
    assert [(m.function, m.place.line, m.calls) for m in messages] == [
        ("MPI_Waitall", 9, 8),
        ("MPI_Recv", 3, 20),
    ]
    assert messages[0].seconds == pytest.approx(0.1)


def test_lists_of_ranks_are_read_and_written() -> None:
    assert members_of("0-2,7,9-10") == (0, 1, 2, 7, 9, 10)
    assert members_text((0, 1, 2, 7, 9, 10)) == "0-2,7,9-10"
    for wrong in ("", "a", "1-", "1,,2", "0-4000000000", "9" * 5000):
        with pytest.raises(TraceError):
            members_of(wrong)


def test_ranks_in_different_collectives_at_one_place_in_the_order_are_no_call(
    tmp_path: Path,
) -> None:
    for rank in range(2):
        writer = Writer(rank, 2)
        writer.call(10 * MS, 12 * MS, "MPI_Barrier" if rank else "MPI_Allreduce")
        writer.write(tmp_path)
    found = sites_in(tmp_path)
    assert sorted(site.collective for site in found) == ["allreduce", "barrier"]
    assert all(site.unsplit == site.seconds for site in found)


def test_arrays_of_a_site_fit_each_other(tmp_path: Path) -> None:
    write_pattern(tmp_path, *late_rank(3, 5, 0, 1.0))
    (site,) = sites_in(tmp_path)
    shapes = {array.shape for array in (site.enter, site.leave, site.given, site.weight)}
    assert shapes == {(3, 5)}
    assert numpy.all(numpy.diff(site.enter.min(axis=1)) > 0)


@pytest.mark.parametrize(
    ("function", "given", "size"),
    [
        ("MPI_Reduce", [800, 800], 800),
        ("MPI_Scatter", [100, 100], 100),
        ("MPI_Alltoall", [600, 600], 300),
        ("MPI_Reduce_scatter_block", [50, 50], 100),
        ("MPI_Reduce_scatter", [30, 70], 100),
        ("MPI_Gatherv", [30, 70], 70),
        ("MPI_Barrier", [0, 0], 0),
    ],
)
def test_the_size_is_that_of_a_vector_or_of_a_block(
    tmp_path: Path, function: str, given: list[int], size: int
) -> None:
    for rank, count in enumerate(given):
        writer = Writer(rank, 2)
        writer.call(10 * MS, 11 * MS, function, count)
        writer.write(tmp_path)
    (site,) = sites_in(tmp_path)
    assert (site.size, site.bytes) == (size, sum(given))
