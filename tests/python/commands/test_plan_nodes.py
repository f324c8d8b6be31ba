"""`sibyl plan` for nodes of several ranks: how they are named, what is planned, what is proven."""

import json
from typing import Any

import pytest
from conftest import Sibyl, assert_usage_error

import sibyl as package
from sibyl.placement import nodes_of_ranks


def planned(sibyl: Sibyl, *words: object) -> dict[str, Any]:
    """The JSON of a plan."""
    result = sibyl("plan", *words, "--json", "-")
    assert result.returncode == 0, result
    return json.loads(result.stdout)


def between(plan: dict[str, Any], nodes: list[int]) -> set[tuple[int, int]]:
    """Who sends to whom over the links of nodes."""
    return {
        (rank, step["peer"])
        for rank, program in enumerate(plan["programs"])
        for step in program
        if step["kind"] == "send" and nodes[rank] != nodes[step["peer"]]
    }


@pytest.mark.parametrize(
    "collective",
    [
        *("reduce", "allreduce", "bcast", "reduce_scatter", "reduce_scatter_block", "allgather"),
        *("allgatherv", "alltoall", "barrier", "gather", "scatter"),
    ],
)
def test_a_plan_for_nodes_is_shown_and_proven(sibyl: Sibyl, collective: str) -> None:
    result = sibyl("plan", collective, "--nodes", "3,1,4")
    assert result.returncode == 0, result
    assert result.stdout.startswith(f"{collective} two-level, 8 ranks")
    assert "nodes       3, 1 lane" in result.stdout
    assert "proven      yes" in result.stdout
    assert "rank 3, node 1" in result.stdout


def test_a_wrong_plan_for_nodes_ends_in_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from sibyl.commands import plan
    from sibyl.node_options import NodeOptions

    class Wrong:
        def __init__(self, asked: plan.Asked) -> None:
            self._right = package.make_plan("bcast", "two-level", asked.ranks)

        def __getattr__(self, name: str) -> object:
            return getattr(self._right, name)

        def verify(self) -> None:
            raise package.VerificationError("rank 3, step 5: reads what nobody wrote")

    monkeypatch.setattr(plan, "make_plan", Wrong)
    asked = plan.PlanOptions(), NodeOptions(nodes="3,1,4"), plan.PlanOutputs()
    assert plan.write_plan("bcast", *asked) == 1
    assert "proven      NO: rank 3, step 5: reads" in capsys.readouterr().out


def test_one_rank_of_a_node_leaves_it_for_each_lane(sibyl: Sibyl) -> None:
    words = ("bcast", "--nodes", "3,2,4", "--placement", "cyclic", "--segments", 2)
    nodes = nodes_of_ranks([3, 2, 4], cyclic=True)
    plan = planned(sibyl, *words)
    assert plan["nodes"] == nodes
    assert "lanes" not in plan
    leaders = {nodes.index(node) for node in range(3)}
    assert {rank for pair in between(plan, nodes) for rank in pair} == leaders
    lanes = planned(sibyl, *words, "--lanes", 2)
    assert lanes["lanes"] == 2
    assert len({rank for pair in between(lanes, nodes) for rank in pair}) == 6


def test_the_json_names_nodes_only_where_they_were_asked_for(sibyl: Sibyl) -> None:
    words = ("reduce", "--algorithm", "two-level", "--ranks", 8)
    told = planned(sibyl, *words, "--ranks-per-node", 4)
    named = planned(sibyl, "reduce", "--nodes", "4,4")
    assert "nodes" not in told and "lanes" not in told
    assert named.pop("nodes") == [0, 0, 0, 0, 1, 1, 1, 1]
    assert named == told
    assert planned(sibyl, *words, "--nodes", "4,4")["nodes"]


@pytest.mark.parametrize(
    ("collective", "algorithm"),
    [("exscan", "two-level"), ("scan", "two-level"), ("reduce", "ordered-tree")],
)
def test_what_keeps_the_order_knows_nodes_of_consecutive_ranks_only(
    sibyl: Sibyl, collective: str, algorithm: str
) -> None:
    words = (collective, "--algorithm", algorithm)
    named = planned(sibyl, *words, "--nodes", "3,3,2")
    assert named["programs"] == planned(sibyl, *words, "-n", 8, "--ranks-per-node", 3)["programs"]
    uneven = planned(sibyl, *words, "--nodes", "3,1,4")
    assert len(between(uneven, nodes_of_ranks([3, 1, 4]))) == 2 + (collective != "reduce")
    cyclic = sibyl("plan", *words, "--nodes", "3,1,4", "--placement", "cyclic")
    assert_usage_error(cyclic, "consecutive ranks only")


@pytest.mark.parametrize("collective", ["gather", "scatter", "gatherv", "scatterv"])
def test_an_ordered_tree_sends_one_message_a_node_wherever_ranks_lie(
    sibyl: Sibyl, collective: str
) -> None:
    nodes = nodes_of_ranks([3, 1, 4], cyclic=True)
    plan = planned(
        sibyl,
        *(collective, "--algorithm", "ordered-tree", "--nodes", "3,1,4", "--placement", "cyclic"),
        *("--root", 4),
    )
    assert len(between(plan, nodes)) == 2


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("allreduce", "--nodes", "3,1,4", "-n", "9"), "hold 8"),
        (("allreduce", "--nodes", "3,x"), "'x'"),
        (("allreduce", "--nodes", "3,0"), "'0'"),
        (("allreduce", "--nodes", "3,,1"), "''"),
        (("allreduce", "--nodes", "99999999999"), "at most"),
        (("allreduce", "--nodes", "3,1", "--placement", "odd"), "cyclic"),
        (("allreduce", "--nodes", "3,1", "--ranks-per-node", "2"), "say one"),
        (("allreduce", "--nodes", "3,1", "--lanes", "5"), "lanes"),
        (("allreduce", "--nodes", "3,1", "--lanes", "0"), "--lanes 0"),
        (("allreduce", "--nodes", "3,1", "--root", "4"), "0..3"),
        (("allreduce", "--placement", "cyclic", "--algorithm", "ring", "-n", "4"), "--nodes"),
        (("allreduce", "--algorithm", "ring", "--nodes", "3,1"), "nodes"),
        (("allreduce", "--algorithm", "ring", "-n", "4", "--lanes", "2"), "one lane"),
        (("alltoallv", "--nodes", "3,1"), "--algorithm"),
        (("allreduce", "-n", "4"), "--algorithm"),
        (("reduce", "--nodes", "3,1", "--events", "-"), "no schedule of segments"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_bad_nodes_end_in_one_line(sibyl: Sibyl, words: tuple[str, ...], part: str) -> None:
    assert_usage_error(sibyl("plan", *words), part)


def test_the_package_says_what_is_wrong_with_nodes() -> None:
    for nodes in ([], [0, 0], [0, 0, 3], [0, 0, -1], [0, 0, 2**40]):
        with pytest.raises(ValueError, match=r"node|out of range"):
            package.make_plan("reduce", "two-level", 3, nodes=nodes)
    assert [row.name for row in package.algorithms("reduce") if row.any_placement] == ["two-level"]
