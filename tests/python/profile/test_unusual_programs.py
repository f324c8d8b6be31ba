"""`sibyl profile` of programs that have little to say, or are not one process of one file."""

import json
from pathlib import Path

import pytest
from conftest import PROGRAMS, Mpi, Sibyl, compiled

pytestmark = pytest.mark.suite


@pytest.fixture(scope="session")
def unusual(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """programs/unusual.c, and its plugin beside it."""
    folder = tmp_path_factory.mktemp("unusual")
    (folder / "plugin").mkdir()
    compiled("unusual", mpi, folder / "plugin", "-g", "-shared", "-fPIC", "-DPLUGIN")
    return compiled("unusual", mpi, folder, "-g", "-rdynamic")


def profile(sibyl: Sibyl, mpi: Mpi, ranks: int, *words: object) -> tuple[str, str, dict]:
    """What it says in the terminal, its page and its JSON."""
    (sibyl.directory / "costs.json").write_text('{"alpha": 1e-6, "beta": 1e-9, "gamma": 0}')
    options = ("--json", "a.json", "--html", "a.html", "--calibration", "costs.json")
    result = sibyl("profile", "-n", ranks, "--mpi", mpi.option, *options, "--", *words)
    assert result.returncode == 0, result.stderr
    document = json.loads((sibyl.directory / "a.json").read_text())
    return result.stderr, (sibyl.directory / "a.html").read_text(), document


def line_of(name: str) -> int:
    lines = (PROGRAMS / "unusual.c").read_text().splitlines()
    (found,) = (number for number, line in enumerate(lines, 1) if f"/* at {name} */" in line)
    return found


def test_no_collective_at_all(sibyl: Sibyl, mpi: Mpi, unusual: Path) -> None:
    said, page, document = profile(sibyl, mpi, 2, unusual, "none")
    assert document["sites"] == []
    assert document["ranks"] == 2
    for text in (said, page):
        assert "No collective call was seen: the program makes none" in text


def test_one_rank(sibyl: Sibyl, mpi: Mpi, unusual: Path) -> None:
    said, page, document = profile(sibyl, mpi, 1, unusual, "sum")
    assert document["collectives"]["waiting"] == 0
    for text in (said, page):
        assert "One rank waits for nobody" in text


@pytest.mark.parametrize("what", ["fork", "plugin"])
def test_other_processes_and_libraries_that_come_and_go(
    sibyl: Sibyl, mpi: Mpi, unusual: Path, what: str
) -> None:
    said, page, document = profile(sibyl, mpi, 2, unusual, what, unusual.parent / "plugin/unusual")
    (site,) = document["sites"]
    at = line_of("plugin" if what == "plugin" else "program")
    assert (site["file"], site["line"], site["function"]) == ("unusual.c", at, "sum_up")
    assert (site["calls"], document["ranks"]) == (1, 2)
    assert document["missing_ranks"] == document["unfinished_ranks"] == []
    assert f"unusual.c:{at}" in said
    assert f"unusual.c:{at}" in page
