"""`sibyl algorithms`: the one table of algorithms, for people and as JSON."""

import json
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

import sibyl
from sibyl.files import STDOUT, check_json_file, console_beside, write_result

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

# Columns of a terminal that all of the table fits.
ROOM_FOR_ALL = 120


def list_algorithms(as_json: bool, file: Path = STDOUT) -> int:
    """Print the table, or write it as JSON to this file; see `sibyl algorithms --help`."""
    check_json_file("sibyl algorithms", as_json, file)
    table_rows = sibyl.algorithms()
    rows = [{column: getattr(row, column) for column in COLUMNS} for row in table_rows]
    if as_json:
        write_result(file, json.dumps(rows, indent=2) + "\n")
        return 0
    # Names are there to be copied and stay whole; sentences give way. A pipe gets all it wants,
    # unless COLUMNS says what there is.
    console = console_beside(width=140)
    shown = ["idea", "cost", "takes", "operators"]
    if console.width < ROOM_FOR_ALL:
        shown = shown[:1]
    table = Table(show_lines=True)
    for heading in ("collective", "algorithm"):
        table.add_column(heading, no_wrap=True)
    for heading in shown:
        table.add_column(heading)
    table.add_column("source", justify="right", no_wrap=True)
    sources = list(dict.fromkeys(row["source"] for row in rows))
    for row, of_table in zip(rows, table_rows, strict=True):
        name = Text(row["name"], style="bold")
        if row["published"] not in ("", row["name"]) and len(shown) > 1:
            name.append("\n" + row["published"].replace(", ", ",\n"), style="not bold")
        source = f"[{sources.index(row['source']) + 1}]"
        cells = [row["idea"], row["cost"], _takes(row), _operators(of_table)][: len(shown)]
        table.add_row(row["collective"], name, *(Text(cell) for cell in (*cells, source)))
    console.print(table)
    for number, source in enumerate(sources, start=1):
        console.print(Text(f"[{number}] {source}"), soft_wrap=True)
    if len(shown) == 1:
        console.print("costs and what they take: in a terminal of 120 columns, or --json")
    return 0


def _takes(row: dict[str, Any]) -> str:
    takes = {"none": [], "root_only": ["order (root)"], "all_ranks": ["order (all ranks)"]}
    words = list(takes[row["order"]])
    words += ["background"] * row["background"]
    words += ["in place"] * row["in_place"]
    return ", ".join(words)


def _operators(row: sibyl.Algorithm) -> str:
    if not row.combines:
        return "-"
    return "commutative" if row.commutative_only else "any"
