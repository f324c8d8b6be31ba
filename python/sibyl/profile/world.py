"""The ranks of a run: which traces belong together, on one clock, and who is missing.

A process may start several MPI programs one after the other (a shell script under mpiexec), and
each leaves a trace; the n-th traces of all ranks are one run. What was started by another mpiexec,
or by MPI_Comm_spawn, is another run, and has another size or another job (which not all launchers
tell). The one that spent most time in MPI is the one that is looked at.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy

from sibyl.profile.trace import (
    CLOCK_UNKNOWN,
    COPIED,
    SESSIONS_ONLY,
    SPAWNED,
    TABLE_OVERFLOWED,
    Trace,
    TraceError,
    read_trace,
)


@dataclass(frozen=True)
class World:
    """The traces of one run.

    Attributes:
        size: ranks of MPI_COMM_WORLD.
        traces: by rank, as far as they are there.
        notes: what a reader of the report must know, one sentence each.
    """

    size: int
    traces: dict[int, Trace]
    notes: list[str] = field(default_factory=list)

    @property
    def missing(self) -> list[int]:
        """Ranks without a trace."""
        return [rank for rank in range(self.size) if rank not in self.traces]

    @property
    def unfinished(self) -> list[int]:
        """Ranks that did not reach MPI_Finalize."""
        return sorted(rank for rank, trace in self.traces.items() if not trace.finished)

    @cached_property
    def hosts(self) -> dict[int, str]:
        """Where each rank ran."""
        return {rank: trace.host for rank, trace in self.traces.items()}

    @property
    def wall_seconds(self) -> float:
        """From the first rank that enters MPI_Init to the last that reaches MPI_Finalize."""
        if not self.traces:
            return 0.0
        first = min(float(common(t, numpy.array([t.header["init_ns"]]))[0]) for t in self._all)
        last = max(float(common(t, numpy.array([t.end_ns]))[0]) for t in self._all)
        return max(0.0, (last - first) * 1e-9)

    @property
    def clocks_unknown(self) -> bool:
        """Whether there are several hosts whose clocks could not be compared."""
        boots = {bytes(trace.header["boot_id"]) for trace in self._all}
        flags = [int(trace.header["flags"]) for trace in self._all]
        return len(boots) > 1 and any(flag & CLOCK_UNKNOWN for flag in flags)

    @property
    def clocks_compared_once(self) -> bool:
        """Whether clocks of several hosts were compared at the beginning alone."""
        boots = {bytes(trace.header["boot_id"]) for trace in self._all}
        return len(boots) > 1 and not all(trace.finished for trace in self._all)

    @property
    def clock_error(self) -> float | None:
        """By how much times of two ranks may be wrong against each other, in seconds, if known.

        Not where a rank of one of several hosts has not come to its end: its clock was compared at
        the beginning alone, and nobody knows how far it has run off since.
        """
        if self.clocks_unknown or self.clocks_compared_once:
            return None
        of_host: dict[bytes, float] = defaultdict(float)
        for trace in self._all:
            error = float(trace.header["error_begin_ns"])
            if trace.finished:
                error = max(error, float(trace.header["error_end_ns"]))
            host = bytes(trace.header["boot_id"]) or trace.host.encode()
            of_host[host] = max(of_host[host], error)
        return sum(sorted(of_host.values())[-2:]) * 1e-9

    @property
    def overhead_seconds(self) -> float:
        """What recording took, of all ranks together."""
        return sum(trace.overhead_ns for trace in self._all) * 1e-9

    @property
    def _all(self) -> Sequence[Trace]:
        return list(self.traces.values())


def common(trace: Trace, times: numpy.ndarray) -> numpy.ndarray:
    """Times of a rank's own clock as rank 0's, in nanoseconds.

    The offset was measured at MPI_Init and at MPI_Finalize; clocks drift evenly in between. When
    that was, all ranks of a host say alike: one of them may come to MPI_Finalize long before.
    """
    header = trace.header
    begin, end = int(header["compared_begin_ns"]), int(header["compared_end_ns"])
    offset = int(header["offset_begin_ns"])
    if end <= begin:
        return times + offset
    drift = (int(header["offset_end_ns"]) - offset) / (end - begin)
    # The product is small; times themselves would lose nanoseconds as doubles.
    return times + offset + numpy.rint((times - begin) * drift).astype("i8")


def read_world(directory: Path) -> World:
    """The run whose traces lie in a directory."""
    notes: list[str] = []
    traces: list[Trace] = []
    for path in sorted(directory.glob("*.trace")):
        try:
            traces.append(read_trace(path))
        except TraceError as error:
            notes.append(f"{path.name} cannot be read: {error}")
    runs = _runs(traces)
    if not runs:
        return World(0, {}, notes)
    run = max(runs, key=_time_inside)
    if len(runs) > 1:
        names = sorted({Path(t.program).name for other in runs if other is not run for t in other})
        notes.append(
            f"{len(runs)} MPI programs ran one after the other or beside each other; this is the "
            f"one that was longest in MPI, and {', '.join(names)} is left out"
        )
    known = [trace for trace in run if trace.rank >= 0]
    if known:
        size = max(int(trace.header["world_size"]) for trace in known)
        size = max(size, 1 + max(trace.rank for trace in known))
        world = World(size, {trace.rank: trace for trace in known}, notes)
    else:
        # Sessions alone: there is no MPI_COMM_WORLD, so ranks are numbered as their files lie.
        notes.append("the program has no MPI_COMM_WORLD; ranks are numbered by host and process")
        world = World(len(run), dict(enumerate(run)), notes)
    _note_limits(world)
    return world


def _runs(traces: Sequence[Trace]) -> list[list[Trace]]:
    of_world: dict[tuple[int, ...], dict[int, list[Trace]]] = defaultdict(lambda: defaultdict(list))
    for trace in sorted(traces, key=lambda trace: int(trace.header["init_ns"])):
        if trace.rank >= 0:
            of_world[_world_of(trace)][trace.rank].append(trace)
    runs = []
    for of_rank in of_world.values():
        longest = max(len(own) for own in of_rank.values())
        for place in range(longest):
            runs.append([own[place] for own in of_rank.values() if place < len(own)])
    nobody = [trace for trace in traces if trace.rank < 0]
    sessions = [trace for trace in nobody if int(trace.header["flags"]) & SESSIONS_ONLY]
    if sessions:
        runs.append(sessions)
    elif nobody and not runs:
        runs.append(nobody)
    return runs


def _world_of(trace: Trace) -> tuple[int, ...]:
    """What traces of one run have in common, as far as it is known."""
    header = trace.header
    return int(header["flags"]) & SPAWNED, int(header["world_size"]), int(header["job"])


def _time_inside(run: Sequence[Trace]) -> tuple[int, int]:
    return sum(int(trace.tables["rows"]["ns"].sum()) for trace in run), len(run)


def _note_limits(world: World) -> None:
    lost = sum(int(trace.header["lost_records"]) for trace in world.traces.values())
    kept = max((int(t.header["kept_every_log2"]) for t in world.traces.values()), default=0)
    if kept:
        world.notes.append(
            f"there was room for one call in {1 << kept}; the others count in calls, bytes and "
            f"seconds (SIBYL_PROFILE_MEMORY gives more room)"
        )
    elif lost:
        world.notes.append(f"{lost} calls are counted and have no record of their own")
    flags = [int(trace.header["flags"]) for trace in world.traces.values()]
    if world.clocks_unknown:
        world.notes.append("clocks of hosts could not be compared: waiting and lateness are wrong")
    elif world.clocks_compared_once:
        world.notes.append(
            "clocks of hosts were compared at MPI_Init alone: the later a call, the less is known "
            "of who was late"
        )
    if any(flag & TABLE_OVERFLOWED for flag in flags):
        world.notes.append(
            "there were more call sites or communicators than a trace holds; of calls on further "
            "communicators no bytes are known"
        )
    if any(_may_be_mixed_up(trace) for trace in world.traces.values()):
        world.notes.append(
            "several threads made calls, and some communicators of the same ranks are no copies, "
            "by MPI_Comm_dup, of the world or of one that had calls: where threads of two ranks "
            "came to their first calls in another order, lateness is wrong"
        )


def _may_be_mixed_up(trace: Trace) -> bool:
    """Whether communicators are named by the order of their first calls, which threads change."""
    made = trace.tables["communicators"]
    counted = (made["flags"] == 0) & (made["size"] > 1) & (made["name"] > 0)
    members = made["members"][counted & (made["name"] < COPIED)]
    return len(trace.tables["threads"]) > 1 and len(numpy.unique(members)) < len(members)
