"""`sibyl algorithms`: the one table of algorithms, for people and as JSON."""

import json
import sys

from rich.console import Console
from rich.table import Table
from rich.text import Text

import sibyl

COLUMNS = (
    "collective",
    "name",
    "published",
    "idea",
    "cost",
    "source",
    "order",
    "background",
    "commutative_only",
    "in_place",
)


def list_algorithms(as_json: bool) -> int:
    """Print the table; see `sibyl algorithms --help`."""
    rows = [{column: getattr(row, column) for column in COLUMNS} for row in sibyl.algorithms()]
    if as_json:
        print(json.dumps(rows, indent=2))
        return 0
    # Names are there to be copied and stay whole; sentences give way. A pipe gets all it wants.
    console = Console(width=None if sys.stdout.isatty() else 160)
    table = Table(show_lines=True)
    for heading in ("collective", "algorithm"):
        table.add_column(heading, no_wrap=True)
    for heading in ("idea", "cost", "takes", "operators", "source"):
        table.add_column(heading, ratio=None if heading == "operators" else 2)
    for row in rows:
        takes = []
        if row["order"] != "none":
            takes.append("order (root)" if row["order"] == "root_only" else "order (all ranks)")
        if row["background"]:
            takes.append("background")
        if row["in_place"]:
            takes.append("in place")
        if row["collective"] not in ("exscan", "scan"):
            operators = "-"
        else:
            operators = "commutative" if row["commutative_only"] else "any"
        name = Text(row["name"], style="bold")
        if row["published"] not in ("", row["name"]):
            name.append("\n" + row["published"].replace(", ", ",\n"), style="not bold")
        cells = (row["idea"], row["cost"], ", ".join(takes), operators, row["source"])
        table.add_row(row["collective"], name, *(Text(cell) for cell in cells))
    console.print(table)
    return 0
