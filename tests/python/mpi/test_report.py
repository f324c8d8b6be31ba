"""Reports of ranks are merged: calls by maximum, bytes by sum, times by mean and maximum."""

import io
import json
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from sibyl.mpi.report import COSTS, merge_reports, print_report
from sibyl.terminal import seconds_text

COST_NAMES = ("communicator_size", "nodes", *COSTS, "in_turn")


def write(
    directory: Path,
    rank: int,
    size: int,
    entries: list[tuple],
    pid: int = 7,
    thread: str = "not asked for",
    costs: Sequence[tuple] = (),
) -> None:
    names = ("collective", "communicator_size", "algorithm", "calls", "bytes", "seconds", "reasons")
    data = {
        "version": 1,
        "mpi": "Open MPI v5.0.11",
        "rank": rank,
        "world_size": size,
        "thread": thread,
        "entries": [dict(zip(names, entry, strict=False)) for entry in entries],
        "costs": [dict(zip(COST_NAMES, cost, strict=True)) for cost in costs],
    }
    (directory / f"rank-{rank}-{pid}.json").write_text(json.dumps(data))


def text_of(report) -> str:
    stream = io.StringIO()
    print_report(report, Console(file=stream, width=120))
    return stream.getvalue()


def test_entries_are_merged_per_collective_size_and_algorithm(tmp_path: Path) -> None:
    write(tmp_path, 0, 2, [("exscan", 2, "hybrid", 3, 24, 1.0), ("exscan", 2, "native", 2, 0, 0.5)])
    write(tmp_path, 1, 2, [("exscan", 2, "hybrid", 4, 32, 3.0), ("gather", 2, "linear", 1, 8, 0.1)])
    report = merge_reports(tmp_path)
    assert report.missing == []
    merged = {(e["collective"], e["algorithm"]): e for e in report.entries()}
    assert merged["exscan", "hybrid"] == {
        "collective": "exscan",
        "communicator_size": 2,
        "algorithm": "hybrid",
        "calls": 4,
        "bytes": 56,
        "seconds_mean": 2.0,
        "seconds_max": 3.0,
        "ranks": 2,
    }
    assert merged["gather", "linear"]["ranks"] == 1
    assert "missing" not in text_of(report)


def test_why_calls_are_native_is_told(tmp_path: Path) -> None:
    for rank, choice in ((0, 4), (1, 5)):
        reasons = {"not served": 2, "choice": choice}
        entries = [
            ("allreduce", 2, "native", 2 + choice, 0, 1.0, reasons),
            ("allreduce", 2, "ring", 3, 24, 1.0),
            ("alltoallw", 2, "native", 9, 0, 1.0),
            ("bcast", 2, "native", 1, 0, 1.0, {"arguments": 1}),
        ]
        write(tmp_path, rank, 2, entries)
    report = merge_reports(tmp_path)
    merged = {(e["collective"], e["algorithm"]): e for e in report.entries()}
    assert merged["allreduce", "native"]["reasons"] == {"choice": 5, "not served": 2}
    assert "reasons" not in merged["allreduce", "ring"]
    text = text_of(report)
    for reason in ("choice 5", "not served 2", "arguments 1"):
        assert reason in text
    assert "3 of 11 calls were served and 5 left to the MPI library by choice, 73% together" in text


def test_several_programs_of_one_rank_add_up(tmp_path: Path) -> None:
    write(tmp_path, 0, 1, [("scan", 1, "doubling", 3, 24, 1.0)], pid=7)
    write(tmp_path, 0, 1, [("scan", 1, "doubling", 5, 40, 1.0)], pid=8)
    (entry,) = merge_reports(tmp_path).entries()
    assert (entry["calls"], entry["bytes"], entry["seconds_mean"]) == (8, 64, 2.0)


def test_missing_ranks_and_damaged_files_are_told(tmp_path: Path) -> None:
    write(tmp_path, 2, 4, [("scan", 4, "doubling", 3, 24, 1.0)])
    (tmp_path / "rank-0-9.json").write_text('{"version":1,"ra')
    report = merge_reports(tmp_path)
    assert report.missing == [0, 1, 3]
    assert report.damaged == ["rank-0-9.json"]
    text = text_of(report)
    assert "reports of 3 of 4 ranks are missing (0, 1, 3)" in text
    assert "unreadable reports: rank-0-9.json" in text


def test_a_thread_that_somebody_asked_for_and_did_not_get_is_told(tmp_path: Path) -> None:
    entries = [("gather", 2, "linear", 3, 24, 1.0)]
    write(tmp_path, 0, 2, entries, thread="runs")
    write(tmp_path, 1, 2, entries)
    assert "thread of each rank worked" in text_of(merge_reports(tmp_path))
    write(tmp_path, 1, 2, entries, thread="SIBYL_THREAD is 0")
    report = merge_reports(tmp_path)
    assert "no thread in the background on 1 of 2 ranks; on rank 1: SIBYL_THREAD is 0" in text_of(
        report
    )
    assert report.as_json([], 0)["threads"] == {"0": "runs", "1": "SIBYL_THREAD is 0"}
    write(tmp_path, 0, 2, entries)
    write(tmp_path, 1, 2, entries)
    assert "thread" not in text_of(merge_reports(tmp_path))


def test_what_messages_were_found_to_cost_is_told(tmp_path: Path) -> None:
    entries = [("reduce", 8, "clairvoyant", 3, 24, 1.0)]
    costs = [(8, 8, 2.5e-4, 3e-5, 8e-8, 3e-10, True), (4, 1, 1e-6, 2e-7, 1e-10, 3e-10, False)]
    for rank in (0, 1):
        write(tmp_path, rank, 8, entries, costs=costs)
    report = merge_reports(tmp_path)
    assert report.as_json([], 0)["costs"] == [
        dict(zip(COST_NAMES, cost, strict=True)) for cost in reversed(costs)
    ]
    text = text_of(report)
    assert (
        "messages between 8 ranks on 8 nodes: latency 250 us, 30 us for each of several, "
        "12.5 MB/s, one after the other on a link\n" in text
    )
    assert (
        "messages between 4 ranks on 1 node: latency 1 us, 200 ns for each of several, "
        "1e+04 MB/s\n" in text
    )
    assert "more such lines" not in text


def test_of_many_kinds_of_communicators_the_largest_are_told(tmp_path: Path) -> None:
    costs = [(size, size, 1e-4, 1e-5, 8e-8, 3e-10, False) for size in range(2, 8)]
    write(tmp_path, 0, 8, [("reduce", 7, "clairvoyant", 3, 24, 1.0)], costs=costs)
    text = text_of(merge_reports(tmp_path))
    assert "between 7 ranks" in text
    assert "between 3 ranks" not in text
    assert "2 more such lines are in --report" in text


def test_costs_that_cannot_be_are_damage(tmp_path: Path) -> None:
    write(tmp_path, 0, 1, [], costs=[(4, 1, 1e-6, 2e-7, 0, 3e-10, False)])
    assert merge_reports(tmp_path).damaged == ["rank-0-7.json"]


def test_a_run_without_reports_is_told(tmp_path: Path) -> None:
    assert "no rank has reported" in text_of(merge_reports(tmp_path))


def test_a_run_without_served_calls_is_told(tmp_path: Path) -> None:
    write(tmp_path, 0, 1, [])
    assert "called no collective" in text_of(merge_reports(tmp_path))


def test_times_that_round_up_to_a_unit_have_it():
    times = (0.9996, 0.0009996, 9.996e-7, 999.6, 999.4, 0.9994, 2.5e-9)
    texts = ["1 s", "1 ms", "1 us", "1000 s", "999 s", "999 ms", "2 ns"]
    assert [seconds_text(time) for time in times] == texts
