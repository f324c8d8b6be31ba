"""What knowing is worth: ratios, intervals, and the test corrected over all cells."""

import pytest

from sibyl.reproduce.rack import COLUMNS, mean_times, rows
from sibyl.reproduce.worth import WORTH_COLUMNS, Told, span_of_worth, worth_columns

SAMPLES = [1 + 0.01 * i for i in range(15)]


def told(worth: float) -> Told:
    scatter = [1 + 0.001 * (7 * i % 15 - 7) + 1e-6 * i for i in range(15)]
    nothing = [worth * one * more for one, more in zip(SAMPLES, scatter, strict=True)]
    return Told(SAMPLES, nothing, [2 * one for one in SAMPLES])


def test_every_cell_has_its_ratio_interval_and_p() -> None:
    found = worth_columns([told(1.5), None, told(1.0)])
    assert found[1] == [""] * len(WORTH_COLUMNS)
    worth, low, high, chance, others = found[0]
    assert (worth, others) == (1.5, 2)
    assert 1.49 < low < 1.5 < high < 1.51
    assert chance == pytest.approx(2 * 2 / 2**15, rel=0.05)  # all pairs of the one cell of two
    assert found[2][0] == 1
    assert found[2][3] > 0.5  # nothing is shown where nothing differs


def test_many_cells_are_corrected_together() -> None:
    (alone,) = worth_columns([told(1.003)])
    first, *_ = worth_columns([told(1.003)] * 20)
    assert alone[3] < 0.1 < first[3]


def test_one_pattern_alone_is_not_tested() -> None:
    """Nor counted among the tests that are corrected."""
    one = Told([1.0], [1.5], [2.0])
    (exact,) = worth_columns([one])
    assert exact == [1.5, "", "", "", 2.0]
    first, *_, last = worth_columns([told(1.003), *[one] * 20])
    assert (first, last) == (worth_columns([told(1.003)])[0], exact)
    assert span_of_worth([one], "it") == "told nothing over told it: 1.500"


def test_a_page_has_the_least_and_the_most() -> None:
    text = span_of_worth([told(1.2), told(1.0), told(1.1)])
    assert text.startswith("told nothing over told the truth: 1.000 (0.997 to 1.003)")
    assert "to 1.200 (1.197 to 1.203)" in text
    assert span_of_worth([]) == ""


def test_simulated_cells_have_the_same_columns() -> None:
    times = mean_times("gather", "LS,SLS,none:SLS,shuffled:SLS", 8, 1024, 50, 8).run
    found = {row[1]: dict(zip(COLUMNS, row, strict=True)) for row in rows({50: times}, {})}
    assert found["LS"]["worth"] == found["none:SLS"]["worth"] == ""
    assert found["SLS"]["worth_low"] <= found["SLS"]["worth"] <= found["SLS"]["worth_high"]
    assert times["SLS"] == pytest.approx(sum(times.each["SLS"]) / 8)
