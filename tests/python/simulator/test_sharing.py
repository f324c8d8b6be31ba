"""Links that messages share, and queues that lose some: from Python and the command."""

import json
from pathlib import Path

import pytest
from conftest import Sibyl, assert_usage_error

import sibyl as package


def test_messages_of_a_rank_that_are_ready_together_end_together() -> None:
    turns = package.Network(alpha=0.0, beta=1.0)
    shared = package.Network(alpha=0.0, beta=1.0, sharing=True)
    ends = {}
    for name, network in (("turns", turns), ("shared", shared)):
        result = package.simulate("scatter", "binomial", 8, 1, network=network, record=True)
        assert result.events is not None
        ends[name] = sorted(row[7] for row in result.events.tolist() if row[0] == 0)
    assert ends["turns"] == [4, 6, 7]  # four blocks, two, one
    assert ends["shared"] == [3, 5, 7]  # a third each until the one is there, then a half


def test_a_queue_that_loses_costs_its_timeout() -> None:
    blocks = {"ranks": 48, "size": 1024}
    at_once = {"alpha": 0.0, "beta": 8e-9, "eager": 65536, "sharing": True}
    fast = package.Network(**at_once)
    lossy = package.Network(**at_once, queue=package.Queue(8192, timeout=0.05))
    assert package.simulate("gather", "linear", **blocks, network=fast).run_time < 1e-3
    assert package.simulate("gather", "linear", **blocks, network=lossy).run_time > 0.05


def test_the_command_has_both(sibyl: Sibyl, tmp_path: Path) -> None:
    words = ("simulate", "scatter", "--algorithms", "BNOM", "-n", "8", "--size", "1MiB")
    words += ("--alpha", "0s", "--beta", "1ns/B")
    times = {}
    for name, more in {"turns": (), "shared": ("--sharing",), "queue": ("--queue", "1MiB")}.items():
        done = sibyl(*words, *more, "--json", f"{name}.json")
        assert done.returncode == 0, done
        (entry,) = json.loads((tmp_path / f"{name}.json").read_text())["entries"]
        times[name] = entry["run_s"]
    # The last block of three in turns has its receiver done early, who goes on.
    assert times["shared"] > 1.2 * times["turns"]
    assert times["queue"] == pytest.approx(times["shared"])
    assert "links are shared, queues of 1 MiB" in done.stdout
    assert_usage_error(sibyl(*words, "--queue", "1MiB,2,3,4"), "--queue '1MiB,2,3,4'")
    assert_usage_error(sibyl(*words, "--sharing", "--model", "loggp"), "--sharing")


def test_a_tree_that_is_there_already_takes_a_message_a_rank_and_an_oblivious_one_too() -> None:
    blocks = {"block_sizes": [4 * (rank + 1) for rank in range(16)], "root": 3}
    built = package.simulate("gatherv", "ordered-tree", 16, 0, **blocks)
    kept = package.simulate("gatherv", "ordered-tree", 16, 0, **blocks, constructed=True)
    blind = package.simulate("gatherv", "ordered-tree", 16, 0, **blocks, sizes_known=False)
    assert kept.messages == blind.messages == 15 < built.messages
    assert kept.run_time < built.run_time
    assert kept.bytes == built.bytes  # the construction's messages are empty in the model
    assert blind.bytes != kept.bytes  # another tree for the same blocks


def test_many_transfers_need_no_order(sibyl: Sibyl, tmp_path: Path) -> None:
    words = ("simulate", "gather", "--algorithms", "BSLS,none:BSLS", "-n", "8", "--size", "1MiB")
    words += ("--max-delay", "10ms", "--compute", "20ms", "--iterations", "4")
    worth = {}
    for way in ("1", "0"):
        done = sibyl(*words, "--outstanding", way, "--json", f"{way}.json")
        assert done.returncode == 0, done
        told, nothing = json.loads((tmp_path / f"{way}.json").read_text())["entries"]
        worth[way] = nothing["absorbed_s"] / told["absorbed_s"]
    assert worth["1"] > 1.5
    assert worth["0"] == pytest.approx(1, abs=0.05)
    assert_usage_error(sibyl(*words, "--outstanding", "-1"), "--outstanding -1")
