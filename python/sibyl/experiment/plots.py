"""How plots look: Matplotlib without a display, colours and markers, units along an axis."""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from sibyl.errors import CommandError

# Distinguishable without colour vision (Okabe and Ito), then by marker and by line.
COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
BOUND_COLOUR = "#888888"
PANELS_MOST = 12

Cell = TypeVar("Cell")


def plot_library(option: str = "--plot") -> Any:
    """Matplotlib, without a display.

    Args:
        option: that asks for it.
    """
    try:
        import matplotlib
    except ImportError as error:
        raise CommandError(
            f"{option} needs matplotlib; install it with: pip install matplotlib"
        ) from error
    matplotlib.use("Agg")
    import matplotlib.pyplot

    return matplotlib.pyplot


def check_plot(path: Path) -> None:
    """Notice before a long run that there is no Matplotlib, or no such format."""
    if path.suffix not in (".png", ".svg", ".pdf"):
        raise CommandError(f"--plot {path}: name a file that ends in .png, .svg or .pdf")
    plot_library()


def time_scale(seconds: float) -> tuple[float, str]:
    """Factor and unit in which a time of this order is best read."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "\N{MICRO SIGN}s")):
        if seconds * factor >= 1:
            return factor, unit
    return 1e9, "ns"


@dataclass(frozen=True)
class Curve:
    """A contender's medians along an axis, with what lies below and above them as error bars."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    below: Sequence[float]
    above: Sequence[float]
    dashed: bool = False


@dataclass(frozen=True)
class Axis(Generic[Cell]):
    """What runs along the axis of a panel: a parameter of cells, and its values in words."""

    label: str
    value: Callable[[Cell], float]
    text: Callable[[float], str]
    logarithmic: bool

    def spots(self, values: Sequence[float]) -> dict[float, float]:
        """Where each value stands.

        Delays of the papers' grid (0, 1, 5, ... 500 ms) fit no scale: equal steps, as in its
        figures.
        """
        points = sorted(set(values))
        return {value: value if self.logarithmic else float(i) for i, value in enumerate(points)}


def curve_of(
    name: str,
    x: Sequence[float],
    times: Sequence[float],
    quarters: Sequence[tuple[float, float]],
    factor: float,
    dashed: bool = False,
) -> Curve:
    """A contender's times, with their quartiles, in the unit of `factor`."""
    spans = list(zip(times, quarters, strict=True))
    return Curve(
        name,
        x,
        [time * factor for time in times],
        [(time - low) * factor for time, (low, _) in spans],
        [(high - time) * factor for time, (_, high) in spans],
        dashed,
    )


def panel_grid(panels: int, height: float) -> tuple[Any, list[Any]]:
    """A figure with so many panels, three in a row, and their axes.

    Args:
        panels: how many.
        height: of each, in inches.
    """
    columns = min(panels, 3)
    lines = -(-panels // columns)
    figure, axes = plot_library().subplots(
        lines, columns, figsize=(max(4.6 * columns, 6.4), height * lines), squeeze=False
    )
    for place in list(axes.flat)[panels:]:
        place.set_visible(False)
    return figure, list(axes.flat)[:panels]


def draw_curves(place: Any, curves: Sequence[Curve]) -> None:
    """Draw each contender in its colour and with its marker."""
    for number, curve in enumerate(curves):
        place.errorbar(
            curve.x,
            curve.y,
            yerr=[curve.below, curve.above],
            label=curve.name,
            color=COLOURS[number % len(COLOURS)],
            marker=MARKERS[number % len(MARKERS)],
            markersize=4.5,
            linewidth=1.3,
            capsize=2.5,
            linestyle="--" if curve.dashed else "-",
        )


def draw_bound(place: Any, x: Sequence[float], y: Sequence[float]) -> None:
    """Draw what no algorithm can beat."""
    place.plot(x, y, label="lower bound", color=BOUND_COLOUR, linewidth=2, linestyle=":")


def finish_panel(
    place: Any, ticks: Mapping[float, str], logarithmic: bool, times: Sequence[float]
) -> None:
    """Ticks, scales and grid of a panel of times.

    Args:
        place: the panel's axes.
        ticks: along the axis, with their texts.
        logarithmic: whether the axis is.
        times: that are shown; far apart they take a logarithmic scale as well.
    """
    if logarithmic:
        place.set_xscale("log", base=2)
    place.set_xticks(list(ticks), list(ticks.values()), fontsize=8)
    place.minorticks_off()
    spans = [time for time in times if time > 0]
    if spans and max(spans) > 30 * min(spans):
        place.set_yscale("log")
    else:
        place.set_ylim(bottom=0)
    place.grid(axis="y", color="#dddddd", linewidth=0.6)
    place.spines[["top", "right"]].set_visible(False)


def finish_figure(figure: Any, heading: str) -> None:
    """The heading above all panels, and one legend of them all below."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.suptitle(heading, fontsize=11, parse_math=False)  # a file's name may have dollars
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


def figure_bytes(figure: Any, path: Path) -> bytes:
    """The figure in the format that the path's suffix says, PNG if none; closes it."""
    out = io.BytesIO()
    figure.savefig(out, format=path.suffix[1:] or "png", dpi=150, bbox_inches="tight")
    plot_library().close(figure)
    return out.getvalue()
