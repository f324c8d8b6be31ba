"""A Clairvoyant schedule as a page that plays it: rounds, segments, and who waits."""

import numpy

from sibyl.errors import CommandError
from sibyl.experiment.units import time_text
from sibyl.pages import render

# Cells and events that a browser still draws in time.
CELLS_MOST = 1 << 16
EVENTS_MOST = 500_000
KEY = (
    ("#e3e6ea", "not there yet"),
    ("#0072B2", "segment to be sent"),
    ("#D55E00", "received in this round"),
    ("#fff", "sent"),
    ("#d7191c", "rank that waits: there, not through, without a message"),
)


def check_size(ranks: int, segments: int) -> None:
    """Refuse what nobody could watch."""
    if ranks * segments > CELLS_MOST:
        raise CommandError(
            f"--html: {ranks} ranks with {segments} segments are {ranks * segments} cells; up to "
            f"{CELLS_MOST} can be watched, take fewer"
        )


def schedule_page(
    arrivals: numpy.ndarray, segments: int, round_time: float, root: int, events: numpy.ndarray
) -> str:
    """The page.

    Args:
        arrivals: of each rank, in seconds.
        segments: parts of the vector.
        round_time: seconds.
        root: who gets the result.
        events: what sibyl.clairvoyant gives.
    """
    ranks = len(arrivals)
    check_size(ranks, segments)
    if len(events) > EVENTS_MOST:
        raise CommandError(f"--html: {len(events)} messages; up to {EVENTS_MOST} can be watched")
    rounds = int(events["round"][-1]) + 1 if len(events) else 0
    spread = float(arrivals.max() - arrivals.min())
    # What is left to do when everybody is there; one rank's data through one port is the limit.
    after_last = rounds - spread / round_time
    title = f"reduce by Clairvoyant, {ranks} ranks, {segments} segments, root {root}"
    summary = (
        f"{rounds} rounds of {time_text(round_time)}, {len(events)} messages; "
        f"arrivals {time_text(spread)} apart; done {after_last:.1f} rounds after the last arrival, "
        f"{segments} are the least"
    )
    data = {
        "arrivals": arrivals.tolist(),
        "segments": segments,
        "round_time": round_time,
        "root": root,
        "events": events.tolist(),
    }
    return render("schedule.html", title=title, summary=summary, key=KEY, data=data)
