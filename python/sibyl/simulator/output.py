"""Table, CSV, JSON and plot of `sibyl simulate`."""

import csv
import io
import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from sibyl.bench.plots import BOUND_COLOUR, COLOURS, MARKERS, PANELS_MOST
from sibyl.bench.plots import _figure_bytes as figure_bytes
from sibyl.bench.plots import _library as plot_library
from sibyl.bench.plots import _scale as scale
from sibyl.bench.units import size_text, time_text
from sibyl.errors import CommandError
from sibyl.simulator.model import Network
from sibyl.simulator.session import WHOLE_VECTORS, Problem, Row, Settings

COLUMNS = (
    *("collective", "algorithm", "ranks", "bytes", "pattern", "max_delay_us", "iterations"),
    *("run_us", "quartile_1_us", "quartile_3_us", "absorbed_us", "elapsed_us", "bound_us"),
    *("to_bound", "to_first", "messages", "rounds"),
)


def network_text(network: Network) -> str:
    """The model in words."""
    if network.loggp is None:
        text = f"Hockney, alpha {time_text(network.alpha)}, beta {network.beta * 1e9:.4g} ns/B"
    else:
        model = network.loggp
        text = (
            f"LogGP, L {time_text(model.latency)}, o {time_text(model.overhead)}, "
            f"g {time_text(model.gap)}, G {model.gap_per_byte * 1e9:.4g} ns/B"
        )
    if network.nodes is not None:
        inside = network.nodes
        text += f"; {inside.ranks} ranks a node, inside alpha {time_text(inside.alpha)}, "
        text += f"beta {inside.beta * 1e9:.4g} ns/B"
    if network.combine:
        text += f"; operator {network.combine * 1e9:.4g} ns/B"
    if network.eager is not None:
        text += f"; up to {size_text(network.eager)} eager"
    if network.planning:
        text += f"; planning {time_text(network.planning)}"
    if not network.full_duplex:
        text += "; half duplex"
    if network.blocking:
        text += "; blocking calls"
    return text


def problem_title(problem: Problem, settings: Settings) -> str:
    """A cell in words."""
    each = settings.collective in WHOLE_VECTORS
    text = f"{settings.collective}, {size_text(problem.size)} {'a rank' if each else 'in all'}, "
    text += f"{problem.ranks} ranks, {problem.pattern} arrivals"
    return text + (f" up to {time_text(problem.max_delay)}" if problem.max_delay else "")


def blocks(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of each cell."""
    return [list(group) for _, group in itertools.groupby(rows, key=lambda row: row.problem)]


def print_table(rows: Sequence[Row], settings: Settings, console: Console) -> None:
    """The table for people."""
    for block in blocks(rows):
        table = Table(title=problem_title(block[0].problem, settings), title_justify="left")
        table.add_column("algorithm", no_wrap=True)
        drawn = any(row.quarters[0] != row.quarters[1] for row in block)
        headings = ["run time", "quartiles", "absorbed", "elapsed", "/ bound"]
        if not drawn:
            headings.remove("quartiles")
        for heading in headings:
            table.add_column(heading, justify="right")
        for row in block:
            cells = {
                "run time": time_text(row.run_time),
                "quartiles": " - ".join(time_text(quarter) for quarter in row.quarters),
                "absorbed": time_text(row.absorbed),
                "elapsed": time_text(row.elapsed),
                "/ bound": f"{row.run_time / row.bound:.2f}" if row.bound else "",
            }
            table.add_row(row.contender.name, *(cells[heading] for heading in headings))
        table.caption = f"lower bound {time_text(block[0].bound)}"
        table.caption_justify = "left"
        console.print(table)
    console.print(f"simulated: {network_text(settings.network)}", highlight=False, soft_wrap=True)


def _values(row: Row, first: Row, settings: Settings) -> list[Any]:
    problem = row.problem
    times = (row.run_time, *row.quarters, row.absorbed, row.elapsed, row.bound)
    return [
        *(settings.collective, row.contender.name, problem.ranks, problem.size, problem.pattern),
        *(f"{problem.max_delay * 1e6:.6g}", settings.iterations),
        *(f"{time * 1e6:.6g}" for time in times),
        f"{row.run_time / row.bound:.4f}" if row.bound else "",
        f"{row.run_time / first.run_time:.4f}" if first.run_time else "",
        *(row.messages, row.rounds),
    ]


def csv_text(rows: Sequence[Row], settings: Settings) -> str:
    """One line a row."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for block in blocks(rows):
        for row in block:
            writer.writerow(_values(row, block[0], settings))
    return out.getvalue()


def json_text(rows: Sequence[Row], settings: Settings) -> str:
    """The model and every row, times in seconds."""
    entries = [
        {
            "algorithm": row.contender.name,
            "ranks": row.problem.ranks,
            "bytes": row.problem.size,
            "pattern": row.problem.pattern,
            "max_delay_s": row.problem.max_delay,
            "run_s": row.run_time,
            "quartiles_s": list(row.quarters),
            "absorbed_s": row.absorbed,
            "elapsed_s": row.elapsed,
            "bound_s": row.bound,
            "messages": row.messages,
            "rounds": row.rounds,
        }
        for row in rows
    ]
    document = {
        "collective": settings.collective,
        "network": network_text(settings.network),
        "root": settings.root,
        "iterations": settings.iterations,
        "seed": settings.seed,
        "entries": entries,
    }
    return json.dumps(document, indent=1) + "\n"


_AXES = (
    ("maximum delay", lambda p: p.max_delay, time_text, False),
    ("size", lambda p: float(p.size), size_text, True),
    ("ranks", lambda p: float(p.ranks), lambda n: f"{n:.0f} ranks", True),
)


def draw(rows: Sequence[Row], settings: Settings, path: Path) -> bytes:
    """Run time along what varies, the lower bound as a line; one panel for each other setting."""
    problems = [block[0].problem for block in blocks(rows)]
    axis = next((a for a in _AXES if len({a[1](p) for p in problems}) > 1), _AXES[0])
    label, value, text, logarithmic = axis
    panels: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        others = tuple(a[1](row.problem) for a in _AXES if a is not axis)
        panels.setdefault((*others, row.problem.pattern), []).append(row)
    if len(panels) > PANELS_MOST:
        raise CommandError(f"--plot: {len(panels)} panels; simulate fewer combinations for a plot")
    plt = plot_library()
    columns = min(len(panels), 3)
    lines = -(-len(panels) // columns)
    figure, axes = plt.subplots(
        lines, columns, figsize=(max(4.6 * columns, 6.4), 3.8 * lines), squeeze=False
    )
    for place, block in zip(axes.flat, panels.values(), strict=False):
        factor, unit = scale(max(row.quarters[1] for row in block))
        names = list(dict.fromkeys(row.contender.name for row in block))
        points = sorted({value(row.problem) for row in block})
        spot = {v: v if logarithmic else float(i) for i, v in enumerate(points)}
        for number, name in enumerate(names):
            own = [row for row in block if row.contender.name == name]
            place.errorbar(
                [spot[value(row.problem)] for row in own],
                [row.run_time * factor for row in own],
                yerr=[
                    [(row.run_time - row.quarters[0]) * factor for row in own],
                    [(row.quarters[1] - row.run_time) * factor for row in own],
                ],
                label=name,
                color=COLOURS[number % len(COLOURS)],
                marker=MARKERS[number % len(MARKERS)],
                markersize=4.5,
                linewidth=1.3,
                capsize=2.5,
            )
        first = [row for row in block if row.contender.name == names[0]]
        place.plot(
            [spot[value(row.problem)] for row in first],
            [row.bound * factor for row in first],
            label="lower bound",
            color=BOUND_COLOUR,
            linewidth=2,
            linestyle=":",
        )
        if logarithmic:
            place.set_xscale("log", base=2)
        place.set_xticks(list(spot.values()), [text(v) for v in points], fontsize=8)
        place.minorticks_off()
        place.set_xlabel(label)
        place.set_ylabel(f"run time [{unit}]")
        spans = [row.run_time for row in block if row.run_time > 0]
        if spans and max(spans) > 30 * min(spans):
            place.set_yscale("log")
        else:
            place.set_ylim(bottom=0)
        place.grid(axis="y", color="#dddddd", linewidth=0.6)
        place.spines[["top", "right"]].set_visible(False)
        problem = block[0].problem
        words = [problem.pattern]
        words += [a[2](a[1](problem)) for a in _AXES if a is not axis and a[1](problem)]
        place.set_title(", ".join(words), fontsize=10)
    for place in list(axes.flat)[len(panels) :]:
        place.set_visible(False)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.suptitle(
        f"{settings.collective}, simulated: {network_text(settings.network)}", fontsize=11
    )
    figure.tight_layout()
    figure.legend(
        handles,
        labels,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncol=4,
        frameon=False,
        fontsize=9,
    )
    data = figure_bytes(figure, path)
    plt.close(figure)
    return data
