"""The plots of `sibyl bench`."""

from pathlib import Path

import pytest
from cells import around, grid_of_delays, result_of
from conftest import Sibyl, assert_usage_error

from sibyl.bench import plots
from sibyl.errors import CommandError
from sibyl.experiment.grid import Cell, Grid, make_cells
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
    assert plots.choose_axis([Cell(n, 8, "same", "flat", 0.0) for n in (4, 8)]) == 3
    # Of one cell a point each.
    one = judge(results[:1], "native")
    assert b"<svg" in plots.draw_curves(grid, one, Path("a.svg"), "run")
    with pytest.raises(CommandError):
        check_plot(Path("a.bmp"))


def test_average_blocks_have_an_axis_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    cells = make_cells([4], [], ["same"], ["flat"], [0.0], [1, 1000])
    grid = Grid("gatherv", ("native", "auto"), cells, iterations=24)
    times = {"native": around(1e-3), "auto": around(1e-3)}
    rows = judge([result_of(times, cell) for cell in cells], "native")
    drawn = []
    monkeypatch.setattr(plots, "figure_bytes", lambda figure, _: drawn.append(figure) or b"")
    plots.draw_curves(grid, rows, Path("a.png"), "run")
    plots.draw_distributions(grid, rows, Path("a.png"), "run")
    curves, distributions = drawn
    (panel,) = curves.axes
    assert panel.get_xlabel() == "average block [elements]"
    ticks = zip(panel.get_xticks(), panel.get_xticklabels(), strict=True)
    assert [(at, label.get_text()) for at, label in ticks] == [(1, "b = 1"), (1000, "b = 1000")]
    assert curves.get_suptitle() == "Gatherv, 4 ranks, flat arrivals\nSome MPI 1.0"
    assert [panel.get_title() for panel in distributions.axes] == ["b = 1", "b = 1000"]
    plots.draw_curves(grid, rows[:2], Path("a.png"), "run")
    assert drawn[-1].get_suptitle().startswith("Gatherv, b = 1, 4 ranks, flat arrivals")


@pytest.mark.parametrize("command", ["bench", "simulate"])
def test_too_many_panels_are_refused_beforehand(sibyl: Sibyl, command: str) -> None:
    pytest.importorskip("matplotlib")
    sizes = ",".join(str(8 * number) for number in range(1, 14))
    words = ("gather", "-n", 2, "--size", sizes, "--max-delay", "1ms,2ms", "--plot", "a.png")
    result = sibyl(command, *words)
    assert_usage_error(result, "--plot: 13 panels")
    assert result.stdout == "", "nothing was measured"
