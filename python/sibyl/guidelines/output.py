"""What a person, a spreadsheet and another program read: the paper's table, CSV, JSON."""

import csv
import io
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sibyl.errors import counted
from sibyl.experiment.judge import MARGIN, MARGIN_SECONDS, SIGNIFICANCE
from sibyl.experiment.samples import CellResult
from sibyl.guidelines.catalogue import Guideline
from sibyl.guidelines.groups import side_title
from sibyl.guidelines.judge import (
    HOLDS,
    NONE,
    UNDECIDED,
    VIOLATED,
    WRONG,
    Finding,
    left_contender,
    times,
)
from sibyl.guidelines.report import Report, Section, heading
from sibyl.tables import print_in_parts, print_left_out, without

# What a narrow terminal goes without, that first.
OPTIONAL = ("m'", "m", "least")
RED = "bold red"
STYLES = {VIOLATED: RED, WRONG: RED, HOLDS: "green", NONE: "yellow"}
MARKS = {UNDECIDED: "?", NONE: "-", WRONG: " WRONG"}
CSV_COLUMNS = (
    *("guideline", "statement", "under", "mpi", "ranks", "problem", "block", "elements"),
    *("padded_elements", "pattern", "max_delay_us", "iterations", "left_avg_us", "left_min_us"),
    *("left_median_us", "right_avg_us", "right_min_us", "right_median_us", "factor", "p_violated"),
    *("p_holds", "verdict", "published_factor"),
)


def microseconds(seconds: float) -> str:
    """As in the paper's tables."""
    return f"{seconds * 1e6:.2f}"


def block_title(block: int) -> str:
    """The average block in words."""
    return f"b = {block}" if block else "no data"


def factor_text(finding: Finding) -> str:
    """A factor with a mark where there is no clear verdict."""
    return f"{finding.factor:.2f}{MARKS.get(finding.verdict, '')}"


def marked(result: CellResult, column: str, report: Report) -> bool:
    """Does this contender violate a guideline in this cell?"""
    return any(
        finding.verdict == VIOLATED and left_contender(finding.guideline, finding.under) == column
        for finding in report.of_cell(result)
    )


def published_text(result: CellResult, report: Report) -> str:
    """The paper's factor of guideline (2) in this case; empty where it has none."""
    for finding in report.of_cell(result):
        found = report.paper_says(finding)
        if found is not None:
            return f"{found.factor:.2f}"
    return ""


def _section_table(
    section: Section, report: Report, columns: Sequence[str], not_shown: Collection[str]
) -> Table:
    table = Table(
        title=heading(section),
        title_justify="left",
        caption="microseconds: average" + ("" if "least" in not_shown else ", least"),
    )
    table.caption_justify = "left"
    table.add_column("problem", no_wrap=True)
    sizes = {"m": "elements", "m'": "padded_elements"}
    shown = [name for name in sizes if name not in not_shown]
    for name in ("b", *shown):
        table.add_column(name, justify="right", no_wrap=True)
    for column in columns:
        table.add_column(side_title(column), justify="right", no_wrap=True)
    before = ""
    for result in section.results:
        cell = result.cell
        if before not in ("", cell.counts):
            table.add_section()
        row: list[str | Text] = [cell.counts if cell.counts != before else ""]
        row.append(str(cell.block or ""))
        before = cell.counts
        row += [str(result.problem.get(sizes[name], "")) for name in shown]
        for column in columns:
            if column not in result.samples:
                row.append("")
                continue
            figures = times(result, column)
            text = microseconds(figures.average)
            if "least" not in not_shown:
                text += f" {microseconds(figures.least):>9}"
            row.append(Text(text, style=RED if marked(result, column, report) else ""))
        table.add_row(*row)
    return table


def kind_title(guideline: Guideline, under: str) -> str:
    """A guideline and who serves its left side."""
    who = "Sibyl's" if under == "sibyl" else "the MPI library's"
    return f"{guideline.name} {guideline.text}: {who} {guideline.left}, left / right"


def kinds_of(section: Section, report: Report) -> list[tuple[Guideline, str]]:
    """The guidelines that are judged in a section, and who serves their left sides."""
    findings = [f for result in section.results for f in report.of_cell(result)]
    return list(dict.fromkeys((f.guideline, f.under) for f in findings))


def _of_kind(
    section: Section, kind: tuple[Guideline, str], report: Report
) -> dict[tuple[str, int], Finding]:
    """What was found of one guideline, by problem and block."""
    return {
        (finding.result.cell.counts, finding.result.cell.block): finding
        for result in section.results
        for finding in report.of_cell(result)
        if (finding.guideline, finding.under) == kind
    }


def _factor_table(
    findings: Mapping[tuple[str, int], Finding], report: Report, blocks: Sequence[int]
) -> Table:
    """Left over right: a line a problem, a column each of these blocks."""
    table = Table()
    table.add_column("problem", no_wrap=True)
    for block in blocks:
        table.add_column(block_title(block), justify="right", no_wrap=True)
    for problem in dict.fromkeys(problem for problem, _ in findings):
        row: list[str | Text] = [problem]
        published = []
        for block in blocks:
            finding = findings.get((problem, block))
            if finding is None:
                row.append("")
                published.append("")
                continue
            row.append(Text(factor_text(finding), style=STYLES.get(finding.verdict, "")))
            found = report.paper_says(finding)
            published.append(f"{found.factor:.2f}" if found else "")
        table.add_row(*row)
        if any(published):
            table.add_row("  in the paper", *published, style="dim")
    return table


def print_report(report: Report, console: Console) -> None:
    """The tables, one for each family, number of ranks and arrivals, and what they come to."""
    left_out: dict[str, None] = {}
    for section in report.sections():
        make = partial(_section_table, section, report, section.columns)
        not_shown = without(console, make, OPTIONAL)
        left_out |= dict.fromkeys(not_shown)
        part = partial(_section_table, section, report, not_shown=not_shown)
        print_in_parts(console, part, section.columns)
        for kind in kinds_of(section, report):
            console.print(kind_title(*kind), highlight=False, style="italic")
            findings = _of_kind(section, kind, report)
            blocks = list(dict.fromkeys(block for _, block in findings))
            print_in_parts(console, partial(_factor_table, findings, report), blocks)
        limits = {f.limit for result in section.results for f in report.of_cell(result) if f.limit}
        for limit in sorted(limits):
            console.print(f"  no verdict: {limit}", style="yellow", highlight=False)
    print_left_out(console, left_out)
    for line in closing_lines(report):
        style = "red" if VIOLATED in line or "WRONG" in line else ""
        console.print(line, highlight=False, soft_wrap=True, style=style)


def tally(report: Report) -> Iterator[tuple[str, list[Finding]]]:
    """The findings of each guideline, the left side's server apart."""
    found: dict[str, list[Finding]] = {}
    for finding in report.findings:
        who = " (left side by Sibyl)" if finding.under == "sibyl" else ""
        found.setdefault(f"{finding.guideline.name} {finding.guideline.text}{who}", []).append(
            finding
        )
    yield from found.items()


def closing_lines(report: Report) -> list[str]:
    """The statements about the whole run."""
    lines = [_guideline_line(name, findings) for name, findings in tally(report)]
    lines += [f"WRONG RESULT: {name}, {count} times" for name, count in report.wrong.items()]
    jobs = {id(result.job): result.job for result, _ in report.cells}
    lines += dict.fromkeys(job_line(job) for job in jobs.values())
    slack = f"slower by more than {MARGIN:.0%} or {MARGIN_SECONDS * 1e9:.0f} ns"
    if all(job.get("simulated") for job in jobs.values()):
        lines.append(f"simulated times repeat: violated is what is {slack}")
    else:
        lines.append(
            f"{report.iterations} measurements of each side, in turns; factors are of medians; "
            f"{slack} by rank-sum tests, corrected for all comparisons, significance "
            f"{SIGNIFICANCE:.0%}; ? is undecided, - no verdict"
        )
    published = (report.paper_says(finding) for finding in report.findings)
    found = next((each for each in published if each is not None), None)
    if found is not None:
        lines.append(
            f"in the paper: MPI_Gatherv over guideline (2) by minima, {found.library}, "
            f"{found.ranks} ranks (Traeff 2017)"
        )
    return lines


def _guideline_line(name: str, findings: Sequence[Finding]) -> str:
    """What becomes of one guideline."""
    judged = [f for f in findings if f.verdict in (VIOLATED, HOLDS, UNDECIDED)]
    bad = [f for f in judged if f.verdict == VIOLATED]
    if not judged:
        return f"{name}: no verdict"
    if bad:
        worst = max(bad, key=lambda f: f.factor)
        return (
            f"{name}: VIOLATED in {len(bad)} of {len(judged)} cases, worst {worst.factor:.2f} "
            f"times ({worst.result.cell.counts}, {block_title(worst.result.cell.block)}); remedy: "
            f"{worst.guideline.remedy}"
        )
    shown = sum(f.verdict == HOLDS for f in judged)
    return f"{name}: no violation; shown to hold in {shown} of {len(judged)} cases"


def job_line(job: dict[str, Any]) -> str:
    """Which MPI, and where it ran."""
    ranks = counted(job["ranks"], "rank")
    if job.get("simulated"):
        return f"{job['mpi']}, {ranks} simulated on {job.get('platform')}"
    where = f", cluster at {job['rate']}" if "rate" in job else ""
    return f"{job['mpi']}, {ranks}{where}, {counted(job['cores'], 'core')}, {job['cpu']}"


def to_csv(report: Report) -> str:
    """One line per guideline and cell; times in microseconds."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for finding in report.findings:
        cell, problem = finding.result.cell, finding.result.problem
        found = report.paper_says(finding)
        figures = [
            f"{seconds * 1e6:.4f}"
            for side in (finding.left, finding.right)
            for seconds in (side.average, side.least, side.median)
        ]
        row = [finding.guideline.name, finding.guideline.text, finding.under]
        row += [finding.result.job["mpi"], cell.ranks, cell.counts, cell.block]
        row += [problem.get("elements", ""), problem.get("padded_elements", "")]
        row += [cell.pattern, f"{cell.max_delay * 1e6:.6g}", report.iterations, *figures]
        row += [f"{finding.factor:.4f}", f"{finding.p_violated:.3g}", f"{finding.p_holds:.3g}"]
        row += [finding.verdict, f"{found.factor:.4f}" if found else ""]
        writer.writerow(row)
    return out.getvalue()


def to_json(report: Report) -> str:
    """Everything, with the raw samples."""
    places = {id(result): number for number, (result, _) in enumerate(report.cells)}
    findings = []
    for finding in report.findings:
        found = report.paper_says(finding)
        findings.append(
            {
                "cell": places[id(finding.result)],
                "guideline": finding.guideline.name,
                "left": left_contender(finding.guideline, finding.under),
                "right": f"{finding.guideline.right}/native",
                "statement": finding.guideline.text,
                "under": finding.under,
                "left_s": vars(finding.left),
                "right_s": vars(finding.right),
                "factor": finding.factor,
                "p_violated": finding.p_violated,
                "p_holds": finding.p_holds,
                "verdict": finding.verdict,
                "instrument_limit": finding.limit,
                "remedy": finding.guideline.remedy,
                "published": vars(found) if found else None,
            }
        )
    document = {
        "format": "sibyl-guidelines",
        "version": 1,
        "provenance": report.origin,
        "slack": {"relative": MARGIN, "seconds": MARGIN_SECONDS},
        "significance": SIGNIFICANCE,
        "iterations": report.iterations,
        "findings": findings,
        "cells": [result.as_json() for result, _ in report.cells],
    }
    return json.dumps(document, indent=1) + "\n"
