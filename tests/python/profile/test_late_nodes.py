"""Which node was waited for, where ranks share nodes."""

import json
from pathlib import Path

import pytest
from conftest import Sibyl
from profile_traces import MS, Writer

pytestmark = pytest.mark.suite

LATE = (0, 0, 3, 5)  # ms
CALLS = 20


def profiled(sibyl: Sibyl, tmp_path: Path, hosts: tuple[str, ...]) -> tuple[dict, str]:
    """The document of calls to which ranks come as late as LATE says, and the text."""
    directory = tmp_path / "traces"
    directory.mkdir()
    costs = tmp_path / "costs.json"
    costs.write_text('{"alpha": 1e-5, "beta": 1e-9, "gamma": 0}')
    for rank, host in enumerate(hosts):
        writer = Writer(rank, len(hosts), host=host)
        for call in range(CALLS):
            begin = (10 + 20 * call) * MS
            writer.call(begin + LATE[rank] * MS, begin + 6 * MS, "MPI_Allreduce", 8192)
        writer.write(directory)
    words = ("--traces", "traces", "--calibration", "costs.json", "--json", "a.json")
    result = sibyl("profile", *words)
    assert result.returncode == 0, result.stderr
    page = sibyl("profile", *words[:4], "--html", "a.html")
    assert page.returncode == 0, page.stderr
    return json.loads((tmp_path / "a.json").read_text()), result.stdout + result.stderr


def test_the_node_of_late_ranks_is_named_with_how_far_they_are_apart(
    sibyl: Sibyl, tmp_path: Path
) -> None:
    document, text = profiled(sibyl, tmp_path, ("a", "a", "b", "b"))
    (node,) = document["nodes_late"]
    assert (node["host"], node["ranks"], node["share"]) == ("b", 2, 1.0)
    assert node["apart"] == pytest.approx(2e-3)
    # Two wait 5 ms, and one 2 ms.
    assert node["seconds_caused"] == pytest.approx(CALLS * 12e-3)
    assert "node b was last in 100 % of calls" in text
    assert "Their nodes" in (tmp_path / "a.html").read_text()


def test_blame_goes_to_each_node_of_a_late_rank(sibyl: Sibyl, tmp_path: Path) -> None:
    document, _ = profiled(sibyl, tmp_path, ("a", "b", "a", "b"))
    first, second = document["nodes_late"]
    assert (first["host"], first["share"], second["host"], second["share"]) == ("b", 1.0, "a", 0)
    # Of the first 3 ms two wait for two, a half each; of the last 2 ms three for one.
    assert first["seconds_caused"] == pytest.approx(CALLS * (3e-3 + 6e-3))
    assert second["seconds_caused"] == pytest.approx(CALLS * 3e-3)
    # Never last, so of all calls.
    assert second["apart"] == pytest.approx(3e-3)


@pytest.mark.parametrize("hosts", [("a", "a", "a", "a"), ("a", "b", "c", "d")])
def test_no_node_is_named_where_ranks_share_none_or_all_share_one(
    sibyl: Sibyl, tmp_path: Path, hosts: tuple[str, ...]
) -> None:
    document, text = profiled(sibyl, tmp_path, hosts)
    assert document["nodes_late"] == []
    assert "node" not in text
