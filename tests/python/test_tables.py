"""Tables that are wider than where they are read."""

import io
from collections.abc import Collection, Sequence

import pytest
from rich.console import Console
from rich.table import Table

from sibyl.tables import print_fitting, print_in_parts, without

NAMES = [f"column{i}" for i in range(9)]


def table_of(columns: Sequence[str], not_shown: Collection[str] = ()) -> Table:
    shown = [name for name in ("key", *columns) if name not in not_shown]
    table = Table(*shown)
    table.add_row(*(f"of-{name}" for name in shown))
    return table


@pytest.mark.parametrize("width", [24, 40, 80, 200])
def test_parts_have_every_column_once_beside_the_key(width: int) -> None:
    console = Console(width=width, file=io.StringIO(), record=True)
    print_in_parts(console, table_of, NAMES)
    text = console.export_text()
    assert max(map(len, text.splitlines())) <= width
    assert [text.count(f"of-{name}") for name in NAMES] == [1] * len(NAMES)
    parts = text.count("of-key")
    assert parts == {24: 9, 40: 5, 80: 2, 200: 1}[width]


def test_a_part_has_a_column_even_where_there_is_no_room_and_none_where_there_is_none() -> None:
    made: list[Sequence[str]] = []

    def make(columns: Sequence[str]) -> Table:
        made.append(columns)
        return table_of(columns)

    console = Console(width=1, file=io.StringIO(), record=True)
    print_in_parts(console, make, NAMES)
    assert [columns for columns in made if len(columns) == 1] == [[name] for name in NAMES]
    made.clear()
    print_in_parts(Console(width=40, file=console.file, record=True), make, [])
    assert made == [[]]


@pytest.mark.parametrize(("width", "left_out"), [(200, []), (50, NAMES[:6]), (10, NAMES)])
def test_columns_are_left_out_as_far_as_needed(width: int, left_out: list[str]) -> None:
    console = Console(width=width, file=io.StringIO(), record=True)

    def make(not_shown: Collection[str]) -> Table:
        return table_of(NAMES, not_shown)

    assert without(console, make, NAMES) == left_out
    assert print_fitting(console, make, NAMES) == left_out
    assert ("of-column8" in console.export_text()) == (width >= 50)
