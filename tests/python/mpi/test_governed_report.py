"""What the governor found: read from the ranks' reports, merged, printed, written as a table."""

import io
import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from conftest import OF_THE_PRELOAD, Mpi, Sibyl, assert_usage_error, compiled
from rich.console import Console

from sibyl.mpi.governed_report import merge_sites, print_sites, read_sites, served_by, to_table
from sibyl.mpi.report import merge_reports

pytestmark = pytest.mark.suite


def site(collective: str, verdict: str, **others: Any) -> dict[str, Any]:
    """One as the library writes it."""
    return {
        "collective": collective,
        "communicator_size": 8,
        "persistent": False,
        "root": None,
        "least_bytes": 4096,
        "most_bytes": 8191,
        "algorithm": "ring",
        "challenger": None,
        "line": 0,
        "verdict": verdict,
        "calls": 100,
        "native_calls": 90,
        "own_seconds": 3e-3,
        "native_seconds": 1e-3,
        "challenger_calls": 0,
        "challenger_seconds": 0.0,
    } | others


def test_lines_of_a_program_are_printed_apart_and_share_a_rule():
    sites = [
        site("reduce", "own", root=0, line=1),
        site("reduce", "native", root=0, line=2, calls=300),
    ]
    merged = merge_sites([read_sites({"governed": sites})])
    assert [one["line"] for one in merged] == [1, 2]
    text = io.StringIO()
    print_sites(merged, Console(file=text, width=120))
    assert "line 1 of several" in text.getvalue()
    assert "line 2 of several" in text.getvalue()
    assert "reduce 8 4096-8191 native" in to_table(merged)


def test_requests_are_told_apart_and_no_rule_for_calls():
    found = {"algorithm": "linear", "challenger": "linear-synchronised", "native_seconds": 0.0}
    sites = [
        site("gather", "challenger", root=0, challenger_seconds=2e-3, persistent=True, **found),
        site("gather", "own", root=0, persistent=False, **found),
    ]
    merged = merge_sites([read_sites({"governed": sites})])
    assert [one["persistent"] for one in merged] == [False, True]
    text = io.StringIO()
    print_sites(merged, Console(file=text, width=120))
    row = next(line for line in text.getvalue().splitlines() if "persistent gather" in line)
    assert "linear-synchronised" in row
    rules = to_table(merged).splitlines()[2:]
    assert [rule.split()[3] for rule in rules] == ["linear"]


def test_sites_are_merged_by_who_has_seen_most():
    ranks = [
        read_sites({"governed": [site("allreduce", "undecided", calls=3)]}),
        read_sites({"governed": [site("allreduce", "native"), site("bcast", "own", root=1)]}),
        read_sites({}),
    ]
    merged = merge_sites(ranks)
    assert [(one["collective"], one["verdict"]) for one in merged] == [
        ("allreduce", "native"),
        ("bcast", "own"),
    ]


def test_sites_that_are_none_are_refused():
    with pytest.raises(KeyError):
        read_sites({"governed": [{"collective": "bcast"}]})


def test_what_governing_has_cost_is_told(tmp_path: Path) -> None:
    entry = {"collective": "scan", "communicator_size": 2, "algorithm": "native", "calls": 9}
    for rank, agreements in enumerate((0.5, 1.5)):
        data = {
            "mpi": "An MPI",
            "rank": rank,
            "world_size": 2,
            "thread": "not asked for",
            "entries": [entry | {"bytes": 8, "seconds": 50.0}],
            "governed": [
                site("scan", "own", lost_seconds=0.75),
                site("exscan", "native", lost_seconds=0.25),
            ],
            "governing_seconds": agreements,
        }
        (tmp_path / f"rank-{rank}-7.json").write_text(json.dumps(data))
    report = merge_reports(tmp_path)
    assert report.as_json([], 0)["governing"] == {
        "agreements_seconds": 1.0,
        "lost_seconds": 1.0,
    }
    assert report.governing_line() == (
        "the governor's agreements took 1 s a rank, and calls by what was found slower 1 s more "
        "than by the other: 4.0% of the time in collectives"
    )
    report.governed = [[site("scan", "undecided", lost_seconds=0.0)]]
    assert report.governing_line() == ""


def printed(sites: list[dict[str, Any]]) -> str:
    console = Console(width=120, record=True, file=io.StringIO())
    print_sites(sites, console)
    return console.export_text()


def test_verdicts_are_printed_and_nothing_where_there_is_none():
    text = printed(
        [site("reduce", "native", root=3), site("exscan", "own"), site("scan", "undecided")]
    )
    assert "reduce, 8 ranks, root 3, from 4 KiB" in text
    assert "exscan, 8 ranks, from 4 KiB" in text
    assert "the MPI library" in text
    assert "3 ms" in text
    assert text.count("ring") == 1
    assert printed([site("scan", "undecided")]) == ""
    assert "bcast, 8 ranks, further roots, from 4 KiB" in printed([site("bcast", "own")])


def test_a_challenger_that_serves_is_named_in_print_and_table():
    sites = read_sites(
        {
            "governed": [
                site("exscan", "challenger", challenger="hybrid", challenger_seconds=5e-4),
                site("exscan", "own", root=None),
            ]
        }
    )
    merged = merge_sites([sites])
    assert len(merged) == 2
    text = printed(merged)
    assert "hybrid" in text
    assert "500 us" in text
    table = to_table(merged[:1] if merged[0]["challenger"] else merged[1:])
    assert "exscan 8 4096-8191 hybrid  # ring 3 ms, native 1 ms, hybrid 500 us" in table


def test_a_table_has_a_rule_per_size_that_most_calls_agree_with():
    lines = to_table(
        [
            site("reduce", "native", root=0, calls=10),
            site("reduce", "own", root=1, calls=30, algorithm="clairvoyant"),
            site("reduce", "native", root=2, calls=10),
            site("gatherv", "native", least_bytes=0, most_bytes=0, algorithm="ordered-tree"),
            site("bcast", "undecided"),
        ]
    ).splitlines()
    rules = [line.split("#")[0].split() for line in lines[2:]]
    assert lines[0] == "sibyl-selection 1"
    assert rules == [
        ["reduce", "8", "4096-8191", "clairvoyant"],
        ["gatherv", "8", "*", "native"],
    ]


def test_a_table_has_no_more_rules_than_can_be_read():
    many = [site("reduce", "native", communicator_size=size, calls=size) for size in range(2, 102)]
    lines = to_table(many).splitlines()
    rules = [line for line in lines if not line.startswith(("#", "sibyl"))]
    assert len(rules) == 64
    assert rules[0].split()[1] == "38"
    assert "36 more sites" in lines[2]


def test_what_is_learned_under_a_table_holds_its_rules_too():
    in_force = "sibyl-selection 1\n# of before\n\nscan 8 * native\n" + "bcast 8 * chain\n" * 64
    lines = to_table([site("reduce", "native")], in_force).splitlines()
    rules = [line for line in lines if not line.startswith(("#", "sibyl"))]
    assert rules[0].startswith("reduce 8 4096-8191 native")
    assert rules[1:3] == ["scan 8 * native", "bcast 8 * chain"]
    assert len(rules) == 64
    assert "2 more of its rules are left out" in lines[-1]
    of_none = to_table([], "no table\nscan 8 * native\n")
    assert len(of_none.splitlines()) == 2


@pytest.mark.parametrize("in_force", [None, "/dev/zero", "pipe"])
def test_a_run_without_verdicts_leaves_the_table_alone(
    sibyl: Sibyl,
    mpi: Mpi,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    in_force: str | None,
):
    os.mkfifo(tmp_path / "pipe")
    if in_force is not None:
        monkeypatch.setenv("SIBYL_TABLE", str(tmp_path / in_force))
    table = tmp_path / "learned.table"
    table.write_text("sibyl-selection 1\nscan 8 * native\n")
    words = ("run", "-n", 1, "--mpi", mpi.option, "--learn", table, "--", "true")
    result = sibyl(*words)
    assert "the table is as it was" in result.stderr
    assert table.read_text() == "sibyl-selection 1\nscan 8 * native\n"


def test_learning_wants_a_governor(sibyl: Sibyl):
    assert_usage_error(sibyl("run", "--no-govern", "--learn", "t", "--", "true"), "--no-govern")


ROUNDS, INTS = 70, 16384  # every site is decided by its 60th call, whatever the verdict
# By these costs, which are wrong a thousandfold, Sibyl serves all but barriers between nodes.
FALSE_COSTS = {
    "SIBYL_TEST_PLACEMENT": "0,1,2",
    "SIBYL_PREDICT": "off",
    "SIBYL_ALPHA": "300000",
    "SIBYL_OVERHEAD": "300000",
    "SIBYL_BETA": "1200000",
}


def test_a_run_follows_the_table_that_another_has_learned(
    sibyl: Sibyl, mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = compiled("governed", mpi, tmp_path, programs=OF_THE_PRELOAD)
    for name, value in FALSE_COSTS.items():
        monkeypatch.setenv(name, value)
    words = ["run", "-n", 3, "--mpi", mpi.option, "--report", "report.json"]
    words_of_program = ["--", program, ROUNDS, INTS, "flat"]

    first = sibyl(*words, "--learn", "learned.table", *words_of_program)
    assert (first.returncode, first.stdout) == (0, "OK\n"), first
    assert "Governed call sites" in first.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    # The one of its end is the reduce of one int.
    sites = [site for site in report["governed"] if site["calls"] > 1]
    verdicts = {site["collective"]: served_by(site) for site in sites}
    assert len(verdicts) == len(sites) == 15
    assert all(site["verdict"] != "undecided" for site in sites)
    lines = (tmp_path / "learned.table").read_text().splitlines()
    rules = [line.split("#")[0].split() for line in lines if not line.startswith(("#", "sibyl-"))]
    assert {rule[0]: rule[-1] for rule in rules} == verdicts

    monkeypatch.setenv("SIBYL_TABLE", str(tmp_path / "learned.table"))
    second = sibyl(*words, *words_of_program)
    assert (second.returncode, second.stdout) == (0, "OK\n"), second
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["governed"] == []  # what a table says is not questioned
    calls: dict[str, dict[str, int]] = defaultdict(dict)
    for entry in report["entries"]:
        assert set(entry.get("reasons", {})) <= {"choice"}
        calls[entry["collective"]][entry["algorithm"]] = entry["calls"]
    for collective, server in verdicts.items():
        assert calls[collective][server] >= ROUNDS
        # A reduce at the end and an allgather at the beginning are of other sizes.
        assert sum(calls[collective].values()) <= ROUNDS + 1
