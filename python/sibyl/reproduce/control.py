"""The control of an algorithm that knows who is late: the same one, told nothing.

A background variant beside the plain one, as the papers have it, mixes what knowing gains with what
early receipt and several transfers under way do. The control differs from its algorithm in nothing
but what it is told; beside it stands the algorithm told the arrival times of other ranks.
"""

import statistics
from collections.abc import Mapping, Sequence
from typing import TypeVar

from sibyl.reproduce.outcome import Claim, as_control, judge
from sibyl.reproduce.worth import Told, span_of_worth

# Less than this is no difference.
MARGIN = 0.02
Value = TypeVar("Value")


def nothing(name: str) -> str:
    """The control of an algorithm, as `sibyl simulate` has it."""
    return f"none:{name}"


def wrong(name: str) -> str:
    """The algorithm, told the arrival times of other ranks."""
    return f"shuffled:{name}"


def with_collective(name: str, collective: str = "") -> str:
    """An algorithm that knows who is late, as the papers call it, with its collective.

    Args:
        name: of the papers, or NAME@K with K transfers of the root under way.
        collective: which; needed of the binomial trees alone, which several have.
    """
    if name == "CLV":
        return "reduce clairvoyant"
    name, _, under_way = name.partition("@")
    way = f", {under_way} under way" if under_way else ""
    return f"{collective or ('scatter' if name.endswith('LIN') else 'gather')} {name}{way}"


def with_controls(names: str, *aware: str) -> str:
    """Contenders between commas, and the controls of those that know who is late."""
    return ",".join([names, *(of(name) for name in aware for of in (nothing, wrong))])


def published_only(times: Mapping[str, Value]) -> dict[str, Value]:
    """The times of the contenders that the papers have."""
    return {name: time for name, time in times.items() if not set(":@") & set(name)}


class MeanTimes(dict[str, float]):
    """Means over the patterns, in ms, by contender.

    Attributes:
        each: what they are means of.
    """

    def __init__(self, means: Mapping[str, float] | None = None) -> None:
        """Of nothing, or of these means alone."""
        super().__init__(means or {})
        self.each: dict[str, list[float]] = {}

    def add(self, name: str, seconds: list[float]) -> None:
        """Of one contender, under every pattern."""
        self.each[name] = [1e3 * one for one in seconds]
        self[name] = statistics.fmean(self.each[name])

    def told(self, name: str) -> Told | None:
        """Beside its control; None where there is none."""
        if nothing(name) not in self.each or wrong(name) not in self.each:
            return None
        return Told(*(self.each[of] for of in (name, nothing(name), wrong(name))))


def worth_of_knowing(
    found: Mapping[float, MeanTimes],
    name: str,
    unit: str,
    late: Sequence[float],
    what: str = "",
    collective: str = "",
) -> Claim:
    """Whether an algorithm gains by what it knows, from times along what varies.

    Args:
        found: times of all contenders along what varies.
        name: of the algorithm that knows.
        unit: of what varies.
        late: the points under imbalance.
        what: is shortened of the algorithm; its run time if nothing is said.
        collective: as with_collective takes it.
    """
    told = {point: found[point].told(name) for point in late}
    over, other = {}, {}
    for point, cell in told.items():
        times = found[point]  # means alone, where what they are of is not there
        over[point] = cell.worth if cell else times[nothing(name)] / times[name]
        other[point] = cell.wrong if cell else times[wrong(name)] / times[name]
    listed = ", ".join(f"{over[p]:.3f} ({other[p]:.3f})" for p in late)
    points = ", ".join(f"{p:g}" for p in late)
    known = [cell for cell in told.values() if cell is not None]
    claim = judge(
        f"knowing who is late shortens {what}{name} by more than {100 * MARGIN:.0f} % (control: "
        "the same algorithm, told nothing)",
        [(f"{p:g} {unit}", over[p] > 1 + MARGIN) for p in late],
        f"Told nothing (told the times of others) over told the truth: {listed} at {points} "
        f"{unit}.",
        ours=span_of_worth(known)
        if known
        else f"told nothing over told the truth: {min(over.values()):.3f} to "
        f"{max(over.values()):.3f}",
    )
    metric = "elapsed" if what else "run"
    ratios = [cell.worth for cell in known] or over.values()
    return as_control(claim, with_collective(name, collective), metric, ratios)
