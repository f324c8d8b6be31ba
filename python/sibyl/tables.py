"""Tables for people that fit where they are read."""

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

_ANY_WIDTH = 10_000

Column = TypeVar("Column")


def fits(console: Console, table: Table) -> bool:
    """Has the console room for the table as it is?"""
    options = console.options.update(max_width=_ANY_WIDTH)
    return Measurement.get(console, options, table).maximum <= console.width


def without(
    console: Console, make: Callable[[Collection[str]], Table], optional: Sequence[str]
) -> list[str]:
    """The columns that a table goes without, so that the console has room for it.

    Args:
        console: where.
        make: makes the table without the columns of these names.
        optional: columns that may be left out, the least important first; all of them are where
            that is not enough.
    """
    for count in range(len(optional)):
        if fits(console, make(optional[:count])):
            return list(optional[:count])
    return list(optional)


def print_fitting(
    console: Console, make: Callable[[Collection[str]], Table], optional: Sequence[str]
) -> list[str]:
    """Print a table without those columns, and return them; see without()."""
    left_out = without(console, make, optional)
    console.print(make(left_out))
    return left_out


def print_left_out(console: Console, columns: Collection[str]) -> None:
    """Say which columns the tables above went without, if they did."""
    if columns:
        console.print(f"no room for {', '.join(columns)}: see --json, or have more COLUMNS")


def print_in_parts(
    console: Console, make: Callable[[Sequence[Column]], Table], columns: Sequence[Column]
) -> None:
    """Print a table, as several ones below each other where the console has no room for one.

    Args:
        console: where.
        make: makes the table with these columns beside those that stand in each part.
        columns: all of them; at least one stands in each part, if there are any.
    """
    first = 0
    for end in range(1, max(len(columns), 1) + 1):
        if end >= len(columns) or not fits(console, make(columns[first : end + 1])):
            console.print(make(columns[first:end]))
            first = end
