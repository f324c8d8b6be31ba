"""Pages from templates: what they show is text, wherever it comes from, and browsers like them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy
import pytest
from browser import Page
from jinja2 import UndefinedError

import sibyl
from sibyl.pages import render
from sibyl.reproduce import session
from sibyl.simulator.picture import page_text, svg_text
from sibyl.simulator.run import Simulated
from sibyl.simulator.schedule_page import schedule_page

HOSTILE = "</script><script>document.title = 'taken'</script><img src=x onerror=\"taken()\"> & 'b'"
ESCAPED = "&lt;/script&gt;&lt;script&gt;"


def simulated() -> Simulated:
    """Rank 1 waits for rank 0, which sends it 8 bytes."""
    return Simulated(
        exits=numpy.array([1e-3, 2e-3]),
        run_time=2e-3,
        elapsed=1.5e-3,
        absorbed=2e-3,
        messages=1,
        bytes=8,
        events=numpy.array([[0, 1, 0, 8, 0, 0, 1e-4, 9e-4]]),
        waits=numpy.array([[1, 0, 0.0, 9e-4]]),
        work=numpy.array([[1, 1, 9e-4, 2e-3]]),
    )


def simulation() -> str:
    return page_text(HOSTILE, numpy.zeros(2), simulated())


def schedule() -> str:
    arrivals = numpy.array([0.0, 0.003, 0.001, 0.0])
    events = sibyl.clairvoyant(arrivals.tolist(), 4, 1e-3, 0)
    return schedule_page(arrivals, 4, 1e-3, 0, events)


def reproduction() -> str:
    claim = {"text": HOSTILE, "verdict": session.VERDICTS[0], "reason": HOSTILE}
    document = {"item": "a", "title": HOSTILE, "source": HOSTILE, "setting": HOSTILE}
    return session.page([{**document, "claims": [claim]}])


@pytest.fixture(scope="module")
def page(browser: str) -> Iterator[Page]:
    with Page(browser) as found:
        yield found


def test_what_a_template_shows_is_text(tmp_path: Path) -> None:
    for text in (simulation(), reproduction(), svg_text(HOSTILE, numpy.zeros(2), simulated())):
        assert ESCAPED in text
        assert "<script>document" not in text
        assert "<img src=x" not in text


def test_data_cannot_end_its_script() -> None:
    text = render("simulation.html", title="a", summary="b", key=(), data={"title": HOSTILE})
    script = text[text.index("const data = ") :]
    assert "</script><" not in script
    assert script.count("</script>") == 1


def test_a_value_that_is_missing_is_no_empty_place() -> None:
    with pytest.raises(UndefinedError, match="summary"):
        render("simulation.html", title="a", key=(), data={})


@pytest.mark.parametrize("make", [simulation, schedule])
def test_pictures_are_drawn_in_a_browser(
    page: Page, make: Callable[[], str], tmp_path: Path
) -> None:
    (tmp_path / "a.html").write_text(make(), encoding="utf-8")
    page.problems.clear()
    page.open(tmp_path / "a.html")
    page.picture(tmp_path / "a.png", 1000, 700)
    title = page.value("document.querySelector('h1').textContent")
    assert title == page.value("document.title")
    assert title == HOSTILE or title.startswith("reduce by Clairvoyant, 4 ranks")
    painted = page.value(
        "(() => { const c = document.querySelector('canvas');"
        " return c.getContext('2d').getImageData(0, 0, c.width, c.height).data"
        ".filter((v, i) => i % 4 === 3 && v > 0).length; })()"
    )
    assert painted > 500
    assert page.problems == []


def test_claims_are_read_in_a_browser_as_they_were_written(page: Page, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(reproduction(), encoding="utf-8")
    (tmp_path / "a.png").write_bytes(b"")
    page.problems.clear()
    page.open(tmp_path / "a.html")
    cells = page.value("[...document.querySelectorAll('td')].map(cell => cell.textContent)")
    assert cells == [HOSTILE, session.VERDICTS[0], HOSTILE]
    assert page.value("document.title") == session.TITLE
    assert page.problems == []
