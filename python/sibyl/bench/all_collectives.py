"""`sibyl bench all`: every collective in one run, judged together, on one page.

"Never slower" is a claim about all that a program may call: one correction of the p-values for all
cells, and what is gained beside what is lost. The usual contender is `governed`, what a program
under the preload gets; with --warm-up 50 it is judged once it has had
fifty calls of a site to learn from.
"""

import dataclasses
import json
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sibyl.bench import output
from sibyl.bench.options import Outputs, Wishes
from sibyl.bench.session import make_grid
from sibyl.errors import CommandError
from sibyl.experiment.grid import COLLECTIVES, IRREGULAR, Grid
from sibyl.experiment.judge import Row, judge
from sibyl.experiment.places import find_launcher, measure, open_journal, place, samples_bar
from sibyl.experiment.provenance import provenance
from sibyl.experiment.runner import Interrupted, signals_interrupt
from sibyl.experiment.samples import CellResult
from sibyl.experiment.units import size_text, time_text
from sibyl.files import console_beside, write_result
from sibyl.mpi.library import find_benchmark

USUAL = "governed"
# Beside a ratio, where colours are not seen.
MARKS = {"faster": "+", "SLOWER": "!", "WRONG": "WRONG", "none": "?"}


def make_grids(wishes: Wishes) -> list[Grid]:
    """One grid for each collective, of the same cells but for what it cannot have.

    Raises:
        CommandError: the options describe none, or are those of a single collective.
    """
    if wishes.blocks is not None:
        raise CommandError("--blocks is for one irregular collective; give bench all --size")
    one = dataclasses.replace(wishes, algorithms=wishes.algorithms or USUAL)
    grids = []
    for collective in COLLECTIVES:
        counts = wishes.counts if collective in IRREGULAR else "same"
        grids.append(make_grid(collective, dataclasses.replace(one, counts=counts)))
    return grids


def run_all(wishes: Wishes, outputs: Outputs, command: Sequence[str]) -> int:
    """Measure every collective, judge all of them together, and write what was asked for.

    Returns:
        0; 3 when a result was wrong; 128 plus the number of a signal that ended the run.
    """
    if outputs.plot is not None or outputs.format != "table":
        raise CommandError("bench all prints a page, --csv or --json; --plot is for one collective")
    outputs.check()
    grids = make_grids(wishes)
    launcher = find_launcher(wishes.on, wishes.mpi)
    journals = [open_journal(grid, launcher, outputs.resume) for grid in grids]
    done = [journal.read() for journal in journals]
    missing = any(len(there) < len(grid.cells) for there, grid in zip(done, grids, strict=True))
    found: list[list[CellResult]] = []
    try:
        with signals_interrupt(), place(grids[0], launcher, missing) as run:
            for grid, journal, there in zip(grids, journals, done, strict=True):
                with samples_bar(grid, there) as progressed:
                    found.append(measure(grid, journal, progressed, run))
    except Interrupted as signal:
        kept = sum(len(journal.read()) for journal in journals)
        print(
            f"sibyl: interrupted; {kept} of {sum(len(grid.cells) for grid in grids)} cells are "
            f"kept, go on with the same command and --resume",
            file=sys.stderr,
        )
        return 128 + signal.number
    metric = outputs.metric or "run"
    rows = judge([result for results in found for result in results], "native", metric)
    origin = provenance(find_benchmark(launcher.flavour), launcher, list(command))
    parts = _by_grid(grids, found, rows)
    if outputs.json is not None:
        write_result(outputs.json, to_json(parts, origin))
    if outputs.csv is not None:
        write_result(outputs.csv, to_csv(parts))
    print_page(parts, metric, console_beside(outputs.json, outputs.csv, width=120))
    for journal in journals:
        journal.forget()
    return 3 if any(result.wrong for results in found for result in results) else 0


@dataclasses.dataclass(frozen=True)
class Part:
    """A collective of the run: its grid, what was measured, and what was found."""

    grid: Grid
    results: Sequence[CellResult]
    rows: Sequence[Row]


def _by_grid(
    grids: Sequence[Grid], found: Sequence[Sequence[CellResult]], rows: Sequence[Row]
) -> list[Part]:
    parts = []
    for grid, results in zip(grids, found, strict=True):
        own = {id(result) for result in results}
        parts.append(Part(grid, results, [row for row in rows if id(row.result) in own]))
    return parts


def to_csv(parts: Sequence[Part]) -> str:
    """The lines of `sibyl bench` for each collective, below one heading."""
    texts = [output.to_csv(part.grid, part.rows) for part in parts]
    return texts[0] + "".join(text.split("\n", 1)[1] for text in texts[1:])


def to_json(parts: Sequence[Part], origin: dict[str, Any]) -> str:
    """What `sibyl bench` writes of each collective, with verdicts corrected over all of them."""
    document = {
        "format": "sibyl-bench-all",
        "version": 1,
        "collectives": {
            part.grid.collective: json.loads(
                output.to_json(part.grid, part.results, part.rows, origin)
            )
            for part in parts
        },
    }
    return json.dumps(document, indent=1) + "\n"


def _text(row: Row) -> Text:
    mark = MARKS.get(row.verdict, "")
    return Text(f"{row.ratio:.2f}{mark}", style=output.STYLES.get(row.verdict, ""))


def _table(parts: Sequence[Part], contender: str, group: tuple[int, str, float]) -> Table:
    """Ratios of a contender: a line a collective, a column a size; of one arrival pattern."""
    ranks, pattern, delay = group
    up_to = f" up to {time_text(delay)}" if delay else ""
    table = Table(
        title=f"{contender} / native, {ranks} ranks, {pattern} arrivals{up_to}",
        title_justify="left",
    )
    inside = [
        [row for row in part.rows if row.algorithm == contender and _group(row) == group]
        for part in parts
    ]
    sizes = sorted({row.result.cell.size for rows in inside for row in rows} - {0})
    table.add_column("collective", no_wrap=True)
    for size in sizes:
        table.add_column(size_text(size), justify="right", no_wrap=True)
    for rows in inside:
        for counts in dict.fromkeys(row.result.cell.counts for row in rows):
            of = {row.result.cell.size: row for row in rows if row.result.cell.counts == counts}
            collective = rows[0].result.job["collective"]
            name = collective if counts == "same" else f"{collective}, {counts}"
            line: list[str | Text] = [_text(of[size]) if size in of else "" for size in sizes]
            if 0 in of:  # a barrier has no size
                line[0] = _text(of[0])
            table.add_row(name, *line)
    return table


def _group(row: Row) -> tuple[int, str, float]:
    cell = row.result.cell
    return (cell.ranks, cell.pattern, cell.max_delay)


def print_page(parts: Sequence[Part], metric: str, console: Console) -> None:
    """The ratios to native, a table for each number of ranks and arrival pattern, and the sum."""
    rows = [row for part in parts for row in part.rows]
    groups = dict.fromkeys(_group(row) for row in rows)
    for contender in parts[0].grid.algorithms[1:]:
        for group in groups:
            console.print(_table(parts, contender, group))
        for line in closing_lines(parts, contender, metric):
            console.print(line, highlight=False, soft_wrap=True)


def closing_lines(parts: Sequence[Part], contender: str, metric: str) -> list[str]:
    """How many cells are lost and won by a contender, and each that is lost."""
    rows = [row for part in parts for row in part.rows if row.algorithm == contender]
    of = {verdict: [row for row in rows if row.verdict == verdict] for verdict in MARKS}
    judged = len(rows) - len(of["none"])
    lines = [
        f"{contender}: slower than native (!) in {len(of['SLOWER'])} of {judged} cells, faster (+) "
        f"in {len(of['faster'])}; {metric} time, rank-sum tests corrected for all cells"
    ]
    if of["none"]:
        limits = dict.fromkeys(output.instrument_limit(row.result, "native") for row in of["none"])
        lines += [f"no verdict (?) in {len(of['none'])} cells: {limit}" for limit in limits][:1]
    for part in parts:
        for row in part.rows:
            if row.algorithm == contender and row.verdict in ("SLOWER", "WRONG"):
                title = output.cell_title(part.grid, row.result.cell)
                lines.append(f"{row.verdict}: {title}: {row.ratio:.3f}, p {row.p_slower:.2g}")
    return lines
