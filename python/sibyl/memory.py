"""The memory of this machine, and what plans take of it: told before they are made.

Without that a number of ranks with a zero too many ends in the kernel's ending some process.
"""

import os
from collections.abc import Callable

from sibyl import _core
from sibyl.errors import CommandError

# Bytes of a plan, measured: beside its steps each rank has lists of its own.
A_RANK = 128
A_STEP = 64
# And of what the verifier knows: of each step, measured, and of each unit.
A_PROVEN_STEP = 76
A_PROVEN_UNIT = 32
# Ranks whose programs are counted first, and how many times as many then.
FEW_RANKS = 4096
MORE = 16
MOST_RANKS = 2**31 - 1  # that MPI counts


def memory_limit() -> float:
    """Bytes that a command may take; the rest is for others."""
    return 0.8 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def check_plan_memory(
    row: _core.Algorithm, ranks: int, segments: int = 1, beside: int = 0, proven: bool = False
) -> None:
    """Refuse plans that do not fit into memory, before anything large is made.

    Args:
        row: the algorithm.
        ranks: of the plan.
        segments: that it is asked for.
        beside: bytes that each step takes besides, of what is made from the plan.
        proven: it is verified.

    Raises:
        CommandError: it does not fit.
    """
    if ranks > MOST_RANKS:
        return  # told where the plan is made
    limit = memory_limit()
    counted = min(ranks, FEW_RANKS)
    while True:
        # A rank has no fewer steps among more ranks. Even to count those of a single one takes
        # gigabytes where there are absurdly many, so these are approached.
        more = ranks / counted
        steps = more * _estimate(_core.estimate_steps, row, counted, segments)
        needed = ranks * A_RANK + steps * (A_STEP + beside)
        if proven:
            units = more * _estimate(_core.estimate_units, row, counted, segments)
            needed += steps * A_PROVEN_STEP + units * A_PROVEN_UNIT
            if row.collective == "barrier":  # a bit for each rank that a step has waited for
                needed += steps * ranks / 8
        if needed > limit:
            raise CommandError(
                f"--ranks {ranks}: {row.collective} {row.name} has about {steps:.2g} steps and "
                f"takes {needed / 2**30:.3g} GiB of memory, of which this machine has "
                f"{limit / 0.8 / 2**30:.3g}; take fewer ranks"
            )
        if counted == ranks:
            return
        counted = min(ranks, counted * MORE)


def _estimate(
    of: Callable[[_core.Request], float], row: _core.Algorithm, ranks: int, segments: int
) -> float:
    """About how many there are in a plan; none where that is not planned for so many ranks."""
    # Of an even number the ranks that are counted are inner ones of a tree more often than others.
    for near in (ranks - 1 + ranks % 2, ranks):
        try:
            request = _core.plan_request(row.collective, row.name, near, segments=segments)
        except ValueError:  # told where the plan itself is made
            continue
        return of(request) * (ranks / near)
    return 0.0
