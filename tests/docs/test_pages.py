"""Pages and what they describe belong together: verbs, links from sources, links into sources."""

import re
import runpy
import subprocess
import sys

import pytest
from pages import COMMAND, DOCS, ROOT, read_page
from typer.main import get_command

import sibyl
from sibyl.cli import app
from sibyl.reproduce.session import pages_in_markdown, results_in

sys.path.insert(0, str(DOCS / "extensions"))
import repository


def test_every_verb_has_its_page_and_so_its_man_page():
    verbs = {command.name or command.callback.__name__ for command in app.registered_commands}
    verbs |= {group.name or group.typer_instance.info.name for group in app.registered_groups}
    pages = {page.stem for page in (DOCS / "reference" / "verbs").glob("*.md")} - {"index"}
    assert {verb.replace("_", "-") for verb in verbs} == pages


def test_pages_that_sources_name_are_there():
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\n")  # fmt: skip
    gone = []
    for name in tracked:
        path = ROOT / name
        # What has changed once was right in its time.
        if not path.is_file() or path.suffix in (".png", ".svg") or name == "CHANGELOG.md":
            continue
        named = re.findall(r"\bdocs/[\w/-]+\.(?:md|png)", path.read_text("utf-8", "ignore"))
        gone += [f"{name}: {page}" for page in named if not (ROOT / page).exists()]
    assert gone == []


@pytest.fixture
def warned(monkeypatch):
    """Return the list of what is warned of."""
    found = []
    monkeypatch.setattr(
        repository.LOGGER, "warning", lambda text, *values, **_: found.append(text % values)
    )
    return found


def rebased(text):
    """Return a page's text with its links mended."""
    page = DOCS / "how-to" / "page.md"
    included = {ROOT / "ARCHITECTURE.md": DOCS / "explanation" / "architecture.md"}
    return repository.rebase(text, page.parent, page, DOCS, included)


def test_every_link_of_a_page_leads_to_a_page_or_a_file(warned):
    for page in DOCS.rglob("*.md"):
        repository.shown(page.read_text("utf-8"), page, DOCS)
    assert warned == []


@pytest.mark.parametrize(
    ("link", "becomes"),
    [
        ("../../ARCHITECTURE.md", "../explanation/architecture.md"),
        ("../reference/glossary.md#arrivals", "../reference/glossary.md#arrivals"),
        ("../../examples/demo/imbalanced.c", "../../examples/demo/imbalanced.c"),
        ("https://example.org/a.md", "https://example.org/a.md"),
    ],
)
def test_a_link_leads_to_the_page_that_shows_the_document(link, becomes, warned):
    assert rebased(f"see [it]({link}).") == f"see [it]({becomes})."
    assert warned == []


@pytest.mark.parametrize("link", ["gone.md", "../../src/gone.cpp", "../../src", "../../README.md"])
def test_a_link_to_nothing_a_folder_or_a_document_without_a_page_is_warned_of(link, warned):
    rebased(f"see [it]({link}).")
    assert len(warned) == 1


def test_what_is_code_is_no_link(warned):
    code = "```\na[1](gone.md)\n```\n"
    assert rebased(code) == code
    assert warned == []


def cut_off(text):
    """Return first sentences of a header's comments that Doxygen ends at the initial of a name."""
    comments = re.findall(r"/\*\* (.*?)\*/", text, re.DOTALL)
    comments += re.findall(r"(?:^ */// ?.*\n)+", text, re.MULTILINE)
    plain = [re.sub(r"\s*\n\s*(?:\*|///)?\s*", " ", each.strip(" /")) for each in comments]
    first = [each.split(". ")[0] for each in plain if ". " in each]
    return [each for each in first if re.search(r"\b[A-Z]$", each)]


@pytest.mark.parametrize(
    "header", sorted((ROOT / "include/sibyl").glob("*.h*")), ids=lambda h: h.name
)
def test_no_first_sentence_of_a_header_ends_at_an_initial(header):
    assert cut_off(header.read_text("utf-8")) == []


def test_a_sentence_that_ends_at_an_initial_is_found():
    assert cut_off("/** By names (J. L. Who,\n * 2017): so. */\nint f();\n") == ["By names (J"]
    assert cut_off("  /// As of D. E. Who.\n  int i;\n") == ["As of D"]
    assert cut_off("/** A sum. J. L. Who. */\n/// All\n/// right.\n") == []


def documents():
    """Return the Markdown of the repository that lies beside the pages, and those it includes."""
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\n")  # fmt: skip
    paths = [ROOT / name for name in tracked if name and not name.startswith("docs/")]
    return [path for path in paths if path.is_file()]


def headings(text):
    """Return the names by which a viewer of the repository links to the headings of a document."""
    lines = re.findall(r"^#+ (.*)$", repository.CODE.sub("", text), re.MULTILINE)
    plain = [re.sub(r"\]\([^)]*\)", "", line).lower() for line in lines]
    return {re.sub(r"[^\w -]", "", line).replace(" ", "-") for line in plain}


def dead(path, text):
    """Return the links of a document that lead to nothing."""
    found = []
    for part in repository.CODE.split(text)[::2]:
        for _, name, anchor in repository.LINK.findall(part):
            target = path.parent / name
            if not target.exists() or (
                target.suffix == ".md"
                and anchor[1:-1]
                and anchor[1:-1] not in headings(target.read_text("utf-8"))
            ):
                found.append(name + anchor[:-1])
    return found


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_beside_the_site_have_no_dead_link(path):
    assert dead(path, path.read_text("utf-8")) == []


def test_a_dead_link_is_found():
    text = "[a](gone.md) [b](docs/index.md#gone) [c](LICENSE) [d](docs/how-to/install.md#releases)"
    assert dead(ROOT / "README.md", text) == ["gone.md", "docs/index.md#gone"]


def test_the_front_page_names_every_page_but_those_of_verbs():
    text = (ROOT / "README.md").read_text("utf-8")
    named = {(ROOT / name).resolve() for _, name, _ in repository.LINK.findall(text)}
    # Pages that show a document of the repository are named by the document.
    shown = {page: document for document, page in repository.documents_shown(DOCS).items()}
    folders = ("tutorial", "how-to", "explanation", "results")
    pages = {page for folder in folders for page in (DOCS / folder).glob("*.md")}
    pages -= {DOCS / folder / "index.md" for folder in folders}
    assert sorted(page.name for page in pages if shown.get(page, page) not in named) == []


DAY = re.compile(r"\b20\d\d-\d\d-\d\d\b|[Rr]epeats to the\s+last\s+digit")
RESULTS = sorted(set((DOCS / "results").glob("*.md")) - {DOCS / "results" / "index.md"})
OTHERS = sorted(page for page in DOCS.rglob("*.md") if page.parent != DOCS / "results")


def undated(text):
    """Sections of a page with a table, but without a day or without a command that makes it.

    What stands in front of the first section counts for all of them, and is a section itself where
    there are no others. Results that come out alike every time need no day.
    """
    head, *sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    found = []
    for shown in sections or [head]:
        section = head + shown
        blocks = read_page(DOCS / "results", section).blocks
        lines = [line.strip() for block in blocks for line in block.text.splitlines()]
        commands = any(map(COMMAND.match, lines))
        named = re.search(r"`(sibyl|make) [\w-]+", section) or "#how-to-repeat)" in section
        if "|---" in shown and not (DAY.search(section) and (commands or named)):
            found.append(shown.splitlines()[0])
    return found


@pytest.mark.parametrize("page", RESULTS, ids=lambda page: page.stem)
def test_every_table_of_results_has_its_day_and_its_command(page):
    assert undated(page.read_text("utf-8")) == []


def test_a_table_without_day_or_command_is_found():
    table = "| a |\n|---|\n| 1 |\n"
    command = "    sibyl bench reduce\n"
    assert undated(f"# A\n\n## One\n\n{table}\n{command}") == ["## One"]
    assert undated(f"# A\n\n## One\n\non 2026-01-01\n\n{table}") == ["## One"]
    assert undated(f"# A\n\n## One\n\non 2026-01-01\n\n{table}\n{command}") == []


def undated_figures(text):
    """Sections of another page with a table a third of which is decimal fractions, undated.

    Such a table is of what was measured or simulated. Definitions have fewer fractions.
    """
    found = []
    for section in re.split(r"^(?=## )", text, flags=re.MULTILINE):
        for table in re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE):
            rows = [line.strip().strip("|").split("|") for line in table.splitlines()[2:]]
            cells = [cell.strip() for row in rows for cell in row if cell.strip()]
            figures = [cell for cell in cells if re.match(r"\d+\.\d+", cell)]
            if 3 * len(figures) >= len(cells) and not DAY.search(section):
                found.append(section.splitlines()[0])
                break
    return found


@pytest.mark.parametrize("page", OTHERS, ids=lambda page: str(page.relative_to(DOCS)))
def test_figures_on_other_pages_have_their_day(page):
    assert undated_figures(page.read_text("utf-8")) == []


def test_undated_figures_are_found():
    table = "| a | b |\n|---|---|\n| x | 1.5 ms |\n"
    assert undated_figures(f"# A\n\n## One\n\n{table}") == ["## One"]
    assert undated_figures(f"# A\n\n## One\n\nOn 2026-01-01:\n\n{table}") == []
    assert undated_figures("# A\n\n| a | b |\n|---|---|\n| x | 15 |\n") == []


def wrong_synopses(text):
    """Options of synopses that their verb has not, and verbs of which some options are left out.

    A synopsis that leaves some out says so by `[...]`.
    """
    verbs = get_command(app).commands
    seen, open_ended, wrong = {}, set(), []
    for block in re.findall(r"^```\n(sibyl \w[^`$]*)^```", text, re.MULTILINE):
        for synopsis in re.split(r"^(?=sibyl )", block, flags=re.MULTILINE)[1:]:
            verb = synopsis.split()[1]
            options = {name for each in verbs[verb].params for name in each.opts}
            named = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", synopsis))
            wrong += [f"{verb} {name}" for name in sorted(named - options)]
            seen.setdefault(verb, set()).update(named)
            if "[...]" in synopsis:
                open_ended.add(verb)
    for verb in sorted(seen.keys() - open_ended):
        for each in verbs[verb].params:
            if each.param_type_name == "option" and not seen[verb] & {*each.opts, "--help"}:
                wrong.append(f"{verb} lacks {each.opts[0]}")
    return wrong


def test_synopses_name_the_options_of_their_verbs():
    assert wrong_synopses((DOCS / "reference" / "command.md").read_text("utf-8")) == []


def test_a_wrong_synopsis_is_found():
    assert wrong_synopses("```\nsibyl doctor [--jsn FILE] [...]\n```\n") == ["doctor --jsn"]
    assert wrong_synopses("```\nsibyl doctor\n```\n")[0].startswith("doctor lacks --")
    assert wrong_synopses("```\nsibyl doctor [...]\n```\n") == []


def spelled(command, words=("sibyl",)):
    """Yield a command and those below it, each with the words that call it."""
    yield words, command
    for name, each in getattr(command, "commands", {}).items():
        yield from spelled(each, (*words, name))


def options_of(command):
    """Return what may begin with a dash in a call of a command or of one below it."""
    return {"--help", "-h"} | {
        name
        for _, each in spelled(command)
        for parameter in each.params
        for name in (*parameter.opts, *parameter.secondary_opts)
    }


def unknown_options(text):
    """Options in the running text's calls of the command that the verb has not."""
    verbs = get_command(app).commands
    found = []
    for code in re.findall(r"(?<!`)`(sibyl [a-z][^`]*)`(?!`)", text):
        verb, *words = code.split(" -- ")[0].split()[1:]
        named = re.findall(r"(?<![\w-])--[a-z][\w-]*", " ".join(words))
        known = options_of(verbs[verb]) if verb in verbs else set()
        found += [f"{verb} {name}" for name in named if name not in known]
        if verb not in verbs:
            found.append(verb)
    return found


@pytest.mark.parametrize(
    "page",
    [*sorted(DOCS.rglob("*.md")), *documents()],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_calls_in_the_running_text_have_options_that_there_are(page):
    if page.name != "CHANGELOG.md":  # What has changed once was right in its time.
        assert unknown_options(page.read_text("utf-8")) == []


def test_an_unknown_option_in_the_running_text_is_found():
    text = "`sibyl doctor --json`, `sibyl doctor --render`, `sibyl gone`, `sibyl cluster up --name`"
    assert unknown_options(text) == ["doctor --render", "gone"]


def comparable(page):
    """Without the day on which it was written, and what depends on who has built what."""
    page = re.sub(r"\n\n(Made|Measured) by an earlier version .*", "", page)
    return [line.partition("; ")[2] if line.startswith("Written on ") else line
            for line in page.splitlines()]  # fmt: skip


def test_the_pages_of_published_claims_are_those_of_the_kept_results():
    results = DOCS / "results"
    pages = pages_in_markdown(*results_in(results / "reproduction"), "reproduction/")
    assert len(pages) == 2
    for name, text in pages.items():
        assert comparable(text) == comparable((results / name).read_text()), (
            f"{name}: write it again by scripts/reproduction-pages"
        )


def test_the_page_of_the_grid_has_what_was_measured():
    script = runpy.run_path(str(DOCS.parent / "scripts" / "never-slower-page"))
    measured = list((DOCS / "results" / "never-slower").glob("*.csv"))
    assert len(list(script["sections"]())) >= len(measured) > 0
    assert script["page"]() == (DOCS / "results" / "never-slower.md").read_text(), (
        "write it again by scripts/never-slower-page"
    )


def test_cells_of_the_grid_that_are_shown_within_are_marked_and_counted():
    script = runpy.run_path(str(DOCS.parent / "scripts" / "never-slower-page"))

    def row(size, verdict, within, ratio=1.0):
        times = {"absorbed_us": "10", "run_us": "30", "judged_us": "10"}
        found = {"collective": "gather", "bytes": str(size), "pattern": "flat", "verdict": verdict}
        return found | times | {"ratio_to_reference": str(ratio), "p_within": str(within)}

    rows = [row(8, "no difference", 0.01), row(64, "no difference", 0.9), row(512, "faster", 0.9)]
    rows = [each | {"native": each} for each in rows]
    assert script["table"](rows, "flat")[-1] == "| gather | 1.00= | 1.00 | 1.00+ |"
    line, again = script["summary"]([("here", rows, rows[:2])])[2:]
    # Judged by absorbed times: 3 cells, none slower, one shown within, another one faster.
    assert line.startswith("| here | absorbed | 3 | 0 | 1 | 1 | 0 |")
    assert again.startswith("| *the library's own again* | absorbed | 2 | 0 | 1 | 0 | 0 |")
    for each in rows:
        del each["p_within"]
    (line,) = script["summary"]([("here", rows, [])])[2:]
    assert "| - |" in line


def test_the_page_of_formats_names_every_json():
    text = (DOCS / "reference" / "file-formats.md").read_text("utf-8")
    writers = [
        " ".join(words)
        for words, command in spelled(get_command(app))
        if any("--json" in each.opts for each in command.params)
    ]
    assert [each for each in writers if not re.search(rf"`{each}\b[^`]*--json`", text)] == []


def test_the_reference_of_python_names_all_that_is_public():
    text = (DOCS / "reference" / "python.md").read_text("utf-8")
    assert [name for name in sibyl.__all__ if f"sibyl.{name}" not in text] == []
