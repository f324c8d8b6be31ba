"""The rank-sum test and Holm's correction against published values."""

import pytest

from sibyl.experiment import statistics


def test_the_rank_sum_test_gives_the_published_values(monkeypatch: pytest.MonkeyPatch) -> None:
    # The example of SciPy's documentation: U = 17, exact two-sided p = 1/9, asymptotic 0.11135.
    own, other = [19, 22, 16, 29, 24], [20, 11, 17, 12]
    assert statistics.rank_sum_greater(own, other) == pytest.approx(1 / 18)
    assert statistics.rank_sum_greater([6, 7, 8], [1, 2, 3]) == pytest.approx(1 / 20)
    assert statistics.rank_sum_greater([1, 2, 3], [6, 7, 8]) == pytest.approx(1)
    monkeypatch.setattr(statistics, "EXACT_UP_TO", 0)
    assert statistics.rank_sum_greater(own, other) == pytest.approx(0.11134688653 / 2, rel=1e-6)
    assert statistics.rank_sum_greater([1, 1, 1], [1, 1, 1]) == 1


def test_the_rank_sum_test_agrees_with_scipy() -> None:
    scipy_stats = pytest.importorskip("scipy.stats")
    own = [((i * 7919) % 97) / 3 for i in range(40)]
    other = [((i * 104729) % 89) / 4 + 3 for i in range(33)]
    expected = scipy_stats.mannwhitneyu(own, other, alternative="greater", method="asymptotic")
    assert statistics.rank_sum_greater(own, other) == pytest.approx(expected.pvalue)


def test_holm_steps_down_and_never_reorders() -> None:
    assert statistics.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert statistics.holm([0.9, 0.8]) == [1, 1]
    assert statistics.quantile([4, 1, 3, 2], 0.5) == 2.5


def test_the_interval_of_the_median_is_the_binomial_one_of_the_tables() -> None:
    # n = 20 at 95 %: the 6th and the 15th order statistic.
    assert statistics.median_interval(range(1, 21)) == (6, 15)


def test_the_interval_is_the_whole_range_where_there_are_too_few_samples() -> None:
    assert statistics.median_interval([3, 1, 2]) == (1, 3)
