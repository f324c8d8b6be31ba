"""Reduce of paper 000: figures 10 and 11.

The paper's rivals of Clairvoyant, on the programs that Sibyl runs; its native algorithm is Open
MPI's and not among them.
"""

from collections.abc import Callable

from sibyl.reproduce.control import with_controls, worth_of_knowing
from sibyl.reproduce.outcome import Outcome, judge
from sibyl.reproduce.rack import COLUMNS, DELAYS_MS, SETTING, lines, mean_run_times, rows

NODES = (4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48)
RIVALS = ("BNOM", "RAB", "RXK", "RING")
ALL = with_controls(",".join(("CLV", *RIVALS)), "CLV")


def _first(times: dict[str, float]) -> bool:
    return times["CLV"] <= min(times[name] for name in RIVALS)


def figure_10(iterations: int, advance: Callable[[], None]) -> Outcome:
    """Run time over the largest delay."""
    found: dict[float, dict[str, float]] = {}
    for delay in DELAYS_MS:
        found[delay] = mean_run_times("reduce", ALL, 48, 512, delay, iterations)
        advance()
    ahead = {d: min(t[name] for name in RIVALS) / t["CLV"] for d, t in found.items()}
    claims = [
        judge(
            "Clairvoyant has the shortest run times (48 nodes, 512 K floats)",
            [(f"{d} ms", _first(found[d])) for d in DELAYS_MS],
            "The next is "
            + ", ".join(f"{ahead[d]:.2f} times as long at {d} ms" for d in DELAYS_MS)
            + ".",
        ),
        judge(
            "the parallel ring comes next; binomial tree, Rabenseifner and Radix-K are much worse",
            [
                (f"{d} ms", all(t["RING"] < t[name] for name in ("BNOM", "RAB", "RXK")))
                for d, t in found.items()
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
    found: dict[float, dict[str, float]] = {}
    for nodes in NODES:
        found[nodes] = mean_run_times("reduce", ALL, nodes, 128, 50, iterations)
        advance()
    many = [nodes for nodes in NODES if nodes >= 8]
    own = [found[nodes]["CLV"] for nodes in NODES]
    claims = [
        judge(
            "Clairvoyant is ahead of the others for larger groups (128 K floats, 50 ms)",
            [(f"{nodes} nodes", _first(found[nodes])) for nodes in many],
            f"On 48 nodes {own[-1]:.1f} ms, the next "
            f"{min(found[48][name] for name in RIVALS):.1f} ms.",
        ),
        judge(
            "its run time grows less than in proportion to the nodes",
            [("4 to 48 nodes", own[-1] < 12 * own[0])],
            f"From {own[0]:.1f} ms on 4 to {own[-1]:.1f} ms on 48 nodes; the last of 48 arrives "
            "later than the last of 4.",
        ),
        worth_of_knowing(found, "CLV", "nodes", NODES),
    ]
    return Outcome(SETTING, COLUMNS, rows(found, {}), claims, lines(found, "nodes", False, {}))
