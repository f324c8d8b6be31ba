"""The same cases three times: on a cluster of namespaces, under SMPI, and in the simulator.

All three run the same programs: the first two by the executor, on real TCP and on SimGrid's
network, the third by the discrete events of `sibyl simulate`. Patterns are flat or fixed steps, so
that all see the same arrivals. The simulated networks have the rate of the cluster's links and the
latency that was measured there; nothing else is fitted.
"""

import re
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sibyl.experiment import simulated
from sibyl.experiment.grid import Cell, Grid
from sibyl.experiment.places import find_launcher, place
from sibyl.experiment.runner import choose_benchmark_launcher, signals_interrupt
from sibyl.experiment.samples import CellResult
from sibyl.reproduce.on_cluster import demand_root
from sibyl.reproduce.outcome import Claim, Outcome, Where, judge
from sibyl.simulator.contenders import contenders
from sibyl.simulator.model import Network
from sibyl.simulator.run import run_prepared
from sibyl.simulator.session import Problem, Settings, arrivals_of, simulation_of

# Bytes in all at the root, or of each rank's vector.
CASES: dict[str, tuple[int, tuple[str, ...]]] = {
    "gather": (1 << 20, ("linear", "linear-synchronised", "binomial")),
    "scatter": (1 << 20, ("linear", "binomial")),
    "reduce": (1 << 18, ("binomial", "rabenseifner", "radix-k", "ring")),
    "exscan": (1 << 18, ("123-doubling", "1-doubling")),
}
STEP_S = 0.2  # the largest delay of fixed steps
COMPUTE = 0.02
ITERATIONS = 7
NEAR = 0.10
COLUMNS = (
    *("collective", "algorithm", "pattern", "cluster_ms", "smpi_ms", "simulator_ms"),
    *("smpi_over_cluster", "simulator_over_cluster", "simulator_over_smpi"),
)
STEPS = 3 * len(CASES)
EAGER = 65536


@dataclass(frozen=True)
class Case:
    """One algorithm under one pattern; absorbed times in seconds."""

    collective: str
    algorithm: str
    pattern: str
    cluster: float
    smpi: float
    simulator: float


def grid_of(collective: str, where: Where) -> Grid:
    """The cases of one collective, on the cluster."""
    size, algorithms = CASES[collective]
    cells = tuple(
        Cell(where.hosts, size, "same", pattern, delay)
        for pattern, delay in (("flat", 0.0), ("fixed", STEP_S))
    )
    operator = "bxor" if collective == "exscan" else "sum"
    return Grid(
        collective, ("native", *algorithms), cells, ITERATIONS, 1, COMPUTE, operator,
        on="cluster", mpi=where.mpi, rate=where.rate, prediction="none",
    )  # fmt: skip


@contextmanager
def platform_like(tryton: Path, alpha: float, beta: float) -> Iterator[str]:
    """A platform file with this latency and rate, the ends' parts of a message as in the rack's."""
    text = tryton.read_text(encoding="utf-8")
    for name in ("os", "ois", "or"):
        text = re.sub(rf'(id="smpi/{name}" value=")[^"]*', rf"\g<1>0:{0.2 * alpha:.4e}:0", text)
    link = f'bw="{1 / beta:.0f}Bps" lat="{0.3 * alpha:.4e}s"'
    text = re.sub(r'bw="[^"]*" lat="[^"]*"', link, text, count=1)
    with tempfile.TemporaryDirectory(prefix="sibyl-platform-") as folder:
        path = Path(folder) / "like.xml"
        path.write_text(text, encoding="utf-8")
        yield str(path)


def _under_smpi(grid: Grid, alpha: float, beta: float) -> list[CellResult]:
    launcher = find_launcher("smpi", None)
    found: list[CellResult] = []
    with platform_like(launcher.path.parent / "tryton.xml", alpha, beta) as platform:
        cluster = simulated.SimulatedCluster(launcher, platform, 1, None)
        part = replace(grid, iterations=1, on="smpi", mpi=None)
        cluster.run(part, None, found.append, lambda _cell: None)
    return found


def _in_simulator(collective: str, name: str, cell: Cell, alpha: float, beta: float) -> float:
    network = Network(alpha=alpha, beta=beta, eager=EAGER)
    settings = Settings(collective, network, compute=COMPUTE)
    problem = Problem(cell.ranks, cell.size, cell.pattern, cell.max_delay)
    (contender,) = contenders(collective, name)
    arrivals = arrivals_of(problem, settings, 0)
    prepared = simulation_of(problem, contender, settings, arrivals)
    return run_prepared(prepared, network, arrivals).absorbed


def _middle(result: CellResult, name: str) -> float:
    return statistics.median(result.samples[name]["absorbed_s"])


def cross_validation(where: Where, _iterations: int, advance: Callable[[], None]) -> Outcome:
    """All cases, and what explains where they differ."""
    demand_root()
    grids = [grid_of(collective, where) for collective in CASES]
    launcher = choose_benchmark_launcher(where.mpi)
    measured: list[list[CellResult]] = []
    with signals_interrupt(), place(grids[0], launcher, needed=True) as run:
        for grid in grids:
            found: list[CellResult] = []
            run(grid, None, found.append, lambda _cell: None)
            measured.append(found)
            advance()
    cases = []
    for grid, on_cluster in zip(grids, measured, strict=True):
        alpha = on_cluster[0].job["alpha_s"]
        beta = on_cluster[0].job["beta_s_per_byte"]
        smpi = _under_smpi(grid, alpha, beta)
        advance()
        for real, other in zip(on_cluster, smpi, strict=True):
            for name in grid.algorithms[1:]:
                model = _in_simulator(grid.collective, name, real.cell, alpha, beta)
                times = _middle(real, name), _middle(other, name), model
                cases.append(Case(grid.collective, name, real.cell.pattern, *times))
        advance()
    return outcome_of(cases, where, measured[0][0].job)


def outcome_of(cases: Sequence[Case], where: Where, job: dict[str, Any]) -> Outcome:
    """The table, and how far the three agree."""
    rows = [
        [case.collective, case.algorithm, case.pattern]
        + [round(1e3 * time, 2) for time in (case.cluster, case.smpi, case.simulator)]
        + [round(case.smpi / case.cluster, 3), round(case.simulator / case.cluster, 3)]
        + [round(case.simulator / case.smpi, 3)]
        for case in cases
    ]
    network = f"alpha {1e6 * job['alpha_s']:.0f} us, beta {1e9 * job['beta_s_per_byte']:.4g} ns/B"
    setting = (
        f"{where.hosts} hosts at {where.rate}: a cluster of namespaces under {job['mpi']} (medians "
        f"of {ITERATIONS}), SMPI, and the simulator with {network}; absorbed times, flat arrivals "
        f"and fixed steps up to {1e3 * STEP_S:.0f} ms"
    )

    def agree(text: str, one: str, other: str, reason: str) -> Claim:
        pairs = [(case, getattr(case, one) / getattr(case, other)) for case in cases]
        spread = f"Ratios {min(r for _, r in pairs):.2f} to {max(r for _, r in pairs):.2f}. "
        names = [
            (f"{c.collective} {c.algorithm} {c.pattern}", abs(r - 1) <= NEAR) for c, r in pairs
        ]
        return judge(text, names, spread + reason)

    claims = [
        agree(
            f"the simulator is within {100 * NEAR:.0f} % of SMPI", "simulator", "smpi",
            "Messages of a rank that are ready together share its link in SMPI, as over TCP, and "
            "end together; in the simulator they go one after the other, so that the first is "
            "there sooner and its receiver can go on.",
        ),
        agree(
            f"the simulator is within {100 * NEAR:.0f} % of the cluster", "simulator", "cluster",
            "As with SMPI; and TCP's headers are 5 % on the wire, and the hosts share a few "
            "processors.",
        ),
        agree(
            f"SMPI is within {100 * NEAR:.0f} % of the cluster", "smpi", "cluster",
            "TCP's headers, and the hosts' few processors.",
        ),
    ]  # fmt: skip
    return Outcome(setting, COLUMNS, rows, claims, _draw(cases))


def _draw(cases: Sequence[Case]) -> Callable[[Any], Any]:
    def draw(plt: Any) -> Any:
        figure, axis = plt.subplots(figsize=(9, 5))
        places = range(len(cases))
        for offset, name in ((-0.27, "cluster"), (0.0, "smpi"), (0.27, "simulator")):
            values = [1e3 * getattr(case, name) for case in cases]
            axis.bar([p + offset for p in places], values, 0.25, label=name)
        labels = [f"{c.collective} {c.algorithm}, {c.pattern}" for c in cases]
        axis.set_xticks(list(places), labels, rotation=60, ha="right", fontsize=7)
        axis.set_ylabel("absorbed time [ms]")
        axis.legend()
        axis.grid(alpha=0.3, axis="y")
        figure.tight_layout()
        return figure

    return draw
