"""Every example of the documentation is run, or says why it is not."""

import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from pages import DOCS, ROOT, all_pages, read_page
from typer.main import get_command

from sibyl.cli import app

SECONDS = 180  # that a block may take on a busy machine
PAGES = all_pages()
RUNS = [page for page in PAGES if any(block.mark == "run" for block in page.blocks)]


def environment():
    """Return what the pages take for granted: the command in PATH, and more ranks than cores."""
    root_may = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    crowded = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
    quick = {"OMPI_MCA_btl": "^ofi", "OMPI_MCA_mtl": "^ofi"}
    library = os.environ.get("SIBYL_LIBRARY_DIR", str(ROOT / "build/release/lib"))
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])  # noqa: PTH120
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("SIBYL_")},
        **root_may, **crowded, **quick,
        "PATH": path, "COLUMNS": "80", "SIBYL_LIBRARY_DIR": library,
    }  # fmt: skip


def words(text):
    """Return the lines, of blanks one each."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def shape(text):
    """Return the lines without their numbers, which differ from run to run, and units of times."""
    lines = [re.sub(r"\d[\d.]*(e[-+]?\d+)?", "#", line) for line in words(text)]
    return [re.sub(r"# [num]?s\b", "# s", line) for line in lines]


def run_block(block, folder):
    """Run a block, which must succeed, and return what it printed."""
    command = [sys.executable, "-"] if block.language == "python" else ["bash", "-euo", "pipefail"]
    text, shown = block.session()
    done = subprocess.run(
        command, input=text, cwd=folder, env=environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{block} ended with {done.returncode}:\n{done.stdout}"
    hold_against(block, shown, done.stdout)
    return done.stdout


def hold_against(block, shown, printed):
    """Every line that is shown was printed."""
    form = words if block.says == "exact" else shape
    found = form(printed)
    for line in form(shown):
        assert line == "..." or line in found, f"{block}: not printed: {line}\nbut:\n{printed}"


def missing(block):
    """Return the command that a block needs and that is not there, or an empty text.

    A path is one in the checkout: of what is built only where its libraries are found.
    """
    needs = re.match(r"needs=(\S+)", block.says)
    if not needs:
        return ""
    found = shutil.which(
        needs[1] if "/" not in needs[1] else ROOT / needs[1], path=environment()["PATH"]
    )
    return "" if found else needs[1]


def run_page(page, folder):
    """Run a page's blocks, one after the other."""
    for name in ("build", "examples", "include", "platforms"):
        (folder / name).symlink_to(ROOT / name)
    printed = ""
    for block in page.blocks:
        if block.mark == "file":
            (folder / block.says).write_text(block.text)
        elif block.mark == "run":
            if needed := missing(block):
                pytest.skip(f"{block}: no {needed}")
            printed = run_block(block, folder)
        elif block.mark == "output":
            hold_against(block, block.text, printed)


@pytest.mark.parametrize("page", RUNS, ids=lambda page: str(page.path.relative_to(DOCS)))
def test_the_examples_of_a_page_run_and_print_what_it_shows(page, tmp_path):
    run_page(page, tmp_path)


def test_no_example_is_left_out_without_a_reason():
    assert [str(block) for page in PAGES for block in page.unmarked()] == []
    reasons = [page.reason for page in PAGES if page.reason]
    reasons += [b.says for page in PAGES for b in page.blocks if b.mark == "not run"]
    assert all(len(each.split()) >= 3 for each in reasons)


def page_of(text):
    """Return a page of one's own, as of docs/."""
    return read_page(DOCS / "made-up.md", text)


def test_a_block_that_says_nothing_is_noticed():
    assert page_of("```sh\nsibyl doctor\n```\n").unmarked()
    assert page_of("text\n\n    sibyl doctor\n\ntext\n").unmarked()
    assert not page_of("<!-- not run: needs Slurm -->\n```sh\nsrun hostname\n```\n").unmarked()
    assert not page_of("---\nexamples: minutes each\n---\n\n    sibyl bench\n").unmarked()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<!-- run -->\n```sh\nfalse\n```\n", "ended with 1"),
        ("<!-- run -->\n```python\nassert False\n```\n", "AssertionError"),
        ("<!-- run -->\n```sh\necho a 1\n```\n<!-- output -->\n```\nb 1\n```\n", "not printed: b"),
        ("<!-- run -->\n```sh\necho 1\n```\n<!-- output: exact -->\n```\n2\n```\n", "printed: 2"),
        ("<!-- run -->\n```\n$ echo a 1\nb 1\n```\n", "not printed: b"),
    ],
)
def test_an_example_that_fails_or_prints_something_else_is_noticed(text, says, tmp_path):
    with pytest.raises(AssertionError, match=says):
        run_page(page_of(text), tmp_path)


# Brackets, dots and what is written large are of a synopsis, which names no values.
SYNOPSIS = re.compile(r"\[-|\[\.\.\.|,\.\.\.| [A-Z]+ -")


def commands_of(block):
    """Return each `sibyl` command of a block from the verb on, further lines with it."""
    text = block.session()[0].replace("\\\n", " ")
    for line in re.sub(r"\n +", " ", text).splitlines():
        if found := re.match(r"(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?sibyl ([a-z].*)", line.strip()):
            yield found[1]


def words_of(command):
    """Return the words that a shell gives to the command."""
    tokens = shlex.shlex(command, posix=True, punctuation_chars=True)
    tokens.whitespace_split = True
    return list(itertools.takewhile(lambda word: not re.fullmatch(r"[|&;<>()]+", word), tokens))


def options_of(verb):
    """Return the long options of a verb, those of its own verbs among them."""
    command = get_command(app).commands[verb]
    commands = [command, *getattr(command, "commands", {}).values()]
    return {name for each in commands for p in each.params for name in (*p.opts, *p.secondary_opts)}


def why_refused(text):
    """Return what the command says of a command line that it does not take, or an empty text."""
    if SYNOPSIS.search(text):
        verb, *given = re.split(r"[\s\[|]+", text.split(" -- ")[0])
        unknown = [each for each in given if each.startswith("--")]
        return " ".join(each for each in unknown if each.rstrip("].") not in options_of(verb))
    command, context, name, rest = get_command(app), None, "sibyl", words_of(text)
    try:
        while context is None or hasattr(command, "resolve_command"):
            if context is not None:
                name, command, rest = command.resolve_command(context, rest)
            context = command.make_context(name, list(rest), parent=context)
            rest = [*context._protected_args, *context.args]
    except Exception as error:  # typer has a click of its own, whose errors these are
        return str(error)
    return ""


def refused(page):
    """Return the commands of a page that the command does not take, and what it says of them."""
    shown = [(block, each) for block in page.blocks for each in commands_of(block)]
    return [f"{block}: sibyl {each}: {why}" for block, each in shown if (why := why_refused(each))]


def test_commands_that_are_only_shown_are_ones_that_the_command_takes():
    assert [each for page in PAGES for each in refused(page)] == []


@pytest.mark.parametrize(
    ("shown", "says"),
    [
        ("A=1 sibyl run --set a=b -- ./app --its-own", None),
        ("sibyl bench gather \\\n      --size 8 | tee table  # once", None),
        ("sibyl cluster down --name fft", None),
        ("sibyl run [-n N] [--report FILE] --quiet -- PROGRAM ARGS... --its-own", None),
        ("sibyl run [-n N] [--gone FILE]\n          [--quiet] -- PROGRAM ARGS...", "--gone"),
        ("sibyl run [-n N] [--report FILE]\n          [--gone] -- PROGRAM ARGS...", "--gone"),
        ("sibyl run --gone -- ./app --its-own", "--gone"),
        ("sibyl cluster up --gone 3", "--gone"),
        ("sibyl cluster sideways", "sideways"),
        ("sibyl verify exscan --ranks", "--ranks"),
        ("sibyl bench gather, and so on", "extra"),
    ],
)
def test_a_command_that_is_not_taken_is_noticed(shown, says):
    found = refused(page_of(f"---\nexamples: minutes\n---\n\n    {shown}\n"))
    assert [says in each for each in found] == ([True] if says else [])


def test_a_time_that_takes_another_unit_is_no_other_output():
    assert shape("two-tree: 1200 plans, 938 ms") == shape("two-tree: 1200 plans, 1.74 s")
    assert shape("1200 plans, 938 ms") != shape("1200 plans, 938 MB")
