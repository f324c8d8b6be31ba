"""Finished entries are kept until they are forgotten."""

import json
from pathlib import Path

import pytest
from cells import result_of

from sibyl.errors import CommandError
from sibyl.experiment.grid import Cell
from sibyl.experiment.journal import Journal, say_kept
from sibyl.experiment.samples import CellResult


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def journal(fingerprint: str) -> Journal[CellResult]:
    return Journal(fingerprint, CellResult.from_json)


def results(count: int) -> list[CellResult]:
    cells = [Cell(4, n, "same", "flat", 0.0) for n in range(count)]
    return [result_of({"native": [1.5 * cell.size]}, cell) for cell in cells]


def test_the_journal_keeps_cells_until_they_are_forgotten() -> None:
    found = results(3)
    for result in found:
        journal("abc").add(result)
    assert journal("abc").read() == found
    assert journal("abd").read() == []
    journal("abd").forget()
    assert journal("abc").read() == found
    journal("abc").forget()
    assert journal("abc").read() == []


def test_a_run_that_is_under_way_is_not_begun_twice() -> None:
    one = journal("abc")
    one.hold()
    with pytest.raises(CommandError, match="under way in another process"):
        journal("abc").hold()
    journal("abd").hold()
    del one
    journal("abc").hold()


def test_half_an_entry_is_none_and_takes_no_other_with_it() -> None:
    found = results(3)
    one = journal("abc")
    for result in found[:2]:
        one.add(result)
    one.path.write_bytes(one.path.read_bytes()[:-20])
    assert journal("abc").read() == found[:1]
    journal("abc").add(found[2])
    assert journal("abc").read() == [found[0], found[2]]


def test_entries_of_another_form_are_left_out() -> None:
    one = journal("abc")
    one.add(results(1)[0])
    with one.path.open("a") as file:
        file.write('{"cell": {}}\n[]\n7\n')
        file.write(json.dumps({**results(1)[0].as_json(), "errors": []}) + "\n")
        damaged = json.loads(json.dumps(results(1)[0].as_json()))
        damaged["cell"]["size"] = [1]  # nothing that a table could be looked up by
        file.write(json.dumps(damaged) + "\n")
    assert journal("abc").read() == results(1)


def test_a_line_that_is_deeper_than_python_goes_is_no_entry() -> None:
    one = journal("abc")
    one.add(results(1)[0])
    with one.path.open("a") as file:
        file.write("[" * 200_000 + "\n")
    one.add(results(2)[1])
    assert journal("abc").read() == results(2)


def test_a_journal_is_read_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    one = journal("abc")
    one.add(results(1)[0])
    monkeypatch.setattr("sibyl.experiment.journal.LARGE", 1000)
    assert one.path.stat().st_size < 1000
    assert journal("abc").read() == results(1)
    one.path.unlink()
    one.path.symlink_to("/dev/zero")
    assert journal("abc").read() == []


def test_who_has_no_home_keeps_nothing(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    one = journal("abc")
    one.hold()
    for result in results(2):
        one.add(result)
    assert one.read() == results(2)
    assert one.problem and not list(cache.iterdir())


def test_what_cannot_be_kept_is_there_all_the_same(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (cache / "sibyl").write_text("no directory")
    one = journal("abc")
    for result in results(2):
        one.add(result)
    assert one.read() == results(2)
    say_kept([one], 3, "cells")
    said = capsys.readouterr().err
    assert "2 of 3 cells are finished and not kept: " in said
    assert "--resume" not in said
    one.forget()
