"""Call sites: what was spent at each, who was late there, how often and how far.

A site is a collective at a place in the source, on a communicator, with a size that MPI makes equal
on all ranks. Ranks may call from different lines: the line of the lowest rank stands for all.
Seconds are of all ranks together.

Rows hold every call of a rank; records may be fewer. What the records say of a row's calls - how
their time is split, their sizes - is taken for all its calls. Where no record of a row's calls was
put together with other ranks', its seconds are not split: `unsplit`.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy

from sibyl.profile.attribution import Attribution, attribute
from sibyl.profile.calls import CallSet, match_calls, members_of
from sibyl.profile.places import Place, Places
from sibyl.profile.trace import NO_COMMUNICATOR, TraceError
from sibyl.profile.world import World

# MPI wants these to be of one size on all ranks.
ONE_SIZE = (
    *("reduce", "allreduce", "bcast", "scan", "exscan", "reduce_scatter", "reduce_scatter_block"),
    *("gather", "scatter", "allgather", "alltoall", "barrier"),
)
# Ranks count their parts of the result, which make up the vector.
PARTS_OF_RESULT = ("reduce_scatter", "reduce_scatter_block")
# More sizes than these at one place are put together by powers of two.
SIZES_APART = 8
LATE_MOST = 8
# A rank that was never last is named all the same where it caused such a part of the waiting.
CAUSED_PART = 0.1
# A record may be a little longer than its row says: both are summed in floating point.
MESSAGES_BELOW = 0.999


@dataclass(frozen=True)
class Late:
    """A rank that was late at a site.

    Attributes:
        rank: of MPI_COMM_WORLD.
        share: part of the calls in which it came last.
        median_lateness: its arrival less the others' median one, in seconds; over the calls in
            which it came last, over all if there are none.
        seconds_caused: that others waited for it.
    """

    rank: int
    share: float
    median_lateness: float
    seconds_caused: float


@dataclass(frozen=True)
class Site:
    """A call site.

    Attributes:
        collective: as Sibyl calls it, such as reduce.
        place: in the source, of the lowest rank.
        also_at: places of other ranks.
        members: ranks of the world that left a trace; empty where they are not known.
        communicator_size: missing ranks included.
        calls: on the communicator.
        bytes: that all ranks gave in all calls.
        seconds: of all ranks.
        unsplit: the part of `seconds` that is neither known to be waiting nor moving.
        size: of a call's vector or block in bytes, the median of the calls.
        sizes: the smallest and the largest.
        enter, leave: shape (calls that were put together, members): seconds since the run began.
        given: bytes that each member gave, the same shape.
        root: of each such call, a rank of the communicator, or -1.
        weight: shape of `enter`: how many seconds one second of a record stands for. Below 1 where
            messages that Python's mpi4py sends for a collective on objects have led to the call:
            a record begins with them, a row counts the call alone.
        by_sibyl: shape of `enter`: whether Sibyl has served it, and not the MPI library.
    """

    collective: str
    place: Place
    also_at: tuple[Place, ...]
    members: tuple[int, ...]
    communicator_size: int
    calls: int
    bytes: int
    seconds: float
    unsplit: float
    size: int
    sizes: tuple[int, int]
    enter: numpy.ndarray
    leave: numpy.ndarray
    given: numpy.ndarray
    root: numpy.ndarray
    weight: numpy.ndarray
    by_sibyl: numpy.ndarray

    @cached_property
    def attribution(self) -> Attribution:
        """Of the calls that were put together."""
        return attribute(self.enter, self.leave)

    @property
    def has_messages(self) -> bool:
        """Whether the call is the end of a collective that mpi4py makes of messages."""
        return bool((self.weight < MESSAGES_BELOW).any())

    @cached_property
    def waiting(self) -> float:
        """Seconds of all ranks that were waiting for late ones."""
        return float((self.attribution.waiting * self.weight).sum())

    @cached_property
    def moving(self) -> float:
        """The rest of the seconds that could be split."""
        return max(0.0, self.seconds - self.unsplit - self.waiting)

    @cached_property
    def caused(self) -> numpy.ndarray:
        """Of each member, the seconds that others waited for it."""
        of_call = self.weight.mean(axis=1, keepdims=True)
        caused = (self.attribution.caused * of_call).sum(axis=0)
        total = float(caused.sum())
        return caused * (self.waiting / total) if total > 0 else caused

    @cached_property
    def _all_late(self) -> list[Late]:
        """Ranks that were late, the one that was last most often first."""
        if len(self.members) < 2 or not len(self.enter):
            return []
        found = self.attribution
        last = numpy.bincount(found.last, minlength=len(self.members))
        late = []
        for place, rank in enumerate(self.members):
            seconds = float(self.caused[place])
            if not last[place] and seconds < CAUSED_PART * max(self.waiting, 1e-12):
                continue
            chosen = found.last == place if last[place] else slice(None)
            lateness = float(numpy.median(found.lateness[chosen, place]))
            late.append(Late(rank, float(last[place] / len(self.enter)), lateness, seconds))
        late.sort(key=lambda each: (-each.share, -each.seconds_caused, each.rank))
        return late

    @property
    def late(self) -> list[Late]:
        """The first of those, the costliest among them."""
        late, costliest = self._all_late[:LATE_MOST], self.costliest
        return late if costliest is None or costliest in late else [*late[:-1], costliest]

    @cached_property
    def costliest(self) -> Late | None:
        """The rank that others waited for most; None where nobody waited."""
        if not self._all_late or self.waiting <= 0:
            return None
        return max(self._all_late, key=lambda each: each.seconds_caused)


@dataclass(frozen=True)
class MessageSite:
    """A place at which messages are received or waited for."""

    function: str
    place: Place
    calls: int
    seconds: float


@dataclass
class _Rows:
    """What records of one row add up to; `first`: those of the first calls of communicators."""

    calls: int = 0
    seconds: float = 0.0
    bytes: int = 0
    first: float = 0.0

    def weights(self, calls: int, seconds: float) -> tuple[float, float]:
        """How many seconds one of a record stands for: of a first call, and of another one.

        Where calls are left out the first ones never are, so that they stand for themselves.

        Args:
            calls: of the row, with a record and without.
            seconds: of these.
        """
        others = self.seconds - self.first
        # Messages that belong to a record may make the first one longer than all of the row.
        if self.calls < calls and 0 < others <= seconds - self.first:
            return 1.0, (seconds - self.first) / others
        each = seconds / self.seconds if self.seconds > 0 else 1.0
        return each, each


def collective_name(function: str) -> str:
    """As Sibyl calls what MPI calls MPI_Reduce or MPI_Reduce_c."""
    return function.removeprefix("MPI_").removesuffix("_c").lower()


def find_sites(world: World, places: Places) -> tuple[list[Site], list[MessageSite]]:
    """The sites of a run, those that took most time first."""
    groups: dict[tuple[str, Place, tuple[int, ...], int], list[CallSet]] = defaultdict(list)
    matched: dict[tuple[int, int], _Rows] = defaultdict(_Rows)
    for calls in match_calls(world):
        place = _place_of(places, world, calls.members[0], calls.rows[0])
        key = collective_name(calls.function), place, calls.members, calls.size
        groups[key].append(calls)
        inside = calls.leave - calls.enter
        for column, (rank, row) in enumerate(zip(calls.members, calls.rows, strict=True)):
            total = matched[rank, row]
            total.calls += len(inside)
            total.seconds += float(inside[:, column].sum())
            total.first += float(inside[calls.number == 0, column].sum())
            total.bytes += int(calls.bytes[:, column].sum())
    sites: list[Site] = []
    for (collective, place, _, _), sets in groups.items():
        for part in _by_size(collective, sets):
            sites.append(_site(collective, place, part, world, places, matched))
    sites += _unsplit_sites(world, places, matched)
    sites.sort(key=lambda site: (-site.seconds, site.collective, site.place))
    return sites, _message_sites(world, places)


def _place_of(places: Places, world: World, rank: int, row: int) -> Place:
    trace = world.traces[rank]
    return places.of_site(trace, int(trace.tables["rows"]["site"][row]))


def sizes_of(collective: str, given: numpy.ndarray, ranks: int) -> numpy.ndarray:
    """The size of each call's vector or block, from what each rank gave."""
    if not len(given):
        return numpy.zeros(0, "i8")
    if collective in PARTS_OF_RESULT:
        return given.sum(axis=1)
    largest = given.max(axis=1)
    return largest // ranks if collective == "alltoall" else largest


def _by_size(collective: str, sets: Sequence[CallSet]) -> Iterable[list[CallSet]]:
    """The same calls, apart by their size where all ranks have the same."""
    if collective not in ONE_SIZE:
        yield list(sets)
        return
    sizes = [sizes_of(collective, calls.bytes, calls.size) for calls in sets]
    known = numpy.unique(numpy.concatenate(sizes))
    if len(known) > SIZES_APART:
        sizes = [numpy.ceil(numpy.log2(numpy.maximum(size, 1))).astype("i8") for size in sizes]
        known = numpy.unique(numpy.concatenate(sizes))
    for one in known:
        part = []
        for calls, size in zip(sets, sizes, strict=True):
            chosen = size == one
            if chosen.any():
                part.append(_chosen(calls, chosen))
        yield part


def _chosen(calls: CallSet, chosen: numpy.ndarray) -> CallSet:
    if chosen.all():
        return calls
    return CallSet(
        *(calls.members, calls.size, calls.function, calls.rows, calls.root),
        *(calls.number[chosen], calls.enter[chosen], calls.leave[chosen], calls.bytes[chosen]),
        calls.by_sibyl[chosen],
    )


def _site(
    collective: str,
    place: Place,
    sets: Sequence[CallSet],
    world: World,
    places: Places,
    matched: dict[tuple[int, int], _Rows],
) -> Site:
    members, size = sets[0].members, sets[0].size
    also: set[Place] = set()
    calls = given = seconds = 0.0
    weights = []
    for part in sets:
        weight = numpy.ones(part.enter.shape)
        for column, (rank, row) in enumerate(zip(members, part.rows, strict=True)):
            also.add(_place_of(places, world, rank, row))
            exact, recorded = world.traces[rank].tables["rows"][row], matched[rank, row]
            first, other = recorded.weights(int(exact["calls"]), float(exact["ns"]) * 1e-9)
            weight[:, column] = numpy.where(part.number == 0, first, other)
            gave = int(part.bytes[:, column].sum())
            given += gave * (int(exact["bytes"]) / recorded.bytes if recorded.bytes else 1)
            if column == 0:
                calls += len(part.enter) * int(exact["calls"]) / recorded.calls
        seconds += float(((part.leave - part.enter) * weight).sum())
        weights.append(weight)
    enter = numpy.concatenate([part.enter for part in sets])
    order = numpy.argsort(enter.min(axis=1), kind="stable")
    bytes_of = numpy.concatenate([part.bytes for part in sets])[order]
    each = sizes_of(collective, bytes_of, size)
    return Site(
        collective,
        place,
        tuple(sorted(also - {place})),
        members,
        size,
        round(calls),
        round(given),
        seconds,
        0.0,
        int(numpy.median(each)),
        (int(each.min()), int(each.max())),
        enter[order],
        numpy.concatenate([part.leave for part in sets])[order],
        bytes_of,
        numpy.concatenate([numpy.full(len(part.enter), part.root) for part in sets])[order],
        numpy.concatenate(weights)[order],
        numpy.concatenate([part.by_sibyl for part in sets])[order],
    )


def _unsplit_sites(
    world: World, places: Places, matched: dict[tuple[int, int], _Rows]
) -> Iterable[Site]:
    """Rows of which no call could be put together with those of other ranks."""
    found: dict[tuple[str, Place, str, int], dict[int, numpy.ndarray]] = defaultdict(dict)
    for rank, trace in world.traces.items():
        names, rows = trace.functions, trace.tables["rows"]
        for row in numpy.flatnonzero(trace.is_collective):
            entry = rows[row]
            if (rank, int(row)) in matched or not entry["calls"]:
                continue
            text, size = "", 0
            if entry["communicator"] != NO_COMMUNICATOR:
                communicator = trace.tables["communicators"][entry["communicator"]]
                text, size = trace.text(communicator["members"]), int(communicator["size"])
            collective = collective_name(names[int(entry["function"])])
            key = collective, _place_of(places, world, rank, int(row)), text, size
            counts = numpy.array([entry["calls"], entry["bytes"], entry["ns"]], float)
            found[key][rank] = found[key].get(rank, 0) + counts
    for (collective, place, text, size), of_rank in found.items():
        try:
            members = tuple(rank for rank in members_of(text) if rank in world.traces)
        except TraceError:
            members = ()
        total = sum(of_rank.values())
        seconds = float(total[2]) * 1e-9
        nothing = numpy.zeros((0, len(members)))
        yield Site(
            *(collective, place, (), members, size),
            *(int(max(counts[0] for counts in of_rank.values())), int(total[1])),
            *(seconds, seconds, 0, (0, 0)),
            *(nothing, nothing, nothing, numpy.zeros(0, int), nothing, nothing.astype(bool)),
        )


def _message_sites(world: World, places: Places) -> list[MessageSite]:
    found: dict[tuple[str, Place], list[float]] = defaultdict(lambda: [0, 0.0])
    for rank, trace in world.traces.items():
        names, rows = trace.functions, trace.tables["rows"]
        for row in numpy.flatnonzero(~trace.is_collective):
            entry = rows[row]
            name = names[int(entry["function"])]
            total = found[name, _place_of(places, world, rank, int(row))]
            total[0] += int(entry["calls"])
            total[1] += float(entry["ns"]) * 1e-9
    sites = [
        MessageSite(function, place, int(calls), seconds)
        for (function, place), (calls, seconds) in found.items()
    ]
    return sorted(sites, key=lambda site: (-site.seconds, site.function, site.place))
