"""Names that others have chosen reach no terminal, page or document as anything but text."""

import io
import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import Sibyl
from profile_traces import MS, Writer
from rich.table import Table
from rich.text import Text

from sibyl.cluster.state import Damaged, check_name, load
from sibyl.errors import CommandError
from sibyl.mpi.placement import read_hostfile
from sibyl.terminal import Terminal, printable

# Sets the window's title, clears the screen, turns the direction around, half a surrogate pair.
HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202e\ud800[red]<script>alert(1)</script>"
STEERING = ("\x1b", "\x07", "\u202e", "\x9b")


def test_what_steers_a_terminal_is_replaced() -> None:
    assert printable("plain") == "plain"
    assert (
        printable("z\N{LATIN SMALL LETTER U WITH DIAERESIS}rich\tnews\n") == "z\u00fcrich\tnews\n"
    )
    shown = printable(HOSTILE)
    assert not any(mark in shown for mark in STEERING)
    assert "owned" in shown
    assert shown.encode()  # no half of a pair is left


@pytest.mark.parametrize("colours", [False, True])
def test_a_terminal_takes_neither_markup_nor_control_characters(colours: bool) -> None:
    file = io.StringIO()
    console = Terminal(file=file, width=200, force_terminal=colours, color_system=None)
    table = Table(title=HOSTILE)
    table.add_column("host")
    table.add_row(HOSTILE)
    table.add_row(Text(HOSTILE))
    table.add_row("[/unbalanced] :smile:")
    console.print(table)
    console.print(HOSTILE, style="bold")
    text = file.getvalue()
    assert "\x1b]" not in text
    assert "\x1b[2J" not in text
    assert "\u202e" not in text
    assert text.count("[red]<script>") == 4
    assert "[/unbalanced] :smile:" in text


def test_an_error_repeats_a_name_as_text(sibyl: Sibyl) -> None:
    result = sibyl("predict", "no\x1b]0;owned\x07such\nfile")
    assert result.returncode == 2
    assert not any(mark in result.stderr for mark in STEERING)
    assert len(result.stderr.splitlines()) == 1


class Tags(HTMLParser):
    """Which elements a page has, and their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.attributes: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)
        self.attributes += [name for name, _ in attrs]


def profile_of(sibyl: Sibyl, *names: str) -> Tags:
    """The tags of the page of a run whose function, host and file have these names."""
    function, host, file = names
    traces = sibyl.directory / "traces"
    traces.mkdir(exist_ok=True)
    for rank in range(2):
        writer = Writer(rank, 2, host=host)
        for call in range(4):
            begin = (10 + 20 * call) * MS
            enter = begin + (5 * MS if rank else 0)
            writer.call(enter, begin + 6 * MS, function, site=writer.site(file, 12, function))
        path = writer.write(sibyl.directory)
        path.rename(traces / f"{rank}.trace")
    (sibyl.directory / "costs.json").write_text('{"alpha": 1e-5, "beta": 1e-9, "gamma": 0}')
    words = ("--html", "a.html", "--json", "a.json", "--trace", "chrome.json")
    result = sibyl("profile", "--traces", "traces", "--calibration", "costs.json", *words)
    assert result.returncode == 0, result.stderr
    assert not any(mark in result.stderr + result.stdout for mark in STEERING)
    for name in ("a.json", "chrome.json"):
        json.loads((sibyl.directory / name).read_text())
    tags = Tags()
    tags.feed((sibyl.directory / "a.html").read_text())
    return tags


def test_a_hostile_trace_adds_nothing_to_a_page(sibyl: Sibyl) -> None:
    """A function, a host or a file may be called whatever a program likes."""
    attack = "<img src=x onerror=alert(1)>\x1b[2J'\"&</title><script>@BODY@"
    plain = profile_of(sibyl, "MPI_Reduce", "host", "app.py")
    hostile = profile_of(sibyl, attack, "<b onclick=x>host", attack.replace("/", ""))
    assert sorted(set(hostile.found)) == sorted(set(plain.found))
    assert hostile.found.count("script") == plain.found.count("script")
    assert "onerror" not in hostile.attributes
    assert "onclick" not in hostile.attributes


@pytest.mark.parametrize(
    "host", ["$(reboot)", "a;b", "-oProxyCommand=x", "a b\x1b[2J", "../x", "`x`"]
)
def test_a_host_file_names_hosts_alone(tmp_path: Path, host: str) -> None:
    (tmp_path / "hosts").write_text(f"{host}\n")
    with pytest.raises(CommandError):
        read_hostfile(tmp_path / "hosts")


@pytest.mark.parametrize(
    "name", ["", "../x", "a b", "-x", "x;reboot", "A", "a\n", "a" * 33, "\x1b"]
)
def test_a_cluster_has_a_plain_name(name: str) -> None:
    with pytest.raises(CommandError):
        check_name(name)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"hosts": "4; reboot"},
        {"hosts": 10**9},
        {"subnet": 300},
        {"rate": True},
        {"more": 1},
    ],
)
def test_a_state_file_names_no_cluster_but_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict
) -> None:
    monkeypatch.setattr("sibyl.cluster.state.directory", lambda: tmp_path)
    state = {"name": "one", "hosts": 4, "rate": 10**8, "subnet": 64, "complete": True}
    (tmp_path / "one.json").write_text(json.dumps(state))
    assert load("one") is not None
    (tmp_path / "one.json").write_text(json.dumps(state | change))
    found = load("one")
    assert isinstance(found, Damaged) and "damaged" in found.problem
