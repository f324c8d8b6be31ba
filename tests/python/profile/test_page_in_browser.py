"""The page of `sibyl profile` as people meet it: in a browser, from a file, without a network."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Page
from conftest import Mpi, Sibyl, compiled

RANKS, CALLS = 4, 12
TAB, ENTER, RIGHT = ("Tab", 9), ("Enter", 13), ("ArrowRight", 39)
FOCUSED = "document.activeElement.tagName + '.' + document.activeElement.className"


@pytest.fixture
def page(sibyl: Sibyl, mpi: Mpi, browser: str, tmp_path: Path) -> Iterator[Page]:
    program = compiled("late_sites", mpi, tmp_path, "-g", "-O1")
    (sibyl.directory / "costs.json").write_text('{"alpha": 1e-6, "beta": 1e-9, "gamma": 0}')
    options = ("--html", "a.html", "--calibration", "costs.json", "-n", RANKS)
    result = sibyl("profile", *options, "--mpi", mpi.option, "--", program, CALLS, 20000)
    assert result.returncode == 0, result.stderr
    with Page(browser) as found:
        found.open(sibyl.directory / "a.html")
        yield found


def test_the_page_is_whole_and_usable_by_keyboard(page: Page, tmp_path: Path) -> None:
    assert page.value("document.querySelector('h1').textContent").startswith("Late ranks cost ")
    assert page.value("document.querySelectorAll('table tbody tr').length") >= 4
    levels = page.value(
        "[...document.querySelectorAll('figure.heat')].map(f =>"
        " [atob(f.dataset.levels).length, f.dataset.columns * f.dataset.rows])"
    )
    assert len(levels) >= 3
    assert all(cells == wanted > 0 for cells, wanted in levels)
    assert [RANKS * CALLS] * 2 in levels
    # No label reaches beyond its picture.
    beyond = page.value(
        "[...document.querySelectorAll('figure svg text')].filter(text =>"
        " text.getBoundingClientRect().right > text.ownerSVGElement.getBoundingClientRect().right)"
        ".map(text => text.textContent)"
    )
    assert beyond == []
    # Tab goes from one thing to the next; Enter opens a site; arrows read the cells of its map.
    visited = []
    for _ in range(80):
        page.press(*TAB)
        visited.append(page.value(FOCUSED))
        if visited[-1].startswith("SUMMARY") and not page.value(
            "document.activeElement.parentElement.open"
        ):
            page.say("Input.dispatchKeyEvent", type="char", text="\r")
            page.press(*ENTER)
        if visited[-1] == "FIGURE.heat":
            break
    assert len(set(visited)) >= 2, visited
    assert visited[-1] == "FIGURE.heat", visited
    cell = "document.activeElement.querySelector('output.cell').textContent"
    first = page.value(cell)
    page.press(*RIGHT)
    assert first.startswith("Call 0, rank ")
    assert page.value(cell).startswith("Call 1, rank ")
    for width in (390, 1280):
        file = tmp_path / f"page-{width}.png"
        page.picture(file, width, 1600)
        assert file.stat().st_size > 20000
        # Letters of the maps stay letters.
        heights = page.value(
            "[...document.querySelectorAll('details[open] .heat svg text')].map(text =>"
            " text.getBoundingClientRect().height)"
        )
        assert min(heights) >= 8, (width, heights)
        # Wide tables scroll in their own box, and never the page.
        assert page.value("document.documentElement.scrollWidth") <= width
    assert page.problems == []
