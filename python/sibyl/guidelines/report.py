"""What a run has to tell: the material of the table, the files, the page, the selection tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sibyl.experiment.samples import CellResult
from sibyl.guidelines.catalogue import Guideline
from sibyl.guidelines.groups import COLUMNS, side, side_title
from sibyl.guidelines.judge import VIOLATED, Finding
from sibyl.guidelines.published import Published, published


@dataclass(frozen=True)
class Section:
    """The cells of one family on the same ranks under the same arrivals: a table, a picture.

    Attributes:
        columns: the contenders, in the paper's order.
        results: the cells.
    """

    family: str
    ranks: int
    pattern: str
    max_delay: float
    columns: tuple[str, ...]
    results: tuple[CellResult, ...]


@dataclass(frozen=True)
class Report:
    """A run with its verdicts."""

    flavour: str
    iterations: int
    unders: tuple[str, ...]
    cells: Sequence[tuple[CellResult, tuple[Guideline, ...]]]
    findings: Sequence[Finding]
    origin: dict[str, Any]

    @property
    def violations(self) -> list[Finding]:
        """What the MPI library does not keep, or Sibyl where it serves the left side."""
        return [finding for finding in self.findings if finding.verdict == VIOLATED]

    @property
    def wrong(self) -> dict[str, int]:
        """Wrong results, by contender."""
        found: dict[str, int] = {}
        for result, _ in self.cells:
            for name, count in result.wrong.items():
                found[name] = found.get(name, 0) + count
        return found

    def of_cell(self, result: CellResult) -> list[Finding]:
        """The findings in one cell."""
        return [finding for finding in self.findings if finding.result is result]

    def sections(self) -> Iterator[Section]:
        """What belongs into one table, in the order in which it was measured."""
        found: dict[tuple[str, int, str, float], list[CellResult]] = {}
        for result, guidelines in self.cells:
            cell = result.cell
            key = (guidelines[0].family, cell.ranks, cell.pattern, cell.max_delay)
            found.setdefault(key, []).append(result)
        for (family, ranks, pattern, delay), results in found.items():
            present = {name for result in results for name in result.samples}
            columns = []
            for operation in COLUMNS[family]:
                columns += [name for name in (side(operation),) if name in present]
                columns += [name for name in (side(operation, "auto"),) if name in present]
            yield Section(family, ranks, pattern, delay, tuple(columns), tuple(results))

    def paper_says(self, finding: Finding) -> Published | None:
        """What Traeff 2017 found in the same case on a related library."""
        if finding.guideline.name != "(2)":
            return None
        cell = finding.result.cell
        return published(self.flavour).get((cell.counts, cell.block))


def _without_server(name: str) -> str:
    title = side_title(name)
    return title.removeprefix("SIBYL_").removeprefix("MPI_")


def heading(section: Section) -> str:
    """A section in words."""
    titles = ", ".join(dict.fromkeys(_without_server(name) for name in section.columns))
    words = f"{titles}: p = {section.ranks}"
    if section.pattern == "none":
        return f"{words}, all ranks at once"
    if section.max_delay:
        from sibyl.experiment.units import time_text

        return f"{words}, {section.pattern} arrivals up to {time_text(section.max_delay)}"
    return f"{words}, arrivals {section.pattern}"
