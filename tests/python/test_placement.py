"""Which ranks share a node: from sizes of nodes, handed to algorithms in their own terms."""

import pytest

import sibyl
from sibyl.placement import Placement, nodes_of_ranks, placement_of


def test_ranks_fill_nodes_or_are_dealt_out_in_turns() -> None:
    assert nodes_of_ranks([3, 1, 4]) == [0, 0, 0, 1, 2, 2, 2, 2]
    assert nodes_of_ranks([3, 1, 4], cyclic=True) == [0, 1, 2, 0, 2, 0, 2, 2]
    assert nodes_of_ranks([1], cyclic=True) == [0]


@pytest.mark.parametrize(
    ("nodes", "placement"),
    [
        ([0], Placement(1)),
        ([0, 1, 2], Placement(1)),
        ([0, 0, 0], Placement(3)),
        ([0, 0, 0, 1, 1, 1, 2], Placement(3)),
        ([0, 0, 1, 1, 1], Placement(nodes=(0, 0, 1, 1, 1))),
        ([0, 1, 0, 1], Placement(nodes=(0, 1, 0, 1))),
        ([1, 1, 0, 0], Placement(nodes=(1, 1, 0, 0))),
    ],
)
def test_equal_nodes_in_a_row_are_said_by_ranks_per_node(
    nodes: list[int], placement: Placement
) -> None:
    assert placement_of(nodes) == placement


def test_algorithms_are_asked_for_as_much_as_they_plan_for() -> None:
    rows = {row.name: row for row in sibyl.algorithms("reduce")}
    of_any, of_consecutive, of_none = (rows[name] for name in ("two-level", "ordered-tree", "ring"))
    four, dealt = Placement(4), Placement(nodes=(0, 1, 0))
    assert four.asked_of(of_any) == four.asked_of(of_consecutive) == {"ranks_per_node": 4}
    assert dealt.asked_of(of_any) == dealt.asked() == {"nodes": (0, 1, 0)}
    assert dealt.asked_of(of_consecutive) == dealt.asked_of(of_none) == four.asked_of(of_none) == {}
