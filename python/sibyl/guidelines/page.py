"""The page of a run: one HTML file with verdicts, tables and pictures in it.

For each family: a map of factors (problem by block, red where the guideline is violated), and the
times of all sides over the block, one panel a problem. How it looks stands in
data/pages/guidelines.html.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sibyl.experiment.judge import MARGIN, MARGIN_SECONDS, SIGNIFICANCE
from sibyl.experiment.samples import CellResult
from sibyl.guidelines.catalogue import Guideline
from sibyl.guidelines.groups import side_title
from sibyl.guidelines.judge import HOLDS, NONE, VIOLATED, WRONG, times
from sibyl.guidelines.output import (
    closing_lines,
    factor_text,
    job_line,
    kinds_of,
    marked,
    microseconds,
    published_text,
    tally,
)
from sibyl.guidelines.pictures import draw_factors, draw_times, mathematical
from sibyl.guidelines.report import Report, Section, heading
from sibyl.pages import render

STYLES = {VIOLATED: "bad", WRONG: "bad", HOLDS: "good", NONE: "dim"}


class Cell(NamedTuple):
    """Of a table: a text, and what is to be seen at once (a class of the page)."""

    text: str
    style: str = ""


def to_html(report: Report, tables: Sequence[tuple[Path, str]] = ()) -> str:
    """The page.

    Args:
        report: the run.
        tables: selection tables that were written, each with what it holds.
    """
    job = report.cells[0][0].job
    return render(
        "guidelines.html",
        title=f"Performance guidelines: {job['mpi']}",
        where=job_line(job),
        origin=report.origin,
        margin=f"{MARGIN:.0%} or {MARGIN_SECONDS * 1e9:.0f} ns",
        shown=_how_it_is_shown(report),
        summary=_summary(report),
        sections=[
            {
                "heading": mathematical(heading(section)),
                "limits": _limits(section, report),
                "factors": draw_factors(section, report),
                "times": draw_times(section, report),
                "titles": _titles(section, report),
                "rows": _rows(section, report),
            }
            for section in report.sections()
        ],
        tables=[(path.name, what) for path, what in tables],
        closing=[mathematical(line) for line in closing_lines(report)],
    )


def _how_it_is_shown(report: Report) -> str:
    if report.cells[0][0].job.get("simulated"):
        return "Simulated times repeat. Factors are the left side's time over the right one's."
    return (
        f"Rank-sum tests, corrected for all comparisons, significance {SIGNIFICANCE:.0%}. Factors "
        f"are medians of {report.iterations} measurements of the left side over those of the right "
        "one, taken in turns."
    )


def _summary(report: Report) -> Iterator[dict[str, Any]]:
    """Each guideline: how often it holds, and what to do where it does not."""
    for name, findings in tally(report):
        bad = [finding for finding in findings if finding.verdict == VIOLATED]
        yield {
            "guideline": mathematical(name),
            "violated": len(bad),
            "others": [
                sum(finding.verdict == verdict for finding in findings)
                for verdict in (HOLDS, "undecided", NONE)
            ],
            "worst": f"{max(finding.factor for finding in bad):.2f}" if bad else "",
            "remedy": bad[0].guideline.remedy if bad else "",
        }


def _limits(section: Section, report: Report) -> set[str]:
    """Why cells have no verdict."""
    return {f.limit for result in section.results for f in report.of_cell(result) if f.limit}


def _has_published(section: Section, report: Report) -> bool:
    return any(published_text(result, report) for result in section.results)


def _titles(section: Section, report: Report) -> list[str]:
    titles = ["problem", "b", "m", "m'"]
    once = report.iterations == 1  # then the average is the minimum
    for column in section.columns:
        titles += [side_title(column)] if once else [f"{side_title(column)} avg", "min"]
    kinds = kinds_of(section, report)
    titles += [("Sibyl " if under == "sibyl" else "") + g.name for g, under in kinds]
    return [*titles, "paper (2)"] if _has_published(section, report) else titles


def _rows(section: Section, report: Report) -> Iterator[tuple[bool, list[Cell]]]:
    """The cells of a table; before each row whether a problem begins there."""
    published = _has_published(section, report)
    kinds = kinds_of(section, report)
    before = ""
    for result in section.results:
        begins = result.cell.counts != before
        before = result.cell.counts
        row = [Cell(before if begins else ""), Cell(str(result.cell.block or ""))]
        row += [Cell(str(result.problem.get(n, ""))) for n in ("elements", "padded_elements")]
        for column in section.columns:
            row += _time_cells(result, column, report)
        row += _factor_cells(result, kinds, report)
        row += [Cell(published_text(result, report), "dim")] if published else []
        yield begins, row


def _time_cells(result: CellResult, column: str, report: Report) -> list[Cell]:
    """A contender's average and minimum, which are one where there is one iteration."""
    once = report.iterations == 1
    if column not in result.samples:
        return [Cell("")] * (1 if once else 2)
    figures = times(result, column)
    style = "bad" if marked(result, column, report) else ""
    shown = [figures.average] if once else [figures.average, figures.least]
    return [Cell(microseconds(time), style) for time in shown]


def _factor_cells(
    result: CellResult, kinds: Sequence[tuple[Guideline, str]], report: Report
) -> list[Cell]:
    found = {(f.guideline, f.under): f for f in report.of_cell(result)}
    cells = []
    for kind in kinds:
        finding = found.get(kind)
        style = STYLES.get(finding.verdict, "") if finding else ""
        cells.append(Cell(factor_text(finding) if finding else "", style))
    return cells
