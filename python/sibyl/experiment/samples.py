"""Read what sibyl-bench prints: one JSON object a line (tools/bench/arrivals.hpp).

A cell counts once its last sample is there; what an interrupted job leaves half done is dropped.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sibyl.experiment.grid import Cell, Grid

METRICS = ("run_s", "elapsed_s", "absorbed_s", "spread_s", "bound_s", "late_s")


@dataclass
class CellResult:
    """The samples of one cell.

    Attributes:
        job: where they come from: the "begin" line of the job, and clocks_after, the last "clocks"
            line of the cell, where hosts have clocks of their own.
        samples: by contender, by metric: one number per iteration, in order of iterations.
        wrong: how many results were wrong, by contender; empty where all were right.
        problem: of the paper's problems, the elements in all, and in all after padding.
        errors: of contenders that predict arrivals, in seconds, one number per iteration: how far
            they were off at the rank in the middle, and at the rank where they were furthest off.
    """

    cell: Cell
    job: dict[str, Any]
    samples: dict[str, dict[str, list[float]]]
    wrong: dict[str, int]
    problem: dict[str, int] = field(default_factory=dict)
    errors: dict[str, tuple[list[float], list[float]]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """For the journal and the result file."""
        return {
            "cell": vars(self.cell),
            "job": self.job,
            "samples": self.samples,
            "wrong": self.wrong,
            "problem": self.problem,
            "errors": self.errors,
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> "CellResult":
        """The inverse of as_json()."""
        cell = Cell(**data["cell"])
        hash(cell)  # TypeError where a damaged line has a list for a number
        problem = data.get("problem", {})
        errors = {name: tuple(lists) for name, lists in data.get("errors", {}).items()}
        return CellResult(cell, data["job"], data["samples"], data["wrong"], problem, errors)


@dataclass
class SampleReader:
    """Takes the lines of one job, and hands out each cell when it is complete.

    Attributes:
        grid: what the job measures; its cells in the order of the command line.
        finished: called with every complete cell.
        progressed: called with the cell of every sample.
        began: called with the "begin" line.
        job: that line.
        clocks_after: of the "end" line; None until the job has ended well.
        costs: of messages and operators, of the "end" line, where Sibyl measured them.
    """

    grid: Grid
    finished: Callable[[CellResult], None]
    progressed: Callable[[Cell], None] = lambda _cell: None
    began: Callable[[dict[str, Any]], None] = lambda _line: None
    job: dict[str, Any] = field(default_factory=dict)
    clocks_after: dict[str, Any] | None = None
    costs: dict[str, float] = field(default_factory=dict)
    _result: CellResult | None = None

    def take(self, text: str) -> bool:
        """Read a line; False when it is none of the benchmark's."""
        if not text.startswith('{"type":"'):
            return False
        try:
            line = json.loads(text)
        except ValueError:
            return False
        kind = line.pop("type")
        if kind == "begin":
            self.job = line
            self.began(line)
        elif kind == "cell":
            self._begin_cell(line)
        elif self._result is None and kind in ("sample", "clocks"):
            return False  # the line that begins its cell is lost
        elif kind == "sample":
            self._add(line)
        elif kind == "clocks":
            assert self._result is not None
            self._result.job = {**self._result.job, "clocks_after": line}
        elif kind == "end":
            self.clocks_after = line["clocks"]
            self.costs = line.get("costs", {})
        return True

    def _begin_cell(self, line: dict[str, Any]) -> None:
        cell = self.grid.cells[line["cell"]]
        samples = {name: {m: [] for m in METRICS} for name in self.grid.algorithms}
        names = ("elements", "padded_elements")
        problem = {name: line[name] for name in names if name in line}
        self._result = CellResult(cell, self.job, samples, {}, problem)

    def _add(self, line: dict[str, Any]) -> None:
        result = self._result
        assert result is not None  # take() has looked
        name = line["algorithm"]
        self.progressed(result.cell)
        if not line["right"]:
            result.wrong[name] = result.wrong.get(name, 0) + 1
        if line["iteration"] < 0:  # warm-up
            return
        for metric in METRICS:
            result.samples[name][metric].append(line[metric])
        if "error_s" in line:
            middle, worst = result.errors.setdefault(name, ([], []))
            middle.append(line["error_s"])
            worst.append(line["worst_error_s"])
        if all(len(m["run_s"]) == self.grid.iterations for m in result.samples.values()):
            self._result = None
            self.finished(result)
