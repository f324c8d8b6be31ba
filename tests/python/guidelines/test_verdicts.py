"""Verdicts on guidelines: violated, holds, undecided, none."""

import importlib.util
import io

import pytest
from guideline_reports import gather_report, named, report_of, result_of
from rich.console import Console

from sibyl.guidelines import output, page
from sibyl.guidelines.judge import judge


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
