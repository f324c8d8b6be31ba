"""Verdicts: slower, faster or no difference, and none where the instrument decides."""

import pytest
from cells import around, result_of

from sibyl.experiment.judge import instrument_limit, judge


def test_of_simulated_times_the_medians_decide() -> None:
    times = {"native": [1e-3], "a": [1.2e-3], "b": [0.9e-3], "c": [1.01e-3]}
    rows = judge([result_of(times, simulated=True, platform="x")], "native")
    verdicts = {row.algorithm: row.verdict for row in rows}
    assert verdicts == {"native": "reference", "a": "SLOWER", "b": "faster", "c": "no difference"}


def test_verdicts_are_slower_faster_or_no_difference() -> None:
    result = result_of(
        {
            "native": around(1e-2),
            "worse": around(1.2e-2),
            "better": around(0.8e-2),
            "within": around(1.03e-2),
        }
    )
    verdicts = {row.algorithm: row.verdict for row in judge([result], "native")}
    assert verdicts == {
        "native": "reference",
        "worse": "SLOWER",
        "better": "faster",
        "within": "no difference",  # slower, but by no more than 5 %
    }
    shown = {row.algorithm: row.is_within for row in judge([result], "native")}
    assert shown == {"native": False, "worse": False, "better": True, "within": True}
    row = judge([result], "native")[1]
    assert row.ratio == pytest.approx(1.2, rel=1e-3)
    assert row.to_bound == pytest.approx(12, rel=1e-2)


def test_a_slowdown_below_200_ns_is_none() -> None:
    result = result_of({"native": around(1e-6), "own": around(1.15e-6)})
    assert [row.verdict for row in judge([result], "native")] == ["reference", "no difference"]


def test_comparisons_are_corrected_together() -> None:
    weak = {"native": [1.0, 2, 3, 4, 5], "own": [0.1, 0.2, 0.3, 2.5, 0.5]}
    alone = judge([result_of(weak)], "native")[1]
    many = judge([result_of(weak) for _ in range(20)], "native")[1]
    assert alone.verdict == "faster"
    assert many.verdict == "no difference"
    assert many.p_faster > alone.p_faster
    assert (alone.is_within, many.is_within) == (True, False)


def test_so_few_samples_that_nothing_can_be_shown_do_not_show_that_it_is_within() -> None:
    few = {"native": [1e-3, 1.01e-3, 1.02e-3], "own": [9e-3, 9.1e-3, 9.2e-3]}
    row = judge([result_of(few)], "native")[1]
    assert (row.verdict, row.is_within) == ("no difference", False)
    row = judge([result_of({**few, "own": few["native"]})], "native")[1]
    assert (row.verdict, row.is_within) == ("no difference", False)


def test_where_the_instrument_is_the_bottleneck_there_is_no_verdict() -> None:
    times = {"native": around(1e-2), "own": around(5e-2)}
    check = {
        "cpu_bound": False,
        "shift_true": True,
        "shift_ratio": 1.02,
        "gather_true": True,
        "gather_ratio": 1.0,
        "latency_true": False,
        "alpha_s": 1e-4,
        "alpha_busy_s": 3e-4,
    }
    busy = {**check, "cpu_bound": True, "shift_true": False, "shift_ratio": 1.5}
    slow = {**check, "alpha_busy_s": 2e-3}
    apart = {"common": False, "worst_offset_s": 1.0, "worst_error_s": 1e-5}
    limited = {
        "cores": result_of(times, cores=2),
        "one rank a host": result_of(
            times, cores=2, cluster_check=check, ranks_per_host=2, collective="reduce"
        ),
        "later": result_of(times, late=2e-3),
        "bottleneck": result_of(times, cluster_check=busy, collective="reduce"),
        "scheduler": result_of(times, cluster_check=slow, collective="reduce"),
        "clocks": result_of(
            times, clocks={"common": False, "worst_offset_s": 1.0, "worst_error_s": 5e-3}
        ),
        "1010 us": result_of(times, clocks=apart, clocks_after={**apart, "drift_s": 1e-3}),
    }
    for word, result in limited.items():
        assert word in instrument_limit(result, "native")
        assert judge([result], "native")[1].verdict == "none"
    little = result_of(times, clocks=apart, clocks_after={**apart, "drift_s": 5e-4})
    assert instrument_limit(little, "native") == ""
    # One busy link is no load; and enough cores are not asked for where ranks have hosts.
    for collective, found in (("gather", busy), ("reduce", check)):
        fine = result_of(times, cores=2, cluster_check=found, collective=collective)
        assert instrument_limit(fine, "native") == ""
        assert judge([fine], "native")[1].verdict == "SLOWER"


def test_ranks_that_spin_on_too_few_cores_have_a_verdict_where_that_is_what_is_measured() -> None:
    """They wake up late by each other's doing; where each has a core of its own it is not that."""
    times = {"native": around(1e-2), "own": around(5e-2)}
    shared = result_of(times, cores=2, late=5e-3)
    assert "share 2 cores" in instrument_limit(shared, "native")
    assert instrument_limit(shared, "native", crowded=True) == ""
    assert judge([shared], "native", crowded=True)[1].verdict == "SLOWER"


def test_ranks_that_sleep_and_wake_up_late_have_one_where_they_do_so_alike() -> None:
    times = {"native": around(1e-2), "own": around(5e-2), "again": around(1e-2)}
    late = result_of(times, late=5e-3)
    assert "later than" in instrument_limit(late, "native")
    assert instrument_limit(late, "native", crowded=True) == ""
    assert judge([late], "native", crowded=True)[1].verdict == "SLOWER"
    late.samples["again"]["late_s"] = around(6e-3)
    for name in late.samples.keys() - {"again"}:
        late.samples[name]["late_s"] = around(5e-3)
    assert "not alike with again and native" in instrument_limit(late, "native", crowded=True)
    assert judge([late], "native", crowded=True)[1].verdict == "none"
