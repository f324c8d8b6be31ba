"""`sibyl bench all`: every collective in one run, judged together, on one page.

"Never slower" is a claim about all that a program may call: one correction of the p-values for all
cells, and what is gained beside what is lost. The usual contender is `governed`, what a program
under the preload gets; with --warm-up 50 it is judged once it has had
fifty calls of a site to learn from.
"""

import dataclasses
import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sibyl.bench import output, page
from sibyl.bench.options import Outputs, Wishes
from sibyl.bench.parts import MARKS, Part, closing_lines, contenders_of, tables_of
from sibyl.bench.session import check_variants, make_grid
from sibyl.errors import CommandError
from sibyl.experiment.grid import COLLECTIVES, IRREGULAR, Grid
from sibyl.experiment.judge import Row, judge
from sibyl.experiment.measured_run import MeasuredRun
from sibyl.experiment.places import find_launcher
from sibyl.experiment.provenance import provenance
from sibyl.experiment.runner import Interrupted
from sibyl.experiment.samples import CellResult
from sibyl.experiment.units import size_text
from sibyl.files import console_beside, write_result
from sibyl.mpi.installation import Launcher
from sibyl.mpi.library import find_benchmark
from sibyl.tables import print_in_parts

USUAL = "governed"


def make_grids(wishes: Wishes) -> list[Grid]:
    """One grid for each collective, of the same cells but for what it cannot have.

    Raises:
        CommandError: the options describe none, or are those of a single collective.
    """
    if wishes.blocks is not None:
        raise CommandError("--blocks is for one irregular collective; give bench all --size")
    if wishes.reference != Wishes.reference:
        raise CommandError(
            "--reference: bench all and bench grid compare with native; leave it out, or measure "
            "one collective"
        )
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
    outputs.check(wishes)
    if wishes.pieces is not None or wishes.minutes is not None:
        raise CommandError("--pieces and --minutes are for bench grid")
    wishes.check_place()
    grids = make_grids(wishes)
    launcher = find_launcher(wishes.on, wishes.mpi)
    for grid in grids:
        check_variants(grid, launcher)
    run = MeasuredRun(grids, launcher, outputs.resume)
    with run.kept_on_failure():
        try:
            with run.bar("all collectives") as seen:
                found = run.measure(seen)
        except Interrupted as signal:
            return run.interrupted(signal)
        origin = provenance(find_benchmark(launcher.flavour), launcher, list(command))
        _write(grids, found, outputs, launcher, origin)
    run.forget()
    return 3 if any(result.wrong for results in found for result in results) else 0


def _write(
    grids: Sequence[Grid],
    found: Sequence[Sequence[CellResult]],
    outputs: Outputs,
    launcher: Launcher,
    origin: dict[str, Any],
) -> None:
    metric = outputs.metric or "absorbed"
    rows = judge([result for results in found for result in results], "native", metric)
    parts = by_grid(grids, found, rows)
    if outputs.json is not None:
        write_result(outputs.json, to_json(parts, origin))
    if outputs.csv is not None:
        write_result(outputs.csv, to_csv(parts))
    if outputs.page is not None:
        section = page.Section(str(launcher), parts)
        write_result(outputs.page, page.to_html([section], metric, origin))
    print_page(parts, metric, console_beside(*outputs.files().values()))


def by_grid(
    grids: Sequence[Grid], found: Sequence[Sequence[CellResult]], rows: Sequence[Row]
) -> list[Part]:
    """What was found, collective by collective."""
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


def _table(
    title: str,
    sizes: Sequence[int],
    lines: Sequence[tuple[str, Sequence[Row | None]]],
    columns: Sequence[int],
) -> Table:
    """Ratios: a line a collective, a column each of the sizes in these places."""
    table = Table(title=title, title_justify="left")
    table.add_column("collective", no_wrap=True)
    for place in columns:
        heading = size_text(sizes[place]) if sizes else ""  # a barrier has no size
        table.add_column(heading, justify="right", no_wrap=True)
    for name, line in lines:
        of_line = [line[place] for place in columns]
        table.add_row(name, *["" if row is None else _text(row) for row in of_line])
    return table


def print_page(parts: Sequence[Part], metric: str, console: Console) -> None:
    """The ratios to native, a table for each number of ranks and arrival pattern, and the sum."""
    for contender in contenders_of(parts):
        for title, sizes, lines in tables_of(parts, contender):
            print_in_parts(console, partial(_table, title, sizes, lines), range(len(sizes) or 1))
        for line in closing_lines(parts, contender, metric):
            console.print(line, highlight=False, soft_wrap=True)
