"""Where ranks were that did not reach MPI_Finalize: in which call, at which line, or in none."""

from dataclasses import dataclass

import numpy

from sibyl.profile.places import Place, Places
from sibyl.profile.world import World


@dataclass(frozen=True)
class LastCall:
    """A call that a rank had entered and not left.

    Attributes:
        rank: of MPI_COMM_WORLD.
        function: MPI's name.
        place: in the source.
    """

    rank: int
    function: str
    place: Place


def last_calls(world: World, places: Places) -> list[LastCall]:
    """By rank; ranks that were outside the calls that are watched have none."""
    found = []
    for rank in world.unfinished:
        trace = world.traces[rank]
        threads, rows, names = trace.tables["threads"], trace.tables["rows"], trace.functions
        inside = (threads["inside"] != 0) & (threads["row"] < len(rows))
        for thread in threads[numpy.flatnonzero(inside)]:
            row = rows[int(thread["row"])]
            place = places.of_site(trace, int(row["site"]))
            found.append(LastCall(rank, names[int(row["function"])], place))
    return found
