"""What measurements are allowed to show, and how claims are counted."""

from sibyl.experiment.grid import Cell
from sibyl.experiment.samples import METRICS, CellResult
from sibyl.reproduce.evidence import (
    Near,
    Paired,
    Statement,
    found_again,
    iterations_of,
    only_from_enough,
    shown,
)
from sibyl.reproduce.outcome import as_published, deviation, judge, near

CHECK = {"gather_true": True, "shift_true": True, "latency_true": True, "cpu_bound": False}
CHECK |= {"gather_ratio": 1.05, "shift_ratio": 1.05, "alpha_s": 1e-5, "alpha_busy_s": 1e-5}


def cell(own: list[float], other: list[float], **check: object) -> CellResult:
    samples = {
        name: {metric: [0.0] * len(times) for metric in METRICS}
        | {"run_s": times, "absorbed_s": times}
        for name, times in (("own", own), ("native", other))
    }
    clocks = {"common": True, "worst_error_s": 0.0}
    job = {"cluster_check": CHECK | check, "collective": "gather", "clocks": clocks, "cores": 2}
    job |= {"ranks_per_machine": 2, "ranks_per_host": 1}
    return CellResult(Cell(8, 1 << 20, "same", "uniform", 0.0), job, samples, {})


FAST = [0.100 + i * 1e-4 for i in range(15)]
SLOW = [0.120 + i * 1e-4 for i in range(15)]


def said(result: CellResult, most: float = 1.0) -> tuple[CellResult, Statement]:
    return result, Statement("own", "native", most)


def test_what_the_test_shows_holds_and_what_it_leaves_open_does_not() -> None:
    wide = [0.08 + 0.005 * i for i in range(15)]
    cells = {"fast": said(cell(FAST, SLOW)), "slow": said(cell(SLOW, FAST)),
             "open": said(cell(wide, wide[::-1]))}  # fmt: skip
    claim = shown("x", cells)
    assert claim.verdict == "partly held"
    assert claim.reason.startswith("1 of 3 cells (not: slow, open).")
    assert "The contrary is shown in slow." in claim.reason
    assert "Undecided: open." in claim.reason


def test_what_all_contenders_of_an_iteration_have_alike_does_not_hide_what_knowing_is_worth() -> (
    None
):
    """Arrivals are drawn anew in every iteration, and differ more than the contenders do."""
    told = [0.100 + 0.02 * (7 * i % 15) + 1e-5 * i for i in range(15)]
    nothing = [1.04 * time + 1e-5 * (i % 3) for i, time in enumerate(told)]
    result = cell(told, nothing)
    claim = {"a": (result, Statement("own", "native", 1 / 1.02))}
    assert shown("x", claim).verdict == "not judged"
    paired = Paired("own", "native", 1 / 1.02)
    assert shown("x", {"a": (result, paired)}).verdict == "held"
    assert 0.96 < paired.ratio(result) < 0.97
    no_worth = {"a": (cell(told, [1.01 * time for time in told]), paired)}
    assert shown("x", no_worth).verdict == "not held"


def test_not_slower_is_shown_or_it_is_not() -> None:
    """Medians alone would say that both are within 5 %."""
    few = {"a": said(cell(FAST[:3], FAST[:3]), 1.05)}
    assert shown("x", few).verdict == "not judged"
    assert shown("x", {"a": said(cell(FAST, FAST), 1.05)}).verdict == "held"


def test_all_comparisons_of_a_claim_are_corrected_together() -> None:
    """Six against six with a chance of 1 in 924 each show it alone, but not as one of forty."""
    one = cell(FAST[:6], SLOW[:6])
    assert shown("x", {"a": said(one)}).verdict == "held"
    assert shown("x", {str(i): said(one) for i in range(40)}).verdict == "not judged"


def test_where_the_instrument_decides_nothing_is_shown() -> None:
    busy = cell(FAST, SLOW, gather_true=False, gather_ratio=1.5, cpu_bound=True)
    claim = shown("x", {"a": said(busy)})
    assert claim.verdict == "not judged"
    assert "The instrument decides in a: the processors are the bottleneck" in claim.reason
    lossy = cell(FAST, SLOW, gather_true=False, gather_ratio=1.5, queue=65536)
    assert shown("x", {"a": said(lossy)}).verdict == "held"


def test_many_hosts_get_no_verdict_from_few_iterations() -> None:
    claims = [judge("x", [("a", True)], "Why.")]
    results = [cell(FAST, SLOW), cell(FAST[:14], SLOW)]
    assert iterations_of(results) == 14
    assert only_from_enough(claims, 48, 15) == claims
    assert only_from_enough(claims, 16, 3) == claims
    (withheld,) = only_from_enough(claims, 48, 14)
    assert withheld.verdict == "not judged"
    assert withheld.reason.startswith("48 hosts and 14 iterations: fewer than 15")


def test_a_number_is_near_the_published_one_on_both_sides() -> None:
    assert near(1.09, 1.0, 0.1) and near(0.91, 1.0, 0.1)
    assert not near(1.2, 1.0, 0.1) and not near(0.85, 1.0, 0.1)
    claim = as_published("factors", [("a", 1.0, 1.0), ("b", 2.0, 1.5), ("c", 1.0, 1.5)], 0.1)
    assert claim.verdict == "partly held"
    assert "(not: b, c)" in claim.reason
    assert (claim.published, claim.ours) == ("1, 1.5, 1.5", "1, 2, 1")


def test_a_factor_is_found_again_where_measurements_show_both_sides() -> None:
    """FAST in SLOW is 1.2 to two digits."""
    wide = [0.05 + 0.01 * i for i in range(15)]
    cells = {
        "same": (cell(SLOW, FAST), Near("own", "native", 1.2, 0.1)),
        "more": (cell(SLOW, FAST), Near("own", "native", 1.0, 0.1)),
        "less": (cell(SLOW, FAST), Near("own", "native", 1.5, 0.1)),
        "open": (cell(wide, wide[::-1]), Near("own", "native", 1.0, 0.1)),
    }
    claim = found_again("factors", cells)
    assert (claim.text, claim.verdict) == (
        "factors (each to 10 %, upwards and downwards)",
        "partly held",
    )
    assert claim.reason.startswith("1 of 4 cells (not: more, less, open).")
    assert "The contrary is shown in more, less." in claim.reason
    assert "Undecided: open." in claim.reason
    assert (claim.published, claim.ours) == ("1.20, 1.00, 1.50, 1.00", "1.20, 1.20, 1.20, 1.00")


def test_a_models_error_counts_all_published_numbers() -> None:
    assert deviation([(1.1, 1.0), (0.8, 1.0), (1.0, 1.0)]) == (
        "10 % (median), 20 % at most, from 3 published numbers"
    )
    assert deviation([]) == ""


def test_nothing_is_judged_without_a_cell() -> None:
    assert judge("x", [], "").verdict == "not judged"
