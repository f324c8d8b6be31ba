"""`sibyl bench grid`: "never slower" wherever programs run, on one page.

The grid has pieces: one host, clusters of 8 and of 48, each MPI, ranks that sleep while they wait
and ranks that spin. A piece is what `sibyl bench all` measures in one place. All of it takes hours,
so it can be run by pieces (--pieces) and for a while (--minutes), and goes on with --resume where
it was; the page shows what there is, judged together, with one correction for all of it.
"""

import csv
import dataclasses
import io
import json
import math
import time
from collections.abc import Sequence
from typing import Any

from sibyl.bench import page
from sibyl.bench.all_collectives import by_grid, make_grids, print_page, to_csv, to_json
from sibyl.bench.options import Outputs, Wishes
from sibyl.bench.parts import Part
from sibyl.bench.session import check_variants
from sibyl.errors import CommandError
from sibyl.experiment.grid import Cell, Grid
from sibyl.experiment.judge import judge
from sibyl.experiment.measured_run import MeasuredRun, Seen, cells_kept_on_failure
from sibyl.experiment.options import numbers_of, words_of
from sibyl.experiment.places import find_launcher
from sibyl.experiment.provenance import provenance
from sibyl.experiment.runner import Interrupted
from sibyl.experiment.samples import CellResult
from sibyl.files import console_beside, write_result
from sibyl.mpi.library import find_benchmark

MPIS = "openmpi,mpich"
SIZES = "8,128,1K,8K,64K,512K,4M"
PATTERNS = "flat,skewed,uniform"
WARM_UP = 50  # calls of a site, from which the governor learns
# By where: the largest delay, and what ranks compute before a call. On one host calls take some
# microseconds.
DELAY = {"local": "2ms", "cluster": "10ms"}
COMPUTE = {"local": "2ms", "cluster": Wishes.compute}
# Where, with how many ranks, and what these do that wait; on one host they always look.
PLACES = (
    ("local", "2,4,8", "sleep"),
    ("cluster", "8", "sleep"),
    ("cluster", "8", "spin"),
    ("cluster", "48", "sleep"),
    ("cluster", "48", "spin"),
)


class TimeIsUp(Exception):
    """--minutes are over."""


@dataclasses.dataclass(frozen=True)
class Piece:
    """What is measured in one place, under one MPI."""

    number: int
    wishes: Wishes

    @property
    def title(self) -> str:
        """In words."""
        wishes = self.wishes
        if wishes.on == "local":
            where = f"one host, {wishes.ranks} ranks that spin"
        else:
            where = f"{wishes.ranks} hosts at {wishes.rate}, ranks that {wishes.waiting}"
        return f"{self.number}: {where}, {wishes.mpi}"


@dataclasses.dataclass
class Measured:
    """A piece with what there is of it.

    Attributes:
        run: None where it cannot even begin; `problem` says why.
    """

    piece: Piece
    grids: Sequence[Grid]
    run: MeasuredRun | None = None
    problem: str = ""

    @property
    def found(self) -> list[list[CellResult]]:
        """What there is of every grid by now."""
        return [[] for _ in self.grids] if self.run is None else self.run.finished()

    def origin(self, command: Sequence[str]) -> dict[str, Any]:
        """Where its numbers come from; empty where there are none."""
        if self.run is None:
            return {}
        launcher = self.run.launcher
        return provenance(find_benchmark(launcher.flavour), launcher, list(command))


def make_pieces(wishes: Wishes) -> list[Piece]:
    """Those that are wished for.

    Raises:
        CommandError: the options describe none.
    """
    own = wishes.given & {"ranks", "on", "waiting", "platform", "ranks_per_node"}
    if own or wishes.ranks is not None or wishes.on != "local" or wishes.waiting != "sleep":
        raise CommandError("bench grid has places of its own; choose among them by --pieces")

    def is_said(name: str) -> bool:
        return name in wishes.given or getattr(wishes, name) != getattr(Wishes, name)

    common = dataclasses.replace(
        wishes,
        size=wishes.size or SIZES,
        pattern=wishes.pattern if is_said("pattern") else PATTERNS,
        warm_up=WARM_UP if wishes.warm_up is None else wishes.warm_up,
    )
    pieces: list[Piece] = []
    for mpi in words_of("--mpi", wishes.mpi or MPIS):
        for on, ranks, waiting in PLACES:
            here = dataclasses.replace(common, on=on, ranks=ranks, waiting=waiting, mpi=mpi)
            if on != "cluster":
                here = dataclasses.replace(here, queue=None)
            if not is_said("max_delay"):
                here = dataclasses.replace(here, max_delay=DELAY[on])
            if not is_said("compute"):
                here = dataclasses.replace(here, compute=COMPUTE[on])
            pieces.append(Piece(len(pieces) + 1, here))
    if wishes.pieces is None:
        return pieces
    chosen = numbers_of("--pieces", wishes.pieces, len(pieces))
    return [piece for piece in pieces if piece.number in chosen]


def run_grid(wishes: Wishes, outputs: Outputs, command: Sequence[str]) -> int:
    """Measure what is missing, as far as there is time, judge all of it, and tell.

    Returns:
        0; 1 where a piece could not be measured; 3 when a result was wrong; 128 plus the number of
        a signal that ended the run.
    """
    if outputs.plot is not None or outputs.format != "table":
        raise CommandError("bench grid prints pages, --page, --csv or --json; no --plot")
    if wishes.minutes is not None and not 0 < wishes.minutes < math.inf:
        raise CommandError(f"--minutes {wishes.minutes:g}: say how many, more than 0")
    outputs.check(wishes)
    end = None if wishes.minutes is None else time.monotonic() + 60 * wishes.minutes
    measured = [_set_up(piece, outputs.resume) for piece in make_pieces(wishes)]
    if all(one.run is None for one in measured):
        raise CommandError(measured[0].problem)
    status = _measure(measured, end)
    metric = outputs.metric or "absorbed"
    runs = [one.run for one in measured if one.run is not None]
    with cells_kept_on_failure(runs):
        _tell(measured, metric, outputs, command)
    whole = all(one.run is not None and _kept(one)[0] == _kept(one)[1] for one in measured)
    if whole and wishes.pieces is None:  # else what is measured is one part of the page to come
        for run in runs:
            run.forget()
    wrong = any(each.wrong for run in runs for of in run.done for each in of)
    return status or (3 if wrong else 0)


def _set_up(piece: Piece, resume: bool) -> Measured:
    one = Measured(piece, [])
    try:
        launcher = find_launcher(piece.wishes.on, piece.wishes.mpi)
    except CommandError as error:
        one.problem = str(error)
        return one
    one.grids = make_grids(piece.wishes)
    try:
        for grid in one.grids:
            check_variants(grid, launcher)
        one.run = MeasuredRun(one.grids, launcher, resume)
    except CommandError as error:
        one.problem = str(error)
    return one


def _measure(measured: Sequence[Measured], end: float | None) -> int:
    """Piece by piece; the exit status. One that cannot be measured does not keep the others."""
    status = 1 if any(one.problem for one in measured) else 0
    for one in measured:
        if one.run is None:
            continue
        if end is not None and time.monotonic() >= end:
            break
        try:
            with one.run.bar(one.piece.title) as seen:
                one.run.measure(_until(seen, end))
        except TimeIsUp:
            break
        except Interrupted as signal:
            return one.run.interrupted(signal)
        except CommandError as error:
            one.problem = str(error)
            status = 1
    return status


def _until(seen: Seen, end: float | None) -> Seen:
    def see(grid: Grid, cell: Cell) -> None:
        if end is not None and time.monotonic() >= end:
            raise TimeIsUp
        seen(grid, cell)

    return see


def _kept(one: Measured) -> tuple[int, int]:
    return sum(map(len, one.found)), sum(len(grid.cells) for grid in one.grids)


def _tell(
    measured: Sequence[Measured], metric: str, outputs: Outputs, command: Sequence[str]
) -> None:
    found = [one.found for one in measured]
    for one, results in zip(measured, found, strict=True):
        if one.run is not None:
            one.run.done = results
    every = [result for pieces in found for results in pieces for result in results]
    rows = judge(every, "native", metric, crowded=True)
    origins = [one.origin(command) for one in measured]
    sections = [
        page.Section(one.piece.title, by_grid(one.grids, of, rows), _kept(one), one.problem)
        for one, of in zip(measured, found, strict=True)
    ]
    if outputs.page is not None:
        write_result(outputs.page, page.to_html(sections, metric, next(filter(None, origins))))
    if outputs.json is not None:
        write_result(outputs.json, _to_json(sections, origins))
    if outputs.csv is not None:
        write_result(outputs.csv, _to_csv(sections))
    console = console_beside(*outputs.files().values())
    for each in sections:
        console.rule(each.title, align="left")
        if each.problem:
            console.print(each.problem, style="bold red", highlight=False)
        if each.kept is not None and each.kept[0] < each.kept[1]:
            console.print(f"{each.kept[0]} of {each.kept[1]} cells; go on with --resume")
        if _begun(each):
            print_page(each.parts, metric, console)


def _begun(section: page.Section) -> list[Part]:
    return [part for part in section.parts if part.results]


def _to_csv(sections: Sequence[page.Section]) -> str:
    """As of bench all, with the piece at the end of each line."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for number, each in enumerate(section for section in sections if section.parts):
        heading, *lines = csv.reader(io.StringIO(to_csv(each.parts)))
        if number == 0:
            writer.writerow([*heading, "piece"])
        writer.writerows([*line, each.title] for line in lines)
    return out.getvalue()


def _to_json(sections: Sequence[page.Section], origins: Sequence[dict[str, Any]]) -> str:
    document = {
        "format": "sibyl-bench-grid",
        "version": 1,
        "pieces": [
            {
                "title": each.title,
                "problem": each.problem or None,
                **json.loads(to_json(_begun(each), origin)),
            }
            for each, origin in zip(sections, origins, strict=True)
        ],
    }
    return json.dumps(document, indent=1) + "\n"
