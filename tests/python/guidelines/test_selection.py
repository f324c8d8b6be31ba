"""Selection tables learned from what was measured."""

import json
from pathlib import Path

import pytest
from guideline_reports import gather_report, result_of

from sibyl.errors import CommandError
from sibyl.guidelines.selection import mpich, openmpi, own
from sibyl.guidelines.selection.choices import (
    Comparison,
    RankRules,
    Rule,
    compare,
    learn,
    reach,
    rule_for_all_sizes,
    rules_by_size,
)
from sibyl.guidelines.selection.learn import Learner
from sibyl.mpi.installation import Launcher


def choice(size: int, name: str, ratio: float, ranks: int = 8) -> Comparison:
    return Comparison("reduce", ranks, size, name, ratio, ratio < 0.9, ratio > 1.05)


def test_an_algorithm_is_chosen_by_size_only_where_it_is_shown_to_gain() -> None:
    rules = rules_by_size(
        [choice(4, "a", 0.5), choice(4, "b", 0.4), choice(400, "a", 0.8), choice(40000, "a", 1.0)]
    )
    # Sizes in between go to the nearer one, geometrically.
    assert rules == [Rule(0, "b"), Rule(40, "a"), Rule(4000, None)]
    assert rules_by_size([choice(4, "a", 0.95), choice(40, "a", 1.2)]) == [Rule(0, None)]
    # Beyond what was measured the usual algorithm comes back.
    assert rules_by_size([choice(1000, "a", 0.5)]) == [Rule(0, "a"), Rule(3162, None)]


def test_without_sizes_an_algorithm_must_lose_nowhere() -> None:
    assert rule_for_all_sizes([choice(4, "a", 0.2), choice(40, "a", 1.2)]) == [Rule(0, None)]
    assert rule_for_all_sizes(
        [choice(4, "a", 0.8), choice(40, "a", 1.0), choice(4, "b", 0.5), choice(40, "b", 1.0)]
    ) == [Rule(0, "b")]
    assert rule_for_all_sizes([choice(4, "a", 1.0)]) == [Rule(0, None)]


def test_measured_numbers_of_ranks_do_not_overlap() -> None:
    assert reach([8]) == {8: (6, 11)}
    assert reach([2]) == {2: (2, 2)}
    found = reach([8, 10, 64])
    assert found[8][1] + 1 == found[10][0]
    assert found[10][1] < found[64][0]
    assert learn([choice(4, "a", 1.0)], by_size=True) == []


def test_what_is_compared_has_a_verdict_and_the_first_arrivals() -> None:
    fast = {"reduce/native": 2e-5, "reduce/native:a": 1e-5, "reduce/native:b": 3e-5}
    names = {"reduce": ["native:a", "native:b", "native:c"]}
    found = compare([result_of(fast)], "native", names)
    assert [(c.algorithm, c.bytes, c.gains, c.loses) for c in found] == [
        ("native:a", 40, True, False),
        ("native:b", 40, False, True),
    ]
    crowded = result_of(fast, cores=1)
    assert compare([crowded], "native", {"reduce": ["native:a"]}) == []
    irregular = result_of(fast, "random")
    assert compare([irregular], "native", {"reduce": ["native:a"]}) == []


def test_all_collectives_of_a_table_are_corrected_together() -> None:
    names = {collective: ["native:a"] for collective in ("reduce", "bcast", "scan")}
    nearly = {f"{name}/native": 2e-5 for name in names} | {"reduce/native:a": 1.898e-5}
    alone = compare([result_of(nearly)], "native", {"reduce": ["native:a"]})
    others = {f"{name}/native:a": 2e-5 for name in ("bcast", "scan")}
    together = compare([result_of(nearly | others)], "native", names)
    assert [each.collective for each in together] == ["reduce", "bcast", "scan"]
    assert alone[0].gains
    assert not together[0].gains


def test_a_rule_counts_the_bytes_that_all_ranks_know() -> None:
    for collective, size in (("allreduce", 40), ("alltoall", 40), ("bcast", 160)):
        fast = {f"{collective}/auto": 2e-5, f"{collective}/ring": 1e-5}
        (found,) = compare([result_of(fast)], "auto", {collective: ["ring"]})
        assert found.bytes == size


def test_open_mpi_s_rules_begin_at_nothing_and_end_with_its_own_decision() -> None:
    learned = [
        RankRules(
            "reduce", 6, 11, (Rule(0, "linear"), Rule(1000, "rabenseifner"), Rule(9000, None))
        ),
        RankRules("reduce", 12, 20, (Rule(0, "linear"),)),
    ]
    text = openmpi.to_text(learned, {"reduce": {"linear": 1, "rabenseifner": 7}}, ["made by hand"])
    numbers = [line.partition("#")[0].split() for line in text.splitlines()]
    assert [line for line in numbers if line] == [
        ["1"],
        ["11"],
        ["4"],
        *(["0"], ["1"], ["0", "0", "0", "0"]),
        *(["6"], ["3"], ["0", "1", "0", "0"], ["1000", "7", "0", "0"], ["9000", "0", "0", "0"]),
        *(["12"], ["1"], ["0", "1", "0", "0"]),
        *(["21"], ["1"], ["0", "0", "0", "0"]),
    ]
    assert openmpi.usable("reduce", "rabenseifner")
    assert not openmpi.usable("reduce", "binomial")  # wrong where the operator does not commute


def test_mpich_s_selection_keeps_what_nothing_was_learned_about(tmp_path: Path) -> None:
    tree = {
        "collective=reduce": {
            "comm_type=intra": {"algorithm=MPIR_Reduce_intra_binomial": {}},
            "comm_type=inter": {"algorithm=MPIR_Reduce_inter_local_reduce_remote_send": {}},
        },
        "collective=gather": {"algorithm=MPIR_Gather_allcomm_nb": {}},
    }
    library = tmp_path / "libmpi.so"
    names = (
        b"algorithm=MPIR_Reduce_intra_binomial\0algorithm=MPIR_Reduce_intra_reduce_scatter_gather\0"
    )
    library.write_bytes(b"\0" + json.dumps(tree).replace(" ", "").encode() + b"\0" + names)
    assert mpich.built_in(library) == tree
    rules = (Rule(0, "reduce_scatter_gather"), Rule(1000, "binomial"), Rule(5000, None))
    learned = [RankRules("reduce", 6, 11, rules)]
    changed = mpich.to_tree(learned, tree, library.read_bytes())
    assert changed["collective=gather"] == tree["collective=gather"]
    reduce = changed["collective=reduce"]
    assert reduce["comm_type=inter"] == tree["collective=reduce"]["comm_type=inter"]
    usual = tree["collective=reduce"]["comm_type=intra"]
    ranks = reduce["comm_type=intra"]
    assert list(ranks) == ["comm_size<=5", "comm_size<=11", "comm_size=any"]
    assert ranks["comm_size=any"] == usual
    sizes = ranks["comm_size<=11"]
    assert list(sizes) == ["avg_msg_size<=999", "avg_msg_size<=4999", "avg_msg_size=any"]
    # Where it cannot be used, the usual algorithm.
    assert sizes["avg_msg_size<=999"]["is_op_built_in=no"] == usual
    assert sizes["avg_msg_size<=999"]["is_op_built_in=yes"]["count<pow2"] == usual
    assert sizes["avg_msg_size=any"] == usual
    assert not mpich.usable("reduce", "unheard_of", library.read_bytes())
    assert not mpich.usable("reduce", "smp", library.read_bytes())
    assert not mpich.usable("allreduce", "ring", b"algorithm=MPIR_Allreduce_intra_ring\0")
    library.write_bytes(b"nothing")
    with pytest.raises(CommandError):
        mpich.built_in(library)


def test_sibyl_s_table_names_only_what_differs_from_its_own_choice() -> None:
    learned = [
        RankRules("gather", 6, 11, (Rule(0, "binomial"), Rule(2048, None), Rule(9000, "native"))),
        RankRules("gatherv", 6, 11, (Rule(0, "ordered-tree"),)),
    ]
    lines = own.to_text(learned, ["made by hand"]).splitlines()
    assert lines[0] == "sibyl-selection 1"
    assert [line.split() for line in lines if not line.startswith("#")][1:] == [
        ["gather", "6-11", "0-2047", "binomial"],
        ["gather", "6-11", "9000-", "native"],
        ["gatherv", "6-11", "*", "ordered-tree"],
    ]
    crowded = [RankRules("gather", n, n, (Rule(0, "binomial"),)) for n in range(2, 72)]
    lines = own.to_text(crowded, []).splitlines()
    assert sum(line.startswith("gather ") for line in lines) == 64
    assert "# 6 more rules were learned than a table may have" in lines


def test_a_table_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    learner = Learner(Launcher(Path("mpiexec"), "openmpi", "4.1"), Path("program"), False)
    with pytest.raises(CommandError, match="cannot be written"):
        learner.write(gather_report(), tmp_path / "gone")
    (tmp_path / "there").mkdir()
    ((path, _),) = learner.write(gather_report(), tmp_path / "there")
    assert path.is_file()
