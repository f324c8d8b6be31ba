"""`sibyl bench clairvoyant-schedule`: what is measured is written whatever comes after it."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from sibyl.bench import clairvoyant_schedule, clairvoyant_times


def test_a_system_that_does_not_tell_a_peak_leaves_its_place_blank(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clairvoyant_times, "PEAK", "raise PermissionError('clear_refs')")
    assert clairvoyant_times.peak_bits_per_cell("fast", 4, 4) is None
    out = Console(file=io.StringIO(), width=100)
    clairvoyant_schedule.print_memory([(4, 4)], out)
    printed = out.file.getvalue()  # type: ignore[attr-defined]
    (line,) = [line for line in printed.splitlines() if "4 x 4" in line]
    assert line.replace("\N{BOX DRAWINGS LIGHT VERTICAL}", "").split() == ["4", "x", "4"]


def test_samples_are_written_before_anything_that_is_measured_besides(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fails(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(clairvoyant_schedule, "PAPER", [(4, 4)])
    monkeypatch.setattr(clairvoyant_schedule, "print_repairs", fails)
    with pytest.raises(MemoryError):
        clairvoyant_schedule.clairvoyant_schedule(1, quick=True, csv=tmp_path / "a.csv")
    assert "uniform,4,4,fast" in (tmp_path / "a.csv").read_text()
