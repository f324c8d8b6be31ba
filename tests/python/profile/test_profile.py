"""The whole way from traces to reports, by the command: `sibyl profile --traces DIR`."""

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import Mpi, Sibyl, assert_usage_error
from profile_traces import MS, Writer

from sibyl.profile.trace import CLOCK_UNKNOWN

RANKS = 6
CALLS = 40
# Costs as of a slow network, so that nothing is measured and the answers do not depend on it.
COSTS = '{"alpha": 1e-5, "beta": 1e-9, "gamma": 0}'
KEYS = {
    *("version", "ranks", "wall_seconds", "collectives", "ranks_late", "sites", "clock_error"),
    *("overhead_seconds", "missing_ranks"),
}
SITE_KEYS = {
    *("collective", "file", "line", "function", "communicator_size", "calls", "bytes", "seconds"),
    *("waiting", "moving", "bound", "late", "advice", "gain"),
}


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """Rank 4 is 5 ms late for a reduce in which all wait, and all are 1 ms apart in a barrier."""
    directory = tmp_path / "traces"
    directory.mkdir()
    (tmp_path / "costs.json").write_text(COSTS)
    for rank in range(RANKS):
        writer = Writer(rank, RANKS, header={"overhead_ns": 100})
        for call in range(CALLS):
            begin = (10 + 20 * call) * MS
            enter = begin + (5 * MS if rank == 4 else 0)
            place = {"line": 12, "size": 8192, "root": 0}
            writer.call(enter, begin + 6 * MS, "MPI_Reduce", **place)
            writer.call(begin + (8 + rank) * MS, begin + 14 * MS, "MPI_Barrier", 0, line=30)
        writer.wait("MPI_Waitall", CALLS, 3 * MS, line=44)
        writer.end = (10 + 20 * CALLS) * MS
        writer.write(directory)
    return directory


def read(sibyl: Sibyl, *words: object) -> dict:
    result = sibyl("profile", "--traces", "traces", "--calibration", "costs.json", *words)
    assert result.returncode == 0, result.stderr
    return json.loads((sibyl.directory / "a.json").read_text())


def test_a_document_of_many_ranks_is_one_line(sibyl: Sibyl, traces: Path) -> None:
    writer = Writer(0, 200_000)
    writer.wait("MPI_Waitall", 1, 1_000_000 * MS)  # longer in MPI than all others together
    writer.write(traces)
    document = read(sibyl, "--json", "a.json")
    assert len(document["missing_ranks"]) == 200_000 - 1
    assert (sibyl.directory / "a.json").read_text().count("\n") == 1


def test_the_document_keeps_its_contract(sibyl: Sibyl, traces: Path) -> None:
    document = read(sibyl, "--json", "a.json")
    assert set(document) >= KEYS
    assert (document["version"], document["ranks"], document["missing_ranks"]) == (1, RANKS, [])
    assert document["wall_seconds"] == pytest.approx(0.81)
    assert document["clock_error"] == 0
    assert document["overhead_seconds"] == pytest.approx(RANKS * CALLS * 3 * 100e-9)
    reduce = next(site for site in document["sites"] if site["collective"] == "reduce")
    assert set(reduce) >= SITE_KEYS
    assert (reduce["file"], reduce["line"], reduce["function"]) == ("app.py", 12, "step")
    assert (reduce["calls"], reduce["bytes"]) == (CALLS, CALLS * RANKS * 8192)
    assert reduce["communicator_size"] == RANKS
    assert reduce["waiting"] == pytest.approx(CALLS * 5 * 5e-3)
    assert reduce["moving"] == pytest.approx(CALLS * 6 * 1e-3)
    assert 0 < reduce["bound"] <= reduce["moving"]
    assert reduce["seconds"] == pytest.approx(reduce["waiting"] + reduce["moving"])
    (late,) = reduce["late"]
    assert (late["rank"], late["share"]) == (4, 1.0)
    assert late["median_lateness"] == pytest.approx(5e-3)
    whole = document["collectives"]
    assert set(whole) >= {"seconds", "waiting", "moving", "bound"}
    for key in ("seconds", "waiting", "moving", "bound"):
        assert whole[key] == pytest.approx(sum(site[key] for site in document["sites"]))
    caused = {each["rank"]: each["seconds_caused"] for each in document["ranks_late"]}
    assert sum(caused.values()) == pytest.approx(whole["waiting"])
    assert document["ranks_late"][0]["rank"] == max(caused, key=caused.__getitem__)
    (messages,) = document["point_to_point"]
    assert (messages["function"], messages["line"]) == ("MPI_Waitall", 44)
    assert messages["seconds"] == pytest.approx(RANKS * 3e-3)


def test_a_schedule_is_advised_where_early_ranks_need_not_wait(sibyl: Sibyl, traces: Path) -> None:
    document = read(sibyl, "--json", "a.json", "--table", "a.table")
    advice = {site["collective"]: site for site in document["sites"]}
    reduce, barrier = advice["reduce"], advice["barrier"]
    assert reduce["advice"] == "schedule"
    gain = reduce["gain"]
    # All five wait; the root alone must.
    assert gain["predicted_seconds"] > 3.5 * CALLS * 5e-3
    assert gain["predicted_seconds"] <= reduce["seconds"] - reduce["bound"]
    assert gain["measured_seconds"] is None
    # A barrier is none if somebody leaves it before the last one comes.
    assert barrier["advice"] == "balance"
    table = (sibyl.directory / "a.table").read_text().splitlines()
    assert table[0] == "sibyl-selection 1"
    (rule,) = [line.split() for line in table[1:] if not line.startswith("#")]
    assert rule[:2] == ["reduce", f"{RANKS}-{RANKS}"]
    assert rule[3] == gain["algorithm"]
    low, high = (int(number) for number in rule[2].split("-"))
    assert low <= 8192 <= high and high < 3 * low


def test_the_terminal_leads_with_the_cost_of_late_ranks(sibyl: Sibyl, traces: Path) -> None:
    words = ("profile", "--traces", "traces", "--calibration", "costs.json")
    result = sibyl(*words)
    lines = result.stderr.splitlines()
    assert result.stdout == ""
    # 1 s for the reduce, and 15 ms in each of the 40 barriers, of 0.81 s on 6 ranks.
    assert lines[0] == "Late ranks cost 1.6 rank-seconds, 33 % of the run; rank 4 alone 1.15"
    text = " ".join(" ".join(lines).split())
    assert "reduce of 8 KiB on 6 ranks at app.py:12 in step" in text
    assert "rank 4 last in 100 % of calls, by 5 ms" in text
    assert "most of it MPI_Waitall at app.py:44" in text
    assert all(len(line) <= 80 for line in lines[1:] if not line.startswith("sibyl: "))
    assert "1 more site took" in sibyl(*words, "--top", "1").stderr


def test_a_site_names_the_rank_that_cost_most_where_another_is_last_more_often(
    sibyl: Sibyl, tmp_path: Path
) -> None:
    (tmp_path / "traces").mkdir()
    (tmp_path / "costs.json").write_text(COSTS)
    late = [(1, 30 * MS), (0, MS // 100), (0, MS // 100)]
    for rank in range(3):
        writer = Writer(rank, 3, end=400 * MS)
        for call, (who, by) in enumerate(late):
            begin = (10 + 100 * call) * MS
            writer.call(begin + (by if rank == who else 0), begin + 31 * MS, "MPI_Barrier", line=4)
        writer.write(tmp_path / "traces")
    page = page_of(sibyl)
    expected = "rank 1 last in 33 % of calls, by 30 ms"
    assert expected in " ".join(" ".join(page.text).split())
    result = sibyl("profile", "--traces", "traces", "--calibration", "costs.json")
    assert expected in " ".join(result.stderr.split())
    document = json.loads((tmp_path / "a.json").read_text())
    assert [each["rank"] for each in document["sites"][0]["late"]] == [0, 1]


def test_json_on_stdout_is_all_that_is_there(sibyl: Sibyl, traces: Path) -> None:
    result = sibyl("profile", "--traces", "traces", "--calibration", "costs.json", "--json", "-")
    assert json.loads(result.stdout)["version"] == 1


def test_what_the_program_prints_leaves_stdout_to_a_report_that_goes_there(
    sibyl: Sibyl, mpi: Mpi
) -> None:
    # MPICH's launcher may lose what a program prints just before it fails.
    words = ("-n", 1, "--mpi", mpi.option, "--", "/bin/sh", "-c", "echo said; sleep 0.5; exit 3")
    result = sibyl("profile", "--json", "-", *words)
    assert json.loads(result.stdout)["version"] == 1
    assert "said" in result.stderr.splitlines()
    assert result.returncode == 3
    assert sibyl("profile", *words).stdout == "said\n"


def test_two_reports_do_not_share_stdout(sibyl: Sibyl, traces: Path) -> None:
    result = sibyl("profile", "--traces", "traces", "--json", "-", "--html", "-")
    assert_usage_error(result, "--html and --json: only one can be written to '-'")


def test_the_trace_for_perfetto_holds_every_call(sibyl: Sibyl, traces: Path) -> None:
    read(sibyl, "--trace", "a.trace.json", "--json", "a.json")
    document = json.loads((sibyl.directory / "a.trace.json").read_text())
    events = document["traceEvents"]
    calls = [event for event in events if event.get("cat") == "collective"]
    assert len(calls) == 2 * CALLS * RANKS
    assert {event["pid"] for event in calls} == set(range(RANKS))
    first = min(calls, key=lambda event: (event["ts"], event["pid"]))
    assert (first["ph"], first["ts"], first["dur"]) == ("X", 10_000.0, 6_000.0)
    assert first["args"]["site"] == "app.py:12 in step"
    assert (first["args"]["last"], first["args"]["waiting_us"]) == (4, 5_000.0)
    waits = [event for event in events if event.get("cat") == "waiting"]
    assert sum(event["dur"] for event in waits) == pytest.approx(1.6e6)
    names = {e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert "rank 0 on here" in names


def test_calls_of_a_rank_at_once_have_lines_of_their_own(sibyl: Sibyl, traces: Path) -> None:
    """Two threads, each on a communicator of its own."""
    for rank in range(RANKS):
        writer = Writer(rank, RANKS)
        other = writer.communicator(name=1)
        for begin in (10 * MS, 30 * MS):
            writer.call(begin, begin + 6 * MS)
            writer.call(begin + 3 * MS, begin + 9 * MS, line=2, communicator=other)
        writer.write(traces)
    read(sibyl, "--trace", "a.trace.json", "--json", "a.json")
    events = json.loads((sibyl.directory / "a.trace.json").read_text())["traceEvents"]
    calls = [event for event in events if event.get("cat") == "collective" and event["pid"] == 0]
    assert [(call["ts"], call["tid"]) for call in calls] == [
        (10_000.0, 0),
        (13_000.0, 1),
        (30_000.0, 0),
        (33_000.0, 1),
    ]
    lines = {e["tid"] for e in events if e["name"] == "thread_name" and e["pid"] == 0}
    assert lines == {0, 1}


def test_clocks_that_could_not_be_compared_are_not_said_to_be_one(
    sibyl: Sibyl, traces: Path
) -> None:
    for rank in range(2):
        writer = Writer(rank, 2, host=f"h{rank}", header={"flags": CLOCK_UNKNOWN})
        writer.call(10 * MS, 10_000 * MS)  # longer in MPI than the others
        writer.write(traces)
    document = read(sibyl, "--json", "a.json", "--html", "a.html", "--trace", "a.trace.json")
    other = json.loads((sibyl.directory / "a.trace.json").read_text())["otherData"]
    page = (sibyl.directory / "a.html").read_text().lower()
    assert (document["clock_error"], other["clock_error_s"]) == (None, None)
    assert "clocks of hosts could not be compared" in page
    assert "shared one clock" not in page


def test_a_page_of_many_ranks_without_the_root(sibyl: Sibyl, traces: Path) -> None:
    """A rank of the communicator is no place among those that left a trace."""
    ranks = 40
    for path in traces.iterdir():
        path.unlink()
    for rank in range(ranks - 1):
        writer = Writer(rank, ranks)
        for call in range(3):
            begin = (10 + 20 * call) * MS
            writer.call(begin, begin + 6 * MS, "MPI_Reduce", root=ranks - 1)
        writer.write(traces)
    read(sibyl, "--html", "a.html", "--json", "a.json")
    assert "9 ranks are left out" in (sibyl.directory / "a.html").read_text()


def test_an_otf2_archive_holds_every_call(sibyl: Sibyl, traces: Path) -> None:
    otf2 = pytest.importorskip("otf2", reason="packaging/requirements.txt has it for Python 3.11")
    read(sibyl, "--trace", "a.otf2", "--json", "a.json")
    inside: dict[str, list[int]] = {}
    entered: dict[tuple[str, str], int] = {}
    ranks = set()
    with otf2.reader.open(str(sibyl.directory / "a.otf2" / "traces.otf2")) as archive:
        assert archive.timer_resolution == 10**9
        regions = {region.name: region for region in archive.definitions.regions}
        for location, event in archive.events:
            rank, name = location.group.name, event.region.name
            ranks.add(rank)
            if isinstance(event, otf2.events.Enter):
                entered[rank, name] = event.time
            else:
                inside.setdefault(name, []).append(event.time - entered.pop((rank, name)))
    assert entered == {}
    assert ranks == {f"rank {rank}" for rank in range(RANKS)}
    reduce = "reduce at app.py:12 in step"
    assert (regions[reduce].source_file, regions[reduce].begin_line_number) == ("app.py", 12)
    assert len(inside[reduce]) == CALLS * RANKS
    assert sum(inside[reduce]) == pytest.approx(CALLS * (5 * 6 + 1) * MS)
    assert sum(inside["waiting for late ranks"]) == pytest.approx(1600 * MS)
    again = sibyl("profile", "--traces", "traces", "--trace", "a.otf2")
    assert_usage_error(again, "a.otf2", "is there already")


class Page(HTMLParser):
    """Collects what tests ask for, and complains of tags that do not fit each other."""

    VOID = frozenset(("meta", "br", "link", "image", "rect", "line", "input", "hr", "img", "path"))

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def page_of(sibyl: Sibyl, *words: object) -> Page:
    read(sibyl, "--html", "a.html", "--json", "a.json", *words)
    return Page((sibyl.directory / "a.html").read_text())


def test_the_page_shows_what_the_issue_asks_for(sibyl: Sibyl, traces: Path) -> None:
    page = page_of(sibyl)
    text = " ".join(" ".join(page.text).split())
    for words in (
        "Late ranks cost 1.6 rank-seconds, 33 % of the run; rank 4 alone 1.15",
        "reduce of 8 KiB on 6 ranks",
        "app.py:12 in step",
        "A better schedule gives back about",
        "Only an even load gives back the other",
        "A typical call",
        "The worst call",
        "As it was",
        "By Sibyl's",
        "No rank is missing",
        "all ranks shared one clock".capitalize(),
        "Recording took",
        "sibyl profile --traces traces --calibration costs.json",
    ):
        assert words in text, words
    heat = [f for f in page.all("figure") if f.get("class") == "heat"]
    assert len(heat) == 2
    assert (heat[0]["data-rows"], heat[0]["data-columns"]) == (str(RANKS), str(CALLS))


def test_times_below_a_picture_are_whole_up_to_its_edge(sibyl: Sibyl, traces: Path) -> None:
    """A call of 6 ms has its last time, "6 ms", under the end of the picture."""
    half = 16  # of that text
    width, last = 0.0, 0.0
    for tag, attributes in page_of(sibyl).tags:
        if tag == "svg" and "viewbox" in attributes:
            width, last = float((attributes["viewbox"] or "").split()[2]), 0.0
        elif tag == "text" and attributes.get("class") == "mid":
            last = max(last, float(attributes["x"] or 0))
            assert last + half <= width
    assert last > 0


def test_the_page_needs_nothing_from_elsewhere(sibyl: Sibyl, traces: Path) -> None:
    page = page_of(sibyl)
    for tag, attributes in page.tags:
        for name in ("src", "href", "xlink:href", "action"):
            value = attributes.get(name) or "#"
            assert value.startswith(("#", "data:")), (tag, value)
    text = (sibyl.directory / "a.html").read_text()
    assert "@import" not in text and "url(http" not in text and "fetch(" not in text


def test_the_page_is_usable_by_keys_and_without_colours(sibyl: Sibyl, traces: Path) -> None:
    page = page_of(sibyl)
    assert page.all("html")[0]["lang"] == "en"
    assert len(page.all("details")) == len(page.all("summary")) == 2
    assert all(f.get("tabindex") == "0" for f in page.all("figure") if f.get("class") == "heat")
    scrolling = [div for div in page.all("div") if div.get("class") == "scroll"]
    assert scrolling and all(div["tabindex"] == "0" and div["aria-label"] for div in scrolling)
    assert all(svg.get("aria-label") or svg.get("aria-hidden") for svg in page.all("svg"))
    targets = {attributes.get("id") for _, attributes in page.tags}
    links = [a["href"].removeprefix("#") for a in page.all("a")]
    assert links and set(links) <= targets
    # Waiting is hatched, not only coloured.
    assert page.all("pattern")


def test_names_from_a_program_cannot_end_the_markup(sibyl: Sibyl, tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    (tmp_path / "costs.json").write_text(COSTS)
    name = "</script><b>&\"'"
    for rank in range(2):
        writer = Writer(rank, 2)
        place = writer.site(f"{name}.py", 3, name)
        writer.call((10 + rank) * MS, 13 * MS, site=place)
        writer.write(tmp_path / "traces")
    page = page_of(sibyl)
    assert not page.all("b")
    assert name in " ".join(page.text)


@pytest.mark.parametrize("ranks", [1, 2])
def test_runs_without_collectives_or_others_have_a_page_that_says_so(
    sibyl: Sibyl, tmp_path: Path, ranks: int
) -> None:
    (tmp_path / "traces").mkdir()
    (tmp_path / "costs.json").write_text(COSTS)
    for rank in range(ranks):
        writer = Writer(rank, ranks, end=50 * MS)
        if ranks == 1:
            writer.call(10 * MS, 12 * MS)
        writer.write(tmp_path / "traces")
    page = page_of(sibyl, "--trace", "a.trace", "--table", "a.table")
    expected = {1: "One rank waits for nobody", 2: "No collective call was seen"}
    assert expected[ranks] in " ".join(page.text)
    document = json.loads((tmp_path / "a.json").read_text())
    assert document["ranks"] == ranks
    assert document["collectives"]["waiting"] == 0


def test_missing_and_unfinished_ranks_stand_in_every_report(sibyl: Sibyl, tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    (tmp_path / "costs.json").write_text(COSTS)
    for rank in (0, 2):
        writer = Writer(rank, 3, end=0 if rank == 2 else 60 * MS)
        writer.call((10 + rank) * MS, 20 * MS)
        writer.write(tmp_path / "traces")
    page = page_of(sibyl)
    document = json.loads((tmp_path / "a.json").read_text())
    assert (document["missing_ranks"], document["unfinished_ranks"]) == ([1], [2])
    text = " ".join(page.text)
    assert "No trace of rank 1" in text and "Rank 2 did not reach MPI_Finalize" in text
    words = ("profile", "--traces", "traces", "--calibration", "costs.json")
    assert "no trace of rank 1" in sibyl(*words).stderr


def test_ranks_that_end_in_a_call_are_told_with_its_line(sibyl: Sibyl, tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    (tmp_path / "costs.json").write_text(COSTS)
    for rank in range(3):
        writer = Writer(rank, 3, end=0)
        writer.call(10 * MS, 20 * MS)
        if rank != 1:
            writer.under_way(30 * MS, "MPI_Barrier", line=8)
        writer.write(tmp_path / "traces")
    document = read(sibyl, "--json", "a.json")
    last = [(each["rank"], each["function"], each["line"]) for each in document["last_calls"]]
    assert last == [(0, "MPI_Barrier", 8), (2, "MPI_Barrier", 8)]
    result = sibyl("profile", "--traces", "traces", "--calibration", "costs.json")
    assert "ranks 0, 2 ended in MPI_Barrier at app.py:8 in step" in result.stderr
    assert "rank 1 ended in none of the calls" in result.stderr


def test_a_directory_without_a_trace_to_read_is_refused(sibyl: Sibyl, tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    words = ("profile", "--traces", "traces", "--json", "a.json", "--html", "a.html")
    assert_usage_error(sibyl(*words), "--traces traces: no trace to read", "SIBYL_PROFILE")
    (tmp_path / "traces" / "host-1.trace").write_text("none")
    assert_usage_error(sibyl(*words), "no trace to read; host-1.trace cannot be read: ")
    assert not list(tmp_path.glob("a.*"))


def test_bad_input_ends_in_one_line(sibyl: Sibyl, traces: Path) -> None:
    assert_usage_error(sibyl("profile"), "which program")
    assert_usage_error(sibyl("profile", "--traces", "nowhere"), "no such directory")
    assert_usage_error(sibyl("profile", "--traces", "traces", "--", "x"), "the program")
    for ranks in ("0", "4"):
        result = sibyl("profile", "-n", ranks, "--traces", "traces")
        assert_usage_error(result, "--traces", "leave out the options of a run")
    assert_usage_error(sibyl("profile", "--top", "0", "--", "x"), "--top 0")
    assert_usage_error(sibyl("profile", "--html", "no/a.html", "--", "x"), "--html", "no directory")
    assert_usage_error(sibyl("profile", "--json", "traces", "--", "x"), "--json", "a directory")
    assert_usage_error(sibyl("profile", "--calibration", "x", "--", "x"), "--calibration")
    assert_usage_error(sibyl("profile", "--none", "--", "x"), "--none")
    (sibyl.directory / "costs.json").write_text("{}")
    words = ("profile", "--traces", "traces", "--calibration", "costs.json")
    assert_usage_error(sibyl(*words), "costs.json")
    # Not after the run, which may have been long, and whose report would be lost.
    words = ("profile", "-n", 1, "--calibration", "costs.json", "--", "touch", "mark")
    assert_usage_error(sibyl(*words), "costs.json")
    assert not (sibyl.directory / "mark").exists()
