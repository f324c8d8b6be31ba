"""A simulated call in space and time: ranks as lines, messages as arrows, waits in red.

The SVG is for papers and pages; the HTML page draws the same on a canvas and can be zoomed.
"""

from collections.abc import Callable, Iterator

import numpy

from sibyl.errors import CommandError
from sibyl.experiment.units import size_text, time_text
from sibyl.pages import render
from sibyl.simulator.run import Simulated

# As in the pictures of plans (src/schedule/export_svg.cpp).
MESSAGE = "#0072B2"
CONTROL = "#8a8a8a"
WAIT = "#d7191c"
WORK = "#D55E00"
COMPUTING = "#e3e6ea"
KEY = (
    (COMPUTING, "computing, not there yet"),
    (MESSAGE, "message"),
    (CONTROL, "control message, no data"),
    (WAIT, "waits for the rank with which it goes on"),
    (WORK, "operator, copy"),
)
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
    every = max(1, -(-11 // max(1, int(row))))
    lines = [
        {
            "y": y(rank),
            "arrival": x(arrival) if arrival > 0 else None,
            "begin": x(arrival),
            "end": x(leave),
            "label": str(rank) if rank % every == 0 else "",
        }
        for rank, (arrival, leave) in enumerate(
            zip(arrivals.tolist(), simulated.exits.tolist(), strict=True)
        )
    ]
    waits = (
        {
            "y": y(rank),
            "begin": x(begin),
            "end": x(stop),
            "meaning": f"rank {rank:.0f} waits for rank {awaited:.0f}, {time_text(stop - begin)}",
        }
        for rank, awaited, begin, stop in simulated.waits.tolist()
    )
    work = (
        {
            "y": y(rank),
            "begin": x(begin),
            "width": max(0.6, x(stop) - x(begin)),
            "meaning": f"rank {rank:.0f}: {'operator' if kind else 'copy'}, "
            f"{time_text(stop - begin)}",
        }
        for rank, kind, begin, stop in simulated.work.tolist()
    )
    return render(
        "simulation.svg",
        title=title,
        summary=summary(simulated),
        size=(WIDTH, bottom + 66),
        left=LEFT,
        right=WIDTH - RIGHT,
        begin=x(0),
        bottom=bottom,
        half=half,
        stroke=stroke,
        font=min(13, max(9, row * 0.6)),
        lines=lines,
        waits=waits,
        work=work,
        arrows=_arrows(simulated, x, y, row),
        ticks=[(x(tick), time_text(tick)) for tick in ticks(end)],
        colours={"computing": COMPUTING, "wait": WAIT, "work": WORK},
        key=_key_places(),
    )


def _arrows(
    simulated: Simulated, x: Callable[[float], float], y: Callable[[float], float], row: float
) -> Iterator[dict[str, object]]:
    """Each message from its sender to its receiver, with the three corners of its head."""
    for source, target, number, size, _, _, begin, stop in simulated.events.tolist():
        x1, y1, x2, y2 = x(begin), y(source), x(stop), y(target)
        length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5 or 1.0
        ux, uy = (x2 - x1) / length, (y2 - y1) / length
        head = min(9.0, max(3.0, row * 0.26), length / 2)
        bx, by = x2 - ux * head, y2 - uy * head
        side = head * 0.4
        yield {
            "colour": CONTROL if size == 0 else MESSAGE,
            "dashed": size == 0,
            "line": (x1, y1, bx, by),
            "head": ((x2, y2), (bx - uy * side, by + ux * side), (bx + uy * side, by - ux * side)),
            "meaning": f"{source:.0f} to {target:.0f}, round {number:.0f}, {size_text(size)}, "
            f"{time_text(begin)} to {time_text(stop)}",
        }


def _key_places() -> Iterator[tuple[float, str, str]]:
    """Where the parts of the key stand, one behind the other."""
    x = 18.0
    for colour, meaning in KEY:
        yield x, colour, meaning
        x += 44 + 6.3 * len(meaning)


def ticks(end: float, about: int = 8) -> list[float]:
    """Round numbers from 0 to `end`."""
    step = 10.0 ** numpy.floor(numpy.log10(end / about))
    for factor in (1, 2, 5, 10):
        if end / (step * factor) <= about:
            step *= factor
            break
    return [float(i * step) for i in range(int(end / step + 1e-9) + 1)]


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
        "arrivals": _rounded(arrivals),
        "exits": _rounded(simulated.exits),
        "messages": [
            [int(m[0]), int(m[1]), int(m[2]), int(m[3]), *_rounded(m[6:8])]
            for m in simulated.events
        ],
        "waits": [[int(w[0]), int(w[1]), *_rounded(w[2:4])] for w in simulated.waits],
        "work": [[int(w[0]), int(w[1]), *_rounded(w[2:4])] for w in simulated.work],
    }
    said = {"title": title, "summary": summary(simulated)}
    return render("simulation.html", **said, key=KEY, data=data)


def _rounded(values: numpy.ndarray) -> list[float]:
    return [float(f"{value:.9g}") for value in values.tolist()]
