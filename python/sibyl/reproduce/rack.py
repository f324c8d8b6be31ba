"""The rack and mini-benchmark of Proficz 2020 and Proficz and Ocetkiewicz 2020: their run times.

Everybody computes 200 ms and a delay drawn uniformly; the run time is from the first arrival to the
last exit, its mean over the iterations is reported. Network of 1 Gbit/s, alpha 25 us.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sibyl.reproduce.control import MeanTimes
from sibyl.reproduce.worth import WORTH_COLUMNS, worth_columns
from sibyl.simulator.contenders import contenders
from sibyl.simulator.model import Network
from sibyl.simulator.run import run_prepared
from sibyl.simulator.session import Problem, Settings, arrivals_of, simulation_of

# Open MPI sends up to 64 KiB over TCP without waiting for the receiver, and TCP lets messages that
# are under way together share a link: in turns the model is right in fewer cells, both beside SMPI
# and beside a cluster (cross_validation.py).
NETWORK = Network(alpha=25e-6, beta=8e-9, eager=65536, sharing=True)
LINKS_SHARED = "links shared"
DELAYS_MS = (0, 1, 5, 10, 50, 100, 500)
SETTING = (
    f"simulated: 1 Gbit/s (8 ns/B), alpha 25 us, messages up to 64 KiB eager, {LINKS_SHARED}, full "
    "duplex, no collisions; orders of the true arrival times"
)

COLUMNS = ("along", "algorithm", "published_ms", "simulated_ms", *WORTH_COLUMNS)


@dataclass(frozen=True)
class Means:
    """Of each contender.

    Attributes:
        run: from the first arrival to the last exit.
        elapsed: mean over the ranks of the time from the own arrival to the own exit.
    """

    run: MeanTimes
    elapsed: MeanTimes


def mean_times(
    collective: str,
    names: str,
    ranks: int,
    kfloats: int,
    delay_ms: float,
    iterations: int,
    network: Network = NETWORK,
    outstanding: int = 1,
) -> Means:
    """Mean times of each contender, over the same patterns.

    Args:
        collective: gather, scatter or reduce.
        names: contenders, between commas.
        ranks: one a node.
        kfloats: thousands (1024) of floats in all; of each rank's vector for reduce.
        delay_ms: the largest.
        iterations: how many patterns are drawn.
        network: the rack's.
        outstanding: transfers of the root at a time; 0: all.
    """
    settings = Settings(
        collective, network, compute=0.2, first_segment=first_segment(kfloats, ranks),
        outstanding=outstanding,
    )  # fmt: skip
    problem = Problem(ranks, 4096 * kfloats, "uniform", delay_ms / 1e3)
    patterns = [arrivals_of(problem, settings, i) for i in range(iterations if delay_ms else 1)]
    means = Means(MeanTimes(), MeanTimes())
    for contender in contenders(collective, names):
        results = []
        prepared = None
        for arrivals in patterns:
            if prepared is None or contender.depends_on_arrivals:
                prepared = simulation_of(problem, contender, settings, arrivals)
            results.append(run_prepared(prepared, network, arrivals))
        means.run.add(contender.name, [one.run_time for one in results])
        means.elapsed.add(contender.name, [one.elapsed for one in results])
    return means


def first_segment(kfloats: int, ranks: int) -> int:
    """Bytes of a block's first segment in Open MPI's synchronised gather, by the block's size."""
    return 1024 if 4096 * kfloats // ranks <= 92160 else 32768


def mean_run_times(
    collective: str, names: str, ranks: int, kfloats: int, delay_ms: float, iterations: int
) -> MeanTimes:
    """The run times alone of mean_times()."""
    return mean_times(collective, names, ranks, kfloats, delay_ms, iterations).run


def lines(
    found: Mapping[float, Mapping[str, float]],
    label: str,
    even: bool,
    note: dict[Any, float],
    what: str = "mean run time [ms]",
) -> Callable[[Any], Any]:
    """A picture of times along something, with what the papers print; `even`: evenly spaced."""

    def draw(plt: Any) -> Any:
        figure, place = plt.subplots(figsize=(7, 4.2))
        points = list(found)
        x = range(len(points)) if even else points
        for number, name in enumerate(next(iter(found.values()))):
            place.plot(x, [found[p][name] for p in points], "o-", color=f"C{number}", label=name)
        for (point, name), value in note.items():
            number = list(next(iter(found.values()))).index(name)
            at = points.index(point) if even else point
            place.plot([at], [value], "x", color=f"C{number}", markersize=10, markeredgewidth=2)
        if note:
            place.plot([], [], "kx", label="published")
        if even:
            place.set_xticks(list(x), [f"{point:g}" for point in points])
        place.set(xlabel=label, ylabel=what, ylim=(0, None))
        place.legend(fontsize=8)
        place.grid(alpha=0.3)
        figure.tight_layout()
        return figure

    return draw


def rows(found: Mapping[float, MeanTimes], note: Mapping[Any, float]) -> list[list[Any]]:
    """The same as a table with the columns COLUMNS."""
    of = [(point, times, name) for point, times in found.items() for name in times]
    worth = worth_columns([times.told(name) for _, times, name in of])
    return [
        [point, name, note.get((point, name), ""), round(times[name], 3), *more]
        for (point, times, name), more in zip(of, worth, strict=True)
    ]
