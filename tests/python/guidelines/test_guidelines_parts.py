"""The parts of `sibyl guidelines` that need no MPI: verdicts, files, the page, selection tables."""

import csv
import importlib.util
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from sibyl.errors import CommandError
from sibyl.experiment.grid import Cell
from sibyl.experiment.samples import METRICS, CellResult
from sibyl.guidelines import output, page
from sibyl.guidelines.catalogue import GUIDELINES, Guideline
from sibyl.guidelines.judge import judge
from sibyl.guidelines.published import published
from sibyl.guidelines.report import Report
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
from sibyl.guidelines.session import Outputs, Wishes, make_plan

JOB = {
    "mpi": "Some MPI 1.0",
    "collective": "gather",
    "ranks": 4,
    "cores": 8,
    "cpu": "Some processor",
    "ranks_per_machine": 4,
    "simulated": False,
    "clocks": {"common": True, "worst_offset_s": 0.0, "worst_error_s": 1e-7},
}
ORIGIN = {"date": "2026-01-02T03:04:05Z", "sibyl": "1.2.3", "command": ["sibyl", "guidelines"]}


def around(middle: float) -> list[float]:
    return [middle * (1 + 0.001 * (i % 7 - 3) + 1e-6 * i) for i in range(28)]


def result_of(
    middles: dict[str, float], problem: str = "same", block: int = 10, ranks: int = 4, **job: object
) -> CellResult:
    """A cell whose contenders took about these times."""
    samples = {}
    for name, middle in middles.items():
        samples[name] = {metric: around(middle) for metric in METRICS}
        samples[name]["late_s"] = [0.0] * 28
    cell = Cell(ranks, 0, problem, "none", 0.0, block)
    sizes = {"elements": ranks * block, "padded_elements": 2 * ranks * block}
    return CellResult(cell, {**JOB, "ranks": ranks, **job}, samples, {}, sizes)


def named(*names: str) -> tuple[Guideline, ...]:
    return tuple(guideline for guideline in GUIDELINES if guideline.name in names)


def report_of(cells: list[tuple[CellResult, tuple[Guideline, ...]]]) -> Report:
    unders = ("native", "sibyl")
    return Report("openmpi", 28, unders, cells, judge(cells, unders), ORIGIN)


def gather_report() -> Report:
    slow = {"gather/native": 1e-5, "padded-gather/native": 2e-5, "gatherv/native": 9e-5}
    fast = {**slow, "gatherv/native": 1e-5, "gatherv/auto": 5e-5}
    return report_of(
        [
            (result_of(slow), named("(1)", "(2)")),
            (result_of(fast, "spikes", 1000), named("(2)")),
        ]
    )


def test_a_left_side_that_is_slower_violates_and_one_that_is_faster_holds() -> None:
    verdicts = {
        (f.guideline.name, f.under, f.result.cell.counts): f.verdict
        for f in gather_report().findings
    }
    assert verdicts == {
        ("(1)", "native", "same"): "holds",
        ("(2)", "native", "same"): "VIOLATED",
        ("(2)", "native", "spikes"): "holds",
        ("(2)", "sibyl", "spikes"): "VIOLATED",
    }
    worst = gather_report().violations[0]
    assert worst.factor == pytest.approx(4.5, rel=1e-2)
    assert worst.left.least == pytest.approx(9e-5, rel=1e-2)


def test_the_slack_of_five_percent_and_200_ns_is_no_violation() -> None:
    times = {"reduce/native": 1.04e-3, "allreduce/native": 1e-3}
    assert judge([(result_of(times), named("(5)"))], ["native"])[0].verdict == "holds"
    times = {"reduce/native": 1.15e-6, "allreduce/native": 1e-6}
    assert judge([(result_of(times), named("(5)"))], ["native"])[0].verdict == "holds"
    times = {"reduce/native": 1.3e-6, "allreduce/native": 1e-6}
    assert judge([(result_of(times), named("(5)"))], ["native"])[0].verdict == "VIOLATED"


def test_one_least_time_proves_nothing() -> None:
    result = result_of({"reduce/native": 1e-5, "allreduce/native": 1e-5})
    # One outlier on the right looks like a violation by minima.
    result.samples["allreduce/native"]["run_s"][0] = 1e-7
    assert judge([(result, named("(5)"))], ["native"])[0].verdict == "holds"
    few = result_of({"reduce/native": 9e-5, "allreduce/native": 1e-5})
    for of in few.samples.values():
        of["run_s"] = of["run_s"][:2]
    assert judge([(few, named("(5)"))], ["native"])[0].verdict == "undecided"


def test_where_ranks_outnumber_the_cores_there_is_no_verdict() -> None:
    result = result_of({"reduce/native": 9e-5, "allreduce/native": 1e-5}, cores=2)
    (finding,) = judge([(result, named("(5)"))], ["native"])
    assert finding.verdict == "none"
    assert "cores" in finding.limit


def test_of_simulated_times_one_is_enough() -> None:
    for seconds, verdict in ((9e-5, "VIOLATED"), (1e-5, "holds")):
        result = result_of({"reduce/native": seconds, "allreduce/native": 1e-5}, simulated=True)
        for of in result.samples.values():
            of["run_s"] = of["run_s"][:1]
        assert judge([(result, named("(5)"))], ["native"])[0].verdict == verdict


def test_a_wrong_result_is_no_verdict() -> None:
    result = result_of({"reduce/native": 9e-5, "allreduce/native": 1e-5})
    result.wrong["reduce/native"] = 3
    assert judge([(result, named("(5)"))], ["native"])[0].verdict == "WRONG"


def test_a_barrier_is_judged_without_data() -> None:
    times = {"barrier/native": 9e-5, "allreduce/native": 1e-5}
    report = report_of([(result_of(times, block=0), named("(9)"))])
    out = io.StringIO()
    output.print_report(report, Console(file=out, width=200))
    assert "worst 9.00 times (same, no data)" in out.getvalue()
    if importlib.util.find_spec("matplotlib"):
        assert page.to_html(report).count("data:image/png;base64,") == 2


def test_the_table_has_the_paper_s_columns_and_marks_violations_red() -> None:
    report = gather_report()
    out = io.StringIO()
    output.print_report(report, Console(file=out, width=200, force_terminal=True))
    text = out.getvalue()
    for heading in ("MPI_Gather", "Guideline (2)", "MPI_Gatherv", "SIBYL_Gatherv", "m'"):
        assert heading in text
    red = re.findall(r"\x1b\[1;31m *([0-9.]+)", text)
    assert "90.00" in red  # the native gatherv of the regular problem
    assert "50.00" in red  # Sibyl's of the spikes
    assert "4.50" in red
    assert "20.00" not in red
    assert "VIOLATED in 1 of 2 cases" in text


def test_the_table_fits_80_columns_without_what_is_least_needed() -> None:
    out = io.StringIO()
    output.print_report(gather_report(), Console(file=out, width=80))
    text = out.getvalue()
    assert max(len(line) for line in text.splitlines() if line[:1] in "┏┡│├└") <= 80
    for whole in ("MPI_Gather", "Guideline (2)", "MPI_Gatherv", "SIBYL_Gatherv", "90.00"):
        assert whole in text
    assert "no room for m'" in text
    assert "in the paper" in text


def test_csv_and_json_have_every_finding() -> None:
    report = gather_report()
    rows = list(csv.DictReader(io.StringIO(output.to_csv(report))))
    assert [row["verdict"] for row in rows] == [f.verdict for f in report.findings]
    assert rows[1]["guideline"] == "(2)"
    assert float(rows[1]["factor"]) == pytest.approx(4.5, rel=1e-2)
    assert float(rows[1]["left_avg_us"]) == pytest.approx(90, rel=1e-2)
    document = json.loads(output.to_json(report))
    assert document["format"] == "sibyl-guidelines"
    assert len(document["findings"]) == len(rows)
    assert len(document["cells"][0]["samples"]["gather/native"]["run_s"]) == 28


def test_the_page_is_one_file_with_pictures_and_red_figures() -> None:
    pytest.importorskip("matplotlib")
    text = page.to_html(gather_report(), [(Path("a/rules.conf"), "reduce <5")])
    assert text.count("data:image/png;base64,") == 2
    assert not re.search(r'(?:src|href)="(?!data:)', text)
    assert '<td class="bad">90.00</td>' in text
    assert "reduce &lt;5" in text
    assert "Guideline (2)" in text


def test_the_published_factors_are_those_of_the_paper_s_tables() -> None:
    # Table 3, Open MPI 2.0.1: 170.00 over 123.00; table 1 is another library's.
    assert published("openmpi")["same", 1].factor == pytest.approx(170.0 / 123.0)
    assert published("openmpi")["same", 1].ranks == 560
    assert len(published("mpich")) == 30
    assert published("other") == {}


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
            outputs.check()


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
    found = compare([result_of(fast)], "reduce", "native", ["native:a", "native:b", "native:c"])
    assert [(c.algorithm, c.bytes, c.gains, c.loses) for c in found] == [
        ("native:a", 40, True, False),
        ("native:b", 40, False, True),
    ]
    crowded = result_of(fast, cores=1)
    assert compare([crowded], "reduce", "native", ["native:a"]) == []
    irregular = result_of(fast, "random")
    assert compare([irregular], "reduce", "native", ["native:a"]) == []


def test_a_rule_counts_the_bytes_that_all_ranks_know() -> None:
    for collective, size in (("allreduce", 40), ("alltoall", 40), ("bcast", 160)):
        fast = {f"{collective}/auto": 2e-5, f"{collective}/ring": 1e-5}
        (found,) = compare([result_of(fast)], collective, "auto", ["ring"])
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
