"""Numbers as the report says them."""

import pytest

from sibyl.profile.words import number


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        *((0, "0"), (0.0004, "< 0.001"), (0.012345, "0.0123"), (999.4, "999")),
        *((999.5, "1000"), (999.99, "1000"), (1234.5, "1234")),
    ],
)
def test_rank_seconds_have_three_digits_and_no_exponent(seconds: float, text: str) -> None:
    assert number(seconds) == text
