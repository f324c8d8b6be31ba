"""Finished cells are kept until they are forgotten."""

from pathlib import Path

import pytest
from cells import result_of

from sibyl.experiment.grid import Cell
from sibyl.experiment.journal import Journal


def test_the_journal_keeps_cells_until_they_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    journal = Journal("abc")
    results = [
        result_of({"native": [float(n)]}, Cell(4, n, "same", "flat", 0.0)) for n in range(1, 4)
    ]
    for result in results:
        journal.add(result)
    (journal.directory / "000009.json").write_text("half")
    assert Journal("abc").read() == results
    assert Journal("abd").read() == []
    journal.forget()
    assert journal.read() == []
