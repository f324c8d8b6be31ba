"""The flight recorder: where the ranks of a running program are, and which calls do not match.

The traces that the recorder keeps (libsibyl-profile.so) say at any time in which call each thread
is. They are read while the program runs, and written to at that moment: what is taken from them is
looked at again, and left for the next look where it has changed.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy

from sibyl.errors import counted
from sibyl.profile.calls import members_of, members_text
from sibyl.profile.places import Places, short_names
from sibyl.profile.trace import BY_SIBYL, NO_COMMUNICATOR, Trace, TraceError, read_trace

# State of a thread that is in no call.
OUTSIDE = 0
# MPI wants all blocks alike on all ranks, which are no size of a rank's.
COUNTS_ALIKE = {
    "MPI_Allgatherv": "other counts",
    "MPI_Reduce_scatter": "other counts or another operator",
}


@dataclass(frozen=True)
class Position:
    """Where a thread of a rank is.

    Attributes:
        rank: of MPI_COMM_WORLD.
        where: in words; the same for ranks that are in the same call at the same place.
        inside: in an MPI call.
        seconds: since then; None where that is not known.
    """

    rank: int
    where: str
    inside: bool
    seconds: float | None


@dataclass(frozen=True)
class Call:
    """A collective call of a rank, finished or not."""

    rank: int
    function: str
    root: int
    size: int
    place: str


@dataclass(frozen=True)
class Mismatch:
    """Ranks that made different calls at the same place in the order of a communicator."""

    members: str
    number: int
    one: Call
    other: Call

    def text(self) -> str:
        """One line."""
        return (
            f"call {self.number} on the communicator of ranks {self.members} does not match: "
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


def _call_text(call: Call, *more: str) -> str:
    root = [f"root {call.root}"] if call.root >= 0 else []
    size = [] if call.function == "MPI_Barrier" else [f"{call.size} B"]
    facts = ", ".join([*root, *size, *more])
    what = f"{call.function} ({facts})" if facts else call.function
    return f"rank {call.rank} calls {what} {call.place}"


@dataclass
class _Seen:
    """What has been taken from a trace."""

    trace: Trace
    records: int = 0
    kept_every: int = 0
    # Number, signature and row of calls that have not been compared with all ranks', by
    # communicator.
    calls: dict[tuple[str, int], numpy.ndarray] = field(default_factory=dict)


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
        self._seen: dict[int, _Seen] = {}
        self._told: set[tuple[str, int]] = set()

    def look(self) -> None:
        """Read what is there now."""
        for path in sorted(self._directory.glob("*.trace")):
            try:
                trace = read_trace(path)
            except TraceError:
                continue  # it is being made
            if trace.rank < 0:
                continue
            before = self._seen.get(trace.rank)
            if before is not None and before.trace.path == path:
                before.trace = trace
            elif before is None or int(before.trace.header["init_ns"]) < int(
                trace.header["init_ns"]
            ):
                self._seen[trace.rank] = _Seen(trace)  # also of the next program of a script

    @property
    def size(self) -> int:
        """Ranks of the world, as far as one is known."""
        return max((int(s.trace.header["world_size"]) for s in self._seen.values()), default=0)

    @property
    def missing(self) -> list[int]:
        """Ranks that have not come to MPI_Init, or whose files are not here."""
        return [rank for rank in range(self.size) if rank not in self._seen]

    def state(self) -> dict[int, tuple]:
        """Of every rank what changes with every call that begins or ends; () at its end."""
        return {
            rank: ()
            if seen.trace.finished
            else tuple(
                (int(t["tid"]), int(t["inside"]), int(t["row"]), int(t["enter_ns"]))
                for t in seen.trace.tables["threads"]
            )
            for rank, seen in sorted(self._seen.items())
        }

    def positions(self) -> list[Position]:
        """Where the ranks are: threads that are in a call, or else the last one that was."""
        return [p for rank in sorted(self._seen) for p in self._positions_of(rank)]

    def _positions_of(self, rank: int) -> Iterable[Position]:
        trace = self._seen[rank].trace
        if trace.finished:
            return [Position(rank, "past MPI_Finalize", False, None)]
        threads = trace.tables["threads"]
        rows = len(trace.tables["rows"])
        threads = threads[(threads["enter_ns"] != 0) & (threads["row"] < rows)]
        inside = threads[threads["inside"] != OUTSIDE]
        if len(inside):
            return [
                Position(rank, f"in {self._text(trace, t)}", True, _age(trace, t)) for t in inside
            ]
        if not len(threads):
            return [Position(rank, "outside MPI, after MPI_Init", False, None)]
        last = threads[int(numpy.argmax(threads["enter_ns"]))]
        return [Position(rank, f"outside MPI, after {self._text(trace, last)}", False, None)]

    def _text(self, trace: Trace, thread: numpy.void) -> str:
        row = trace.tables["rows"][int(thread["row"])]
        function = trace.functions[int(row["function"])]
        place = self._place(trace, int(row["site"]))
        if int(row["communicator"]) == NO_COMMUNICATOR:
            return f"{function} {place}"
        root = f", root {int(thread['root'])}" if int(thread["root"]) >= 0 else ""
        who = _who(trace, int(row["communicator"]))
        return f"{function}{root} {place}, call {int(thread['number'])} on {who}"

    def _place(self, trace: Trace, site: int) -> str:
        place = self._places.of_site(trace, site)
        line = f":{place.line}" if place.line else ""
        function = f" in {place.function}" if place.function else ""
        return f"at {short_names([place])[place]}{line}{function}"

    # ---- Calls that do not match ----

    def mismatches(self) -> list[Mismatch]:
        """Calls that were not seen to differ before; the first of each communicator."""
        by_communicator: dict[tuple[str, int], dict[int, numpy.ndarray]] = defaultdict(dict)
        for rank, seen in self._seen.items():
            self._take_records(seen)
            for key, calls in seen.calls.items():
                by_communicator[key][rank] = calls
            for key, call in self._under_way(seen.trace):
                known = by_communicator[key].get(rank, numpy.empty(0, _CALL))
                by_communicator[key][rank] = numpy.append(known, call)
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

    def _under_way(self, trace: Trace) -> Iterable[tuple[tuple[str, int], numpy.ndarray]]:
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

    def _compare(self, key: tuple[str, int], calls: dict[int, numpy.ndarray]) -> Mismatch | None:
        if key in self._told or len(calls) < 2:
            return None
        (rank, own), *others = sorted(calls.items(), key=lambda item: -len(item[1]))
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
            if not self._still(rank, key, one) or not self._still(other, key, two):
                return None
            self._told.add(key)
            low, high = sorted(((rank, one), (other, two)), key=lambda item: item[0])
            return Mismatch(key[0], int(one["number"]), self._call(*low), self._call(*high))
        return None

    def _still(self, rank: int, key: tuple[str, int], call: numpy.void) -> bool:
        """Whether a call is in the records, or under way as it was seen."""
        seen = self._seen[rank]
        if key in seen.calls and call in seen.calls[key]:
            return True
        return any(key == other and call == now[0] for other, now in self._under_way(seen.trace))

    def _call(self, rank: int, call: numpy.void) -> Call:
        trace = self._seen[rank].trace
        row = trace.tables["rows"][int(call["row"])]
        return Call(
            rank=rank,
            function=trace.functions[int(row["function"])],
            root=int(call["root"]),
            size=int(call["bytes"]),
            place=self._place(trace, int(row["site"])),
        )

    def _forget(self, by_communicator: dict[tuple[str, int], dict[int, numpy.ndarray]]) -> None:
        """Drop calls that all ranks of a communicator have made, and all of one that was told."""
        for key, calls in by_communicator.items():
            everywhere = len(calls) == len(members_of(key[0])) and all(
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


def _key(trace: Trace, communicator: int) -> tuple[str, int] | None:
    """What the ranks of a communicator have in common; None for one between groups."""
    entry = trace.tables["communicators"][communicator]
    members = trace.text(entry["members"])
    return None if int(entry["flags"]) or not members else (members, int(entry["occurrence"]))


def _who(trace: Trace, communicator: int) -> str:
    """A communicator in words: how many ranks, or which where they are not all of the world."""
    size = int(trace.tables["communicators"][communicator]["size"])
    key = _key(trace, communicator)
    if key is None or (size == int(trace.header["world_size"]) and key[1] == 0):
        return counted(size, "rank")
    members, occurrence = key
    which = "the communicator" if occurrence == 0 else f"communicator {occurrence + 1}"
    return f"{which} of {'rank' if members.isdigit() else 'ranks'} {members}"


def _age(trace: Trace, thread: numpy.void) -> float | None:
    """Seconds in the call, where the trace was written on this machine."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    here = boot.read_text().strip().encode() if boot.exists() else b""
    if bytes(trace.header["boot_id"]).strip(b"\0 \n") != here:
        return None
    return max(0.0, time.clock_gettime(time.CLOCK_MONOTONIC) - int(thread["enter_ns"]) * 1e-9)


def position_lines(positions: Sequence[Position], missing: Sequence[int]) -> list[str]:
    """One line for the ranks that are at the same place: who is in no call first."""
    groups: dict[tuple[bool, str], list[Position]] = defaultdict(list)
    for position in positions:
        groups[position.inside, position.where].append(position)
    if missing:
        groups[False, "not in MPI yet, or on another host"] = [
            Position(rank, "", False, None) for rank in missing
        ]
    lines = []
    for (_, where), members in sorted(groups.items(), key=lambda g: (g[0][0], g[1][0].rank)):
        ranks = members_text(tuple(sorted({p.rank for p in members})))
        longest = max((p.seconds for p in members if p.seconds is not None), default=None)
        since = "" if longest is None else f", for {longest:.1f} s"
        name = "rank" if ranks.isdigit() else "ranks"
        lines.append(f"  {name} {ranks}: {where}{since}")
    return lines
