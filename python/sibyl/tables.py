"""Tables for people that fit where they are read."""

from collections.abc import Callable, Collection, Sequence

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

_ANY_WIDTH = 10_000


def print_fitting(
    console: Console, make: Callable[[Collection[str]], Table], optional: Sequence[str]
) -> list[str]:
    """Print a table, without the columns that the console has no room for.

    Args:
        console: where.
        make: makes the table without the columns of these names.
        optional: columns that may be left out, the least important first.

    Returns:
        The columns that were left out.
    """
    for count in range(len(optional) + 1):
        left_out = list(optional[:count])
        table = make(left_out)
        options = console.options.update(max_width=_ANY_WIDTH)
        if Measurement.get(console, options, table).maximum <= console.width:
            break
    console.print(table)
    return left_out
