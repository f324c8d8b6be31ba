"""Plots in the manner of the papers' figures: run time over maximum delay, size, block or ranks.

Medians with quartiles as error bars, the lower bound as a line; one panel for each combination of
the parameters that do not run along the axis. And a plot of the distributions, since a median says
nothing about tails.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sibyl.errors import CommandError
from sibyl.experiment.grid import IRREGULAR, Cell, Grid
from sibyl.experiment.judge import Row
from sibyl.experiment.plots import (
    COLOURS,
    PANELS_MOST,
    Axis,
    Curve,
    curve_of,
    draw_bound,
    figure_bytes,
    finish_figure,
    finish_panel,
    panel_grid,
    time_scale,
)
from sibyl.experiment.plots import draw_curves as draw_all
from sibyl.experiment.units import size_text, time_text

AXES: tuple[Axis[Cell], ...] = (
    Axis("maximum delay", lambda c: c.max_delay, time_text, False),
    Axis("size", lambda c: float(c.size), size_text, True),
    Axis("average block [elements]", lambda c: float(c.block), lambda b: f"b = {b:.0f}", True),
    Axis("ranks", lambda c: float(c.ranks), lambda n: f"{n:.0f}", False),
)


def choose_axis(cells: Iterable[Cell]) -> int | None:
    """The first axis along which the cells differ; None where there is one cell only."""
    cells = list(cells)
    for number, axis in enumerate(AXES):
        if len({axis.value(cell) for cell in cells}) > 1:
            return number
    return None


def _panel_key(cell: Cell, axis: int) -> tuple[object, ...]:
    # A flat pattern is the left end of every pattern's curve, not a panel of its own.
    pattern = "uniform" if cell.pattern == "flat" and axis == 0 else cell.pattern
    values = (pattern, cell.counts, *(other.value(cell) for other in AXES))
    return values[: 2 + axis] + values[3 + axis :]


def _panel_title(grid: Grid, cell: Cell, axis: int, panels: Sequence[Cell]) -> str:
    words = []
    if len({panel.pattern for panel in panels}) > 1:
        words.append(cell.pattern)
    if grid.collective in IRREGULAR and len({panel.counts for panel in panels}) > 1:
        words.append(f"{cell.counts} counts")
    for number, other in enumerate(AXES):
        if number != axis and len({other.value(panel) for panel in panels}) > 1:
            text = other.text(other.value(cell))
            words.append(f"{text} ranks" if other.label == "ranks" else text)
    return ", ".join(words)


def _heading(grid: Grid, rows: Sequence[Row], axis: int | None) -> str:
    """What all panels have in common, and where they come from."""
    job = rows[0].result.job
    cells = [row.result.cell for row in rows]
    common = [grid.collective.capitalize()]
    for number, other in enumerate(AXES):
        values = {other.value(cell) for cell in cells}
        # What is 0 is not there: no delay, a barrier's size, that of cells which have a block.
        if number != axis and len(values) == 1 and max(values) > 0:
            text = other.text(values.pop())
            suffix = {"ranks": " ranks", "maximum delay": " delay"}.get(other.label, "")
            if other.label == "size":
                suffix = f" {grid.amount}"
            common.append(text + suffix)
    patterns = {cell.pattern for cell in cells}
    if len(patterns) == 1:
        common.append(f"{patterns.pop()} arrivals")
    where = job["mpi"]
    if "rate" in job:
        where += f", links of {job['rate']}"
    return ", ".join(common) + "\n" + where


def check_panels(cells: Sequence[Cell]) -> None:
    """Notice before a long run that a plot would have too many panels."""
    axis = choose_axis(cells) or 0
    panels = {_panel_key(cell, axis) for cell in cells}
    if len(panels) > PANELS_MOST:
        raise CommandError(f"--plot: {len(panels)} panels; measure fewer combinations for a plot")


def draw_curves(grid: Grid, rows: Sequence[Row], path: Path, metric: str) -> bytes:
    """The judged time along the axis that varies; of one cell a point each, at its delay."""
    cells = [row.result.cell for row in rows]
    check_panels(cells)
    varying = choose_axis(cells)
    axis = varying or 0
    panels: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        panels.setdefault(_panel_key(row.result.cell, axis), []).append(row)
    figure, axes = panel_grid(len(panels), 3.6)
    firsts = [block[-1].result.cell for block in panels.values()]
    for place, block in zip(axes, panels.values(), strict=True):
        _draw_panel(place, grid, block, AXES[axis], metric)
        title = _panel_title(grid, block[-1].result.cell, axis, firsts)
        place.set_title(title, fontsize=10, parse_math=False)  # a file's name may have dollars
    finish_figure(figure, _heading(grid, rows, varying))
    return figure_bytes(figure, path)


def _draw_panel(
    place: Any, grid: Grid, rows: Sequence[Row], along: Axis[Cell], metric: str
) -> None:
    factor, unit = time_scale(max(row.quarters[1] for row in rows))
    spot = along.spots([along.value(row.result.cell) for row in rows])
    in_order = sorted(rows, key=lambda row: along.value(row.result.cell))
    by_name = {name: [row for row in in_order if row.algorithm == name] for name in grid.algorithms}
    draw_all(place, _curves(by_name, along, spot, factor))
    if metric != "elapsed":
        base = by_name[grid.algorithms[0]]
        draw_bound(place, _places(base, along, spot), _bounds(base, metric, factor))
    ticks = {where: along.text(value) for value, where in spot.items()}
    finish_panel(place, ticks, along.logarithmic, [row.time for row in rows])
    place.set_xlabel(along.label)
    place.set_ylabel(f"{metric} time [{unit}]")


def _places(rows: Sequence[Row], along: Axis[Cell], spot: Mapping[float, float]) -> list[float]:
    return [spot[along.value(row.result.cell)] for row in rows]


def _bounds(rows: Sequence[Row], metric: str, factor: float) -> list[float]:
    """The lower bound of the run time, or of what of it comes after the last arrival."""
    if metric == "absorbed":
        return [(row.bound - row.spread) * factor for row in rows]
    return [row.bound * factor for row in rows]


def _curves(
    by_name: Mapping[str, Sequence[Row]],
    along: Axis[Cell],
    spot: Mapping[float, float],
    factor: float,
) -> list[Curve]:
    """The contenders' times, the reference's first, as a dashed line."""
    curves = []
    for number, (name, own) in enumerate(by_name.items()):
        # Side by side, or error bars hide each other.
        aside = number - (len(by_name) - 1) / 2
        x = _moved(_places(own, along, spot), aside, along, len(spot))
        times, quarters = [row.time for row in own], [row.quarters for row in own]
        curves.append(curve_of(name, x, times, quarters, factor, number == 0))
    return curves


def _moved(x: Sequence[float], aside: float, along: Axis[Cell], points: int) -> list[float]:
    if along.logarithmic:
        return [v * 2 ** (0.02 * aside) for v in x]
    return [v + aside * 0.012 * (points - 1 or 1) for v in x]


def draw_distributions(grid: Grid, rows: Sequence[Row], path: Path, metric: str) -> bytes:
    """One panel per cell: every sample as a dot, with median and quartiles."""
    blocks: dict[int, list[Row]] = {}
    for row in rows:
        blocks.setdefault(id(row.result), []).append(row)
    shown = list(blocks.values())[:PANELS_MOST]
    figure, axes = panel_grid(len(shown), 0.9 + 0.34 * len(grid.algorithms))
    firsts = [block[0].result.cell for block in shown]
    for number, (place, block) in enumerate(zip(axes, shown, strict=True)):
        _draw_samples(place, block, metric)
        place.set_title(_cell_title(block[0].result.cell, firsts), fontsize=9, parse_math=False)
        if number % min(len(shown), 3):
            place.set_yticklabels([])
    heading = _heading(grid, rows, choose_axis(row.result.cell for row in rows))
    if len(blocks) > len(shown):
        heading += f"\nthe first {len(shown)} of {len(blocks)} cells"
    figure.suptitle(heading, fontsize=11, parse_math=False)
    figure.tight_layout()
    return figure_bytes(figure, path)


def _cell_title(cell: Cell, cells: Sequence[Cell]) -> str:
    """In what this cell differs from the others."""
    words = []
    for axis in AXES:
        if len({axis.value(one) for one in cells}) > 1:
            text = axis.text(axis.value(cell))
            words.append(text + {"ranks": " ranks", "maximum delay": " delay"}.get(axis.label, ""))
    if len({one.pattern for one in cells}) > 1:
        words.append(cell.pattern)
    if len({one.counts for one in cells}) > 1:
        words.append(f"{cell.counts} counts")
    return ", ".join(words)


def _draw_samples(place: Any, block: Sequence[Row], metric: str) -> None:
    factor, unit = time_scale(max(row.quarters[1] for row in block))
    for number, row in enumerate(block):
        times = [t * factor for t in row.result.samples[row.algorithm][f"{metric}_s"]]
        # Spread by the order of the iterations, so that a drift shows as a slope.
        y = [number - 0.28 + 0.56 * i / max(len(times) - 1, 1) for i in range(len(times))]
        colour = COLOURS[number % len(COLOURS)]
        place.plot(times, y, ".", color=colour, markersize=3, alpha=0.55, zorder=2)
        low, high = (quarter * factor for quarter in row.quarters)
        place.plot(
            [low, high],
            [number, number],
            color=colour,
            linewidth=3,
            zorder=3,
            solid_capstyle="butt",
            alpha=0.8,
        )
        place.plot(
            [row.time * factor],
            [number],
            marker="|",
            color=colour,
            markersize=13,
            markeredgewidth=2,
            zorder=4,
        )
    place.set_yticks(range(len(block)), [row.algorithm for row in block], fontsize=8)
    place.set_ylim(len(block) - 0.45, -0.55)
    place.set_xlabel(f"{metric} time [{unit}]", fontsize=9)
    place.tick_params(axis="x", labelsize=8)
    place.grid(axis="x", color="#dddddd", linewidth=0.6)
    place.spines[["top", "right"]].set_visible(False)
