"""The appendix of Proficz 2020: figures 18 to 20, elapsed times in the simulator.

The elapsed time of a call is the mean over the ranks of the time from a rank's own arrival to its
own exit. The paper shows it in pictures only, of the same measurements as figures 14, 15 and 17,
and says that it behaves like the run time and favours the same algorithms. That is what is judged.
"""

from collections.abc import Callable, Container, Mapping

from sibyl.reproduce.control import MARGIN, MeanTimes, worth_of_knowing
from sibyl.reproduce.outcome import Claim, Outcome, judge
from sibyl.reproduce.rack import COLUMNS, DELAYS_MS, SETTING, Means, lines, mean_times, rows
from sibyl.reproduce.scatter_gather import (
    AWARE,
    GATHER_AND_CONTROLS,
    NODES,
    SCATTER_AND_CONTROLS,
)

# Each algorithm that knows who is late, beside the one that it is made from.
PAIRS = {
    "scatter": (("SLIN", "LIN"), ("BSLIN", "LIN"), ("SBN", "BNOM"), ("BSBN", "BNOM")),
    "gather": (("SLS", "LS"), ("BSLS", "LS"), ("SBN", "BNOM"), ("BSBN", "BNOM")),
}
WHAT = "the elapsed time of "
# Why the trees differ from what the paper says.
TREES = {
    "scatter": "Where the nodes are no power of two the trees have different shapes: of 48 ranks "
    "the largest subtree, which is served first, has 16 in BNOM and 24 in SBN and BSBN.",
    "gather": "In SBN every rank has a parent that comes later than itself and waits for it; in "
    "BSBN that parent takes the data in the background.",
}
ALIKE = (
    "average elapsed times behave like the run times: what is ahead in one is not behind in the "
    "other"
)
WHICH_PAIRS = (
    f"Pairs of an algorithm and the one that it is made from; less than {100 * MARGIN:.0f} % is no "
    "difference."
)
NO_LONGER = (
    "under imbalance the algorithms that know who is late have no longer elapsed times than those "
    "that they are made from"
)


def pairs_of(collective: str, names: Container[str]) -> list[tuple[str, str]]:
    """PAIRS of which both take part."""
    return [pair for pair in PAIRS[collective] if all(name in names for name in pair)]


def _sign(ratio: float) -> int:
    return (ratio > 1 + MARGIN) - (ratio < 1 - MARGIN)


def appendix_claims(
    collective: str, means: Mapping[int, Means], unit: str, late: list[int]
) -> list[Claim]:
    """What the appendix says, judged.

    Args:
        collective: scatter or gather.
        means: along what varies.
        unit: of what varies.
        late: the points under imbalance.
    """
    alike = []
    ahead = []
    for point, times in means.items():
        for aware, base in pairs_of(collective, times.run):
            run = _sign(times.run[aware] / times.run[base])
            elapsed = _sign(times.elapsed[aware] / times.elapsed[base])
            alike.append((f"{aware} at {point} {unit}", run * elapsed >= 0))
            if point in late:
                ahead.append((f"{aware} at {point} {unit}", elapsed <= 0))
    return [
        judge(
            ALIKE,
            alike,
            WHICH_PAIRS,
        ),
        judge(
            NO_LONGER,
            ahead,
            ratios_at(collective, means, unit, late[-1]),
        ),
    ]


def ratios_at(collective: str, means: Mapping[int, Means], unit: str, point: int) -> str:
    """Elapsed times over those of the algorithms that each is made from, and what explains them."""
    elapsed = means[point].elapsed
    pairs = pairs_of(collective, elapsed)
    ratios = ", ".join(f"{aware} over {base} {elapsed[aware] / elapsed[base]:.2f}"
                       for aware, base in pairs)  # fmt: skip
    trees = f" {TREES[collective]}" if pairs == list(PAIRS[collective]) else ""
    return f"Elapsed times at {point} {unit}: {ratios}.{trees}"


def _outcome(
    collective: str, means: dict[int, Means], label: str, unit: str, late: list[int]
) -> Outcome:
    found: dict[float, MeanTimes] = {float(point): times.elapsed for point, times in means.items()}
    setting = f"{SETTING}; elapsed times, of which the paper prints pictures and no numbers"
    even = unit == "ms"
    return Outcome(
        setting,
        COLUMNS,
        rows(found, {}),
        [
            *appendix_claims(collective, means, unit, late),
            *(
                worth_of_knowing(found, name, unit, late, WHAT, collective)
                for name in AWARE[collective]
            ),
        ],
        lines(found, label, even, {}, "mean elapsed time [ms]"),
    )


def _over_delays(
    collective: str, names: str, iterations: int, advance: Callable[[], None]
) -> Outcome:
    means = {}
    for delay in DELAYS_MS:
        means[delay] = mean_times(collective, names, 48, 2048, delay, iterations)
        advance()
    late = [delay for delay in DELAYS_MS if delay >= 5]
    return _outcome(collective, means, "largest delay [ms]", "ms", late)


def figure_18(iterations: int, advance: Callable[[], None]) -> Outcome:
    """Scatter over the largest delay."""
    return _over_delays("scatter", SCATTER_AND_CONTROLS, iterations, advance)


def figure_20(iterations: int, advance: Callable[[], None]) -> Outcome:
    """Gather over the largest delay."""
    return _over_delays("gather", GATHER_AND_CONTROLS, iterations, advance)


def figure_19(iterations: int, advance: Callable[[], None]) -> Outcome:
    """Scatter over the number of nodes."""
    means = {}
    for nodes in NODES:
        means[nodes] = mean_times("scatter", SCATTER_AND_CONTROLS, nodes, 2048, 50, iterations)
        advance()
    return _outcome("scatter", means, "nodes", "nodes", list(NODES))
