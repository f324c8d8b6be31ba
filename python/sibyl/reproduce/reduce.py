"""Reduce of Proficz and Ocetkiewicz 2020: figures 10 and 11.

The paper's rivals of Clairvoyant, on the programs that Sibyl runs; its native algorithm is Open
MPI's and not among them.
"""

from collections.abc import Callable, Mapping, Sequence

from sibyl.reproduce.control import MARGIN, MeanTimes, with_controls, worth_of_knowing
from sibyl.reproduce.outcome import Claim, Outcome, judge
from sibyl.reproduce.rack import COLUMNS, DELAYS_MS, SETTING, lines, mean_run_times, rows

NODES = (4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48)
RIVALS = ("BNOM", "RAB", "RXK", "RING")
MUCH = 1.1
ALL = with_controls(",".join(("CLV", *RIVALS)), "CLV")


def _next_over(times: Mapping[str, float]) -> float:
    """The time of the fastest rival over Clairvoyant's."""
    return min(times[name] for name in RIVALS) / times["CLV"]


def _ahead(found: dict[float, MeanTimes], points: Sequence[int], unit: str) -> list[Claim]:
    """Whether Clairvoyant is ahead by more than the margin, and whether it is ever behind."""
    over = {point: _next_over(found[point]) for point in points}
    listed = ", ".join(f"{ratio:.3f} at {point}" for point, ratio in over.items())
    reason = f"The fastest rival over Clairvoyant: {listed} {unit}."
    span = f"the next {min(over.values()):.3f} to {max(over.values()):.3f} times as long"
    return [
        judge(
            f"Clairvoyant is the fastest, by more than {100 * MARGIN:.0f} %: less is no difference",
            [(f"{point} {unit}", ratio > 1 + MARGIN) for point, ratio in over.items()],
            reason,
            published="in the figure",
            ours=span,
        ),
        judge(
            f"no rival is faster than Clairvoyant by more than {100 * MARGIN:.0f} %",
            [(f"{point} {unit}", ratio > 1 - MARGIN) for point, ratio in over.items()],
            "",
            published="in the figure",
            ours=span,
        ),
    ]


def figure_10(iterations: int, advance: Callable[[], None]) -> Outcome:
    """Run time over the largest delay."""
    found: dict[float, MeanTimes] = {}
    for delay in DELAYS_MS:
        found[delay] = mean_run_times("reduce", ALL, 48, 512, delay, iterations)
        advance()
    claims = [
        *_ahead(found, DELAYS_MS, "ms"),
        judge(
            "the parallel ring comes next; binomial tree, Rabenseifner and Radix-K are much worse "
            f"(at least {MUCH:g} times the ring's)",
            [
                (f"{name} at {d} ms", t[name] >= MUCH * t["RING"])
                for d, t in found.items()
                for name in ("BNOM", "RAB", "RXK")
            ],
            f"At 10 ms CLV {found[10]['CLV']:.0f}, RING {found[10]['RING']:.0f}, RXK "
            f"{found[10]['RXK']:.0f}, RAB {found[10]['RAB']:.0f}, BNOM {found[10]['BNOM']:.0f} ms.",
        ),
        worth_of_knowing(found, "CLV", "ms", [d for d in DELAYS_MS if d >= 5]),
    ]
    draw = lines(found, "largest delay [ms]", True, {})
    return Outcome(SETTING, COLUMNS, rows(found, {}), claims, draw)


def figure_11(iterations: int, advance: Callable[[], None]) -> Outcome:
    """Run time over the number of nodes."""
    found: dict[float, MeanTimes] = {}
    for nodes in NODES:
        found[nodes] = mean_run_times("reduce", ALL, nodes, 128, 50, iterations)
        advance()
    many = [nodes for nodes in NODES if nodes >= 8]
    own = [found[nodes]["CLV"] for nodes in NODES]
    claims = [
        *_ahead(found, many, "nodes"),
        judge(
            "its run time grows less than in proportion to the nodes",
            [("4 to 48 nodes", own[-1] < 12 * own[0])],
            ours=f"{own[-1] / own[0]:.2f} times as long on 12 times as many",
            reason=f"From {own[0]:.1f} ms on 4 to {own[-1]:.1f} ms on 48 nodes; the last of 48 "
            "arrives later than the last of 4.",
        ),
        worth_of_knowing(found, "CLV", "nodes", NODES),
    ]
    return Outcome(SETTING, COLUMNS, rows(found, {}), claims, lines(found, "nodes", False, {}))
