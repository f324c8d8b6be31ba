"""The plots of `sibyl bench`."""

from pathlib import Path

import pytest
from cells import grid_of_delays

from sibyl.bench import plots
from sibyl.errors import CommandError
from sibyl.experiment.grid import Cell
from sibyl.experiment.judge import judge
from sibyl.experiment.plots import check_plot


def test_plots_are_drawn_along_what_varies() -> None:
    pytest.importorskip("matplotlib")
    grid, results = grid_of_delays()
    rows = judge(results, "native")
    picture = plots.draw_curves(grid, rows, Path("a.svg"), "run")
    assert b"<svg" in picture
    assert plots.draw_distributions(grid, rows, Path("a.png"), "run").startswith(b"\x89PNG")
    assert plots.choose_axis([c.cell for c in results]) == 0
    assert plots.choose_axis([Cell(n, 8, "same", "flat", 0.0) for n in (4, 8)]) == 2
    # Of one cell a point each.
    one = judge(results[:1], "native")
    assert b"<svg" in plots.draw_curves(grid, one, Path("a.svg"), "run")
    with pytest.raises(CommandError):
        check_plot(Path("a.bmp"))
