"""Clairvoyant schedules and arrival patterns as NumPy arrays."""

from typing import TYPE_CHECKING, Literal

from sibyl import _core

if TYPE_CHECKING:
    import numpy
    import numpy.typing

Generator = Literal["linear", "pairing-heap", "segment-tree", "fast"]
RootOrder = Literal["first", "availability"]

# One event: `sender` sends `segment` to `receiver` in `round`.
EVENT = [("round", "<u4"), ("sender", "<i4"), ("receiver", "<i4"), ("segment", "<u4")]


def clairvoyant(
    arrivals: "numpy.typing.ArrayLike",
    segments: int,
    round_time: float,
    root: int = 0,
    algorithm: Generator = "fast",
    root_order: RootOrder = "first",
    rank: int | None = None,
) -> "numpy.ndarray":
    """Generate the schedule of a reduce whose arrival times are known.

    In every round of `round_time` each process that is there sends at most one segment and receives
    at most one; at the end `root` holds the sum of every segment. Times are taken at the exact
    value of their doubles, so all machines get the same schedule.

    Args:
        arrivals: shape (P,), float: the arrival time of each rank, in seconds; finite, not
            negative.
        segments: N, the parts that the vector is cut into.
        round_time: in seconds; positive, finite, not denormal.
        root: the rank that gets the result, 0 to P - 1.
        algorithm: the generator. All give the same events; fast is the fastest, linear the
            reference.
        root_order: where the root stands when a sender is looked for: before all others, or at the
            place of its arrival.
        rank: only the events that this rank takes part in; all if None.

    Returns:
        The events in order, shape (E,), a structured array with the fields round (uint32, from 0,
        skipped rounds count), sender, receiver (int32) and segment (uint32). Empty for one rank.
        The array owns what the generator wrote; nothing is copied.

    Raises:
        ValueError: what was asked makes no sense or does not fit into memory; one line says why.

    Source:
        J. Proficz, K. M. Ocetkiewicz, Improving Clairvoyant: reduction algorithm resilient to
        imbalanced process arrival patterns, 2020; docs/explanation/clairvoyant.md says where it
        is departed from.

    >>> import sibyl
    >>> sibyl.clairvoyant([0.0, 0.0], segments=1, round_time=1.0).tolist()
    [(0, 1, 0, 0)]
    """
    import numpy

    times = numpy.ascontiguousarray(arrivals, dtype=numpy.float64)
    if times.ndim != 1:
        raise ValueError(f"arrivals has {times.ndim} dimensions; give one time per rank")
    rows = _core.clairvoyant_events(times, segments, round_time, root, algorithm, root_order, rank)
    return rows.view(numpy.dtype(EVENT)).reshape(len(rows))


def arrival_pattern(pattern: str, ranks: int, root: int = 0) -> "numpy.ndarray":
    """Make an arrival pattern, or read one from a file.

    Args:
        pattern: flat, skewed:MAX, root-late:MAX, fixed:MAX, uniform:MAX:SEED, normal:MAX:SEED or
            exponential:MAX:SEED with MAX in seconds (include/sibyl/arrival.hpp says what they
            are), or the name of a file with one time a line. The same numbers on every platform.
        ranks: P.
        root: of root-late.

    Returns:
        The arrival time of each rank in seconds, shape (P,), float64.

    Raises:
        ValueError: the pattern or the file has the wrong form; one line says where and why.

    >>> import sibyl
    >>> sibyl.arrival_pattern("fixed:3", ranks=4).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    try:
        pattern.encode()
    except UnicodeEncodeError:
        why = "this is no UTF-8; give the file another name, or a link to it"
        raise ValueError(f"{pattern!a}: {why}") from None
    return _core.arrival_pattern(pattern, ranks, root)
