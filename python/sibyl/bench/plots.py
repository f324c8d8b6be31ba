"""Plots in the manner of the papers' figures: run time over maximum delay, size or ranks.

Medians with quartiles as error bars, the lower bound as a line; one panel for each combination of
the parameters that do not run along the axis. And a plot of the distributions, since a median says
nothing about tails.
"""

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sibyl.bench.grid import IRREGULAR, SCANS, Cell, Grid
from sibyl.bench.judge import Row
from sibyl.bench.units import size_text, time_text
from sibyl.errors import CommandError

# Distinguishable without colour vision (Okabe and Ito), then by marker and by line.
COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
BOUND_COLOUR = "#888888"
PANELS_MOST = 12


@dataclass(frozen=True)
class _Axis:
    label: str
    value: Callable[[Cell], float]
    text: Callable[[float], str]
    logarithmic: bool


AXES = (
    _Axis("maximum delay", lambda c: c.max_delay, time_text, False),
    _Axis("size", lambda c: float(c.size), size_text, True),
    _Axis("ranks", lambda c: float(c.ranks), lambda n: f"{n:.0f}", False),
)


def _library() -> Any:
    """Matplotlib, without a display."""
    try:
        import matplotlib
    except ImportError as error:
        raise CommandError(
            "--plot needs matplotlib; install it with: pip install matplotlib"
        ) from error
    matplotlib.use("Agg")
    import matplotlib.pyplot

    return matplotlib.pyplot


def check_plot(path: Path) -> None:
    """Notice before a long run that there is no Matplotlib, or no such format."""
    if path.suffix not in (".png", ".svg", ".pdf"):
        raise CommandError(f"--plot {path}: name a file that ends in .png, .svg or .pdf")
    _library()


def choose_axis(cells: Iterable[Cell]) -> int | None:
    """The first axis along which the cells differ; None where there is one cell only."""
    cells = list(cells)
    for number, axis in enumerate(AXES):
        if len({axis.value(cell) for cell in cells}) > 1:
            return number
    return None


def _scale(seconds: float) -> tuple[float, str]:
    """Factor and unit in which a time of this order is best read."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "\N{MICRO SIGN}s")):
        if seconds * factor >= 1:
            return factor, unit
    return 1e9, "ns"


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
        if number != axis and len(values) == 1 and (number != 0 or max(values) > 0):
            text = other.text(values.pop())
            suffix = {"ranks": " ranks", "maximum delay": " delay"}.get(other.label, "")
            if other.label == "size":
                suffix = " a rank" if grid.collective in (*SCANS, "reduce") else " in all"
            common.append(text + suffix)
    patterns = {cell.pattern for cell in cells}
    if len(patterns) == 1:
        common.append(f"{patterns.pop()} arrivals")
    where = job["mpi"]
    if "rate" in job:
        where += f", links of {job['rate']}"
    return ", ".join(common) + "\n" + where


def _figure_bytes(figure: Any, path: Path) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format=path.suffix[1:], dpi=150, bbox_inches="tight")
    return out.getvalue()


def draw_curves(grid: Grid, rows: Sequence[Row], path: Path, metric: str) -> bytes | None:
    """The judged time along the axis that varies; None where nothing does."""
    axis = choose_axis(row.result.cell for row in rows)
    if axis is None:
        return None
    plt = _library()
    panels: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        panels.setdefault(_panel_key(row.result.cell, axis), []).append(row)
    if len(panels) > PANELS_MOST:
        raise CommandError(f"--plot: {len(panels)} panels; measure fewer combinations for a plot")
    columns = min(len(panels), 3)
    lines = -(-len(panels) // columns)
    figure, axes = plt.subplots(
        lines, columns, figsize=(max(4.6 * columns, 6.4), 3.6 * lines), squeeze=False
    )
    firsts = [block[-1].result.cell for block in panels.values()]
    for place, block in zip(axes.flat, panels.values(), strict=False):
        _draw_panel(place, grid, block, axis, metric)
        place.set_title(_panel_title(grid, block[-1].result.cell, axis, firsts), fontsize=10)
    for place in list(axes.flat)[len(panels) :]:
        place.set_visible(False)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.suptitle(_heading(grid, rows, axis), fontsize=11)
    figure.tight_layout()
    figure.legend(
        handles,
        labels,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncol=4,
        frameon=False,
        fontsize=9,
    )
    data = _figure_bytes(figure, path)
    plt.close(figure)
    return data


def _draw_panel(place: Any, grid: Grid, rows: Sequence[Row], axis: int, metric: str) -> None:
    along = AXES[axis]
    factor, unit = _scale(max(row.quarters[1] for row in rows))
    values = sorted({along.value(row.result.cell) for row in rows})
    # Delays of the papers' grid (0, 1, 5, ... 500 ms) fit no scale: equal steps, as in its figures.
    spot = {value: i if not along.logarithmic else value for i, value in enumerate(values)}
    shift = 0.012 * (len(values) - 1 or 1)
    names = grid.algorithms
    for number, name in enumerate(names):
        own = sorted(
            (r for r in rows if r.algorithm == name), key=lambda r: along.value(r.result.cell)
        )
        off = (number - (len(names) - 1) / 2) * shift
        x = [spot[along.value(r.result.cell)] for r in own]
        x = [v * 2 ** (0.02 * off / shift) if along.logarithmic else v + off for v in x]
        y = [r.time * factor for r in own]
        low = [(r.time - r.quarters[0]) * factor for r in own]
        high = [(r.quarters[1] - r.time) * factor for r in own]
        place.errorbar(
            x,
            y,
            yerr=[low, high],
            label=name,
            color=COLOURS[number % len(COLOURS)],
            marker=MARKERS[number % len(MARKERS)],
            markersize=4.5,
            linewidth=1.3,
            capsize=2.5,
            linestyle="--" if number == 0 else "-",
        )
    if metric != "elapsed":
        base = sorted(
            (r for r in rows if r.algorithm == names[0]), key=lambda r: along.value(r.result.cell)
        )
        off = [r.spread if metric == "absorbed" else 0.0 for r in base]
        place.plot(
            [spot[along.value(r.result.cell)] for r in base],
            [(r.bound - o) * factor for r, o in zip(base, off, strict=True)],
            label="lower bound",
            color=BOUND_COLOUR,
            linewidth=2,
            linestyle=":",
        )
    if along.logarithmic:
        place.set_xscale("log", base=2)
    place.set_xticks(list(spot.values()), [along.text(value) for value in values], fontsize=8)
    place.minorticks_off()
    place.set_xlabel(along.label)
    place.set_ylabel(f"{metric} time [{unit}]")
    spans = [row.time for row in rows if row.time > 0]
    if spans and max(spans) > 30 * min(spans):
        place.set_yscale("log")
    else:
        place.set_ylim(bottom=0)
    place.grid(axis="y", color="#dddddd", linewidth=0.6)
    place.spines[["top", "right"]].set_visible(False)


def draw_distributions(grid: Grid, rows: Sequence[Row], path: Path, metric: str) -> bytes:
    """One panel per cell: every sample as a dot, with median and quartiles."""
    plt = _library()
    blocks: dict[int, list[Row]] = {}
    for row in rows:
        blocks.setdefault(id(row.result), []).append(row)
    shown = list(blocks.values())[:PANELS_MOST]
    columns = min(len(shown), 3)
    lines = -(-len(shown) // columns)
    height = 0.9 + 0.34 * len(grid.algorithms)
    figure, axes = plt.subplots(
        lines, columns, figsize=(max(4.6 * columns, 6.4), height * lines), squeeze=False
    )
    firsts = [block[0].result.cell for block in shown]
    for number, (place, block) in enumerate(zip(axes.flat, shown, strict=False)):
        _draw_samples(place, block, metric)
        words = []
        cell = block[0].result.cell
        for axis in AXES:
            if len({axis.value(c) for c in firsts}) > 1:
                text = axis.text(axis.value(cell))
                words.append(
                    text + {"ranks": " ranks", "maximum delay": " delay"}.get(axis.label, "")
                )
        if len({c.pattern for c in firsts}) > 1:
            words.append(cell.pattern)
        if len({c.counts for c in firsts}) > 1:
            words.append(f"{cell.counts} counts")
        place.set_title(", ".join(words), fontsize=9)
        if number % columns:
            place.set_yticklabels([])
    for place in list(axes.flat)[len(shown) :]:
        place.set_visible(False)
    heading = _heading(grid, rows, choose_axis(row.result.cell for row in rows))
    if len(blocks) > len(shown):
        heading += f"\nthe first {len(shown)} of {len(blocks)} cells"
    figure.suptitle(heading, fontsize=11)
    figure.tight_layout()
    data = _figure_bytes(figure, path)
    plt.close(figure)
    return data


def _draw_samples(place: Any, block: Sequence[Row], metric: str) -> None:
    factor, unit = _scale(max(row.quarters[1] for row in block))
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
