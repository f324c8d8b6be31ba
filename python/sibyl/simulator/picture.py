"""A simulated call in space and time: ranks as lines, messages as arrows, waits in red.

The SVG is for papers and pages; the HTML page draws the same on a canvas and can be zoomed.
"""

import json
from html import escape
from importlib import resources

import numpy

from sibyl.errors import CommandError
from sibyl.experiment.units import size_text, time_text
from sibyl.simulator.run import Simulated

# As in the pictures of plans (src/schedule/export_svg.cpp).
MESSAGE = "#0072B2"
CONTROL = "#8a8a8a"
WAIT = "#d7191c"
WORK = "#D55E00"
COMPUTING = "#e3e6ea"
MESSAGES_SVG = 20_000
MESSAGES_PAGE = 500_000

LEFT, RIGHT, TOP, WIDTH = 64.0, 24.0, 62.0, 1180.0


def check_size(messages: int, most: int, option: str) -> None:
    """Refuse a picture that nobody could look at."""
    if messages > most:
        raise CommandError(
            f"{option}: a picture of about {messages} messages; up to {most} are drawn, take "
            f"fewer ranks"
        )


def svg_text(title: str, arrivals: numpy.ndarray, simulated: Simulated) -> str:
    """The picture as SVG."""
    assert simulated.events is not None and simulated.waits is not None
    assert simulated.work is not None
    ranks = len(arrivals)
    row = min(46.0, max(5.0, 900.0 / ranks))
    end = float(max(simulated.exits.max(), arrivals.max())) or 1.0
    bottom = TOP + row * ranks
    plot = WIDTH - LEFT - RIGHT

    def x(time: float) -> float:
        return LEFT + plot * time / end

    def y(rank: float) -> float:
        return TOP + row * (rank + 0.5)

    half = row * 0.22
    stroke = min(1.8, max(0.5, row * 0.05))
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH:.0f}" height="{bottom + 66:.0f}" '
        f'viewBox="0 0 {WIDTH:.0f} {bottom + 66:.0f}" font-family="sans-serif">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="18" y="26" font-size="17" font-weight="bold" fill="#222">{escape(title)}</text>',
        f'<text x="18" y="45" font-size="12" fill="#444">{escape(summary(simulated))}</text>',
    ]
    label = min(13, max(9, row * 0.6))
    every = max(1, -(-11 // max(1, int(row))))
    for rank in range(ranks):
        arrival, leave = float(arrivals[rank]), float(simulated.exits[rank])
        if arrival > 0:
            out.append(
                f'<rect x="{x(0):.1f}" y="{y(rank) - half:.1f}" width="{x(arrival) - x(0):.1f}" '
                f'height="{2 * half:.1f}" fill="{COMPUTING}"/>'
            )
        out.append(
            f'<line x1="{x(arrival):.1f}" y1="{y(rank):.1f}" x2="{x(leave):.1f}" '
            f'y2="{y(rank):.1f}" stroke="#b8bec6" stroke-width="{max(0.5, 0.7 * stroke):.1f}"/>'
        )
        if rank % every == 0:
            out.append(
                f'<text x="{LEFT - 8}" y="{y(rank) + 4:.1f}" font-size="{label:.0f}" '
                f'text-anchor="end" fill="#222">{rank}</text>'
            )
    for rank, awaited, begin, stop in simulated.waits.tolist():
        out.append(
            f'<line x1="{x(begin):.1f}" y1="{y(rank):.1f}" x2="{x(stop):.1f}" y2="{y(rank):.1f}" '
            f'stroke="{WAIT}" stroke-width="{max(1.5, half):.1f}" stroke-opacity="0.75"><title>'
            f"rank {rank:.0f} waits for rank {awaited:.0f}, {time_text(stop - begin)}"
            "</title></line>"
        )
    for rank, kind, begin, stop in simulated.work.tolist():
        what = "operator" if kind else "copy"
        out.append(
            f'<rect x="{x(begin):.1f}" y="{y(rank) - half:.1f}" '
            f'width="{max(0.6, x(stop) - x(begin)):.1f}" height="{2 * half:.1f}" fill="{WORK}">'
            f"<title>rank {rank:.0f}: {what}, {time_text(stop - begin)}</title></rect>"
        )
    for source, target, number, size, _, _, begin, stop in simulated.events.tolist():
        colour = CONTROL if size == 0 else MESSAGE
        out.append(
            _arrow(x(begin), y(source), x(stop), y(target), colour, stroke, row)
            + (
                f"<title>{source:.0f} to {target:.0f}, round {number:.0f}, {size_text(size)}, "
                f"{time_text(begin)} to {time_text(stop)}</title></g>"
            )
        )
    out += _axis(end, bottom, x)
    out += _legend(bottom + 52)
    return "\n".join([*out, "</svg>\n"])


def _arrow(
    x1: float, y1: float, x2: float, y2: float, colour: str, stroke: float, row: float
) -> str:
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5 or 1.0
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    head = min(9.0, max(3.0, row * 0.26), length / 2)
    bx, by = x2 - ux * head, y2 - uy * head
    side = head * 0.4
    dash = ' stroke-dasharray="3 3"' if colour == CONTROL else ""
    return (
        f'<g fill="{colour}" stroke="{colour}"><line x1="{x1:.1f}" y1="{y1:.1f}" x2="{bx:.1f}" '
        f'y2="{by:.1f}" stroke-width="{stroke:.1f}"{dash}/><path stroke="none" '
        f'd="M{x2:.1f} {y2:.1f}L{bx - uy * side:.1f} {by + ux * side:.1f}'
        f'L{bx + uy * side:.1f} {by - ux * side:.1f}Z"/>'
    )


def ticks(end: float, about: int = 8) -> list[float]:
    """Round numbers from 0 to `end`."""
    step = 10.0 ** numpy.floor(numpy.log10(end / about))
    for factor in (1, 2, 5, 10):
        if end / (step * factor) <= about:
            step *= factor
            break
    return [float(i * step) for i in range(int(end / step + 1e-9) + 1)]


def _axis(end: float, bottom: float, x) -> list[str]:
    out = [
        f'<line x1="{LEFT}" y1="{bottom + 4:.1f}" x2="{WIDTH - RIGHT}" y2="{bottom + 4:.1f}" '
        'stroke="#444" stroke-width="1"/>'
    ]
    for tick in ticks(end):
        out.append(
            f'<line x1="{x(tick):.1f}" y1="{bottom + 4:.1f}" x2="{x(tick):.1f}" '
            f'y2="{bottom + 9:.1f}" stroke="#444"/><text x="{x(tick):.1f}" y="{bottom + 22:.1f}" '
            f'font-size="11" text-anchor="middle" fill="#222">{time_text(tick)}</text>'
        )
    return out


def _legend(y: float) -> list[str]:
    entries = (
        (COMPUTING, "computing, not there yet"),
        (MESSAGE, "message"),
        (CONTROL, "control message, no data"),
        (WAIT, "waits for the rank with which it goes on"),
        (WORK, "operator, copy"),
    )
    out, x = [], 18.0
    for colour, text in entries:
        out.append(
            f'<rect x="{x:.0f}" y="{y - 8:.0f}" width="22" height="8" fill="{colour}"/>'
            f'<text x="{x + 28:.0f}" y="{y:.0f}" font-size="11" fill="#222">{text}</text>'
        )
        x += 44 + 6.3 * len(text)
    return out


def summary(simulated: Simulated) -> str:
    """The times in one line."""
    return (
        f"run time {time_text(simulated.run_time)}, absorbed {time_text(simulated.absorbed)}, "
        f"mean elapsed {time_text(simulated.elapsed)}, {simulated.messages} messages"
    )


def page_text(title: str, arrivals: numpy.ndarray, simulated: Simulated) -> str:
    """The picture as a page of its own, which can be zoomed and panned."""
    assert simulated.events is not None and simulated.waits is not None
    assert simulated.work is not None
    data = {
        "title": title,
        "summary": summary(simulated),
        "arrivals": _rounded(arrivals),
        "exits": _rounded(simulated.exits),
        "messages": [
            [int(m[0]), int(m[1]), int(m[2]), int(m[3]), *_rounded(m[6:8])]
            for m in simulated.events
        ],
        "waits": [[int(w[0]), int(w[1]), *_rounded(w[2:4])] for w in simulated.waits],
        "work": [[int(w[0]), int(w[1]), *_rounded(w[2:4])] for w in simulated.work],
    }
    template = resources.files("sibyl").joinpath("data/simulation.html").read_text("utf-8")
    # A "</" inside the data would end the script.
    text = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    return template.replace("@TITLE@", escape(title)).replace("@DATA@", text)


def _rounded(values: numpy.ndarray) -> list[float]:
    return [float(f"{value:.9g}") for value in values.tolist()]
