"""Runs of `sibyl guidelines` that nobody has made, for the tests of what is made of them."""

from sibyl.experiment.grid import Cell
from sibyl.experiment.samples import METRICS, CellResult
from sibyl.guidelines.catalogue import GUIDELINES, Guideline
from sibyl.guidelines.judge import judge
from sibyl.guidelines.report import Report

JOB = {
    "mpi": "Some MPI 1.0",
    "collective": "gather",
    "ranks": 4,
    "cores": 8,
    "cpu": "Some processor",
    "ranks_per_machine": 4,
    "simulated": False,
    "clocks": {"common": True, "worst_offset_s": 0.0, "worst_error_s": 1e-7},
}
ORIGIN = {"date": "2026-01-02T03:04:05Z", "sibyl": "1.2.3", "command": ["sibyl", "guidelines"]}


def around(middle: float) -> list[float]:
    return [middle * (1 + 0.001 * (i % 7 - 3) + 1e-6 * i) for i in range(28)]


def result_of(
    middles: dict[str, float], problem: str = "same", block: int = 10, ranks: int = 4, **job: object
) -> CellResult:
    """A cell whose contenders took about these times."""
    samples = {}
    for name, middle in middles.items():
        samples[name] = {metric: around(middle) for metric in METRICS}
        samples[name]["late_s"] = [0.0] * 28
    cell = Cell(ranks, 0, problem, "none", 0.0, block)
    sizes = {"elements": ranks * block, "padded_elements": 2 * ranks * block}
    return CellResult(cell, {**JOB, "ranks": ranks, **job}, samples, {}, sizes)


def named(*names: str) -> tuple[Guideline, ...]:
    return tuple(guideline for guideline in GUIDELINES if guideline.name in names)


def report_of(cells: list[tuple[CellResult, tuple[Guideline, ...]]]) -> Report:
    unders = ("native", "sibyl")
    return Report("openmpi", 28, unders, cells, judge(cells, unders), ORIGIN)


def gather_report() -> Report:
    slow = {"gather/native": 1e-5, "padded-gather/native": 2e-5, "gatherv/native": 9e-5}
    fast = {**slow, "gatherv/native": 1e-5, "gatherv/auto": 5e-5}
    return report_of(
        [
            (result_of(slow), named("(1)", "(2)")),
            (result_of(fast, "spikes", 1000), named("(2)")),
        ]
    )
