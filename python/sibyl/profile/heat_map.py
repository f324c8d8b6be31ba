"""How late each rank was in each call of a site: a picture of ranks by calls.

The cells are a small image inside an SVG with axes (data/pages/heat_map.html); the page's script
reads the values of cells out, by mouse and by arrow keys, from the numbers that stand beside it.
"""

import base64
import struct
import zlib
from dataclasses import dataclass

import numpy

from sibyl.profile.sites import Site
from sibyl.terminal import seconds_text

COLUMNS_MOST = 240
ROWS_MOST = 256
LEVELS = 64
# From nearly white to dark blue: one hue, so that lightness alone tells, to every eye.
LIGHT, DARK = (243, 246, 250), (0, 50, 110)
# Where the scale ends: later ones are as dark.
TOP_QUANTILE = 0.99
SMALLEST = 1e-9  # seconds that clocks tell apart
LEFT, TOP, WIDTH = 52, 6, 860


@dataclass(frozen=True)
class HeatMap:
    """What data/pages/heat_map.html draws.

    Attributes:
        levels: a byte for each cell, row by row, in base64: its lateness in LEVELS steps.
        shape: rows and columns.
        top: lateness of the highest level, in seconds.
        per_column: calls whose mean is a column.
        means: what cells are means of, in words.
        image: the cells as PNG in base64.
        ranks: the first one of each row.
        rows: where labels of ranks stand, and what they say.
        calls: the same below the columns, with how they are aligned.
        key: lateness of colours: where, colour, text.
    """

    levels: str
    shape: tuple[int, int]
    top: float
    per_column: int
    means: list[str]
    image: str
    ranks: list[int]
    rows: list[tuple[float, int]]
    calls: list[tuple[float, str, str]]
    key: list[tuple[float, str, str]]
    height: int
    left: int = LEFT
    above: int = TOP
    width: int = WIDTH


def all_came_together(site: Site) -> bool:
    """Whether there are several ranks, none later than another."""
    return _has_calls(site) and float(site.attribution.lateness.max()) < SMALLEST


def _has_calls(site: Site) -> bool:
    return len(site.members) > 1 and len(site.enter) > 0


def heat_map(site: Site) -> HeatMap | None:
    """The picture; None where there is nothing to see."""
    if not _has_calls(site) or all_came_together(site):
        return None
    late = numpy.maximum(site.attribution.lateness, 0.0).T
    cells, per_column = _binned(late, COLUMNS_MOST)
    rows, per_row = _binned(cells.T, ROWS_MOST)
    cells = rows.T
    top = float(numpy.quantile(cells, TOP_QUANTILE)) or float(cells.max()) or 1e-9
    levels = numpy.minimum(cells / top * (LEVELS - 1), LEVELS - 1).round().astype("u1")
    height = int(min(420, max(72, 16 * len(levels))))
    ranks = [int(rank) for rank in site.members[::per_row]]
    scale = height / len(levels)
    every = max(1, -(-14 // max(1, int(scale))))
    means = [f"of each {per_column} calls the mean"] if per_column > 1 else []
    means += [f"of each {per_row} ranks the mean"] if per_row > 1 else []
    labelled = range(0, len(levels), every)
    return HeatMap(
        levels=base64.b64encode(levels.tobytes()).decode(),
        shape=(len(levels), levels.shape[1]),
        top=top,
        per_column=per_column,
        means=means,
        image=_png(levels),
        ranks=ranks,
        rows=[(TOP + scale * (row + 0.5) + 4, ranks[row]) for row in labelled],
        calls=_call_labels(len(site.enter)),
        key=_key(top),
        height=height,
    )


def _call_labels(calls: int) -> list[tuple[float, str, str]]:
    parts = ((0.0, "start"), (0.5, "mid"), (1.0, "end"))
    return [
        (LEFT + part * WIDTH, anchor, f"call {max(0, round(part * (calls - 1)))}")
        for part, anchor in parts
    ]


def _key(top: float) -> list[tuple[float, str, str]]:
    steps = 5
    key = []
    for step in range(steps):
        colour = "#{:02x}{:02x}{:02x}".format(*_colour(step / (steps - 1)))
        text = "0" if step == 0 else seconds_text(top * step / (steps - 1))
        more = " or more" if step == steps - 1 else ""
        key.append((LEFT + 56 + step * 110, colour, f"{text}{more}"))
    return key


def _binned(values: numpy.ndarray, most: int) -> tuple[numpy.ndarray, int]:
    """Means of so many neighbours in a row that at most `most` are left; and how many."""
    count = values.shape[1]
    per = -(-count // most)
    if per == 1:
        return values, 1
    begins = numpy.arange(0, count, per)
    sums = numpy.add.reduceat(values, begins, axis=1)
    return sums / numpy.diff(numpy.append(begins, count)), per


def _colour(part: float) -> tuple[int, int, int]:
    low, high = numpy.array(LIGHT), numpy.array(DARK)
    red, green, blue = (int(value) for value in numpy.rint(low + (high - low) * part))
    return red, green, blue


def _png(levels: numpy.ndarray) -> str:
    """An image with a palette; PNG as its specification says."""
    height, width = levels.shape
    palette = b"".join(bytes(_colour(level / (LEVELS - 1))) for level in range(LEVELS))
    rows = b"".join(b"\0" + row.tobytes() for row in levels)

    def chunk(kind: bytes, data: bytes) -> bytes:
        checked = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checked)

    image = b"\x89PNG\r\n\x1a\n" + chunk(
        b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    )
    image += chunk(b"PLTE", palette) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    return base64.b64encode(image).decode()
