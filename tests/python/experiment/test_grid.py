"""Grids: all combinations, each once."""

from sibyl.experiment.grid import COLLECTIVES, Cell, Grid, make_cells


def test_cells_are_all_combinations_each_once() -> None:
    cells = make_cells([4, 8], [1024], ["same"], ["flat", "uniform"], [0.0, 0.001])
    assert len(cells) == 6  # flat takes no delay
    assert Cell(8, 1024, "same", "uniform", 0.001) in cells
    grid = Grid("gather", ("native",), cells)
    assert [len(job.cells) for job in grid.jobs()] == [3, 3]
    assert grid.fingerprint("a") != grid.fingerprint("b")
    assert grid.without(cells[:2]).cells == cells[2:]


def test_whose_bytes_a_size_counts_depends_on_the_collective() -> None:
    cells = make_cells([8], [0], ["same"], ["flat"], [0.0])
    assert cells[0].words() == ["--cell", "delay=0.0,counts=same,pattern=flat"]
    amounts = {name: Grid(name, ("native",), cells).amount for name in COLLECTIVES}
    in_all = {name for name, amount in amounts.items() if amount == "in all"}
    assert in_all == {"gather", "scatter", "gatherv", "scatterv", "allgather", "allgatherv"}
