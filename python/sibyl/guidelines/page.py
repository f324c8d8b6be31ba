"""The page of a run: one HTML file with verdicts, tables and pictures in it.

For each family: a map of factors (problem by block, red where the guideline is violated), and the
times of all sides over the block, one panel a problem.
"""

import base64
import html
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sibyl.errors import CommandError
from sibyl.experiment.judge import MARGIN, MARGIN_SECONDS, SIGNIFICANCE
from sibyl.experiment.plots import COLOURS, MARKERS
from sibyl.experiment.samples import CellResult
from sibyl.experiment.statistics import quantile
from sibyl.guidelines.catalogue import Guideline
from sibyl.guidelines.groups import side_title
from sibyl.guidelines.judge import HOLDS, NONE, VIOLATED, WRONG, Finding, run_times, times
from sibyl.guidelines.output import (
    closing_lines,
    factor_text,
    job_line,
    kind_title,
    kinds_of,
    marked,
    microseconds,
    published_text,
    tally,
)
from sibyl.guidelines.report import Report, Section, heading

STYLES = {VIOLATED: "bad", WRONG: "bad", HOLDS: "good", NONE: "dim"}
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 76rem; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .85rem; }
th, td { padding: .15rem .6rem; text-align: right; }
th { border-bottom: 1px solid #888; } tr.first td { border-top: 1px solid #ddd; }
td:first-child, th:first-child, td.words, th.words { text-align: left; }
.bad { color: #b00020; font-weight: bold; } .good { color: #1a6b2f; } .dim { color: #777; }
img { max-width: 100%; } .scroll { overflow-x: auto; }
"""


def check() -> None:
    """Notice before a long run that there is no Matplotlib."""
    _library()


def _library() -> Any:
    try:
        import matplotlib
    except ImportError as error:
        raise CommandError(
            "--page needs matplotlib; install it with: pip install matplotlib"
        ) from error
    matplotlib.use("Agg")
    import matplotlib.pyplot

    return matplotlib.pyplot


def _image(figure: Any, what: str) -> str:
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=110, bbox_inches="tight")
    _library().close(figure)
    data = base64.b64encode(out.getvalue()).decode()
    return f'<p><img alt="{html.escape(what)}" src="data:image/png;base64,{data}"></p>'


def _spread(result: CellResult, contender: str) -> tuple[float, float, float]:
    samples = run_times(result, contender)
    middle, low, high = (quantile(samples, q) * 1e6 for q in (0.5, 0.25, 0.75))
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
    return _image(figure, f"times: {heading(section)}")


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
    """The factor of every guideline in every cell, as a map."""
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
        place.set_title(
            kind_title(*kind).replace("<=", "\N{LESS-THAN OR EQUAL TO}"), fontsize=10, loc="left"
        )
    axes.flat[-1].set_xlabel("average block b [MPI_INT]", fontsize=9)
    figure.tight_layout()
    return _image(figure, f"factors: {heading(section)}")


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


def _mathematical(text: str) -> str:
    return html.escape(text.replace("<=", "\N{LESS-THAN OR EQUAL TO}"))


def _cell(text: str, style: str = "", words: bool = False) -> str:
    classes = " ".join(name for name in (style, "words" if words else "") if name)
    attribute = f' class="{classes}"' if classes else ""
    return f"<td{attribute}>{html.escape(text)}</td>"


def _table(section: Section, report: Report) -> str:
    titles = ["problem", "b", "m", "m'"]
    once = report.iterations == 1  # then the average is the minimum
    for column in section.columns:
        titles += [side_title(column)] if once else [f"{side_title(column)} avg", "min"]
    published = any(published_text(result, report) for result in section.results)
    kinds = kinds_of(section, report)
    titles += [("Sibyl " if under == "sibyl" else "") + g.name for g, under in kinds]
    titles += ["paper (2)"] if published else []
    head = "".join(f"<th>{html.escape(title)}</th>" for title in titles)
    rows = []
    before = ""
    for result in section.results:
        begins = result.cell.counts != before
        before = result.cell.counts
        row = [_cell(before if begins else ""), _cell(str(result.cell.block or ""))]
        row += [_cell(str(result.problem.get(n, ""))) for n in ("elements", "padded_elements")]
        for column in section.columns:
            row += _time_cells(result, column, report)
        row += _factor_cells(result, kinds, report)
        row += [_cell(published_text(result, report), "dim")] if published else []
        first = ' class="first"' if begins else ""
        rows.append(f"<tr{first}>{''.join(row)}</tr>")
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody>'
        f"</table></div>"
    )


def _time_cells(result: CellResult, column: str, report: Report) -> list[str]:
    """A contender's average and minimum, which are one where there is one iteration."""
    once = report.iterations == 1
    if column not in result.samples:
        return [_cell("")] * (1 if once else 2)
    figures = times(result, column)
    style = "bad" if marked(result, column, report) else ""
    shown = [figures.average] if once else [figures.average, figures.least]
    return [_cell(microseconds(time), style) for time in shown]


def _factor_cells(
    result: CellResult, kinds: Sequence[tuple[Guideline, str]], report: Report
) -> list[str]:
    found = {(f.guideline, f.under): f for f in report.of_cell(result)}
    cells = []
    for kind in kinds:
        finding = found.get(kind)
        style = STYLES.get(finding.verdict, "") if finding else ""
        cells.append(_cell(factor_text(finding) if finding else "", style))
    return cells


def _summary(report: Report) -> str:
    rows = []
    for name, findings in tally(report):
        counts = {
            verdict: sum(finding.verdict == verdict for finding in findings)
            for verdict in (VIOLATED, HOLDS, "undecided", NONE)
        }
        bad = [finding for finding in findings if finding.verdict == VIOLATED]
        worst = f"{max(finding.factor for finding in bad):.2f}" if bad else ""
        row = [f"<td>{_mathematical(name)}</td>"]
        row.append(_cell(str(counts[VIOLATED]), "bad" if bad else ""))
        row += [_cell(str(counts[verdict])) for verdict in (HOLDS, "undecided", NONE)]
        row.append(_cell(worst, "bad"))
        row.append(_cell(bad[0].guideline.remedy if bad else "", words=True))
        rows.append(f"<tr>{''.join(row)}</tr>")
    titles = ("guideline", "violated", "holds", "undecided", "no verdict", "worst factor")
    head = "".join(f"<th>{title}</th>" for title in titles) + '<th class="words">remedy</th>'
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody>'
        f"</table></div>"
    )


def _how_it_is_shown(report: Report) -> str:
    if report.cells[0][0].job.get("simulated"):
        return "Simulated times repeat. Factors are the left side's time over the right one's."
    return (
        f"Rank-sum tests, corrected for all comparisons, significance {SIGNIFICANCE:.0%}. Factors "
        f"are medians of {report.iterations} measurements of the left side over those of the right "
        "one, taken in turns."
    )


def to_html(report: Report, tables: Sequence[tuple[Path, str]] = ()) -> str:
    """The page.

    Args:
        report: the run.
        tables: selection tables that were written, each with what it holds.
    """
    job = report.cells[0][0].job
    where = job_line(job)
    parts = [
        f"<h1>Performance guidelines: {html.escape(job['mpi'])}</h1>",
        f"<p>{html.escape(where)}; {html.escape(report.origin['date'])}, Sibyl "
        f"{html.escape(report.origin['sibyl'])}<br><code>"
        f"{html.escape(' '.join(report.origin['command']))}</code></p>",
        "<p>A guideline says that a collective is not slower than another way to the same result. "
        f"It is <b>violated</b> where the left side is shown to be slower by more than "
        f"{MARGIN:.0%} or {MARGIN_SECONDS * 1e9:.0f} ns; it <b>holds</b> where the opposite is "
        f"shown. {_how_it_is_shown(report)}</p>",
        _summary(report),
    ]
    for section in report.sections():
        parts.append(f"<h2>{_mathematical(heading(section))}</h2>")
        limits = {f.limit for result in section.results for f in report.of_cell(result) if f.limit}
        parts += [f"<p class='dim'>No verdict: {html.escape(limit)}</p>" for limit in limits]
        parts += [draw_factors(section, report), draw_times(section, report)]
        parts.append(_table(section, report))
    if tables:
        parts.append("<h2>Selection tables</h2><ul>")
        parts += [
            f"<li><code>{html.escape(path.name)}</code>: {html.escape(what)}</li>"
            for path, what in tables
        ]
        parts.append("</ul>")
    parts.append("<h2>In words</h2><ul>")
    parts += [f"<li>{_mathematical(line)}</li>" for line in closing_lines(report)]
    parts.append("</ul>")
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width'>"
        f"<title>Performance guidelines: {html.escape(job['mpi'])}</title>"
        f"<style>{STYLE}</style></head><body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )
