"""The flight recorder: where the ranks of a running program are, and which calls do not match.

The traces that the recorder keeps (libsibyl-profile.so) say at any time in which call each thread
is. They are read while the program runs, and written to at that moment: what is taken from them is
looked at again, and left for the next look where it has changed.

What MPI_Comm_spawn starts has a world of its own, whose ranks count from 0 as well, and lives
beside the one that started it. Of several worlds that were spawned, the last one's ranks are looked
at.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy

from sibyl.errors import counted
from sibyl.profile.calls import members_of, members_text
from sibyl.profile.places import Places, short_names
from sibyl.profile.trace import (
    BY_SIBYL,
    COLLECTIVE,
    NO_COMMUNICATOR,
    SPAWNED,
    Trace,
    TraceError,
    read_trace,
)

# State of a thread that is in no call.
OUTSIDE = 0
# MPI wants all blocks alike on all ranks, which are no size of a rank's.
COUNTS_ALIKE = {
    "MPI_Allgatherv": "other counts",
    "MPI_Reduce_scatter": "other counts or another operator",
}


class Process(NamedTuple):
    """Whose rank is meant: MPI_Comm_spawn starts another world."""

    spawned: bool
    rank: int


class ThreadState(NamedTuple):
    """What changes with every call that a thread begins or ends.

    Attributes:
        tid: of the system.
        inside: a call.
        row: of the trace, of that call or of the last one.
        enter_ns: when it began.
        collective: whether it is one.
    """

    tid: int
    inside: bool
    row: int
    enter_ns: int
    collective: bool


class Communicator(NamedTuple):
    """What its ranks have in common: a world, and which of those with the same members it is."""

    spawned: bool
    members: str
    name: int


@dataclass(frozen=True)
class Position:
    """Where a thread of a rank is.

    Attributes:
        process: the rank of MPI_COMM_WORLD.
        where: in words; the same for ranks that are in the same call at the same place.
        inside: in an MPI call.
        seconds: since then; None where that is not known.
    """

    process: Process
    where: str
    inside: bool
    seconds: float | None


@dataclass(frozen=True)
class Call:
    """A collective call of a rank, finished or not."""

    process: Process
    function: str
    root: int
    size: int
    place: str


@dataclass(frozen=True)
class Mismatch:
    """Ranks that made different calls at the same place in the order of a communicator."""

    communicator: Communicator
    number: int
    one: Call
    other: Call

    def text(self) -> str:
        """One line."""
        whose = _ranks(self.communicator.spawned, self.communicator.members)
        return (
            f"call {self.number} on the communicator of {whose} does not match: "
            f"{_call_text(self.one)}, and {_call_text(self.other, *self._unsaid())}"
        )

    def _unsaid(self) -> Sequence[str]:
        """What differs besides function, root and size: the recorder's signature holds no more."""
        one, other = self.one, self.other
        if (one.function, one.root) != (other.function, other.root):
            return ()
        if one.function in COUNTS_ALIKE:
            return (COUNTS_ALIKE[one.function],)
        return ("another operator",) if one.size == other.size else ()


def _ranks(spawned: bool, ranks: str) -> str:
    """Which ranks: "rank 0", "spawned ranks 0-3"."""
    return f"{'spawned ' if spawned else ''}{'rank' if ranks.isdigit() else 'ranks'} {ranks}"


def _call_text(call: Call, *more: str) -> str:
    root = [f"root {call.root}"] if call.root >= 0 else []
    size = [] if call.function == "MPI_Barrier" else [f"{call.size} B"]
    facts = ", ".join([*root, *size, *more])
    what = f"{call.function} ({facts})" if facts else call.function
    who = _ranks(call.process.spawned, str(call.process.rank))
    return f"{who} calls {what} {call.place}"


@dataclass
class _Seen:
    """What has been taken from a trace."""

    trace: Trace
    records: int = 0
    kept_every: int = 0
    # Number, signature and row of calls that have not been compared with all ranks', by
    # communicator.
    calls: dict[Communicator, numpy.ndarray] = field(default_factory=dict)


_CALL = numpy.dtype(
    [("number", "<u8"), ("signature", "<u8"), ("row", "<u4"), ("root", "<i4"), ("bytes", "<u8")]
)


class FlightRecorder:
    """Reads the traces of a directory again and again.

    Thread safety: none.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._places = Places()
        self._seen: dict[Process, _Seen] = {}
        self._told: set[Communicator] = set()
        self._names: dict[tuple[bool, str], list[int]] | None = None  # since the last look

    def look(self) -> None:
        """Read what is there now."""
        self._names = None
        for path in sorted(self._directory.glob("*.trace")):
            try:
                trace = read_trace(path)
            except TraceError:
                continue  # it is being made
            if trace.rank < 0:
                continue
            process = Process(_is_spawned(trace), trace.rank)
            before = self._seen.get(process)
            if before is not None and before.trace.path == path:
                before.trace = trace
            elif before is None or int(before.trace.header["init_ns"]) < int(
                trace.header["init_ns"]
            ):
                self._seen[process] = _Seen(trace)  # also of the next program of a script

    @property
    def missing(self) -> list[Process]:
        """Ranks that have not come to MPI_Init, or whose files are not here."""
        sizes: dict[bool, int] = defaultdict(int)
        for process, seen in self._seen.items():
            size = int(seen.trace.header["world_size"])
            sizes[process.spawned] = max(sizes[process.spawned], size)
        everybody = (Process(spawned, r) for spawned, size in sizes.items() for r in range(size))
        return [process for process in everybody if process not in self._seen]

    def state(self) -> dict[tuple[Process, int], ThreadState]:
        """Of every thread of every rank that has not come to its end."""
        return {
            (process, number): ThreadState(
                int(thread["tid"]),
                int(thread["inside"]) != OUTSIDE,
                int(thread["row"]),
                int(thread["enter_ns"]),
                self._is_collective(seen.trace, int(thread["row"])),
            )
            for process, seen in sorted(self._seen.items())
            if not seen.trace.finished
            for number, thread in enumerate(seen.trace.tables["threads"])
        }

    @staticmethod
    def _is_collective(trace: Trace, row: int) -> bool:
        rows = trace.tables["rows"]
        if row >= len(rows):
            return False
        return int(trace.tables["functions"]["kind"][int(rows["function"][row])]) == COLLECTIVE

    def positions(self) -> list[Position]:
        """Where the ranks are: threads that are in a call, or else the last one that was."""
        return [p for process in sorted(self._seen) for p in self._positions_of(process)]

    def _positions_of(self, process: Process) -> Iterable[Position]:
        trace = self._seen[process].trace
        if trace.finished:
            return [Position(process, "past MPI_Finalize", False, None)]
        threads = trace.tables["threads"]
        rows = len(trace.tables["rows"])
        threads = threads[(threads["enter_ns"] != 0) & (threads["row"] < rows)]
        inside = threads[threads["inside"] != OUTSIDE]
        if len(inside):
            return [
                Position(process, f"in {self._text(trace, t)}", True, _age(trace, t))
                for t in inside
            ]
        if not len(threads):
            return [Position(process, "outside MPI, after MPI_Init", False, None)]
        last = threads[int(numpy.argmax(threads["enter_ns"]))]
        return [Position(process, f"outside MPI, after {self._text(trace, last)}", False, None)]

    def _who(self, trace: Trace, communicator: int) -> str:
        """A communicator in words: how many ranks, or which where they are not all of the world."""
        size = int(trace.tables["communicators"][communicator]["size"])
        key = _key(trace, communicator)
        before = 0 if key is None else self._number(key)
        if key is None or (size == int(trace.header["world_size"]) and before == 0):
            return counted(size, "rank")
        which = "the communicator" if before == 0 else f"communicator {before + 1}"
        return f"{which} of {_ranks(key.spawned, key.members)}"

    def _number(self, key: Communicator) -> int:
        """Among those of the same ranks, by their names: alike whichever rank is asked."""
        if self._names is None:
            names: dict[tuple[bool, str], set[int]] = defaultdict(set)
            for seen in self._seen.values():
                for communicator in range(len(seen.trace.tables["communicators"])):
                    known = _key(seen.trace, communicator)
                    if known is not None:
                        names[known.spawned, known.members].add(known.name)
            self._names = {ranks: sorted(found) for ranks, found in names.items()}
        return self._names[key.spawned, key.members].index(key.name)

    def _text(self, trace: Trace, thread: numpy.void) -> str:
        row = trace.tables["rows"][int(thread["row"])]
        function = trace.functions[int(row["function"])]
        place = self._place(trace, int(row["site"]))
        if int(row["communicator"]) == NO_COMMUNICATOR:
            return f"{function} {place}"
        root = f", root {int(thread['root'])}" if int(thread["root"]) >= 0 else ""
        who = self._who(trace, int(row["communicator"]))
        return f"{function}{root} {place}, call {int(thread['number'])} on {who}"

    def _place(self, trace: Trace, site: int) -> str:
        place = self._places.of_site(trace, site)
        line = f":{place.line}" if place.line else ""
        function = f" in {place.function}" if place.function else ""
        return f"at {short_names([place])[place]}{line}{function}"

    # ---- Calls that do not match ----

    def mismatches(self) -> list[Mismatch]:
        """Calls that were not seen to differ before; the first of each communicator."""
        by_communicator: dict[Communicator, dict[Process, numpy.ndarray]] = defaultdict(dict)
        for process, seen in self._seen.items():
            self._take_records(seen)
            for key, calls in seen.calls.items():
                by_communicator[key][process] = calls
            for key, call in self._under_way(seen.trace):
                known = by_communicator[key].get(process, numpy.empty(0, _CALL))
                by_communicator[key][process] = numpy.append(known, call)
        found = [self._compare(key, calls) for key, calls in by_communicator.items()]
        self._forget(by_communicator)
        return [mismatch for mismatch in found if mismatch is not None]

    def _take_records(self, seen: _Seen) -> None:
        trace = seen.trace
        kept_every = int(trace.header["kept_every_log2"])
        if kept_every != seen.kept_every:  # they were moved together
            seen.kept_every, seen.records = kept_every, 0
        records = numpy.array(trace.tables["records"][seen.records :])
        if int(trace.header["kept_every_log2"]) != kept_every:
            return  # in this moment, too
        seen.records += len(records)
        communicators = trace.tables["rows"]["communicator"][records["row"]]
        for number in numpy.unique(communicators[communicators != NO_COMMUNICATOR]):
            key = _key(trace, int(number))
            if key is None:
                continue
            own = records[communicators == number]
            calls = numpy.empty(len(own), _CALL)
            for name in _CALL.names or ():
                calls[name] = own[name]
            calls["bytes"] &= ~BY_SIBYL
            before = seen.calls.get(key, numpy.empty(0, _CALL))
            seen.calls[key] = numpy.append(before, calls)

    def _under_way(self, trace: Trace) -> Iterable[tuple[Communicator, numpy.ndarray]]:
        rows = trace.tables["rows"]
        for thread in numpy.array(trace.tables["threads"]):
            if int(thread["inside"]) == OUTSIDE or int(thread["row"]) >= len(rows):
                continue
            communicator = int(rows[int(thread["row"])]["communicator"])
            key = None if communicator == NO_COMMUNICATOR else _key(trace, communicator)
            if key is None:
                continue
            call = numpy.zeros(1, _CALL)
            for name in _CALL.names or ():
                call[name] = thread[name]
            yield key, call

    def _compare(self, key: Communicator, calls: dict[Process, numpy.ndarray]) -> Mismatch | None:
        if key in self._told or len(calls) < 2:
            return None
        (process, own), *others = sorted(calls.items(), key=lambda item: -len(item[1]))
        own = _sorted(own)
        for other, theirs in others:
            theirs = _sorted(theirs)
            _, here, there = numpy.intersect1d(
                own["number"], theirs["number"], assume_unique=True, return_indices=True
            )
            differ = own["signature"][here] != theirs["signature"][there]
            if not differ.any():
                continue
            first = int(numpy.argmax(differ))
            one, two = own[here[first]], theirs[there[first]]
            # A thread's state is no whole: what is read while it changes must be so twice.
            if not self._still(process, key, one) or not self._still(other, key, two):
                return None
            self._told.add(key)
            low, high = sorted(((process, one), (other, two)), key=lambda item: item[0])
            return Mismatch(key, int(one["number"]), self._call(*low), self._call(*high))
        return None

    def _still(self, process: Process, key: Communicator, call: numpy.void) -> bool:
        """Whether a call is in the records, or under way as it was seen."""
        seen = self._seen[process]
        if key in seen.calls and call in seen.calls[key]:
            return True
        return any(key == other and call == now[0] for other, now in self._under_way(seen.trace))

    def _call(self, process: Process, call: numpy.void) -> Call:
        trace = self._seen[process].trace
        row = trace.tables["rows"][int(call["row"])]
        return Call(
            process=process,
            function=trace.functions[int(row["function"])],
            root=int(call["root"]),
            size=int(call["bytes"]),
            place=self._place(trace, int(row["site"])),
        )

    def _forget(self, by_communicator: dict[Communicator, dict[Process, numpy.ndarray]]) -> None:
        """Drop calls that all ranks of a communicator have made, and all of one that was told."""
        for key, calls in by_communicator.items():
            everywhere = len(calls) == len(members_of(key.members)) and all(
                len(own) for own in calls.values()
            )
            last = min(int(own["number"].max()) for own in calls.values()) if everywhere else -1
            for seen in self._seen.values():
                if key not in seen.calls:
                    continue
                own = seen.calls[key]
                told = key in self._told
                seen.calls[key] = own[:0] if told else own[own["number"].astype("i8") >= last]


def _sorted(calls: numpy.ndarray) -> numpy.ndarray:
    """By number; of several of one number the last."""
    _, last = numpy.unique(calls["number"][::-1], return_index=True)
    return calls[::-1][last]


def _is_spawned(trace: Trace) -> bool:
    return bool(int(trace.header["flags"]) & SPAWNED)


def _key(trace: Trace, communicator: int) -> Communicator | None:
    """What the ranks of a communicator have in common; None for one between groups."""
    entry = trace.tables["communicators"][communicator]
    members = trace.text(entry["members"])
    if int(entry["flags"]) or not members:
        return None
    return Communicator(_is_spawned(trace), members, int(entry["name"]))


def _age(trace: Trace, thread: numpy.void) -> float | None:
    """Seconds in the call, where the trace was written on this machine."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    here = boot.read_text().strip().encode() if boot.exists() else b""
    if bytes(trace.header["boot_id"]).strip(b"\0 \n") != here:
        return None
    return max(0.0, time.clock_gettime(time.CLOCK_MONOTONIC) - int(thread["enter_ns"]) * 1e-9)


def position_lines(positions: Sequence[Position], missing: Sequence[Process]) -> list[str]:
    """One line for the ranks that are at the same place: who is in no call first."""
    groups: dict[tuple[bool, bool, str], list[Position]] = defaultdict(list)
    absent = [
        Position(process, "not in MPI yet, or on another host", False, None) for process in missing
    ]
    for position in [*positions, *absent]:
        groups[position.inside, position.process.spawned, position.where].append(position)
    lines = []
    for (_, spawned, where), members in sorted(
        groups.items(), key=lambda group: (group[0][0], group[1][0].process)
    ):
        ranks = members_text(tuple(sorted({p.process.rank for p in members})))
        longest = max((p.seconds for p in members if p.seconds is not None), default=None)
        since = "" if longest is None else f", for {longest:.1f} s"
        lines.append(f"  {_ranks(spawned, ranks)}: {where}{since}")
    return lines
