"""What ranks have recorded is put together."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from cells import write_part

from sibyl.mpi.arrivals import Call, Communicator, _sites, merge_arrivals


def test_a_recording_joins_the_calls_of_all_ranks(tmp_path: Path) -> None:
    write_part(tmp_path, 0, [[1, "gather", 1, 8, 5000], [2, "scan", -1, 4, 9000]])
    write_part(
        tmp_path, 1, [[1, "gather", 1, 8, 7000], [2, "scan", -1, 4, 8000], [3, "scan", -1, 4, 1]]
    )
    (tmp_path / "arrivals-9-9.json").write_text("no json")
    write_part(tmp_path, 8, [], communicators=[], began=float("inf"))
    recording = merge_arrivals(tmp_path, ["app"])
    gather, scan = recording["sites"]
    assert (gather["collective"], gather["root"], gather["bytes"]) == ("gather", 1, 8)
    assert gather["calls"] == [{"number": 1, "times": [0.0, 2e-6]}]
    assert scan["calls"] == [{"number": 2, "times": [1e-6, 0.0]}]  # call 3 lacks rank 0
    assert recording["clock"] == "monotonic clock of one machine"
    assert recording["left_out"] == 0  # as written before it was counted


def test_a_recording_says_how_many_calls_are_left_out(tmp_path: Path) -> None:
    write_part(tmp_path, 0, [[1, "scan", -1, 4, 9000]])
    write_part(tmp_path, 1, [[1, "scan", -1, 4, 8000]])
    path = tmp_path / "arrivals-1-1.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"left_out": 7}))
    assert merge_arrivals(tmp_path, ["app"])["left_out"] == 7


def test_clocks_of_several_machines_are_compared_by_wall_time(tmp_path: Path) -> None:
    write_part(tmp_path, 0, [[1, "scan", -1, 8, 1_000_005_000]])
    write_part(tmp_path, 1, [[1, "scan", -1, 8, 4000]], clock="another")
    (site,) = merge_arrivals(tmp_path, ["app"])["sites"]
    assert site["calls"][0]["times"] == pytest.approx([1e-6, 0.0])


def scan(number: int, arrival: int) -> list[object]:
    return [number, "scan", -1, 8, arrival]


def test_programs_of_one_script_are_kept_apart(tmp_path: Path) -> None:
    # In the order of names the second program comes first on rank 0 alone.
    first, second = {"began": 100}, {"began": 50_000}
    write_part(tmp_path, 0, [scan(n, 1000 * n) for n in (1, 2)], pid=9999, **first)
    write_part(tmp_path, 1, [scan(n, 1000 * n + 5) for n in (1, 2)], pid=9998, **first)
    write_part(tmp_path, 0, [scan(1, 60_000)], pid=10001, **second)
    write_part(tmp_path, 1, [scan(1, 60_007)], pid=9999, **second)
    one, other = merge_arrivals(tmp_path, ["script"])["sites"]
    assert [call["number"] for call in one["calls"]] == [1, 2]
    assert [call["times"] for call in one["calls"]] == [[0.0, 5e-9]] * 2
    assert [call["times"] for call in other["calls"]] == [[0.0, 7e-9]]
    assert (one["communicator"], other["communicator"]) == (0, 1)


def test_a_rank_that_recorded_nothing_of_a_program_joins_those_of_the_next(
    tmp_path: Path,
) -> None:
    alone = {"group": [0], "ordinal": 0, "calls": [scan(1, 5000)]}
    write_part(tmp_path, 0, [], began=100, communicators=[alone])
    write_part(tmp_path, 1, [], began=100, communicators=[])
    for rank in range(2):
        write_part(tmp_path, rank, [scan(1, 9000 + rank)], pid=2, began=8000)
    groups = [site["group"] for site in merge_arrivals(tmp_path, ["script"])["sites"]]
    assert groups == [[0], [0, 1]]


def test_processes_that_were_spawned_are_a_program_of_their_own(tmp_path: Path) -> None:
    for rank in range(2):
        write_part(tmp_path, rank, [scan(1, 9000 + rank)], pid=1, began=100)
    for rank in range(3):  # at the same time
        spawned = {"began": 8000, "world_size": 3}
        write_part(tmp_path, rank, [scan(1, 9000 + 2 * rank)], pid=2, **spawned)
    parents, children = merge_arrivals(tmp_path, ["app"])["sites"]
    assert parents["calls"] == [{"number": 1, "times": [0.0, 1e-9]}]
    assert children["calls"] == [{"number": 1, "times": [0.0, 2e-9]}]


def test_the_processes_of_a_rank_that_moved_are_in_order_by_wall_time(tmp_path: Path) -> None:
    # The first program's rank 0 runs on a machine whose clock is a second ahead.
    write_part(tmp_path, 0, [scan(1, 1_000_005_000)], pid=1, began=1_000_000_000)
    write_part(tmp_path, 1, [scan(1, 1_000_005_003)], pid=1, began=1_000_000_000)
    write_part(tmp_path, 0, [scan(1, 9_000)], pid=2, began=8_000, clock="another")
    write_part(tmp_path, 1, [scan(1, 1_000_009_000)], pid=2, began=1_000_008_000)
    first, second = merge_arrivals(tmp_path, ["app"])["sites"]
    assert first["calls"] == [{"number": 1, "times": [0.0, 3e-9]}]
    assert second["calls"] == [{"number": 1, "times": [0.0, 0.0]}]


def test_the_patterns_of_a_site_are_put_together_once_however_many_calls_it_has() -> None:
    class Versions(dict[int, list[int]]):
        seen = 0

        def __iter__(self) -> Iterator[int]:
            self.seen += 1
            return super().__iter__()

    world = Communicator(0, 2, (0, 1), 0)
    call = Call("reduce", 0, 8, 1000.0, 2000.0, "clairvoyant", 1)
    known = Versions({2: [5, 0], 1: [0, 7]})
    calls = {world: {number: {0: call, 1: call} for number in range(5)}}
    (site,) = _sites(calls, {(world, "reduce", 0, 8): known}, {})
    assert len(site["calls"]) == 5
    assert [pattern["version"] for pattern in site["patterns"]] == [1, 2]
    assert known.seen == 1
