"""Measured times along what a figure varies, with quartiles, and their picture."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sibyl.experiment.statistics import median, quartiles


@dataclass(frozen=True)
class Quartiles:
    """Of one contender in one cell, in ms: a metric's median and quartiles."""

    middle: float
    low: float
    high: float


# By point, contender and metric.
Found = dict[int, dict[str, dict[str, Quartiles]]]


def quartiles_of(samples: Sequence[float]) -> Quartiles:
    """Of samples in seconds."""
    in_ms = [1e3 * value for value in samples]
    return Quartiles(median(in_ms), *quartiles(in_ms))


def draw_both(
    varies: str,
    names: Sequence[str],
    found: Found,
    factor: float,
    published: Mapping[tuple[int, str], float],
) -> Callable[[Any], Any]:
    """Run times and elapsed times beside each other, in milliseconds of the paper.

    Args:
        varies: delay, nodes or size.
        names: of the contenders; controls are left out, whom the table has.
        found: times by point and contender.
        factor: how many times longer times are here than in the paper.
        published: run times by point and contender.
    """
    drawn = [name for name in names if ":" not in name]
    label = {"delay": "largest delay [ms of the paper]", "nodes": "nodes", "size": "K floats"}

    def draw(plt: Any) -> Any:
        picture, axes = plt.subplots(1, 2, figsize=(11, 4.4), sharey=False)
        points = list(found)
        even = varies != "nodes"
        places = list(range(len(points))) if even else points
        for place, metric in zip(axes, ("run", "elapsed"), strict=True):
            for number, name in enumerate(drawn):
                times = [found[point][name][metric] for point in points]
                middle = [one.middle / factor for one in times]
                error = [
                    [(one.middle - one.low) / factor for one in times],
                    [(one.high - one.middle) / factor for one in times],
                ]
                own = name not in ("native", "persistent")
                place.errorbar(
                    places, middle, error, fmt="o-" if own else "s--", color=f"C{number}",
                    label=name, markersize=4, capsize=2, linewidth=1.2,
                )  # fmt: skip
            if metric == "run":
                for (point, name), value in published.items():
                    number = drawn.index(name)
                    place.plot(places[points.index(point)], value, "x", color=f"C{number}",
                               markersize=10, markeredgewidth=2)  # fmt: skip
                if published:
                    place.plot([], [], "kx", label="published")
            if even:
                place.set_xticks(places, [str(point) for point in points])
            place.set(
                xlabel=label[varies], ylabel=f"{metric} time [ms of the paper]",
                ylim=(0, None), title=f"{metric} times, measured",
            )  # fmt: skip
            place.grid(alpha=0.3)
        axes[0].legend(fontsize=8)
        picture.tight_layout()
        return picture

    return draw
