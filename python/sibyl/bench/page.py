"""The page of `sibyl bench all` and `sibyl bench grid`: what is lost, and the gains beside it.

How it looks stands in data/pages/never_slower.html.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sibyl.bench.parts import MARKS, Part, closing_lines, contenders_of, tables_of
from sibyl.experiment.judge import MARGIN, MARGIN_SECONDS, SIGNIFICANCE, Row
from sibyl.experiment.units import size_text, time_text
from sibyl.pages import render

STYLES = {"SLOWER": "bad", "WRONG": "bad", "faster": "good", "none": "dim"}


@dataclass(frozen=True)
class Section:
    """What was measured in one place, under one MPI.

    Attributes:
        title: says where.
        parts: the collectives; those of which there is nothing yet have no rows.
        kept: of how many cells there is something, and how many there are; None: all.
        problem: why there is no more; empty if nothing has gone wrong.
    """

    title: str
    parts: Sequence[Part]
    kept: tuple[int, int] | None = None
    problem: str = ""


def to_html(sections: Sequence[Section], metric: str, origin: Mapping[str, Any]) -> str:
    """The page."""
    return render(
        "never_slower.html",
        title="Never slower than the MPI library",
        margin=f"{MARGIN:.0%} or {MARGIN_SECONDS * 1e9:.0f} ns",
        significance=f"{SIGNIFICANCE:.0%}",
        origin=origin,
        metric=metric,
        tally=[
            _tally(section, contender)
            for section in sections
            for contender in contenders_of(section.parts) or [""]
        ],
        sections=[
            {
                "title": section.title,
                "problem": section.problem,
                "closing": [
                    line
                    for contender in contenders_of(section.parts)
                    for line in closing_lines(section.parts, contender, metric)
                ],
                "tables": list(_tables(section)),
            }
            for section in sections
        ],
    )


def _tally(section: Section, contender: str) -> dict[str, Any]:
    """One line of the first table: how many cells a contender has lost, won, and neither."""
    parts = [part for part in section.parts if contender in part.grid.algorithms]
    rows = [row for part in parts for row in part.rows if row.algorithm == contender]
    of = {verdict: [row for row in rows if row.verdict == verdict] for verdict in MARKS}
    cells = sum(len(part.grid.cells) for part in parts)
    return {
        "title": section.title,
        "contender": contender,
        "cells": f"{len(rows)} of {cells}" if len(rows) < cells else str(cells),
        "slower": len(of["SLOWER"]) + len(of["WRONG"]),
        "worst": f"{max(row.ratio for row in of['SLOWER']):.2f}" if of["SLOWER"] else "",
        "faster": len(of["faster"]),
        "within": sum(row.is_within for row in rows),
        "best": f"{min(row.ratio for row in of['faster']):.2f}" if of["faster"] else "",
        "none": len(of["none"]),
    }


def _tables(section: Section) -> Iterator[dict[str, Any]]:
    for contender in contenders_of(section.parts):
        for title, sizes, lines in tables_of(section.parts, contender):
            yield {
                "title": title,
                "sizes": [size_text(size) for size in sizes],
                "lines": [(name, [_cell(row) for row in line]) for name, line in lines],
            }


def _cell(row: Row | None) -> dict[str, str]:
    if row is None:
        return {"text": "", "style": "", "hint": ""}
    base = row.time / row.ratio if row.ratio else 0.0
    return {
        "text": f"{row.ratio:.2f}{MARKS.get(row.verdict, '')}",
        "style": STYLES.get(row.verdict, ""),
        "hint": f"{time_text(row.time)} against {time_text(base)}, {row.verdict}",
    }
