"""Plot predicted and true arrivals, a row per call site: arrivals over calls, and the errors."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sibyl.experiment.plots import (
    COLOURS,
    MARKERS,
    check_plot,
    figure_bytes,
    plot_library,
    time_scale,
)
from sibyl.files import write_result
from sibyl.prediction.replay import Replay

__all__ = ["check_plot", "plot_replays"]

SITES_MOST = 4
RANKS_MOST = 4
CALLS_MOST = 60


def plot_replays(path: Path, replays: Sequence[Replay]) -> None:
    """Draw the sites with the most calls, each with the ranks that are late most.

    Raises:
        CommandError: no Matplotlib, or the file cannot be written.
    """
    pyplot = plot_library()
    shown = replays[:SITES_MOST]
    figure, panels = pyplot.subplots(
        len(shown), 2, figsize=(11, 3.2 * len(shown)), squeeze=False, width_ratios=(2.2, 1)
    )
    for (arrivals, errors), one in zip(panels, shown, strict=True):
        _draw_arrivals(arrivals, one)
        _draw_errors(errors, one)
    figure.tight_layout()
    write_result(path, figure_bytes(figure, path))


def _draw_arrivals(axes: object, one: Replay) -> None:
    factor, unit = time_scale(one.delay or 1e-6)
    best = one.best.predictor
    calls = np.arange(1, min(len(one.times), CALLS_MOST + 1))
    late = np.argsort(-np.median(one.times, axis=0), kind="stable")[:RANKS_MOST]
    for place, rank in enumerate(sorted(late)):
        colour = COLOURS[place % len(COLOURS)]
        axes.plot(
            calls, factor * one.times[calls, rank], color=colour, linewidth=1, label=f"rank {rank}"
        )
        axes.plot(
            calls,
            factor * one.predictions[best][calls, rank],
            color=colour,
            linestyle="none",
            marker=MARKERS[place % len(MARKERS)],
            markersize=4,
            markerfacecolor="none",
        )
    title = f"{one.site}\nlines: true, marks: predicted by {best}"
    axes.set_title(title, fontsize=9, parse_math=False)
    axes.set_xlabel("call")
    axes.set_ylabel(f"behind the first rank [{unit}]")
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)


def _draw_errors(axes: object, one: Replay) -> None:
    factor, unit = time_scale(max(score.p90 for score in one.scores) or 1e-6)
    places = np.arange(len(one.scores))
    medians = [factor * score.median for score in one.scores]
    p90 = [factor * score.p90 for score in one.scores]
    colours = [COLOURS[1] if score is one.best else "#BBBBBB" for score in one.scores]
    axes.barh(places, medians, color=colours, height=0.6)
    axes.plot(p90, places, linestyle="none", marker="|", color=COLOURS[0], markersize=10)
    axes.set_yticks(places, [score.predictor for score in one.scores], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel(f"error [{unit}]: bar median, mark 90 %")
    axes.set_xlim(left=0)
