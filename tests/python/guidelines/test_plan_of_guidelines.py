"""What `sibyl guidelines` measures, and what it refuses before it does."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sibyl.errors import CommandError
from sibyl.guidelines.session import Outputs, Wishes, make_plan

WISHES = Wishes(
    collectives=None,
    problems=None,
    blocks="1,10",
    under="native",
    pattern="none",
    max_delay="0",
    ranks="4",
    on="local",
    mpi=None,
    rate="100mbit",
    iterations=None,
    warm_up=None,
    compute="5ms",
    seed=1,
    platform="infiniband-35x16",
    ranks_per_node=1,
)


@pytest.mark.parametrize(
    ("wrong", "part"),
    [
        ({"collectives": ","}, "--collectives"),
        ({"collectives": "alltoallw"}, "alltoallw"),
        ({"problems": "steps"}, "steps"),
        ({"collectives": "reduce", "problems": "spikes"}, "same"),
        ({"blocks": "0"}, "--blocks"),
        ({"blocks": "many"}, "many"),
        ({"blocks": "100000000", "ranks": "64"}, "2\\^31"),
        ({"under": "sea"}, "sea"),
        ({"on": "moon"}, "moon"),
        ({"pattern": "absent.txt"}, "absent.txt"),
        ({"pattern": "skewed"}, "--max-delay"),
        ({"max_delay": "5ms", "given": frozenset({"max_delay"})}, "--pattern uniform"),
        ({"given": frozenset({"rate"})}, "--on cluster"),
        ({"iterations": 0}, "--iterations"),
        ({"seed": -1}, "--seed"),
        ({"ranks": "two"}, "two"),
        ({"on": "smpi", "ranks": "65", "ranks_per_node": 16}, "multiple"),
        ({"on": "cluster", "ranks": "9", "ranks_per_node": 2}, "multiple"),
        ({"on": "local", "ranks": "8", "ranks_per_node": 2}, "--on cluster"),
        ({"on": "smpi", "ranks": "560", "blocks": "10000"}, "GiB"),
        ({"on": "smpi", "ranks": "560", "blocks": "10000", "collectives": "alltoallv"}, "GiB"),
        ({"collectives": "barrier", "problems": "random"}, "same"),
        ({"on": "smpi", "mpi": "intel"}, "intel"),
    ],
    ids=str,
)
def test_wishes_that_describe_nothing_are_told(wrong: dict[str, Any], part: str) -> None:
    with pytest.raises(CommandError, match=part) as error:
        make_plan(replace(WISHES, **wrong), None)
    assert error.value.exit_code == 2
    assert "\n" not in str(error.value)


def test_places_that_cannot_be_written_are_told_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    nothing: dict[str, Path | None] = dict.fromkeys(("csv", "json", "page", "tables"))
    for option, name in (
        ("csv", "absent/a.csv"),
        ("json", "."),
        ("page", "absent/a.html"),
        ("page", "file"),
        ("tables", "file"),
    ):
        outputs = Outputs(**{**nothing, option: tmp_path / name}, resume=False)
        with pytest.raises(CommandError, match=f"--{option}"):
            outputs.check(Wishes())


def test_the_plan_is_the_paper_s() -> None:
    plan = make_plan(replace(WISHES, collectives="gatherv", ranks="9"), None)
    regular, irregular = (grid for grid, _ in plan.parts)
    assert (regular.iterations, regular.warm_up, regular.root) == (75, 10, 4)
    assert regular.algorithms == ("gather/native", "padded-gather/native", "gatherv/native")
    assert [cell.block for cell in irregular.cells[:2]] == [1, 10]
    assert {cell.counts for cell in irregular.cells} == {
        *("random", "spikes", "decreasing", "alternating", "two-blocks")
    }
    assert regular.cells[0].words() == ["--cell", "block=1,delay=0.0,counts=same,pattern=none"]
    (barrier,) = make_plan(replace(WISHES, collectives="barrier"), None).parts
    assert [cell.words()[1] for cell in barrier[0].cells] == ["delay=0.0,counts=same,pattern=none"]
    assert barrier[0].algorithms == ("barrier/native", "allreduce/native")
    simulated = make_plan(replace(WISHES, on="smpi", collectives="gatherv"), None)
    assert simulated.parts[0][0].iterations == 1
