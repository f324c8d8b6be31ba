"""What the time in calls was: waiting for late ranks, or moving data; and who was waited for.

Of a call in which rank i is from e_i to x_i, with L the last arrival: waiting_i = min(x_i, L) -
e_i, and the rest of x_i - e_i is moving. Between two arrivals, the waiting of all who are inside is
split evenly among those who are still missing. So what ranks have caused adds up to what others
have waited.
"""

from dataclasses import dataclass

import numpy

# Elements of one intermediate array.
CHUNK = 1 << 20


@dataclass(frozen=True)
class Attribution:
    """Of calls: shape (calls, ranks) each, in seconds.

    Attributes:
        waiting: of each rank, for later ones.
        moving: the rest of its time inside.
        caused: the waiting of others that is put down to it.
        lateness: its arrival less the median arrival of the others.
        last: shape (calls,): who came last.
    """

    waiting: numpy.ndarray
    moving: numpy.ndarray
    caused: numpy.ndarray
    lateness: numpy.ndarray
    last: numpy.ndarray


def attribute(enter: numpy.ndarray, leave: numpy.ndarray) -> Attribution:
    """Split the time of calls.

    Args:
        enter: shape (calls, ranks).
        leave: the same; no earlier than `enter`.
    """
    ranks = enter.shape[1]
    step = max(1, CHUNK // max(1, ranks))
    parts = [
        _attribute(enter[at : at + step], leave[at : at + step])
        for at in range(0, len(enter), step)
    ]
    if not parts:
        return _attribute(enter, leave)
    return Attribution(
        *(
            numpy.concatenate([getattr(part, name) for part in parts])
            for name in ("waiting", "moving", "caused", "lateness", "last")
        )
    )


def _attribute(enter: numpy.ndarray, leave: numpy.ndarray) -> Attribution:
    latest = enter.max(axis=1, keepdims=True) if enter.shape[1] else enter
    waiting = numpy.maximum(numpy.minimum(leave, latest) - enter, 0.0)
    return Attribution(
        waiting,
        leave - enter - waiting,
        _caused(enter, leave),
        _lateness(enter),
        enter.argmax(axis=1) if enter.shape[1] else numpy.zeros(len(enter), int),
    )


def _caused(enter: numpy.ndarray, leave: numpy.ndarray) -> numpy.ndarray:
    """The integral, up to each arrival, of how many are inside over how many are missing."""
    ranks = enter.shape[1]
    times = numpy.concatenate([enter, leave], axis=1)
    order = numpy.argsort(times, axis=1, kind="stable")
    times = numpy.take_along_axis(times, order, axis=1)
    arrives = order < ranks
    inside = numpy.cumsum(numpy.where(arrives, 1, -1), axis=1)
    missing = ranks - numpy.cumsum(arrives, axis=1)
    rate = numpy.divide(inside, missing, out=numpy.zeros(times.shape), where=missing > 0)
    grown = numpy.zeros(times.shape)
    numpy.cumsum(rate[:, :-1] * numpy.diff(times, axis=1), axis=1, out=grown[:, 1:])
    back = numpy.empty(times.shape)
    numpy.put_along_axis(back, order, grown, axis=1)
    return back[:, :ranks]


def _lateness(enter: numpy.ndarray) -> numpy.ndarray:
    """Each arrival less the median of the others' arrivals."""
    ranks = enter.shape[1]
    if ranks < 2:
        return numpy.zeros(enter.shape)
    order = numpy.argsort(enter, axis=1, kind="stable")
    place = numpy.empty_like(order)
    numpy.put_along_axis(place, order, numpy.arange(ranks)[None, :], axis=1)
    ordered = numpy.take_along_axis(enter, order, axis=1)

    def of_others(index: int) -> numpy.ndarray:
        """The others' arrival number `index`, by time."""
        here, after = ordered[:, index, None], ordered[:, index + 1, None]
        return numpy.where(place > index, here, after)

    low, high = (ranks - 2) // 2, (ranks - 1) // 2
    return enter - (of_others(low) + of_others(high)) / 2
