"""`sibyl plan` and `sibyl algorithms`: the contract that other programs read."""

import json
import os
import random
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from conftest import Sibyl, assert_usage_error
from plan_interpreter import PlanError, check_results, execute

import sibyl as package

ROWS = package.algorithms()
ROW_IDS = [f"{row.collective}-{row.name}" for row in ROWS]
RANKS = range(1, 18)
# From here on not every combination of root, order, gates and MPI_IN_PLACE is executed, and of the
# roots the first, the last and a drawn one: for all of them the library's own verifier runs.
FEW_RANKS = 8


def requests(row: package.Algorithm, ranks: int) -> list[dict[str, Any]]:
    """What can be asked of an algorithm for `ranks` ranks."""
    draw = random.Random(ranks)
    roots = range(ranks) if row.rooted else range(1)
    if len(roots) > FEW_RANKS and "SIBYL_TEST_LONG" not in os.environ:
        roots = [0, draw.randrange(1, ranks - 1), ranks - 1]
    found = []
    for root in roots:
        others = [rank for rank in range(ranks) if rank != root]
        orders: list[list[int] | None] = [None]
        if row.order != "none":
            shuffled = draw.sample(others, len(others))
            whole = draw.sample(range(ranks), ranks)
            orders += [shuffled, whole] if ranks <= FEW_RANKS else [shuffled]
        for order in orders:
            for background in (False, True) if row.background else (False,):
                if ranks > FEW_RANKS and background != (order is not None):
                    continue
                for in_place in (False, True) if row.in_place else (False,):
                    request = {
                        "root": root,
                        "order": order,
                        "background": background,
                        "in_place": in_place,
                    }
                    if row.segments:
                        request["segments"] = draw.randint(1, 6)
                    if row.arrivals:
                        request["arrivals"] = [draw.uniform(0, ranks) for _ in range(ranks)]
                        request["round_time"] = draw.uniform(0.1, 2)
                    if row.sizes and (root + in_place) % 2 == 0:
                        count = ranks**2 if row.collective == "alltoallv" else ranks
                        request["sizes"] = [draw.choice((0, 3, 70)) for _ in range(count)]
                        request["direct_from"] = draw.choice((1, 50, 100))
                    if row.nodes:
                        request["ranks_per_node"] = draw.randint(1, 5)
                    if row.uneven_nodes and (ranks + in_place) % 2 == 0:
                        request["ranks_per_node"] = 1
                        request["nodes"] = [rank * (1 + root % 4) // 4 for rank in range(ranks)]
                    if row.any_placement and (root + in_place) % 2 == 0:
                        request["ranks_per_node"] = 1
                        request["nodes"] = [draw.randrange(1 + ranks // 3) for _ in range(ranks)]
                        if row.lanes:
                            request["lanes"] = draw.randint(1, min(ranks, 3))
                    found.append(request)
    return found


@pytest.mark.suite
@pytest.mark.parametrize("row", ROWS, ids=ROW_IDS)
def test_a_second_reader_of_the_json_gets_the_right_results(row: package.Algorithm) -> None:
    for ranks in RANKS:
        for number, request in enumerate(requests(row, ranks)):
            plan = json.loads(
                package.make_plan(row.collective, row.name, ranks, **request).to_json()
            )
            try:
                states = execute(plan, request["in_place"], seed=number)
                check_results(plan, states, request["in_place"])
            except PlanError as error:
                pytest.fail(f"{row.collective} {row.name}, {ranks} ranks, {request}: {error}")


@pytest.mark.parametrize("row", ROWS, ids=ROW_IDS)
def test_the_second_reader_notices_a_plan_that_is_wrong(row: package.Algorithm) -> None:
    for rank in range(6):
        plan = json.loads(package.make_plan(row.collective, row.name, 6).to_json())
        del plan["programs"][rank][0]
        with pytest.raises(PlanError):
            check_results(plan, execute(plan), in_place=False)


@pytest.mark.parametrize("row", ROWS, ids=ROW_IDS)
def test_the_json_has_the_form_of_the_contract(sibyl: Sibyl, row: package.Algorithm) -> None:
    words = ["plan", row.collective, "--algorithm", row.name, "--ranks", 7, "--json", "-"]
    result = sibyl(*words)
    assert result.returncode == 0, result
    plan = json.loads(result.stdout)
    assert plan["collective"] == row.collective
    assert plan["algorithm"] == row.name
    assert plan["ranks"] == 7
    assert plan["root"] == 0
    assert plan["segments"] >= 1
    assert len(plan["programs"]) == 7
    assert any(plan["programs"])
    for program in plan["programs"]:
        for number, step in enumerate(program):
            check_step(step, number, 7)


def check_step(step: dict[str, Any], number: int, ranks: int) -> None:
    """One step of the contract."""
    local = step["kind"] in ("copy", "combine")
    assert step["kind"] in ("send", "receive", "receive_combine", "copy", "combine")
    assert step["gate"] in ("on_start", "on_arrival")
    assert step["round"] >= 0
    check_data(step, step["count"])
    if local:
        assert step.get("peer") in (None, -1)
        check_data(step["from"], step["count"])
    else:
        assert 0 <= step["peer"] < ranks
        assert not step.get("from")
    assert all(0 <= earlier < number for earlier in step["after"])


def check_data(data: dict[str, Any], count: int) -> None:
    """A slice of the contract: one range, or a list of ranges of the same total."""
    assert data["buffer"] in ("send", "receive", "scratch")
    assert data["first"] >= 0
    assert count >= 0
    if "ranges" in data:
        assert len(data["ranges"]) >= 2
        assert sum(size for _, size in data["ranges"]) == count
        assert all(first >= 0 and size > 0 for first, size in data["ranges"])


def test_an_order_file_decides_the_order(sibyl: Sibyl) -> None:
    (sibyl.directory / "order.txt").write_text("# latest first\n3\n\n0  # comment\n2\n1\n4\n")
    words = ["plan", "scatter", "--algorithm", "linear", "--ranks", 5, "--root", 2]
    result = sibyl(*words, "--order", "order.txt", "--json", "plan.json")
    assert result.returncode == 0, result
    plan = json.loads((sibyl.directory / "plan.json").read_text())
    sends = [step["peer"] for step in plan["programs"][2] if step["kind"] == "send"]
    assert sends == [3, 0, 1, 4]


def test_background_opens_gates_and_in_place_saves_the_copy(sibyl: Sibyl) -> None:
    words = ["plan", "scatter", "--algorithm", "binomial", "--ranks", 8, "--json", "-"]
    closed = json.loads(sibyl(*words).stdout)
    opened = json.loads(sibyl(*words, "--background").stdout)
    in_place = json.loads(sibyl(*words, "--in-place").stdout)

    def gates(plan: dict[str, Any]) -> set[str]:
        return {step["gate"] for program in plan["programs"] for step in program}

    assert gates(closed) == {"on_arrival"}
    assert "on_start" in gates(opened)
    assert len(in_place["programs"][0]) < len(closed["programs"][0])


def test_operator_rounds_move_within_the_family(sibyl: Sibyl) -> None:
    words = ["plan", "exscan", "--ranks", 36, "--json", "-", "--algorithm"]
    one = json.loads(sibyl(*words, "1-doubling").stdout)["programs"]
    moved = json.loads(sibyl(*words, "123-doubling", "--operator-rounds", 1).stdout)["programs"]
    own = json.loads(sibyl(*words, "123-doubling").stdout)["programs"]
    assert moved == one
    assert own != one


def test_two_levels_keep_to_the_nodes_that_they_are_told_of(sibyl: Sibyl) -> None:
    words = ["plan", "exscan", "--ranks", 12, "--json", "-", "--algorithm"]
    told = json.loads(sibyl(*words, "two-level", "--ranks-per-node", 4).stdout)["programs"]
    leaving = {
        (rank, step["peer"])
        for rank, program in enumerate(told)
        for step in program
        if step["kind"] == "send" and step["peer"] // 4 != rank // 4
    }
    assert leaving
    assert all(rank % 4 == 3 and peer % 4 == 3 for rank, peer in leaving)
    refused = sibyl(*words, "hybrid", "--ranks-per-node", 4)
    assert refused.returncode == 2
    assert "does not plan for nodes" in refused.stderr
    assert sibyl(*words, "two-level", "--ranks-per-node", 0).returncode == 2


def test_the_count_is_recorded_and_gives_goal_its_sizes(sibyl: Sibyl) -> None:
    words = ["plan", "exscan", "--algorithm", "1-doubling", "--ranks", 4, "--count", 1000]
    result = sibyl(*words, "--json", "-")
    assert json.loads(result.stdout)["count"] == 1000
    assert sibyl(*words, "--goal", "plan.goal").returncode == 0
    goal = (sibyl.directory / "plan.goal").read_text()
    assert goal.startswith("num_ranks 4")
    assert "8000b" in goal


def test_the_picture_is_a_drawing_of_every_rank(sibyl: Sibyl) -> None:
    for ranks in (8, 48):
        words = ["plan", "gather", "--algorithm", "binomial", "--ranks", ranks, "--svg", "p.svg"]
        assert sibyl(*words).returncode == 0
        drawing = ElementTree.parse(sibyl.directory / "p.svg").getroot()
        assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
        texts = {(t.text or "").strip() for t in drawing.iter("{http://www.w3.org/2000/svg}text")}
        assert any(text.split()[-1:] == [str(ranks - 1)] for text in texts)


def test_without_an_output_a_summary_is_printed(sibyl: Sibyl) -> None:
    words = ["plan", "exscan", "--algorithm", "123-doubling", "--ranks"]
    small = sibyl(*words, 4).stdout
    assert "exscan 123-doubling, 4 ranks" in small
    assert "rank 3" in small
    assert "receive" in small
    large = sibyl(*words, 100).stdout
    assert "rounds      8" in large
    assert "rank 3" not in large


def test_the_table_of_algorithms_is_the_library_s(sibyl: Sibyl) -> None:
    rows = json.loads(sibyl("algorithms", "--json").stdout)
    assert [(row["collective"], row["name"]) for row in rows] == [
        (row.collective, row.name) for row in ROWS
    ]
    for row in rows:
        assert row["idea"]
        assert row["cost"]
        assert row["source"]
        assert row["order"] in ("none", "root_only", "all_ranks")
        for flag in ("background", "commutative_only", "in_place"):
            assert isinstance(row[flag], bool)
    assert json.loads(sibyl("algorithms", "--json", "-").stdout) == rows
    assert sibyl("algorithms", "--json", "a.json").stdout == ""
    assert json.loads((sibyl.directory / "a.json").read_text()) == rows
    assert_usage_error(sibyl("algorithms", "a.json"), "say: sibyl algorithms --json a.json")
    table = sibyl("algorithms").stdout
    assert all(row["name"] in table for row in rows)
    assert {row["collective"] for row in rows} == set(package.collectives())


def test_the_package_says_what_is_wrong_with_a_request() -> None:
    with pytest.raises(ValueError, match="bcast"):
        package.make_plan("bcast", "ring", 4)
    with pytest.raises(ValueError, match="fast"):
        package.make_plan("scan", "fast", 4)
    with pytest.raises(ValueError):
        package.make_plan("gather", "linear", 4, root=4)
    with pytest.raises(ValueError):
        package.make_plan("gather", "linear", 4, order=[1, 1, 2])


def test_sizes_of_blocks_shape_the_tree(sibyl: Sibyl, tmp_path: Path) -> None:
    words = ["plan", "gatherv", "--algorithm", "ordered-tree", "--ranks", 4, "--json", "-"]
    equal = json.loads(sibyl(*words).stdout)
    listed = sibyl(*words, "--sizes", "1,9,0,50", "--direct-from", 40)
    assert listed.returncode == 0, listed
    plan = json.loads(listed.stdout)
    # Only the root's own copy moves without a message; rank 3 sends its block straight to rank 0.
    assert plan["rounds"] > equal["rounds"]
    to_root = [s for s in plan["programs"][3] if s["kind"] == "send" and s["peer"] == 0]
    assert [(s["buffer"], s["first"], s["count"]) for s in to_root][-1] == ("send", 3, 1)
    file = tmp_path / "sizes"
    file.write_text("1  # the root's\n9\n0\n50\n")
    assert sibyl(*words, "--sizes", file, "--direct-from", 40).stdout == listed.stdout


@pytest.mark.parametrize(
    ("more", "part"),
    [
        (["--sizes", "1,2"], "2 sizes for 4 ranks"),
        (["--sizes", "1,x,3,4"], "'x'"),
        (["--sizes", "1,-2,3,4"], "'-2'"),
        (["--sizes", "absent"], "absent"),
        (["--sizes", "1,2,3,4", "--direct-from", "-1"], "out of range"),
    ],
)
def test_wrong_sizes_end_in_one_line(sibyl: Sibyl, more: list[str], part: str) -> None:
    result = sibyl("plan", "gatherv", "--algorithm", "ordered-tree", "--ranks", 4, *more)
    assert (result.returncode, len(result.stderr.splitlines())) == (2, 1), result
    assert part in result.stderr


def test_files_whose_names_are_no_text_are_read_or_told(sibyl: Sibyl) -> None:
    name = os.fsdecode(b"caf\xe9")
    (sibyl.directory / name).write_text("0\n1\n2\n")
    words = ["plan", "reduce", "--algorithm", "clairvoyant", "-n", 3, "--arrivals", name]
    assert_usage_error(sibyl(*words), "'caf\\udce9': this is no UTF-8; give the file another name")
    words = ["plan", "gather", "--algorithm", "linear", "-n", 3, "--order", name]
    assert sibyl(*words).returncode == 0
    result = sibyl("predict", name, "--csv", "-")
    assert_usage_error(result, "caf\ufffd")
    simulated = sibyl("simulate", "gather", "--pattern", name, "-n", 3, "--csv", "-")
    assert simulated.returncode == 0
    assert "caf\ufffd" in simulated.stdout


def test_a_round_s_time_has_a_unit_or_is_seconds(sibyl: Sibyl) -> None:
    words = ["plan", "reduce", "--algorithm", "clairvoyant", "-n", "4"]
    words += ["--arrivals", "skewed:0.01", "--events", "-"]
    as_seconds = sibyl(*words, "--round-time", "0.002")
    assert as_seconds.returncode == 0
    for same in ("2ms", "2000us", "2e-3", "0.002s"):
        assert sibyl(*words, "--round-time", same).stdout == as_seconds.stdout
    assert sibyl(*words, "--round-time", "20ms").stdout != as_seconds.stdout
    assert sibyl(*words).stdout == sibyl(*words, "--round-time", "1").stdout
    assert_usage_error(sibyl(*words, "--round-time", "2 rods"), "time '2 rods': write a number")
    assert_usage_error(sibyl(*words, "--round-time", "-1"), "round")
