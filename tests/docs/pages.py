"""The examples of the documentation's pages, as they stand in the Markdown.

A comment in front of a block of code says what becomes of it; neither the site nor a viewer of the
repository shows it:

    <!-- run -->              a block of sh or python is run; blocks of a page follow each other in
                              one directory. Of one with lines that begin with `$ ` these are run,
                              and the others are what they print, `...` anything
    <!-- run: needs=mpifort -->  where that command is, or that file of the checkout
    <!-- file: NAME -->       the block is written to a file, for those that follow
    <!-- output -->           the block shows what the last run printed, numbers aside
    <!-- output: exact -->    numbers as well: of what is computed, and not measured
    <!-- not run: REASON -->  nobody runs it

A page may say in its front matter why none of its other blocks is run: `examples: REASON`. What
looks like an example and has neither is a mistake (`unmarked`).
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MARK = re.compile(r"<!-- (run|file|output|not run)(?:: (.*?))? -->$")
FENCE = re.compile(r"( *)```(\S*).*$")
# Of blocks without a language, those that begin so are commands.
COMMAND = re.compile(
    r"(\$ )?(sibyl (?!\W)|make|mpi\w+|python3?|pip|cmake|apt|srun|c\+\+|build/|platforms/|"
    r"examples/|tests/|\.venv/|LD_PRELOAD|[A-Z_]+=)"
)
LANGUAGES = ("sh", "c", "cpp", "python", "fortran")


@dataclass
class Block:
    """A block of code, with what its comment says."""

    page: Path
    line: int
    language: str
    text: str
    mark: str = ""
    says: str = ""

    @property
    def is_example(self):
        """Whether it is something that a reader would run or compile, and no synopsis."""
        plain = not self.language and " [-" not in self.text
        return self.language in LANGUAGES or (plain and bool(COMMAND.match(self.text.lstrip())))

    def session(self):
        """Return the commands of a block, and what it shows as their output.

        Where lines begin with `$ ` these are the commands; else all of it is.
        """
        if not self.text.startswith("$ "):
            return self.text, ""
        commands, shown = [], []
        for line in self.text.splitlines():
            goes_on = bool(commands) and commands[-1].endswith("\\") and not shown
            (commands if line.startswith("$ ") or goes_on else shown).append(line)
        return "\n".join(each.removeprefix("$ ") for each in commands) + "\n", "\n".join(shown)

    def __str__(self):
        """Return the place, as editors take it."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


@dataclass
class Page:
    """A page's blocks, and why those without a comment are not run."""

    path: Path
    reason: str = ""
    blocks: list = field(default_factory=list)

    def unmarked(self):
        """Return the examples of which nothing is said."""
        if self.reason:
            return []
        return [each for each in self.blocks if each.is_example and not each.mark]


def read_page(path, text=None):
    """Return a page; generated text may be given instead of the file's."""
    lines = (path.read_text("utf-8") if text is None else text).splitlines()
    page = Page(path)
    at = 0
    if lines and lines[0] == "---":
        at = lines.index("---", 1) + 1
        front = dict(line.split(": ", 1) for line in lines[1 : at - 1] if ": " in line)
        page.reason = front.get("examples", "")
        if shown := front.get("include"):
            lines[at:] = (path.parent / shown).read_text("utf-8").splitlines()
    mark = says = ""
    while at < len(lines):
        line = lines[at]
        if found := MARK.match(line.strip()):
            mark, says = found[1], found[2] or ""
            at += 1
            continue
        begin = at
        if found := FENCE.match(line):
            end = next(i for i in range(at + 1, len(lines)) if lines[i].strip() == "```")
            body = [each.removeprefix(found[1]) for each in lines[at + 1 : end]]
            at = end + 1
            language = found[2]
        elif line.startswith("    ") and begin > 0 and not lines[begin - 1].strip():
            while at < len(lines) and (lines[at].startswith("    ") or not lines[at].strip()):
                at += 1
            body = [each[4:] for each in lines[begin:at]]
            language = ""
        else:
            at += 1
            if line.strip():
                mark = says = ""
            continue
        text = "\n".join(body).rstrip() + "\n"
        page.blocks.append(Block(path, begin + 1, language, text, mark, says))
        mark = says = ""
    return page


def all_pages():
    """Return the pages of the site that lie in docs/."""
    return [read_page(path) for path in sorted(DOCS.rglob("*.md"))]
