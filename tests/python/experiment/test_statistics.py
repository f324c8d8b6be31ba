"""Our statistics against SciPy and published tables."""

import itertools
import math
import random
import time

import numpy
import pytest
from scipy import stats

from sibyl.experiment import statistics


def samples(seed: int, count: int, places: int | None = None) -> list[float]:
    """Of a distribution with a long tail; with few digits many are equal."""
    draw = random.Random(seed)
    values = [draw.lognormvariate(0, 0.5) for _ in range(count)]
    return values if places is None else [round(value, places) for value in values]


def test_the_rank_sum_test_gives_the_published_values(monkeypatch: pytest.MonkeyPatch) -> None:
    # The example of SciPy's documentation: U = 17, exact two-sided p = 1/9, asymptotic 0.11135.
    own, other = [19, 22, 16, 29, 24], [20, 11, 17, 12]
    assert statistics.rank_sum_greater(own, other) == pytest.approx(1 / 18)
    assert statistics.rank_sum_greater([6, 7, 8], [1, 2, 3]) == pytest.approx(1 / 20)
    assert statistics.rank_sum_greater([1, 2, 3], [6, 7, 8]) == pytest.approx(1)
    monkeypatch.setattr(statistics, "EXACT_UP_TO", 0)
    assert statistics.rank_sum_greater(own, other) == pytest.approx(0.11134688653 / 2, rel=1e-6)
    assert statistics.rank_sum_greater([1, 1, 1], [1, 1, 1]) == 1


@pytest.mark.parametrize("shift", [0.0, 0.4])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 9), (7, 7), (20, 20), (20, 13)])
def test_the_exact_rank_sum_test_is_scipy_s(n: int, m: int, shift: float) -> None:
    for seed in range(10):
        own = [value + shift for value in samples(seed, n)]
        other = samples(100 + seed, m)
        expected = stats.mannwhitneyu(own, other, alternative="greater", method="exact").pvalue
        assert statistics.rank_sum_greater(own, other) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("places", [0, 1, None])
@pytest.mark.parametrize(("n", "m"), [(21, 4), (30, 25), (60, 100)])
def test_the_rank_sum_test_of_many_samples_and_of_equal_ones_is_scipy_s(
    n: int, m: int, places: int | None
) -> None:
    for seed in range(10):
        own, other = samples(seed, n, places), samples(100 + seed, m, places)
        expected = stats.mannwhitneyu(own, other, alternative="greater", method="asymptotic")
        assert statistics.rank_sum_greater(own, other) == pytest.approx(expected.pvalue)


@pytest.mark.parametrize("n, m, places", [(3, 3, 0), (5, 4, 0), (6, 3, 1), (7, 5, 0)])
def test_the_rank_sum_test_of_few_samples_with_equal_ones_counts_all_orders(
    n: int, m: int, places: int
) -> None:
    for seed in range(10):
        own, other = samples(seed, n, places), samples(100 + seed, m, places)
        ranks = stats.rankdata([*own, *other])
        sums = [sum(chosen) for chosen in itertools.combinations(ranks, n)]
        expected = sum(one >= sum(ranks[:n]) for one in sums) / len(sums)
        assert statistics.rank_sum_greater(own, other) == pytest.approx(expected)
    assert statistics.rank_sum_greater([2.0] * 3, [1.0] * 3) == 0.05, "no less can be shown"


@pytest.mark.parametrize("places", [0, 1, None])
def test_the_sign_test_is_scipy_s(places: int | None) -> None:
    for seed in range(10):
        own = samples(seed, 16, places)
        there = sum(value != 1.0 for value in own)
        below = sum(value < 1.0 for value in own)
        expected = stats.binomtest(below, there, alternative="greater").pvalue if there else 1.0
        assert statistics.sign_below(own, 1.0) == pytest.approx(expected)
    assert statistics.sign_below([1.0, 1.0], 1.0) == 1.0
    assert statistics.sign_below([0.5] * 5, 1.0) == 1 / 32


@pytest.mark.parametrize(("n", "m"), [(5, 5), (7, 15), (15, 15), (30, 25), (64, 64)])
def test_the_interval_of_a_ratio_holds_what_the_rank_sum_test_leaves_open(n: int, m: int) -> None:
    for seed in range(5):
        own, other = [1.3 * value for value in samples(seed, n)], samples(100 + seed, m)
        low, high = statistics.ratio_interval(own, other)
        assert low < high

        def chances(factor: float, own=own, other=other) -> tuple[float, float]:
            scaled = [factor * value for value in other]
            return (
                statistics.rank_sum_greater(own, scaled),
                statistics.rank_sum_greater(scaled, own),
            )

        assert chances(low * 0.999999)[0] <= 0.025 < chances(low * 1.000001)[0]
        assert chances(high * 1.000001)[1] <= 0.025 < chances(high * 0.999999)[1]


@pytest.mark.parametrize("shift", [0.0, 0.4])
@pytest.mark.parametrize("n", [1, 2, 7, 15, 20])
def test_the_exact_signed_rank_test_is_scipy_s(n: int, shift: float) -> None:
    for seed in range(10):
        own = [value - 1 + shift for value in samples(seed, n)]
        expected = stats.wilcoxon(own, alternative="greater", method="exact").pvalue
        assert statistics.signed_rank_greater(own) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("n", "places"), [(30, None), (30, 1), (60, 0)])
def test_the_signed_rank_test_of_many_pairs_and_of_equal_ones_is_scipy_s(
    n: int, places: int | None
) -> None:
    for seed in range(10):
        own = [value - 1.003 for value in samples(seed, n, places)]
        expected = stats.wilcoxon(own, alternative="greater", method="approx", correction=True)
        assert statistics.signed_rank_greater(own) == pytest.approx(expected.pvalue)


def test_the_signed_rank_test_of_few_equal_pairs_counts_all_signs() -> None:
    assert statistics.signed_rank_greater([2.0] * 4) == 1 / 16
    assert statistics.signed_rank_greater([2.0, 2.0, 2.0, -1.0]) == 2 / 16
    assert statistics.signed_rank_greater([-1.0] * 5) == 1


def test_pairs_that_do_not_differ_count_against_a_difference() -> None:
    assert statistics.signed_rank_greater([0.0, 0.0]) == 1
    mostly = [1e-3 * (i + 1) for i in range(20)] + [0.0] * 44
    assert statistics.signed_rank_greater(mostly) > 0.025
    own = [math.exp(each) for each in mostly]
    assert statistics.paired_ratio(own, [1.0] * 64)[1] == 1


@pytest.mark.parametrize("n", [6, 15, 20, 32])
def test_the_interval_of_pairs_holds_what_the_signed_rank_test_leaves_open(n: int) -> None:
    for seed in range(5):
        other = samples(100 + seed, n)
        own = [1.3 * a * (1 + 0.1 * b) for a, b in zip(other, samples(seed, n), strict=True)]
        middle, low, high = statistics.paired_ratio(own, other)
        assert low < middle < high

        def chances(factor: float, own=own, other=other) -> tuple[float, float]:
            logs = [math.log(a / (factor * b)) for a, b in zip(own, other, strict=True)]
            return (
                statistics.signed_rank_greater(logs),
                statistics.signed_rank_greater([-each for each in logs]),
            )

        assert chances(low * 0.999999)[0] <= 0.025 < chances(low * 1.000001)[0]
        assert chances(high * 1.000001)[1] <= 0.025 < chances(high * 0.999999)[1]
    assert statistics.paired_ratio([2, 3, 4], [1, 1, 1])[1:] == pytest.approx((2, 4))


def test_few_samples_leave_all_quotients_open() -> None:
    assert statistics.ratio_interval([2, 3], [1, 1]) == (2, 3)
    assert statistics.ratio_interval([2], [1]) == (2, 2)


def holm_by_definition(p_values: list[float]) -> list[float]:
    """From the hypotheses that Holm's procedure rejects at each level, of 1000 levels."""
    levels = numpy.arange(1, 1001) / 1000
    least = numpy.ones(len(p_values))
    for level in levels[::-1]:
        order = sorted(range(len(p_values)), key=p_values.__getitem__)
        for step, place in enumerate(order):
            if p_values[place] > level / (len(p_values) - step):
                break
            least[place] = level
    return least.tolist()


def test_holm_steps_down_and_never_reorders() -> None:
    assert statistics.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert statistics.holm([0.9, 0.8]) == [1, 1]
    assert statistics.holm([]) == []
    draw = random.Random(3)
    for count in (1, 2, 7, 40):
        p_values = [draw.random() ** 4 for _ in range(count)]
        adjusted = statistics.holm(p_values)
        assert adjusted == pytest.approx(holm_by_definition(p_values), abs=1.1e-3)
        # The smallest one is Bonferroni's.
        assert min(adjusted) == pytest.approx(min(1.0, count * min(p_values)))


def test_the_interval_of_the_median_is_the_binomial_one_of_the_tables() -> None:
    # n = 20 at 95 %: the 6th and the 15th order statistic.
    assert statistics.median_interval(range(1, 21)) == (6, 15)


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("count", [1, 2, 5, 6, 9, 20, 71, 200])
def test_the_interval_of_the_median_is_scipy_s(count: int, confidence: float) -> None:
    values = samples(count, count)
    found = statistics.median_interval(values, confidence)
    expected = stats.quantile_test(values, q=0, p=0.5).confidence_interval(confidence)
    if numpy.isnan([*expected]).any():  # too few for the level
        expected = (min(values), max(values))
        assert statistics.median_level(count, confidence) < confidence
    assert found == pytest.approx((expected[0], expected[1]))


def test_the_interval_is_the_whole_range_where_there_are_too_few_samples() -> None:
    assert statistics.median_interval([3, 1, 2]) == (1, 3)


def test_the_interval_of_many_samples_does_not_reckon_from_the_start_at_each_step() -> None:
    begin = time.process_time()
    assert statistics.median_interval(range(10_000)) == (4901, 5098)
    assert time.process_time() - begin < 1.0  # 4 s with a binomial coefficient a step


def test_quartiles_lie_between_neighbours() -> None:
    assert statistics.quartiles([4, 1, 3, 2]) == (1.75, 3.25)
    assert statistics.quartiles([7.0]) == (7.0, 7.0)
    assert statistics.median([4, 1, 3, 2]) == 2.5
    # What is written to files is plain numbers.
    assert all(type(value) is float for value in statistics.quartiles([1, 2, 4]))
    assert type(statistics.median([1, 2, 4])) is float
