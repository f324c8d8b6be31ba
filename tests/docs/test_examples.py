"""Every example of the documentation is run, or says why it is not."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from pages import DOCS, ROOT, all_pages, read_page
from typer.main import get_command

from sibyl.cli import app

SECONDS = 60  # that a block may take on a busy machine
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
    """Return the command that a block needs and that is not there, or an empty text."""
    needs = re.match(r"needs=(\S+)", block.says)
    return needs[1] if needs and not shutil.which(needs[1], path=environment()["PATH"]) else ""


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


def options_of(verb):
    """Return the long options of a verb, those of its own verbs among them."""
    command = get_command(app).commands[verb]
    commands = [command, *getattr(command, "commands", {}).values()]
    return {name for each in commands for p in each.params for name in (*p.opts, *p.secondary_opts)}


def commands_of(block):
    """Return (verb, options) of each `sibyl` command of a block, up to the program that it runs."""
    for line in block.session()[0].replace("\\\n", " ").splitlines():
        if found := re.match(r"(?:[A-Z_]+=\S+ )*sibyl ([a-z][\w-]*) (.*)", line.strip()):
            own = re.split(r" -- |#|\s\|\s", found[2])[0]
            yield found[1], re.findall(r"(?<!\S)--[a-z][\w-]*", own)


def unknown_options(page):
    """Return the options that a page's commands name and that are not there."""
    return [
        f"{block}: {verb} {option}"
        for block in page.blocks
        for verb, options in commands_of(block)
        for option in options
        if option not in options_of(verb)
    ]


def test_commands_that_are_only_shown_have_the_options_that_they_name():
    assert [each for page in PAGES for each in unknown_options(page)] == []
    wrong = "---\nexamples: minutes\n---\n\n    A=1 sibyl run --set a=b --gone -- ./app --its-own\n"
    assert [each.split()[-1] for each in unknown_options(page_of(wrong))] == ["--gone"]


def test_a_time_that_takes_another_unit_is_no_other_output():
    assert shape("two-tree: 1200 plans, 938 ms") == shape("two-tree: 1200 plans, 1.74 s")
    assert shape("1200 plans, 938 ms") != shape("1200 plans, 938 MB")
