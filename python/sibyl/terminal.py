"""What people read on a terminal: names that others have chosen must not steer it.

Names of hosts, files, functions and clusters, and what stands in files, may hold escape sequences
that clear the screen or write to the window's title, letters that turn the reading direction
around, or what Rich takes for markup. Everything that is printed for people goes through here.
"""

import os
import sys
import unicodedata
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

# Control characters (but for line ends and tabs), letters without form (they turn the direction
# around, or join names that look alike), halves of surrogate pairs, unassigned and private ones.
_HARMLESS = frozenset("\n\t")
_UNPRINTABLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def printable(text: str) -> str:
    """Return `text` with every character that is not to be printed as a replacement character."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        "\N{REPLACEMENT CHARACTER}"
        if character not in _HARMLESS and unicodedata.category(character) in _UNPRINTABLE
        else character
        for character in text
    )


def say(text: str) -> None:
    """Print a line of the command's own to standard error."""
    print(f"sibyl: {printable(' '.join(text.split()))}", file=sys.stderr, flush=True)


def seconds_text(seconds: float) -> str:
    """A time with three digits or so and the unit that suits it."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if float(f"{seconds * factor:.3g}") >= 1:  # 999.6 ms is 1 s
            return f"{seconds * factor:.3g} {unit}" if seconds < 999.5 else f"{seconds:.0f} s"
    return f"{seconds * 1e9:.0f} ns"


def is_width_unknown() -> bool:
    """Whether COLUMNS says 0, by which Rich would print nothing."""
    columns = os.environ.get("COLUMNS", "")
    return columns.isdecimal() and int(columns[:9]) == 0


class Terminal(Console):
    """A console of Rich that prints text as it is: no markup, and nothing that steers a terminal.

    Styles come from `rich.text.Text` and from arguments, never from what is printed.
    """

    def __init__(self, **options: Any) -> None:
        if is_width_unknown():
            options = {"width": 80, **options}
        super().__init__(**{"markup": False, "emoji": False, **options})

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield what is to be printed; what Rich itself does to the terminal is left alone."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(printable(segment.text), segment.style)
