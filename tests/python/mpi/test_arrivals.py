"""What ranks have recorded is put together."""

import json
from pathlib import Path

import pytest
from cells import write_part

from sibyl.mpi.arrivals import merge_arrivals


def test_a_recording_joins_the_calls_of_all_ranks(tmp_path: Path) -> None:
    write_part(tmp_path, 0, [[1, "gather", 1, 8, 5000], [2, "scan", -1, 4, 9000]])
    write_part(
        tmp_path, 1, [[1, "gather", 1, 8, 7000], [2, "scan", -1, 4, 8000], [3, "scan", -1, 4, 1]]
    )
    (tmp_path / "arrivals-9-9.json").write_text("no json")
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
