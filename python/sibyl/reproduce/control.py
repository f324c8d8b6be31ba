"""The control of an algorithm that knows who is late: the same one, told nothing.

A background variant beside the plain one, as the papers have it, mixes what knowing gains with what
early receipt and several transfers under way do. The control differs from its algorithm in nothing
but what it is told; beside it stands the algorithm told the arrival times of other ranks.
"""

from collections.abc import Mapping, Sequence

from sibyl.reproduce.outcome import Claim, judge

# Less than this is no difference.
MARGIN = 0.02


def nothing(name: str) -> str:
    """The control of an algorithm, as `sibyl simulate` has it."""
    return f"none:{name}"


def wrong(name: str) -> str:
    """The algorithm, told the arrival times of other ranks."""
    return f"shuffled:{name}"


def with_controls(names: str, *aware: str) -> str:
    """Contenders between commas, and the controls of those that know who is late."""
    return ",".join([names, *(of(name) for name in aware for of in (nothing, wrong))])


def published_only(times: Mapping[str, float]) -> dict[str, float]:
    """The times of the contenders that the papers have."""
    return {name: time for name, time in times.items() if ":" not in name}


def worth_of_knowing(
    found: Mapping[float, Mapping[str, float]], name: str, unit: str, late: Sequence[float]
) -> Claim:
    """Whether an algorithm gains by what it knows, from times along what varies.

    Args:
        found: times of all contenders along what varies.
        name: of the algorithm that knows.
        unit: of what varies.
        late: the points under imbalance.
    """
    over = {point: found[point][nothing(name)] / found[point][name] for point in late}
    other = {point: found[point][wrong(name)] / found[point][name] for point in late}
    listed = ", ".join(f"{over[p]:.3f} ({other[p]:.3f})" for p in late)
    points = ", ".join(f"{p:g}" for p in late)
    return judge(
        f"knowing who is late shortens {name} by more than {100 * MARGIN:.0f} % (control: the same "
        "algorithm, told nothing)",
        [(f"{p:g} {unit}", over[p] > 1 + MARGIN) for p in late],
        f"Told nothing (told the times of others) over told the truth: {listed} at {points} "
        f"{unit}.",
    )
