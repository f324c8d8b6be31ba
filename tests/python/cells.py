"""Cells that nobody has measured, for the tests of what is made of samples."""

import json
from pathlib import Path

from sibyl.experiment.grid import Cell, Grid, make_cells
from sibyl.experiment.samples import METRICS, CellResult

JOB = {
    "mpi": "Some MPI 1.0",
    "ranks": 4,
    "cores": 8,
    "ranks_per_machine": 4,
    "simulated": False,
    "alpha_s": 1e-6,
    "beta_s_per_byte": 1e-9,
    "clocks": {"common": True, "worst_offset_s": 0.0, "worst_error_s": 1e-7},
}


def result_of(
    times: dict[str, list[float]], cell: Cell | None = None, late: float = 0.0, **job: object
) -> CellResult:
    """A cell whose contenders took these run times."""
    samples = {}
    for name, values in times.items():
        samples[name] = {metric: list(values) for metric in METRICS}
        samples[name]["late_s"] = [late] * len(values)
        samples[name]["bound_s"] = [1e-3] * len(values)
    return CellResult(cell or Cell(4, 1024, "same", "flat", 0.0), {**JOB, **job}, samples, {})


def around(middle: float) -> list[float]:
    return [middle * (1 + 0.001 * (i % 7 - 3) + 1e-6 * i) for i in range(24)]


def lines_of(grid: Grid, wrong: bool = False) -> list[str]:
    """What the MPI program would print for one cell."""
    lines = [{"type": "begin", **JOB}, {"type": "cell", "cell": 0}]
    for iteration in range(-1, grid.iterations):
        for name in grid.algorithms:
            sample = dict.fromkeys(METRICS, 1e-3 * (iteration + 2))
            line = {"type": "sample", "cell": 0, "iteration": iteration, "algorithm": name}
            lines.append({**line, **sample, "right": not wrong})
    lines.append({"type": "end", "clocks": JOB["clocks"]})
    return [json.dumps(line, separators=(",", ":")) for line in lines]


def grid_of_delays() -> tuple[Grid, list[CellResult]]:
    cells = make_cells([4], [1024, 4096], ["same"], ["uniform"], [0.0, 0.001, 0.05])
    results = [
        result_of({"native": around(1e-2 + c.max_delay), "own": around(9e-3)}, c) for c in cells
    ]
    return Grid("gather", ("native", "own"), cells, iterations=24), results


def write_part(
    directory: Path,
    rank: int,
    calls: list[list[object]],
    clock: str = "one",
    pid: int = 1,
    **other: object,
) -> None:
    part = {
        "version": 1,
        "mpi": "Some MPI",
        "rank": rank,
        "world_size": 2,
        "clock": clock,
        "wall_minus_clock": 0 if clock == "one" else 1_000_000_000,
        "communicators": [{"group": [0, 1], "ordinal": 0, "calls": calls}],
        **other,
    }
    (directory / f"arrivals-{rank}-{pid}.json").write_text(json.dumps(part))
