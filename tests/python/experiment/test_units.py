"""Sizes and times as people write them."""

import pytest

from sibyl.errors import CommandError
from sibyl.experiment.units import read_size, read_time, size_text, time_text


def test_sizes_and_times_are_read_and_written_with_units() -> None:
    assert [read_size(t) for t in ("1", "128K", "1MiB", "2 kB")] == [1, 131072, 1 << 20, 2000]
    assert [read_time(t) for t in ("0", "5ms", "0.25s", "10us", "50ns")] == [
        0,
        0.005,
        0.25,
        1e-5,
        5e-8,
    ]
    assert size_text(1 << 20) == "1 MiB"
    assert time_text(0.0125) == "12.5 ms"
    for wrong in ("", "x", "-1", "1.5", "0", "5 fish"):
        with pytest.raises(CommandError):
            read_size(wrong)
    for wrong in ("", "-1ms", "5min", "5", "0.25"):
        with pytest.raises(CommandError):
            read_time(wrong)


def test_what_no_float_can_hold_is_neither_size_nor_time() -> None:
    endless = f"1{310 * '0'}"
    with pytest.raises(CommandError, match="below 1 TiB"):
        read_size(endless)
    with pytest.raises(CommandError, match="at most 1000000000s"):
        read_time(f"{endless}s")
