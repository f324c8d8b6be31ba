"""What a person, a spreadsheet and another program read: table, CSV, JSON, and the OSU layout."""

import csv
import io
import itertools
import json
from collections import Counter
from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sibyl.bench.memory import ELEMENT_BYTES
from sibyl.errors import counted
from sibyl.experiment.grid import BARE, IRREGULAR, Cell, Grid
from sibyl.experiment.judge import MARGIN, MARGIN_SECONDS, SIGNIFICANCE, Row
from sibyl.experiment.samples import CellResult
from sibyl.experiment.units import size_text, time_text
from sibyl.tables import print_fitting, print_in_parts, print_left_out, without

CSV_COLUMNS = (
    *("collective", "mpi", "ranks", "bytes", "block", "counts", "pattern", "max_delay_us"),
    "algorithm",
    *("iterations", "run_us", "elapsed_us", "absorbed_us", "judged_us", "quartile_1_us"),
    *("quartile_3_us", "spread_us", "bound_us", "late_us", "ratio_to_reference", "ratio_to_bound"),
    *("p_slower", "p_faster", "p_within", "verdict"),
)
STYLES = {"SLOWER": "bold red", "WRONG": "bold red", "faster": "green", "none": "yellow"}
# So many cells are too many to read one table after the other.
MANY_CELLS = 4
# Columns that a narrow terminal goes without, those first.
OPTIONAL = ("absorbed", "quartiles", "/ bound")


def cell_title(grid: Grid, cell: Cell) -> str:
    """A cell in words."""
    words = [grid.collective]
    if cell.size:
        words.append(f"{_amount(cell)} {grid.amount}")
    elif cell.block:
        words.append(_amount(cell))
    words.append(counted(cell.ranks, "rank"))
    if grid.root:
        words.append(f"root {grid.root}")
    if grid.collective in IRREGULAR:
        words.append(f"{cell.counts} counts")
    words.append("bare calls" if cell.pattern == BARE else f"{cell.pattern} arrivals")
    if cell.max_delay:
        words[-1] += f" up to {time_text(cell.max_delay)}"
    return ", ".join(words)


def _amount(cell: Cell) -> str:
    return f"b = {cell.block}" if cell.block else size_text(cell.size)


def _cell_texts(cell: Cell) -> dict[str, str]:
    delay = f" {time_text(cell.max_delay)}" if cell.max_delay else ""
    return {
        "ranks": str(cell.ranks),
        "counts": cell.counts,
        "size": _amount(cell),
        "arrivals": cell.pattern + delay,
    }


def print_summary(grid: Grid, rows: Sequence[Row], console: Console) -> None:
    """One line a cell: the reference's time, and of each contender the ratio to it and verdict.

    Where there is no room for verdicts their colours are left.
    """
    contenders = grid.algorithms[1:]
    not_shown = without(console, partial(_summary_table, grid, rows, contenders), ("verdict",))
    make = partial(_summary_table, grid, rows, not_shown=not_shown)
    print_in_parts(console, make, contenders)


def _summary_table(
    grid: Grid, rows: Sequence[Row], contenders: Sequence[str], not_shown: Collection[str]
) -> Table:
    reference = grid.algorithms[0]
    texts = [_cell_texts(cell) for cell in grid.cells]
    varying = [name for name in texts[0] if len({text[name] for text in texts}) > 1]
    table = Table(title=f"{grid.collective}: time / {reference}'s", title_justify="left")
    for name in varying:
        table.add_column(name, no_wrap=True)
    table.add_column(reference, justify="right", no_wrap=True)
    for name in contenders:
        table.add_column(name, justify="right", no_wrap=True)
        if not not_shown:
            table.add_column("verdict")
    for _, group in itertools.groupby(rows, key=lambda row: id(row.result)):
        first, *others = group
        known = _cell_texts(first.result.cell)
        line: list[str | Text] = [known[name] for name in varying]
        line.append(time_text(first.time))
        for row in (row for row in others if row.algorithm in contenders):
            style = STYLES.get(row.verdict, "")
            line.append(Text(f"{row.ratio:.3f}", style=style if not_shown else ""))
            if not not_shown:
                line.append(Text(row.verdict, style=style))
        table.add_row(*line)
    return table


def _headings(grid: Grid, metric: str) -> list[str]:
    """The columns of a cell's table, the time that is judged first, with its quartiles."""
    times = ["run time", "elapsed", "absorbed"]
    judged = {"run": "run time"}.get(metric, metric)
    others = [heading for heading in times if heading != judged]
    reference = "/ native" if grid.algorithms[0] == "native" else "/ reference"
    return [judged, "quartiles", *others, reference, "/ bound"]


def _cell_table(
    title: str, block: Sequence[Row], headings: Sequence[str], without: Collection[str]
) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("algorithm", no_wrap=True)
    shown = [heading for heading in headings if heading not in without]
    for heading in shown:
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("verdict")
    for row in block:
        ratio = f"{row.ratio:.3f}"
        cells = {
            "run time": time_text(row.run),
            "quartiles": f"{time_text(row.quarters[0])} - {time_text(row.quarters[1])}",
            "elapsed": time_text(row.elapsed),
            "absorbed": time_text(row.absorbed),
            "/ native": ratio,
            "/ reference": ratio,
            "/ bound": f"{row.to_bound:.2f}",
        }
        verdict = Text(row.verdict, style=STYLES.get(row.verdict, ""))
        table.add_row(row.algorithm, *(cells[heading] for heading in shown), verdict)
    bound, spread = block[0].bound, block[0].spread
    table.caption = (
        f"bound {time_text(bound)}, arrivals {time_text(spread)} apart: "
        f"{time_text(max(bound - spread, 0))} after the last"
    )
    table.caption_justify = "left"
    return table


def print_table(grid: Grid, rows: Sequence[Row], console: Console, metric: str) -> None:
    """The table for people: one block per cell, then what must be known to read it."""
    left_out: dict[str, None] = {}
    for _, group in itertools.groupby(rows, key=lambda row: id(row.result)):
        block = list(group)
        cell = block[0].result.cell
        title = cell_title(grid, cell)
        headings = _headings(grid, metric)
        make = partial(_cell_table, title, block, headings)
        left_out |= dict.fromkeys(print_fitting(console, make, OPTIONAL))
        if block[0].limit:
            console.print(f"  no verdict: {block[0].limit}", style="yellow", highlight=False)
    if len(grid.cells) >= MANY_CELLS:
        print_summary(grid, rows, console)
    print_left_out(console, left_out)
    for line in closing_lines(grid, rows, metric):
        console.print(line, highlight=False, soft_wrap=True)


def closing_lines(grid: Grid, rows: Sequence[Row], metric: str) -> list[str]:
    """The statements about the whole run."""
    jobs = {id(row.result.job): row.result.job for row in rows}
    lines = list(dict.fromkeys(_job_line(job) for job in jobs.values()))
    for result in {id(row.result): row.result for row in rows}.values():
        for name, count in result.wrong.items():
            lines.append(f"WRONG RESULT: {name}, {cell_title(grid, result.cell)}: {count} times")
    lines += _slower_lines(grid, rows)
    iterations = counted(grid.iterations, "iteration")
    if grid.on == "smpi":
        lines.append(f"{iterations}; simulated times repeat: medians decide")
    else:
        lines.append(
            f"{iterations}; {metric} time by rank-sum tests, corrected for all "
            f"comparisons, significance {SIGNIFICANCE:.0%}"
        )
    return lines


def _slower_lines(grid: Grid, rows: Sequence[Row]) -> list[str]:
    """Who is slower than the reference, and in how many cells; or that nobody is."""
    others = [row for row in rows if row.verdict != "reference"]
    judged = [row for row in others if row.verdict in ("faster", "no difference", "SLOWER")]
    cells = Counter(row.algorithm for row in judged)
    slower = Counter(row.algorithm for row in judged if row.verdict == "SLOWER")
    if judged and not slower:
        within = sum(row.is_within for row in judged)
        return [
            f"never slower than {grid.algorithms[0]} by more than {MARGIN:.0%} or "
            f"{MARGIN_SECONDS * 1e9:.0f} ns: "
            + (
                "holds for all contenders"
                if within == len(others)
                else f"shown in {within} of {counted(len(others), 'comparison')}, refuted in none"
            )
        ]
    return [
        f"{name}: slower than {grid.algorithms[0]} in {slower[name]} of {cells[name]} cells"
        for name in cells
        if slower[name]
    ]


def _job_line(job: dict[str, Any]) -> str:
    ranks = counted(job["ranks"], "rank")
    if job.get("simulated"):
        return (
            f"{job['mpi']}, {ranks} simulated on {job.get('platform')}; one message: "
            f"alpha {time_text(job['alpha_s'])}, {1e-6 / job['beta_s_per_byte']:.4g} MB/s"
        )
    clocks, after = job["clocks"], job.get("clocks_after") or job["clocks"]
    known = (
        "one clock"
        if clocks["common"]
        else f"clocks {time_text(clocks['worst_offset_s'])} apart, taken off"
    )
    checked = (
        f"{known}; by ping-pong {time_text(clocks['worst_offset_s'])} +- "
        f"{time_text(clocks['worst_error_s'])} before, {time_text(after['worst_offset_s'])} +- "
        f"{time_text(after['worst_error_s'])} after"
    )
    where = f", cluster at {job['rate']}" if "rate" in job else ""
    beta = job["beta_s_per_byte"]
    rate = f", {1e-6 / beta:.4g} MB/s" if beta else ""
    return (
        f"{job['mpi']}, {ranks}{where}, {counted(job['cores'], 'core')}; one message: "
        f"alpha {time_text(job['alpha_s'])}{rate}; {checked}"
    )


def to_csv(grid: Grid, rows: Sequence[Row]) -> str:
    """One line per contender and cell; times in microseconds."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for row in rows:
        cell = row.result.cell
        times = (row.run, row.elapsed, row.absorbed, row.time, *row.quarters)
        times += (row.spread, row.bound, row.late)
        writer.writerow(
            [grid.collective, row.result.job["mpi"], cell.ranks, cell.size, cell.block, cell.counts]
            + [cell.pattern, f"{cell.max_delay * 1e6:.6g}", row.algorithm, grid.iterations]
            + [f"{time * 1e6:.4f}" for time in times]
            + [f"{row.ratio:.4f}", f"{row.to_bound:.4f}"]
            + [f"{p:.3g}" for p in (row.p_slower, row.p_faster, row.p_within)]
            + [row.verdict]
        )
    return out.getvalue()


def to_json(
    grid: Grid, results: Sequence[CellResult], rows: Sequence[Row], provenance: dict[str, Any]
) -> str:
    """Everything, with the raw samples."""
    places = {id(result): number for number, result in enumerate(results)}
    judged = [
        {
            "cell": places[id(row.result)],
            "algorithm": row.algorithm,
            "run_s": row.run,
            "elapsed_s": row.elapsed,
            "absorbed_s": row.absorbed,
            "judged_s": row.time,
            "quartiles_s": list(row.quarters),
            "bound_s": row.bound,
            "ratio_to_reference": row.ratio,
            "ratio_to_bound": row.to_bound,
            "p_slower": row.p_slower,
            "p_faster": row.p_faster,
            "p_within": row.p_within,
            "verdict": row.verdict,
        }
        for row in rows
    ]
    limits = {id(row.result): row.limit for row in rows}
    parameters = {
        name: value for name, value in vars(grid).items() if name not in ("cells", "rate", "on")
    }
    document = {
        "format": "sibyl-bench",
        "version": 2,
        "provenance": provenance,
        "parameters": parameters,
        "margin": {"relative": MARGIN, "seconds": MARGIN_SECONDS},
        "significance": SIGNIFICANCE,
        "rows": judged,
        "cells": [
            {
                **result.as_json(),
                "instrument_limit": limits[id(result)],
            }
            for result in results
        ],
    }
    return json.dumps(document, indent=1, default=list) + "\n"


def to_osu(grid: Grid, rows: Sequence[Row], metric: str) -> str:
    """The layout of the OSU micro-benchmarks, a block per algorithm, ranks and arrival pattern.

    Of problems that say their average block the size is that of one, in bytes.
    """
    lines: list[str] = []

    def size(row: Row) -> int:
        cell = row.result.cell
        return cell.size or ELEMENT_BYTES[grid.operator] * cell.block

    def block(row: Row) -> tuple[object, ...]:
        cell = row.result.cell
        return (row.algorithm, cell.ranks, cell.counts, cell.pattern, cell.max_delay)

    for key, group in itertools.groupby(sorted(rows, key=block), key=block):
        algorithm, ranks, _, pattern, delay = key
        lines += [
            f"# OSU MPI {grid.collective.capitalize()} Latency Test (sibyl bench): {algorithm}, "
            f"{ranks} ranks, {pattern} arrivals up to {float(str(delay)) * 1e6:.6g} us",
            "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations",
        ]
        for row in sorted(group, key=size):
            times = row.result.samples[row.algorithm][f"{metric}_s"]
            mean = sum(times) / len(times)
            lines.append(
                f"{size(row):<10}{mean * 1e6:>18.2f}{min(times) * 1e6:>18.2f}"
                f"{max(times) * 1e6:>18.2f}{len(times):>12}"
            )
        lines.append("")
    return "\n".join(lines)
