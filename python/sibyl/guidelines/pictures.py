"""The pictures of a run's page: a map of factors, and the times of all sides over the block."""

import base64
import io
import math
from collections.abc import Sequence
from typing import Any

import numpy

from sibyl.experiment.plots import COLOURS, MARKERS, plot_library
from sibyl.experiment.samples import CellResult
from sibyl.guidelines.catalogue import Guideline
from sibyl.guidelines.groups import side_title
from sibyl.guidelines.judge import VIOLATED, Finding, run_times
from sibyl.guidelines.output import kind_title, kinds_of, marked
from sibyl.guidelines.report import Report, Section


def mathematical(text: str) -> str:
    """With the sign for "less or equal"."""
    return text.replace("<=", "\N{LESS-THAN OR EQUAL TO}")


def check() -> None:
    """Notice before a long run that there is no Matplotlib."""
    _library()


def _library() -> Any:
    return plot_library("--page")


def _image(figure: Any) -> str:
    """The picture as PNG in base64."""
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=110, bbox_inches="tight")
    _library().close(figure)
    return base64.b64encode(out.getvalue()).decode()


def _spread(result: CellResult, contender: str) -> tuple[float, float, float]:
    samples = run_times(result, contender)
    low, middle, high = (1e6 * numpy.quantile(samples, (0.25, 0.5, 0.75))).tolist()
    return middle, middle - low, high - middle


def draw_times(section: Section, report: Report) -> str:
    """Medians with quartiles over the block, one panel a problem."""
    problems = list(dict.fromkeys(result.cell.counts for result in section.results))
    columns = min(3, len(problems))
    rows = -(-len(problems) // columns)
    figure, axes = _library().subplots(
        rows, columns, figsize=(max(4.2 * columns, 5.5), 3.3 * rows), squeeze=False
    )
    for place, problem in zip(axes.flat, problems, strict=False):
        here = [result for result in section.results if result.cell.counts == problem]
        for number, column in enumerate(section.columns):
            own = [result for result in here if column in result.samples]
            if own:
                _draw_contender(place, own, column, number, report)
        _finish_times(place, problem, sorted({result.cell.block for result in here}))
    for place in list(axes.flat)[len(problems) :]:
        place.set_visible(False)
    known: dict[str, Any] = {}
    for place in axes.flat:
        handles, labels = place.get_legend_handles_labels()
        known = dict(zip(labels, handles, strict=True)) | known
    figure.legend(
        known.values(), known, loc="upper center", ncols=len(known), bbox_to_anchor=(0.5, 0.0)
    )
    figure.tight_layout()
    return _image(figure)


def _draw_contender(
    place: Any, own: Sequence[CellResult], column: str, number: int, report: Report
) -> None:
    """A line with quartiles; a circle around what violates a guideline."""
    points = [_spread(result, column) for result in own]
    place.errorbar(
        [result.cell.block for result in own],
        [point[0] for point in points],
        yerr=[[point[1] for point in points], [point[2] for point in points]],
        color=COLOURS[number % len(COLOURS)],
        marker=MARKERS[number % len(MARKERS)],
        markersize=5,
        linewidth=1.4,
        capsize=2,
        label=side_title(column),
    )
    bad = [result for result in own if marked(result, column, report)]
    place.plot(
        [result.cell.block for result in bad],
        [_spread(result, column)[0] for result in bad],
        linestyle="none",
        marker="o",
        markersize=12,
        markerfacecolor="none",
        markeredgecolor="#b00020",
        markeredgewidth=1.8,
    )


def _finish_times(place: Any, problem: str, blocks: Sequence[int]) -> None:
    from matplotlib import ticker

    if 0 not in blocks:  # a barrier
        place.set_xscale("log")
    place.set_yscale("log")
    place.set_xticks(blocks, [str(block) for block in blocks], fontsize=8)
    place.xaxis.set_minor_locator(ticker.NullLocator())
    place.yaxis.set_major_formatter(ticker.StrMethodFormatter("{x:g}"))
    place.yaxis.set_minor_formatter(ticker.LogFormatter(minor_thresholds=(1, 0.5)))
    place.tick_params(axis="y", which="both", labelsize=8)
    place.set_title(problem, fontsize=10)
    place.set_xlabel("average block b [MPI_INT]", fontsize=9)
    place.set_ylabel("time [\N{MICRO SIGN}s]", fontsize=9)
    place.grid(True, which="major", color="#dddddd", linewidth=0.6)


def draw_factors(section: Section, report: Report) -> str:
    """The factor of every guideline in every cell, as a map; "" where none has one."""
    findings = [f for result in section.results for f in report.of_cell(result)]
    kinds = kinds_of(section, report)
    if not kinds:
        return ""
    blocks = sorted({finding.result.cell.block for finding in findings})
    heights = [len(_problems(findings, kind)) for kind in kinds]
    figure, axes = _library().subplots(
        len(kinds),
        1,
        figsize=(2.6 + 1.05 * len(blocks), sum(0.42 * height + 0.9 for height in heights)),
        squeeze=False,
        gridspec_kw={"height_ratios": heights},
    )
    for place, kind in zip(axes.flat, kinds, strict=True):
        of_kind = [f for f in findings if (f.guideline, f.under) == kind]
        _draw_map(place, of_kind, _problems(findings, kind), blocks)
        place.set_title(mathematical(kind_title(*kind)), fontsize=10, loc="left")
    axes.flat[-1].set_xlabel("average block b [MPI_INT]", fontsize=9)
    figure.tight_layout()
    return _image(figure)


def _draw_map(
    place: Any, findings: Sequence[Finding], problems: Sequence[str], blocks: Sequence[int]
) -> None:
    """The factors of one guideline, problems over blocks."""
    from matplotlib.colors import TwoSlopeNorm

    values = [[math.nan] * len(blocks) for _ in problems]
    for finding in findings:
        cell = finding.result.cell
        row, column = problems.index(cell.counts), blocks.index(cell.block)
        values[row][column] = math.log2(finding.factor)
        bad = finding.verdict == VIOLATED
        place.text(
            column,
            row,
            f"{finding.factor:.2f}",
            ha="center",
            va="center",
            fontsize=9,
            weight="bold" if bad else "normal",
            color="#700010" if bad else "#222222",
        )
    place.imshow(values, cmap="RdBu_r", norm=TwoSlopeNorm(0, -4, 4), aspect="auto", alpha=0.75)
    place.set_xticks(range(len(blocks)), [str(block) for block in blocks], fontsize=8)
    place.set_yticks(range(len(problems)), problems, fontsize=8)


def _problems(findings: Sequence[Finding], kind: tuple[Guideline, str]) -> list[str]:
    of_kind = [f for f in findings if (f.guideline, f.under) == kind]
    return list(dict.fromkeys(f.result.cell.counts for f in of_kind))
