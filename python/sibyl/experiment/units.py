"""Sizes and times as people write them: 128K, 1MiB; 5ms, 0.25s."""

import re

from sibyl.errors import CommandError

_SIZES = {"": 1, "b": 1, "k": 1 << 10, "kib": 1 << 10, "m": 1 << 20, "mib": 1 << 20}
_SIZES |= {"g": 1 << 30, "gib": 1 << 30, "kb": 10**3, "mb": 10**6, "gb": 10**9}
_TIMES = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # per second
# Thirty years: longer ones are slips, and infinite ones nothing that could be computed with.
_MOST_SECONDS = 1e9
_NUMBER = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([a-zA-Z]*)$")


def _read(text: str, units: dict[str, int], what: str, like: str) -> tuple[float, int]:
    match = _NUMBER.match(text.strip())
    if match is None or match.group(2).lower() not in units:
        raise CommandError(f"{what} '{text}': write {like}")
    return float(match.group(1)), units[match.group(2).lower()]


def read_size(text: str) -> int:
    """Bytes: a number with nothing, K, KiB, M, MiB, G, GiB (powers of 1024), kB, MB, GB."""
    number, unit = _read(text, _SIZES, "size", "bytes, as in 65536, 128K or 1MiB")
    size = number * unit
    if not 1 <= size < 2**40 or size != int(size):
        raise CommandError(f"size '{text}': a whole number of bytes, at least 1 and below 1 TiB")
    return int(size)


def read_time(text: str) -> float:
    """Seconds: a number with s, ms, us or ns; 0 alone needs no unit."""
    if text.strip() == "0":
        return 0.0
    number, parts = _read(text, _TIMES, "time", "a number with its unit, as in 500us, 5ms or 0.25s")
    seconds = number / parts
    if seconds > _MOST_SECONDS:
        raise CommandError(f"time '{text}': at most {_MOST_SECONDS:.0f}s")
    return seconds


def size_text(size: float) -> str:
    """Bytes for people, in powers of 1024; whole numbers without a point."""
    for factor, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= factor:
            return f"{size / factor:.4g} {unit}"
    return f"{size:.4g} B"


def time_text(seconds: float) -> str:
    """A time with four digits and the unit that suits it."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if abs(seconds) * factor >= 1:
            return f"{seconds * factor:.4g} {unit}"
    return f"{seconds * 1e9:.3g} ns" if seconds else "0"
