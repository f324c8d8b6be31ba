"""Table, CSV, JSON and plot of `sibyl simulate`."""

import csv
import io
import itertools
import json
from collections import Counter
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from sibyl.errors import CommandError, counted
from sibyl.experiment.grid import SIZELESS
from sibyl.experiment.plots import (
    PANELS_MOST,
    Axis,
    curve_of,
    draw_bound,
    draw_curves,
    figure_bytes,
    finish_figure,
    finish_panel,
    panel_grid,
    time_scale,
)
from sibyl.experiment.units import size_text, time_text
from sibyl.simulator.model import Network, Nodes
from sibyl.simulator.session import SIZES_IN_ALL, Problem, Row, Settings, iterations_of
from sibyl.tables import print_fitting, print_left_out

COLUMNS = (
    *("collective", "algorithm", "ranks", "bytes", "pattern", "max_delay_us", "iterations"),
    *("run_us", "quartile_1_us", "quartile_3_us", "absorbed_us", "elapsed_us", "bound_us"),
    *("to_bound", "to_first", "messages", "rounds"),
)

# Columns that are left out where there is no room for them.
OPTIONAL = ("quartiles",)


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
        text += f"; {_nodes_text(inside)}, inside alpha {time_text(inside.alpha)}, "
        text += f"beta {inside.beta * 1e9:.4g} ns/B"
    if network.combine:
        text += f"; operator {network.combine * 1e9:.4g} ns/B"
    if network.eager is not None:
        text += f"; up to {size_text(network.eager)} eager"
    if network.queue is not None:
        queue = network.queue
        text += f"; links are shared, queues of {size_text(queue.size)}, windows of "
        text += f"{size_text(queue.window)}, timeout {time_text(queue.timeout)}"
    elif network.sharing:
        text += "; links are shared"
    if network.handshake:
        text += "; handshakes"
    if network.planning:
        text += f"; planning {time_text(network.planning)}"
    if not network.full_duplex:
        text += "; half duplex"
    if network.blocking:
        text += "; blocking calls"
    return text


def _nodes_text(nodes: Nodes) -> str:
    if not nodes.of:
        return f"{counted(nodes.ranks, 'rank')} a node"
    sizes = sorted(Counter(nodes.of).values())
    each = f"{sizes[0]}" if sizes[0] == sizes[-1] else f"{sizes[0]} to {sizes[-1]}"
    text = f"{counted(len(sizes), 'node')} of {each} {'rank' if each == '1' else 'ranks'}"
    return text if list(nodes.of) == sorted(nodes.of) else f"{text} that are not consecutive"


def problem_title(problem: Problem, settings: Settings) -> str:
    """A cell in words."""
    each = settings.collective not in SIZES_IN_ALL
    words = [settings.collective]
    if settings.collective != SIZELESS:
        words.append(f"{size_text(problem.size)} {'a rank' if each else 'in all'}")
    words.append(counted(problem.ranks, "rank"))
    if settings.root:
        words.append(f"root {settings.root}")
    text = ", ".join([*words, f"{problem.pattern} arrivals"])
    return text + (f" up to {time_text(problem.max_delay)}" if problem.max_delay else "")


def blocks(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of each cell."""
    return [list(group) for _, group in itertools.groupby(rows, key=lambda row: row.problem)]


def _block_table(block: Sequence[Row], settings: Settings, left_out: Collection[str]) -> Table:
    title = problem_title(block[0].problem, settings)
    table = Table(title=title, title_justify="left", caption_justify="left")
    table.caption = f"lower bound {time_text(block[0].bound)}"
    table.add_column("algorithm", no_wrap=True)
    drawn = any(row.quarters[0] != row.quarters[1] for row in block)
    headings = ["run time", "quartiles", "absorbed", "elapsed", "/ bound"]
    if not drawn or "quartiles" in left_out:
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
    return table


def print_table(rows: Sequence[Row], settings: Settings, console: Console) -> None:
    """The table for people."""
    left_out: dict[str, None] = {}
    for block in blocks(rows):
        make = partial(_block_table, block, settings)
        left_out |= dict.fromkeys(print_fitting(console, make, OPTIONAL))
    print_left_out(console, left_out)
    text = f"simulated: {network_text(settings.network)}"
    text += f"; {settings.lanes} lanes" if settings.lanes != 1 else ""
    console.print(text, highlight=False, soft_wrap=True)


def _values(row: Row, first: Row, settings: Settings) -> list[Any]:
    problem = row.problem
    times = (row.run_time, *row.quarters, row.absorbed, row.elapsed, row.bound)
    return [
        *(settings.collective, row.contender.name, problem.ranks, problem.size, problem.pattern),
        *(f"{problem.max_delay * 1e6:.6g}", iterations_of(problem, settings)),
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
            "iterations": iterations_of(row.problem, settings),
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
    nodes = settings.network.nodes
    document = {
        "collective": settings.collective,
        "network": network_text(settings.network),
        **_costs(settings.network),
        **({"nodes": list(nodes.of)} if nodes is not None and nodes.of else {}),
        **({"lanes": settings.lanes} if settings.lanes != 1 else {}),
        "root": settings.root,
        "iterations": settings.iterations,
        "seed": settings.seed,
        "entries": entries,
    }
    return json.dumps(document, indent=1) + "\n"


def _costs(network: Network) -> dict[str, float]:
    """What messages and the operator cost, as --calibration reads it; LogGP has no such numbers."""
    if network.loggp is not None:
        return {}
    costs = {"alpha_s": network.alpha, "beta_s_per_byte": network.beta}
    return {**costs, **({"gamma_s_per_byte": network.combine} if network.combine else {})}


_AXES: tuple[Axis[Problem], ...] = (
    Axis("maximum delay", lambda p: p.max_delay, time_text, False),
    Axis("size", lambda p: float(p.size), size_text, True),
    Axis("ranks", lambda p: float(p.ranks), lambda n: f"{n:.0f} ranks", True),
)


def check_panels(problems: Sequence[Problem]) -> None:
    """Notice before the simulation that a plot would have too many panels."""
    axis = _axis_of(problems)
    panels = {_panel_key(problem, axis) for problem in problems}
    if len(panels) > PANELS_MOST:
        raise CommandError(f"--plot: {len(panels)} panels; simulate fewer combinations for a plot")


def draw(rows: Sequence[Row], settings: Settings, path: Path) -> bytes:
    """Run time along what varies, the lower bound as a line; one panel for each other setting."""
    problems = [block[0].problem for block in blocks(rows)]
    check_panels(problems)
    axis = _axis_of(problems)
    panels = _panels(rows, axis)
    figure, places = panel_grid(len(panels), 3.8)
    for place, block in zip(places, panels, strict=True):
        _draw_panel(place, block, axis)
        title = _panel_title(block[0].problem, axis)
        place.set_title(title, fontsize=10, parse_math=False)  # a file's name may have dollars
    heading = f"{settings.collective}, simulated: {network_text(settings.network)}"
    finish_figure(figure, heading)
    return figure_bytes(figure, path)


def _panels(rows: Sequence[Row], axis: Axis[Problem]) -> list[list[Row]]:
    """The rows that differ along the axis alone."""
    panels: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        panels.setdefault(_panel_key(row.problem, axis), []).append(row)
    return list(panels.values())


def _axis_of(problems: Sequence[Problem]) -> Axis[Problem]:
    """The first along which they differ."""
    varying = (axis for axis in _AXES if len({axis.value(p) for p in problems}) > 1)
    return next(varying, _AXES[0])


def _panel_key(problem: Problem, axis: Axis[Problem]) -> tuple[object, ...]:
    others = (other.value(problem) for other in _AXES if other is not axis)
    return (*others, problem.pattern)


def _panel_title(problem: Problem, axis: Axis[Problem]) -> str:
    values = [(other, other.value(problem)) for other in _AXES if other is not axis]
    return ", ".join([problem.pattern, *(other.text(value) for other, value in values if value)])


def _draw_panel(place: Any, block: Sequence[Row], axis: Axis[Problem]) -> None:
    factor, unit = time_scale(max(row.quarters[1] for row in block))
    spot = axis.spots([axis.value(row.problem) for row in block])
    names = list(dict.fromkeys(row.contender.name for row in block))
    by_name = {name: [row for row in block if row.contender.name == name] for name in names}
    curves = []
    for name, own in by_name.items():
        x = [spot[axis.value(row.problem)] for row in own]
        times, quarters = [row.run_time for row in own], [row.quarters for row in own]
        curves.append(curve_of(name, x, times, quarters, factor))
    draw_curves(place, curves)
    draw_bound(place, curves[0].x, [row.bound * factor for row in by_name[names[0]]])
    ticks = {where: axis.text(value) for value, where in spot.items()}
    finish_panel(place, ticks, axis.logarithmic, [row.run_time for row in block])
    place.set_xlabel(axis.label)
    place.set_ylabel(f"run time [{unit}]")
