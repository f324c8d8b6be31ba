"""Contenders that predict arrivals: how far they were off, and what that cost them, in words."""

import statistics
from collections.abc import Sequence

from sibyl.bench.output import cell_title
from sibyl.experiment.grid import PREDICTING, Grid
from sibyl.experiment.samples import CellResult
from sibyl.experiment.units import time_text


def prediction_lines(grid: Grid, results: Sequence[CellResult]) -> list[str]:
    """One line per cell and contender that predicts.

    Given are medians over the iterations: of the error at the rank in the middle and at the rank
    that was furthest off, relative to the largest delay of the cell; and of the time in an
    iteration over that of the same algorithm in the same iteration, which was told the truth.
    """
    lines = []
    for result in results:
        for name, errors in result.errors.items():
            middle, worst = (_error_text(values, result.cell.max_delay) for values in errors)
            text = f"{cell_title(grid, result.cell)}: {name} predicts arrivals within {middle}, "
            lines.append(f"{text}the worst rank's within {worst}{_price(result, name)}")
    return lines


def _error_text(errors: Sequence[float], delay: float) -> str:
    error = statistics.median(errors)
    share = f" ({100 * error / delay:.2g} % of the delay)" if delay > 0 else ""
    return time_text(error) + share


def _price(result: CellResult, name: str) -> str:
    """What `name` takes over the algorithm that knows; nothing where that takes no part."""
    prefix, _, algorithm = name.partition(":")
    if prefix not in PREDICTING or algorithm not in result.samples:
        return ""
    ratios = {
        metric: statistics.median(
            own / known
            for own, known in zip(
                result.samples[name][metric], result.samples[algorithm][metric], strict=True
            )
        )
        for metric in ("run_s", "absorbed_s")
    }
    return (
        f"; {ratios['run_s']:.3f} of the run time of {algorithm} that is told them, "
        f"{ratios['absorbed_s']:.3f} of the absorbed"
    )
