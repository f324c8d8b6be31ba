"""Records of all ranks put together to calls: who entered and left when.

A call is the same on all ranks where communicator and number are. A communicator is known by its
members and by the how-manieth with these members it is; communicators of the same members that are
made again and again are one for the report. Only calls that every rank of the communicator has
recorded are put together - of those ranks that left a trace. What a rank's rows count beyond them
goes in by scaling: a row holds all its calls and seconds.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce

import numpy

from sibyl.inputs import RANKS_MOST
from sibyl.memory import memory_limit
from sibyl.profile.trace import BY_SIBYL, NO_COMMUNICATOR, Trace, TraceError
from sibyl.profile.world import World, common

A_CELL = 100  # bytes that the analysis takes, at its peak, for a call of a rank


@dataclass(frozen=True)
class CallSet:
    """Calls on one communicator that made rows of the same collective meet.

    Attributes:
        members: ranks of the world, of those that left a trace.
        size: of the communicator, missing ranks included.
        function: MPI's name.
        rows: of each member, its row in its trace.
        root: rank of the communicator, -1 for none.
        number: of each call on its communicator.
        enter: shape (calls, members): seconds since the run began.
        leave: the same.
        bytes: what each member gives.
        by_sibyl: of each member, whether Sibyl has served it, and not the MPI library.
    """

    members: tuple[int, ...]
    size: int
    function: str
    rows: tuple[int, ...]
    root: int
    number: numpy.ndarray
    enter: numpy.ndarray
    leave: numpy.ndarray
    bytes: numpy.ndarray
    by_sibyl: numpy.ndarray


def members_of(text: str) -> tuple[int, ...]:
    """Ranks of "0-3,7".

    Raises:
        TraceError: it is no list of ranks.
    """
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", text):
        raise TraceError(f"'{text[:40]}' is no list of ranks")
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        if len(last or first) > len(str(RANKS_MOST)) or int(last or first) >= RANKS_MOST:
            raise TraceError(f"rank {(last or first)[:20]} is none")
        found += range(int(first), int(last or first) + 1)
    return tuple(found)


def members_text(members: tuple[int, ...]) -> str:
    """The other way."""
    parts: list[str] = []
    begin = 0
    for place in range(1, len(members) + 1):
        if place < len(members) and members[place] == members[place - 1] + 1:
            continue
        first, last = members[begin], members[place - 1]
        parts.append(str(first) if first == last else f"{first}-{last}")
        begin = place
    return ",".join(parts)


@dataclass(frozen=True)
class _Part:
    """The records of one rank on one communicator, by number."""

    number: numpy.ndarray
    record: numpy.ndarray


def match_calls(world: World) -> Iterator[CallSet]:
    """All calls that can be put together."""
    parts: dict[tuple[str, int], dict[int, _Part]] = defaultdict(dict)
    for rank, trace in world.traces.items():
        for key, part in _parts_of(trace).items():
            parts[key][rank] = part
    zero = _beginning(world)
    every = _one_of(parts.values())
    if every > 1:
        world.notes.append(
            f"there is memory for one call in {every} here; the others count in calls, bytes and "
            f"seconds"
        )
    for (text, _), of_rank in sorted(parts.items()):
        try:
            whole = members_of(text)
        except TraceError:
            continue  # its seconds stay with the rows
        present = tuple(rank for rank in whole if rank in world.traces)
        if any(rank not in of_rank for rank in present) or not present:
            continue
        yield from _sets_of(world, whole, present, of_rank, zero, every)


def _one_of(parts: Iterable[Mapping[int, _Part]]) -> int:
    """Of so many calls one is looked at, a power of 2: as many as there is memory for."""
    cells = sum(
        len(of_rank) * min(len(part.number) for part in of_rank.values()) for of_rank in parts
    )
    every = 1
    while cells * A_CELL > every * memory_limit():
        every *= 2
    return every


def _thinned(numbers: numpy.ndarray, every: int) -> numpy.ndarray:
    """About one of so many, whatever turns the program's calls take; the first one always."""
    if every == 1 or not len(numbers):
        return numbers
    spread = (numbers.astype("u8") * numpy.uint64(0x9E3779B97F4A7C15)) >> numpy.uint64(40)
    kept = spread % numpy.uint64(every) == 0
    kept[0] = True
    return numbers[kept]


def _parts_of(trace: Trace) -> dict[tuple[str, int], _Part]:
    rows, records = trace.tables["rows"], trace.tables["records"]
    found: dict[tuple[str, int], _Part] = {}
    if not len(records):
        return found
    of_record = rows["communicator"][records["row"]]
    collective = trace.is_collective[records["row"]]
    used = numpy.flatnonzero(collective & (of_record != NO_COMMUNICATOR))
    used = used[numpy.argsort(of_record[used], kind="stable")]
    places, begins = numpy.unique(of_record[used], return_index=True)
    for place, chosen in zip(places, numpy.split(used, begins[1:]), strict=False):
        communicator = trace.tables["communicators"][place]
        if int(communicator["flags"]):  # between two groups, or with ranks of other worlds
            continue
        number = records["number"][chosen]
        if not (number[1:] > number[:-1]).all():  # several threads
            number, first = numpy.unique(number, return_index=True)
            chosen = chosen[first]
        key = trace.text(communicator["members"]), int(communicator["name"])
        found[key] = _Part(number, chosen)
    return found


def _in_both(one: numpy.ndarray, other: numpy.ndarray) -> numpy.ndarray:
    if numpy.array_equal(one, other):
        return one
    return numpy.intersect1d(one, other, assume_unique=True)


def _kinds(columns: numpy.ndarray) -> numpy.ndarray:
    """The number of each row of an array among those that differ, equal rows alike."""
    kind = numpy.zeros(len(columns), "i8")
    for column in columns.T:
        # Codes stay small: they are numbered anew after each column.
        both = kind * (int(column.max(initial=0)) + 2) + column + 1
        values, kind = numpy.unique(both, return_inverse=True)
        if len(values) == len(columns):
            break
    return kind.reshape(-1)


def _sets_of(
    world: World,
    whole: tuple[int, ...],
    present: tuple[int, ...],
    of_rank: dict[int, _Part],
    zero: int,
    every: int,
) -> Iterator[CallSet]:
    numbers = reduce(_in_both, (of_rank[rank].number for rank in present))
    numbers = _thinned(numbers, every)
    if not len(numbers):
        return
    shape = len(numbers), len(present)
    enter, leave = numpy.empty(shape), numpy.empty(shape)
    size, row = numpy.empty(shape, "i8"), numpy.empty(shape, "i8")
    root = numpy.full(len(numbers), -1)
    function = numpy.empty(shape, "i8")
    by_sibyl = numpy.empty(shape, bool)
    names: dict[str, int] = {}
    for column, rank in enumerate(present):
        trace, part = world.traces[rank], of_rank[rank]
        chosen = part.record[numpy.searchsorted(part.number, numbers)]
        records = trace.tables["records"][chosen]
        enter[:, column] = (common(trace, records["enter_ns"]) - zero) * 1e-9
        leave[:, column] = (common(trace, records["exit_ns"]) - zero) * 1e-9
        size[:, column], row[:, column] = records["bytes"] & ~BY_SIBYL, records["row"]
        by_sibyl[:, column] = (records["bytes"] & BY_SIBYL) != 0
        named = numpy.where(records["root"] < len(whole), records["root"], -1)
        root = numpy.maximum(root, named)
        ids = numpy.array([names.setdefault(name, len(names)) for name in trace.functions])
        function[:, column] = ids[trace.tables["rows"]["function"][records["row"]]]
    leave = numpy.maximum(leave, enter)
    by_id = {number: name for name, number in names.items()}
    # Calls in which ranks call different collectives are errors of the program, no site.
    same = (function == function[:, :1]).all(axis=1)
    places = numpy.flatnonzero(same)
    kind = _kinds(numpy.column_stack([row, root])[places])
    for number in range(int(kind.max(initial=-1)) + 1):
        at = places[kind == number]
        yield CallSet(
            present,
            len(whole),
            by_id[int(function[at[0], 0])],
            tuple(int(value) for value in row[at[0]]),
            int(root[at[0]]),
            numbers[at],
            enter[at],
            leave[at],
            size[at],
            by_sibyl[at],
        )


def _beginning(world: World) -> int:
    """The time at which the first rank entered MPI_Init, on the common clock."""
    entered = (
        int(common(trace, numpy.array([int(trace.header["init_ns"])]))[0])
        for trace in world.traces.values()
    )
    return min(entered, default=0)
