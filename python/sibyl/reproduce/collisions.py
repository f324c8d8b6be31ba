"""Collisions in the switch: figures 15 and 20 and table 4 of Proficz 2020, with a lossy queue.

The paper sees the run time of SLS and BSLS sink while delays grow to 50 ms, and supposes that the
leaves' messages collide in the switch where all come at once. Here messages share links, and the
switch keeps so much in front of each and loses the rest; a sender that has heard nothing sends
again after 200 ms, as Linux does (include/sibyl/simulator.hpp, SwitchModel). How much the paper's
switch keeps for a port is not published, so that the queue is varied. In the algorithm as it is
printed leaves send in turns, which is there to throttle them; so it is simulated besides with all
under way at once, as its explanation has it.
"""

import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sibyl.experiment.units import size_text
from sibyl.reproduce.control import MeanTimes, worth_of_knowing
from sibyl.reproduce.elapsed import WHAT, appendix_claims
from sibyl.reproduce.outcome import Claim, Outcome, deviation, judge, near, published
from sibyl.reproduce.rack import DELAYS_MS, LINKS_SHARED, NETWORK, Means, mean_times
from sibyl.reproduce.scatter_gather import AWARE, GATHER, GATHER_AND_CONTROLS, KFLOATS
from sibyl.reproduce.scatter_gather_tables import NEAR_FACTOR, printed_times
from sibyl.reproduce.worth import WORTH_COLUMNS, worth_columns, worth_columns_of
from sibyl.simulator.model import Network, Queue

# Bytes in front of a port; the last holds what all send at once, and nothing is lost.
QUEUES = (64 * 1024, 128 * 1024, 256 * 1024, 512 * 1024, 1 << 20)
WAYS = {1: "in turns", 0: "all at once"}  # transfers of the root under way at a time
# K floats whose printed times hold their data: of smaller ones some are shorter than the wire needs
# (scatter_gather_tables.py).
LARGE = (1024, 2048)
LARGEST = KFLOATS[-1]
COLUMNS = (
    *("under_way", "queue_bytes", "kfloats", "max_delay_ms", "algorithm"),
    *("published_run_ms", "run_ms", "elapsed_ms", *WORTH_COLUMNS),  # of run times
    *worth_columns_of("elapsed"),
)
STEPS = len(WAYS) * len(QUEUES) * len(DELAYS_MS)
SETTING = (
    f"simulated: 1 Gbit/s (8 ns/B), alpha 25 us, messages up to 64 KiB eager, {LINKS_SHARED}, "
    "windows of 14 480 bytes, retransmission after 200 ms; orders of the true arrival times; first "
    "segments as in Open MPI"
)
Printed = Mapping[tuple[int, int, str], float]  # ms by K floats, delay and algorithm


@dataclass(frozen=True)
class Setup:
    """How the root takes blocks, and what the switch keeps."""

    way: int
    queue: int

    @property
    def network(self) -> Network:
        """The rack's, with the queue."""
        return replace(NETWORK, queue=Queue(self.queue))

    @property
    def name(self) -> str:
        """In words."""
        return f"{WAYS[self.way]}, queue of {size_text(self.queue)}"


SETUPS = tuple(Setup(way, queue) for way in WAYS for queue in QUEUES)
Found = Mapping[tuple[Setup, int, int], Means]  # with K floats and a delay


def as_printed() -> dict[tuple[int, int, str], float]:
    """Run times behind the published differences and quotients of table 4, in ms."""
    found = {}
    for row in published("gather_table_4_bsls_vs_ls"):
        times = printed_times(row, "speedup_ls_over_bsls")
        size, delay = int(row["size_kfloats"]), int(row["max_delay_ms"])
        if times is not None and size in LARGE:
            found[size, delay, "LS"], found[size, delay, "BSLS"] = times
    return found


def gather_collisions(iterations: int, advance: Callable[[], None]) -> Outcome:
    """Every way, queue, size and delay."""
    found = {}
    for setup in SETUPS:
        for delay in DELAYS_MS:
            for size in KFLOATS:
                names = GATHER_AND_CONTROLS if size == LARGEST else "LS,SLS,BSLS"
                found[setup, size, delay] = mean_times(
                    "gather", names, 48, size, delay, iterations, setup.network, setup.way
                )
            advance()
    printed = as_printed()
    rows: list[list[Any]] = []
    for (setup, size, delay), means in found.items():
        for name, run in means.run.items():
            given = printed.get((size, delay, name))
            times = ["" if given is None else round(given, 1), round(run, 3)]
            at = [WAYS[setup.way], setup.queue, size, delay, name]
            rows.append([*at, *times, round(means.elapsed[name], 3)])
    for metric in ("run", "elapsed"):
        of = [getattr(means, metric) for means in found.values()]
        told = [times.told(name) for times in of for name in times]
        for row, more in zip(rows, worth_columns(told), strict=True):
            row += more
    claims = list(_claims(found))
    error = _nearest(found, printed)
    return Outcome(
        SETTING, COLUMNS, rows, claims, lambda plt: _draw(plt, found, printed), error
    )  # fmt: skip


def _nearest(found: Found, printed: Printed) -> str:
    """How far the setup that comes nearest to the times behind table 4 is from them."""

    def pairs(setup: Setup) -> list[tuple[float, float]]:
        return [(found[setup, s, d].run[name], given) for (s, d, name), given in printed.items()]

    def off(setup: Setup) -> float:
        return statistics.median(abs(own / given - 1) for own, given in pairs(setup))

    best = min(SETUPS, key=off)
    return f"{deviation(pairs(best))} ({best.name})"


def _claims(found: Found) -> Iterator[Claim]:
    lossless = QUEUES[-1]
    for way, words in WAYS.items():
        lossy = [setup for setup in SETUPS if setup.way == way and setup.queue != lossless]
        of_delays = {setup: {d: found[setup, LARGEST, d].run for d in (0, 50)} for setup in lossy}
        cells = [
            (f"{name}, queue of {size_text(setup.queue)}", run[50][name] < 0.98 * run[0][name])
            for setup, run in of_delays.items()
            for name in ("SLS", "BSLS")
        ]
        largest = of_delays[lossy[-1]]
        yield judge(
            f"the run time of SLS and BSLS sinks while the delay grows from 0 to 50 ms, as blocks "
            f"collide in the switch: leaves sent {words}",
            cells,
            "As the algorithm is printed leaves wait for their turn, which keeps them from "
            "colliding." if way == 1 else "",
            published="BSLS 111 to 56 ms (from table 4)",
            ours=f"BSLS {largest[0]['BSLS']:.0f} to {largest[50]['BSLS']:.0f} ms with a queue of "
            f"{size_text(lossy[-1].queue)}",
        )  # fmt: skip
    for way, words in WAYS.items():
        factors = {
            setup: found[setup, LARGEST, 50].run["LS"] / found[setup, LARGEST, 50].run["BSLS"]
            for setup in SETUPS
            if setup.way == way
        }
        yield judge(
            f"BSLS is up to 2.52 times as fast as LS (2 M floats, 50 ms; to "
            f"{100 * NEAR_FACTOR:.0f} %, upwards and downwards): leaves sent {words}",
            [
                (f"queue of {size_text(s.queue)}", near(f, 2.52, NEAR_FACTOR))
                for s, f in factors.items()
            ],
            "",
            published="2.52",
            ours=", ".join(f"{f:.2f}" for f in factors.values()),
        )
    at_once = Setup(0, QUEUES[-2])
    of_table = {
        (s, d): found[at_once, s, d].run["LS"] / found[at_once, s, d].run["BSLS"]
        for s in KFLOATS
        for d in DELAYS_MS
    }  # fmt: skip
    given = {
        (int(row["size_kfloats"]), int(row["max_delay_ms"])): float(row["speedup_ls_over_bsls"])
        for row in published("gather_table_4_bsls_vs_ls")
    }
    yield judge(
        f"the factors of table 4 are found again, each to {100 * NEAR_FACTOR:.0f} % upwards and "
        f"downwards: {at_once.name}",
        [(f"{s} K at {d} ms", near(f, given[s, d], NEAR_FACTOR)) for (s, d), f in of_table.items()],
        "",
        published="0.69 to 2.52",
        ours=f"{min(of_table.values()):.2f} to {max(of_table.values()):.2f}",
    )
    means = {delay: found[at_once, LARGEST, delay] for delay in DELAYS_MS}
    late = [delay for delay in DELAYS_MS if delay >= 5]
    for claim in appendix_claims("gather", means, "ms", late):
        yield replace(claim, text=f"{claim.text}: {at_once.name}")
    for setup in (Setup(1, at_once.queue), at_once):
        for metric, what in (("run", ""), ("elapsed", WHAT)):
            times: dict[float, MeanTimes] = {
                float(delay): getattr(found[setup, LARGEST, delay], metric) for delay in DELAYS_MS
            }
            for name in AWARE["gather"]:
                claim = worth_of_knowing(times, name, "ms", late, what)
                yield replace(claim, text=f"{claim.text}: {setup.name}")


def _draw(plt: Any, found: Found, printed: Printed) -> Any:
    figure, axes = plt.subplots(
        len(WAYS), len(QUEUES), figsize=(15, 6.5), sharex=True, sharey="row"
    )  # fmt: skip
    x = range(len(DELAYS_MS))
    for place, setup in zip(axes.flat, SETUPS, strict=True):
        for number, name in enumerate(GATHER.split(",")):
            runs = [found[setup, LARGEST, delay].run[name] for delay in DELAYS_MS]
            place.plot(x, runs, "o-", color=f"C{number}", label=name, markersize=4)
            known = [i for i in x if (LARGEST, DELAYS_MS[i], name) in printed]
            place.plot(
                known, [printed[LARGEST, DELAYS_MS[i], name] for i in known], "x",
                color=f"C{number}", markersize=9, markeredgewidth=2,
            )  # fmt: skip
        place.set_xticks(list(x), [str(delay) for delay in DELAYS_MS])
        place.set_title(setup.name, fontsize=9)
        place.set_yscale("log")
        place.grid(alpha=0.3)
    axes[0, 0].plot([], [], "kx", label="published (table 4)")
    axes[0, 0].legend(fontsize=7)
    for place in axes[-1]:
        place.set_xlabel("largest delay [ms]")
    for place in axes[:, 0]:
        place.set_ylabel("mean run time [ms]")
    figure.tight_layout()
    return figure
