"""How late each rank was in each call of a site: a picture of ranks by calls.

The cells are a small image inside an SVG with axes; the page's script reads the values of cells
out, by mouse and by arrow keys, from the numbers that stand beside it.
"""

import base64
import struct
import zlib
from html import escape

import numpy

from sibyl.mpi.report import seconds_text
from sibyl.profile.sites import Site

COLUMNS_MOST = 240
ROWS_MOST = 256
LEVELS = 64
# From nearly white to dark blue: one hue, so that lightness alone tells, to every eye.
LIGHT, DARK = (243, 246, 250), (0, 50, 110)
# Where the scale ends: later ones are as dark.
TOP_QUANTILE = 0.99
SMALLEST = 1e-9  # seconds that clocks tell apart
LEFT, TOP, WIDTH = 52, 6, 860


def heat_map(site: Site) -> str:
    """The picture, as HTML; "" where there is nothing to see."""
    if len(site.members) < 2 or not len(site.enter):
        return ""
    late = numpy.maximum(site.attribution.lateness, 0.0).T
    if late.max() < SMALLEST:
        return "<p>All ranks came at the same time.</p>"
    cells, per_column = _binned(late, COLUMNS_MOST)
    rows, per_row = _binned(cells.T, ROWS_MOST)
    cells = rows.T
    top = float(numpy.quantile(cells, TOP_QUANTILE)) or float(cells.max()) or 1e-9
    levels = numpy.minimum(cells / top * (LEVELS - 1), LEVELS - 1).round().astype("u1")
    height = int(min(420, max(72, 16 * len(levels))))
    picture = _svg(site, levels, top, height)
    words = [f"of each {per_column} calls the mean"] if per_column > 1 else []
    words += [f"of each {per_row} ranks the mean"] if per_row > 1 else []
    note = f" ({'; '.join(words)})" if words else ""
    data = base64.b64encode(levels.tobytes()).decode()
    members = ",".join(str(rank) for rank in site.members[::per_row])
    return (
        f'<figure class="heat" tabindex="0" role="group" aria-label="How late each rank was in '
        f'each call; arrow keys read cells" data-levels="{data}" data-columns="{levels.shape[1]}" '
        f'data-rows="{len(levels)}" data-top="{top!r}" data-per-column="{per_column}" '
        f'data-ranks="{members}" data-box="{LEFT},{TOP},{WIDTH},{height}">{picture}'
        f"<figcaption>How late each rank was, call by call{note}: darker is later than the median "
        f'of the other ranks. <output class="cell"></output></figcaption></figure>'
    )


def _binned(values: numpy.ndarray, most: int) -> tuple[numpy.ndarray, int]:
    """Means of so many neighbours in a row that at most `most` are left; and how many."""
    count = values.shape[1]
    per = -(-count // most)
    if per == 1:
        return values, 1
    begins = numpy.arange(0, count, per)
    sums = numpy.add.reduceat(values, begins, axis=1)
    return sums / numpy.diff(numpy.append(begins, count)), per


def _svg(site: Site, levels: numpy.ndarray, top: float, height: int) -> str:
    rows = len(levels)
    scale = height / rows
    out = [
        f'<svg viewBox="0 0 {LEFT + WIDTH + 8} {TOP + height + 58}" role="img" '
        f'aria-label="ranks by calls">',
        f'<image x="{LEFT}" y="{TOP}" width="{WIDTH}" height="{height}" '
        f'preserveAspectRatio="none" href="data:image/png;base64,{_png(levels)}"/>',
        f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH}" height="{height}" class="frame"/>',
        f'<rect class="cursor" width="{WIDTH / levels.shape[1]:.2f}" height="{scale:.2f}" '
        f'x="{LEFT}" y="{TOP}"/>',
    ]
    every = max(1, -(-14 // max(1, int(scale))))
    per_row = -(-len(site.members) // rows)
    for row in range(0, rows, every):
        y = TOP + scale * (row + 0.5) + 4
        out.append(f'<text x="{LEFT - 6}" y="{y:.1f}" class="end">{site.members[row * per_row]}')
        out.append("</text>")
    out.append(f'<text x="4" y="{TOP + height + 16}">rank</text>')
    calls = len(site.enter)
    for part, anchor in ((0.0, "start"), (0.5, "mid"), (1.0, "end")):
        text = escape(f"call {max(0, round(part * (calls - 1)))}")
        x = LEFT + part * WIDTH
        out.append(f'<text x="{x}" y="{TOP + height + 16}" class="{anchor}">{text}</text>')
    out.append(_legend(TOP + height + 34, top))
    return "".join([*out, "</svg>"])


def _legend(y: float, top: float) -> str:
    steps = 5
    parts = [f'<text x="{LEFT}" y="{y + 10}">late by</text>']
    for step in range(steps):
        colour = "#{:02x}{:02x}{:02x}".format(*_colour(step / (steps - 1)))
        x = LEFT + 56 + step * 110
        text = "0" if step == 0 else seconds_text(top * step / (steps - 1))
        more = " or more" if step == steps - 1 else ""
        parts.append(f'<rect x="{x}" y="{y}" width="22" height="12" fill="{colour}" class="key"/>')
        parts.append(f'<text x="{x + 28}" y="{y + 10}">{text}{more}</text>')
    return "".join(parts)


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
