"""`sibyl bench clairvoyant-schedule`: what the generators of Clairvoyant schedules cost.

Prints what clairvoyant_times measures beside table 1 of the paper, and draws its figures 7 and 8.
"""

import csv as csv_module
import io
import math
import random
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy
from rich.console import Console
from rich.table import Table

from sibyl.bench.clairvoyant_times import (
    CASES,
    GENERATORS,
    LARGER,
    PAPER,
    Cell,
    measure,
    one_rank_over_all,
    peak_bits_per_cell,
    published,
    ratio,
    seconds_to_write,
    share_kept,
)
from sibyl.errors import CommandError
from sibyl.experiment.plots import figure_bytes, plot_library
from sibyl.files import console_beside, write_result
from sibyl.tables import print_in_parts
from sibyl.terminal import Terminal


def print_repairs(size: int, instances: int, seed: int, out: Console) -> None:
    """What one rank's events take, and what a changed pattern leaves of a schedule."""
    draw = random.Random(f"{seed} repairs")
    table = Table(title=f"fast, {size} x {size}, medians of {instances}")
    table.add_column("what")
    table.add_column("share", justify="right")
    for case in CASES:
        share = one_rank_over_all(case, instances, size, size, draw)
        table.add_row(f"time for one rank's events over that for all, {case}", f"{share:.2f}")
    for changes in (1, 2, 4):
        share = share_kept(changes, instances, size, size, draw)
        table.add_row(
            f"events before the first change, {changes} arrivals drawn anew", f"{share:.1%}"
        )
    out.print(table)


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.3g}"


def print_tables(cells: list[Cell], out: Console) -> None:
    """Medians with quartiles, ratios to the segment tree beside the published ones, the bound."""
    for case in CASES:
        of_case = [cell for cell in cells if cell.case == case]
        rows: dict[tuple[int, int], dict[str, Cell]] = {}
        for cell in of_case:
            rows.setdefault((cell.ranks, cell.segments), {})[cell.generator] = cell
        print_in_parts(out, partial(_times_table, case, rows), GENERATORS)
        out.print(_ratios_table(case, rows))


def _times_table(
    case: str, rows: dict[tuple[int, int], dict[str, Cell]], generators: Sequence[str]
) -> Table:
    table = Table(title=f"{case}: processor time in ms, median (quartiles) instances")
    for head in ("P x N", *generators, "write"):
        table.add_column(head, justify="right")
    for (ranks, segments), row in rows.items():
        words = [_times_text(row[name]) if name in row else "" for name in generators]
        bound = _milliseconds(seconds_to_write(next(iter(row.values())).events))
        table.add_row(f"{ranks} x {segments}", *words, bound)
    return table


def _times_text(cell: Cell) -> str:
    low, high = (_milliseconds(quartile) for quartile in cell.quartiles())
    return f"{_milliseconds(cell.median)} ({low}-{high}) {len(cell.samples)}"


def _ratios_table(case: str, rows: dict[tuple[int, int], dict[str, Cell]]) -> Table:
    table = Table(title=f"{case}: time over that of segment-tree (published)")
    for head in ("P x N", "linear", "pairing-heap", "segment-tree / fast"):
        table.add_column(head, justify="right")
    theirs = published()
    for (ranks, segments), row in rows.items():
        tree = row.get("segment-tree")
        if tree is None:
            continue
        words = []
        for name in ("linear", "pairing-heap"):
            text = f"{ratio(row[name], tree):.2f}" if name in row else ""
            known = theirs.get((case, ranks, name)) if ranks == segments else None
            words.append(text if known is None else f"{text} ({known:g})")
        words.append(f"{ratio(tree, row['fast']):.2f}" if "fast" in row else "")
        table.add_row(f"{ranks} x {segments}", *words)
    return table


def print_memory(places: list[tuple[int, int]], out: Console) -> None:
    """What generating adds to a process, where the system tells it."""
    table = Table(title="peak memory, bits per (process, segment), events not kept")
    table.add_column("P x N", justify="right")
    for name in GENERATORS:
        table.add_column(name, justify="right")
    for ranks, segments in places if sys.platform == "linux" else []:
        words = []
        for name in GENERATORS:
            affordable = ranks <= 512 or name in ("segment-tree", "fast")
            bits = peak_bits_per_cell(name, ranks, segments) if affordable else None
            words.append("" if bits is None else f"{bits:.1f}")
        table.add_row(f"{ranks} x {segments}", *words)
    out.print(table)


def as_csv(cells: list[Cell]) -> str:
    """All samples as a table: one line each."""
    text = io.StringIO()
    writer = csv_module.writer(text, lineterminator="\n")
    writer.writerow(["case", "ranks", "segments", "generator", "instance", "seconds"])
    for cell in cells:
        for number, seconds in enumerate(cell.samples):
            writer.writerow(
                [cell.case, cell.ranks, cell.segments, cell.generator, number, f"{seconds:.9f}"]
            )
    return text.getvalue()


def draw(cells: list[Cell], path: Path) -> None:
    """Figures 7 and 8: time over size in log scale, quartiles as bars, the bound as a line."""
    figure, panels = plot_library().subplots(
        1, 2, figsize=(11, 4.6), layout="constrained", sharey=True
    )
    for axes, case in zip(panels, CASES, strict=True):
        _draw_case(axes, case, [c for c in cells if c.case == case and c.ranks == c.segments])
    panels[0].set_ylabel("time to generate (ms)")
    panels[0].legend()
    write_result(path, figure_bytes(figure, path))


def _draw_case(axes: Any, case: str, square: list[Cell]) -> None:
    for name in GENERATORS:
        line = [c for c in square if c.generator == name]
        if line:
            _draw_generator(axes, line)
    bound = {c.ranks: 1e3 * seconds_to_write(c.events) for c in square}
    axes.plot(
        list(bound), list(bound.values()), color="grey", linestyle="--", label="writing the events"
    )
    axes.set(xscale="log", yscale="log", xlabel="processes = segments", title=f"{case} arrivals")
    axes.set_xticks(list(bound), [str(ranks) for ranks in bound])
    axes.minorticks_off()
    axes.grid(True, alpha=0.3)


def _draw_generator(axes: Any, line: list[Cell]) -> None:
    middle = numpy.array([1e3 * c.median for c in line])
    low, high = 1e3 * numpy.array([c.quartiles() for c in line]).T
    axes.errorbar(
        [c.ranks for c in line],
        middle,
        yerr=[numpy.maximum(0, middle - low), numpy.maximum(0, high - middle)],
        marker="o",
        markersize=4,
        capsize=3,
        label=line[0].generator,
    )


def clairvoyant_schedule(
    instances: int = 250,
    budget: float = 10.0,
    seed: int = 1,
    quick: bool = False,
    csv: Path | None = None,
    plot: Path | None = None,
) -> int:
    """Measure the generators; see `sibyl bench clairvoyant-schedule --help`.

    Args:
        instances: random instances per size and case.
        budget: seconds after which a generator gets no further instance of a size.
        seed: of the instances.
        quick: only the sizes up to 128.
        csv: where to write all samples.
        plot: where to draw the figure.

    Returns:
        The exit code.
    """
    if instances < 1:
        raise CommandError(f"--iterations {instances}: measure at least 1 instance")
    if not (budget > 0 and math.isfinite(budget)):
        raise CommandError("the time per size must be positive")
    sizes = [size for size in PAPER if size[0] <= 128] if quick else PAPER + LARGER
    log = Terminal(stderr=True, quiet=not sys.stderr.isatty())
    cells = measure(sizes, GENERATORS, instances, budget, seed, log)
    if csv is not None:
        write_result(csv, as_csv(cells))
    if plot is not None:
        draw(cells, plot)
    out = console_beside(csv)
    print_tables(cells, out)
    print_repairs(128 if quick else 512, min(25, instances), seed, out)
    print_memory([(512, 512)] if quick else [(512, 512), (2048, 2048), (4096, 4096)], out)
    return 0
