"""A second reader of the plans: executes a plan's JSON with symbols instead of numbers.

Written from the contract of `sibyl plan --json` alone, in another language than the verifier and
without its code, so that the two can disagree. A value is the tuple of the contributions that it is
made of, from left to right; combining is joining, which does not commute.

Steps run as dataflow: a step may run once every step in its `after` list is complete, which the
contract says is enough. Which of the steps that may run does run is drawn by chance, so that a
dependency that a plan lacks shows up; `missing_dependencies` looks for the same without chance.
"""

import random
from collections import defaultdict
from typing import Any

Value = tuple[Any, ...]


# In place, `send` is `receive` at every rank.
ALIASED = ("exscan", "scan", "allreduce", "alltoall", "alltoallv")


class PlanError(AssertionError):
    """The plan does not do what its collective asks for."""


def units_of(data: dict[str, Any], count: int) -> list[int]:
    """The units of a slice in order."""
    ranges = data.get("ranges") or [[data["first"], count]]
    return [unit for first, size in ranges for unit in range(first, first + size)]


class RankState:
    """Buffers, steps and dependencies of one rank."""

    def __init__(self, plan: dict[str, Any], rank: int, in_place: bool):
        self.rank = rank
        self.steps = plan["programs"][rank]
        self.memory: dict[tuple[str, int], Value] = {}
        at_root = plan["collective"] == "reduce" and rank == plan["root"]
        self.aliased = in_place and (plan["collective"] in ALIASED or at_root)
        self.done: set[int] = set()
        self._fill(plan, rank, in_place)
        self.original = dict(self.memory)
        self.ordinal: list[int] = []
        sent: dict[int, int] = defaultdict(int)
        received: dict[int, int] = defaultdict(int)
        for step in self.steps:
            counter = sent if step["kind"] == "send" else received
            self.ordinal.append(counter[step["peer"]] if step.get("peer") is not None else -1)
            if step.get("peer") is not None:
                counter[step["peer"]] += 1
        self.waits = [set(step["after"]) for step in self.steps]

    def _fill(self, plan: dict[str, Any], rank: int, in_place: bool) -> None:
        segments, root = plan["segments"], plan["root"]
        collective = plan["collective"]
        blocks = plan["ranks"] * segments
        if collective == "barrier":
            return
        if collective in ("reduce_scatter", "reduce_scatter_block"):
            self.memory = {("send", unit): (rank,) for unit in range(blocks)}
        elif collective in ("alltoall", "alltoallv"):
            for unit in range(blocks):
                self.memory[self.place("send", unit)] = ((rank, *divmod(unit, segments)),)
        elif collective in ("allgather", "allgatherv"):
            buffer = "receive" if in_place else "send"
            for s in range(segments):
                self.memory[(buffer, rank * segments + s)] = ((rank, s),)
        elif collective == "bcast":
            if rank == root:
                self.memory = {("send", unit): (("part", unit),) for unit in range(segments)}
        elif collective in ("exscan", "scan", "reduce", "allreduce"):
            for unit in range(segments):
                self.memory[self.place("send", unit)] = (rank,)
        elif collective in ("gather", "gatherv"):
            buffer = "receive" if rank == root and in_place else "send"
            for s in range(segments):
                self.memory[(buffer, rank * segments + s)] = ((rank, s),)
        elif rank == root:
            for unit in range(plan["ranks"] * segments):
                self.memory[("send", unit)] = (divmod(unit, segments),)

    def place(self, buffer: str, unit: int) -> tuple[str, int]:
        """A unit's storage: MPI_IN_PLACE lets two names of it mean the same."""
        return ("receive" if self.aliased and buffer == "send" else buffer, unit)

    def _touched(self, step: dict[str, Any]) -> tuple[set, set]:
        count = step["count"]
        data = {self.place(step["buffer"], u) for u in units_of(step, count)}
        if step["kind"] == "send":
            return data, set()
        if step["kind"] == "receive":
            return set(), data
        if step["kind"] == "receive_combine":
            return data, data
        source = step["from"]
        read = {self.place(source["buffer"], u) for u in units_of(source, count)}
        return (read | data if step["kind"] == "combine" else read), data

    def missing_dependencies(self) -> list[tuple[int, int]]:
        """Pairs of steps that touch the same data, one of them writing, with no order between."""
        touched = [self._touched(step) for step in self.steps]
        before: list[set[int]] = []
        found = []
        for index, (reads, writes) in enumerate(touched):
            waits = set(self.waits[index])
            before.append(waits.union(*(before[earlier] for earlier in waits)))
            for earlier in range(index):
                r, w = touched[earlier]
                if (writes & (r | w) or reads & w) and earlier not in before[index]:
                    found.append((earlier, index))
        return found

    def ready(self) -> list[int]:
        """Steps that may run, messages apart."""
        return [
            i for i in range(len(self.steps)) if i not in self.done and self.waits[i] <= self.done
        ]

    def read(self, buffer: str, unit: int) -> Value:
        """A unit's value; reading what was never written is an error."""
        try:
            return self.memory[self.place(buffer, unit)]
        except KeyError:
            raise PlanError(
                f"rank {self.rank} reads {buffer}[{unit}] before it is written"
            ) from None


def execute(plan: dict[str, Any], in_place: bool = False, seed: int = 0) -> list[RankState]:
    """Run a plan to its end; returns the ranks' states.

    Raises:
        PlanError: deadlock, a message without a partner, a read of nothing.
    """
    draw = random.Random(seed)
    ranks = [RankState(plan, rank, in_place) for rank in range(plan["ranks"])]
    messages: dict[tuple[int, int, int], list[Value]] = {}
    active = list(range(plan["ranks"]))
    while active:
        moved = False
        draw.shuffle(active)
        for rank in active:
            state = ranks[rank]
            candidates = state.ready()
            draw.shuffle(candidates)
            for index in candidates:
                moved |= _run(state, index, messages)
        active = [rank for rank in active if len(ranks[rank].done) < len(ranks[rank].steps)]
        if active and not moved:
            raise PlanError(f"deadlock: ranks {active} wait for ever")
    if messages:
        raise PlanError(f"messages that nobody receives: {sorted(messages)}")
    return ranks


def _run(state: RankState, index: int, messages: dict[tuple[int, int, int], list[Value]]) -> bool:
    step = state.steps[index]
    units = units_of(step, step["count"])
    buffer, kind = step["buffer"], step["kind"]
    if kind == "send":
        key = (state.rank, step["peer"], state.ordinal[index])
        messages[key] = [state.read(buffer, unit) for unit in units]
    elif kind in ("receive", "receive_combine"):
        key = (step["peer"], state.rank, state.ordinal[index])
        if key not in messages:
            return False
        values = messages.pop(key)
        if len(values) != len(units):
            raise PlanError(f"message {key} has {len(values)} units, its receive {len(units)}")
        for unit, value in zip(units, values, strict=True):
            own = state.read(buffer, unit) if kind == "receive_combine" else ()
            state.memory[state.place(buffer, unit)] = value + own
    else:
        sources = units_of(step["from"], step["count"])
        values = [state.read(step["from"]["buffer"], unit) for unit in sources]
        for unit, value in zip(units, values, strict=True):
            own = state.read(buffer, unit) if kind == "combine" else ()
            state.memory[state.place(buffer, unit)] = value + own
    state.done.add(index)
    return True


def check_results(plan: dict[str, Any], ranks: list[RankState], in_place: bool) -> None:
    """Hold what the ranks have in their buffers against the meaning of the collective.

    Raises:
        PlanError: a result is wrong, or a buffer was touched that must not be.
    """
    segments, root = plan["segments"], plan["root"]
    collective = plan["collective"]
    for state in ranks:
        rank, wanted = state.rank, {}
        if unordered := state.missing_dependencies():
            raise PlanError(f"rank {rank}: nothing orders the steps {unordered}")
        blocks, everyone = plan["ranks"] * segments, tuple(range(plan["ranks"]))
        if collective in ("allreduce", "reduce_scatter", "reduce_scatter_block"):
            own = range(rank * segments, (rank + 1) * segments)
            units = range(segments) if collective == "allreduce" else own
            there = collective != "allreduce" and in_place and plan["ranks"] == 1
            wanted = {} if there else {("receive", u): everyone for u in units}
            for place in wanted.keys() & state.memory.keys():
                if not plan["keeps_order"]:
                    state.memory[place] = tuple(sorted(state.memory[place]))
        elif collective in ("allgather", "allgatherv"):
            wanted = {("receive", u): (divmod(u, segments),) for u in range(blocks)}
        elif collective in ("alltoall", "alltoallv"):
            wanted = {("receive", u): ((u // segments, rank, u % segments),) for u in range(blocks)}
        elif collective == "bcast":
            if rank != root:
                wanted = {("receive", u): (("part", u),) for u in range(segments)}
        elif collective == "barrier":
            pass
        elif collective in ("exscan", "scan"):
            last = rank if collective == "scan" else rank - 1
            if collective == "scan" or rank > 0:
                wanted = {("receive", u): tuple(range(last + 1)) for u in range(segments)}
        elif collective == "reduce":
            if rank == root:  # operands come together in any order
                wanted = {("receive", u): tuple(range(plan["ranks"])) for u in range(segments)}
                for place in wanted.keys() & state.memory.keys():
                    state.memory[place] = tuple(sorted(state.memory[place]))
        elif collective in ("gather", "gatherv"):
            if rank == root:
                wanted = {
                    ("receive", u): (divmod(u, segments),) for u in range(plan["ranks"] * segments)
                }
        elif not (rank == root and in_place):
            wanted = {("receive", rank * segments + s): ((rank, s),) for s in range(segments)}
        for place, value in wanted.items():
            if state.memory.get(place) != value:
                raise PlanError(
                    f"rank {rank}: {place} holds {state.memory.get(place)}, not {value}"
                )
        for place, value in state.memory.items():
            buffer = place[0]
            if buffer == "scratch" or place in wanted:
                continue
            if place not in state.original:
                raise PlanError(f"rank {rank} writes {place}, which is no part of its result")
            if value != state.original[place]:
                raise PlanError(f"rank {rank} overwrites its input {place}")
