"""The same cases three times: on a cluster of namespaces, under SMPI, and in the simulator.

All three run the same programs: the first two by the executor, on real TCP and on SimGrid's
network, the third by the discrete events of `sibyl simulate`, where messages of a rank that are
ready together share its link (`--sharing`) and, to compare, where they take turns. Patterns are
flat or fixed steps, so that all see the same arrivals. The simulated networks have the latency and
the time per byte that were measured between two hosts of the cluster; nothing else is fitted.
"""

import re
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sibyl.errors import CommandError
from sibyl.experiment import simulated
from sibyl.experiment.grid import Cell, Grid
from sibyl.experiment.journal import Journal
from sibyl.experiment.places import find_launcher, measure, place
from sibyl.experiment.runner import (
    Interrupted,
    choose_benchmark_launcher,
    signals_interrupt,
)
from sibyl.experiment.samples import CellResult
from sibyl.reproduce.on_cluster import demand_root, wrong_results
from sibyl.reproduce.outcome import (
    VERDICTS,
    Advance,
    Claim,
    Measured,
    Measurement,
    Outcome,
    Parts,
    Where,
    judge,
)
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
# Of a message's latency: what each end's processor takes, and what it is on the way under SMPI.
AT_EACH_END, ON_THE_WAY = 0.2, 0.3
STEP_S = 0.2  # the largest delay of fixed steps
COMPUTE = 0.02
ITERATIONS = 7
NEAR = 0.10
ENOUGH = 20  # of the 22 cases
WITHIN = "the simulator is within"
SHARED, TURNS = "where messages share links, and no more, in", "where messages take turns in"
ITEM = "cross-validation"
COLUMNS = (
    *("collective", "algorithm", "pattern", "cluster_ms", "smpi_ms", "simulator_ms"),
    *("simulator_as_cluster_ms", "turns_ms"),
    *("smpi_over_cluster", "simulator_over_cluster", "simulator_over_smpi"),
)
NAMES = {
    "simulator": "the model", "as_cluster": "the model", "smpi": "SMPI", "cluster": "the cluster"
}  # fmt: skip
STEPS = 2 * len(CASES)
UNDER_SMPI = " under SMPI"
EAGER = 65536  # SMPI's
# Up to so many bytes the libraries send over TCP without waiting for the receiver.
MPI_EAGER = {"Open MPI": 65536, "": 16384}  # by how the library calls itself; MPICH and its kin


@dataclass(frozen=True)
class Case:
    """One algorithm under one pattern; absorbed times in seconds.

    Attributes:
        smpi: None where Sibyl was built without SimGrid.
        simulator: where messages share links, with SMPI's limit of eager messages.
        as_cluster: the same with the MPI library's limit, handshakes for what is longer, and the
            latency that messages have while the other ranks wait in MPI.
        turns: where messages take turns.
    """

    collective: str
    algorithm: str
    pattern: str
    cluster: float
    smpi: float | None
    simulator: float
    as_cluster: float
    turns: float


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
        text = re.sub(
            rf'(id="smpi/{name}" value=")[^"]*', rf"\g<1>0:{AT_EACH_END * alpha:.4e}:0", text
        )
    link = f'bw="{1 / beta:.0f}Bps" lat="{ON_THE_WAY * alpha:.4e}s"'
    text = re.sub(r'bw="[^"]*" lat="[^"]*"', link, text, count=1)
    with tempfile.TemporaryDirectory(prefix="sibyl-platform-") as folder:
        path = Path(folder) / "like.xml"
        path.write_text(text, encoding="utf-8")
        yield str(path)


def _under_smpi(grid: Grid, alpha: float, beta: float) -> list[CellResult]:
    try:
        launcher = find_launcher("smpi", None)
    except CommandError:
        return []  # built without SimGrid
    found: list[CellResult] = []
    with platform_like(launcher.path.parent / "tryton.xml", alpha, beta) as platform:
        cluster = simulated.SimulatedCluster(launcher, platform, 1, None)
        part = replace(grid, iterations=1, on="smpi", mpi=None)
        cluster.run(part, None, found.append, lambda _cell: None)
    return found


def in_simulator(collective: str, name: str, cell: Cell, network: Network) -> float:
    """The absorbed time of one case, in seconds."""
    settings = Settings(collective, network, compute=COMPUTE)
    problem = Problem(cell.ranks, cell.size, cell.pattern, cell.max_delay)
    (contender,) = contenders(collective, name)
    arrivals = arrivals_of(problem, settings, 0)
    prepared = simulation_of(problem, contender, settings, arrivals)
    return run_prepared(prepared, network, arrivals).absorbed


def _middle(result: CellResult, name: str) -> float:
    """The median absorbed time."""
    return statistics.median(result.samples[name]["absorbed_s"])


def _asked(where: Where, _iterations: int) -> str:
    grids = (grid_of(collective, where).fingerprint() for collective in CASES)
    return f"{' '.join(grids)} under SMPI {AT_EACH_END} {ON_THE_WAY}"


def _measured(where: Where, _iterations: int, mark: str, advance: Advance) -> Measured:
    """Each collective on the cluster, and then under SMPI, which is told what the cluster is."""
    demand_root()
    grids = {collective: grid_of(collective, where) for collective in CASES}
    parts: dict[str, list[CellResult]] = {}
    launcher = choose_benchmark_launcher(where.mpi)
    whole = next(iter(grids.values()))
    journals = {
        collective: Journal(grid.fingerprint(mark), CellResult.from_json)
        for collective, grid in grids.items()
    }
    needed = any(len(journals[name].read()) < len(grid.cells) for name, grid in grids.items())
    try:
        with signals_interrupt(), place(whole, launcher, needed, CASES) as run:
            for collective, grid in grids.items():
                parts[collective] = measure(grid, journals[collective], lambda _cell: None, run)
                advance()
    except Interrupted:
        raise KeyboardInterrupt from None
    for collective, grid in grids.items():
        alike, *_ = networks_of(parts[collective][0].job)
        parts[collective + UNDER_SMPI] = _under_smpi(grid, alike.alpha, alike.beta)
        advance()

    def forget() -> None:
        for journal in journals.values():
            journal.forget()

    return Measured(parts, forget)


def _judged(where: Where, parts: Parts) -> Outcome:
    """All cases, and what explains where they differ."""
    cases = []
    for collective, (_, algorithms) in CASES.items():
        on_cluster, smpi = parts[collective], parts[collective + UNDER_SMPI]
        networks = networks_of(on_cluster[0].job)
        for number, real in enumerate(on_cluster):
            for name in algorithms:
                models = (in_simulator(collective, name, real.cell, each) for each in networks)
                under_smpi = _middle(smpi[number], name) if smpi else None
                cases.append(
                    Case(
                        collective,
                        name,
                        real.cell.pattern,
                        _middle(real, name),
                        under_smpi,
                        *models,
                    )
                )
    outcome = outcome_of(cases, where, parts[next(iter(CASES))][0].job)
    everything = [result for results in parts.values() for result in results]
    return replace(outcome, claims=[*wrong_results(everything), *outcome.claims])


cross_validation = Measurement(_asked, _measured, _judged)


def networks_of(job: Mapping[str, Any]) -> tuple[Network, Network, Network]:
    """What is simulated: shared links as under SMPI and as on the cluster; and taken in turns."""
    check = job.get("cluster_check", {})
    beta = check.get("beta_s_per_byte", job["beta_s_per_byte"])  # with TCP's headers
    alike = Network(alpha=job["alpha_s"], beta=beta, eager=EAGER, sharing=True)
    # Longer messages ask their receiver first, and these messages too wait for a processor.
    busy = replace(
        alike, alpha=check.get("alpha_busy_s", job["alpha_s"]),
        eager=next(most for name, most in MPI_EAGER.items() if job["mpi"].startswith(name)),
        handshake=True,
    )  # fmt: skip
    return alike, busy, replace(alike, sharing=False)


def _over(case: Case, one: str, other: str) -> float | None:
    """One instrument's time over another's; None where one was not there."""
    own, base = getattr(case, one), getattr(case, other)
    return own / base if own and base else None


def _agree(cases: Sequence[Case], text: str, one: str, other: str, reason: str) -> Claim:
    pairs = [(case, ratio) for case in cases if (ratio := _over(case, one, other))]
    ratios = [ratio for _, ratio in pairs]
    claim = judge(
        f"{text} (within {100 * NEAR:.0f} %)",
        [(f"{c.collective} {c.algorithm} {c.pattern}", abs(r - 1) <= NEAR) for c, r in pairs],
        reason,
        kind="own",
        ours=f"ratios {min(ratios):.2f} to {max(ratios):.2f}" if ratios else "",
    )
    return replace(claim, instrument=f"{NAMES[one]} and {NAMES[other]}")


def agreements(document: Mapping[str, Any]) -> dict[str, str]:
    """In how many cases a model whose messages share links is near another instrument, of how many.

    Read from what `_enough` wrote, of this item's result; by the other instrument.
    """
    found = {}
    for claim in document["claims"] if document["item"] == ITEM else ():
        counts = re.fullmatch(rf"In (\d+); (?:{SHARED} (\d+); )?{TURNS} \d+\.", claim["reason"])
        _, of, cells = claim.get("ours", "").partition(" of ")
        if claim["text"].startswith(WITHIN) and counts and of:
            other = claim.get("instrument", "").rpartition(" and ")[2]
            found[other] = f"{counts[2] or counts[1]} of {cells}"
    return found


def _enough(cases: Sequence[Case], one: str, other: str) -> Claim:
    def near(of: str) -> int:
        found = (_over(case, of, other) for case in cases)
        return sum(ratio is not None and abs(ratio - 1) <= NEAR for ratio in found)

    there = sum(_over(case, one, other) is not None for case in cases)
    enough = VERDICTS[0 if near(one) >= ENOUGH else 2] if there else VERDICTS[3]
    # The cluster's model has handshakes and a busy processor's latency besides.
    shared = f"{SHARED} {near('simulator')}; " if one != "simulator" else ""
    return Claim(
        f"{WITHIN} {100 * NEAR:.0f} % of {NAMES[other]} in at least {ENOUGH} of {there} cells",
        enough,
        f"In {near(one)}; {shared}{TURNS} {near('turns')}.",
        kind="own",
        ours=f"{near(one)} of {there}",
        instrument=f"{NAMES[one]} and {NAMES[other]}",
    )


def outcome_of(cases: Sequence[Case], where: Where, job: dict[str, Any]) -> Outcome:
    """The table, and how far the three agree."""

    def rounded(value: float | None, digits: int) -> float | str:
        return "" if value is None else round(value, digits)

    ratios = (("smpi", "cluster"), ("as_cluster", "cluster"), ("simulator", "smpi"))
    times = ("cluster", "smpi", "simulator", "as_cluster", "turns")
    rows = [
        [case.collective, case.algorithm, case.pattern]
        + [rounded(t and 1e3 * t, 2) for t in (getattr(case, name) for name in times)]
        + [rounded(_over(case, *pair), 3) for pair in ratios]
        for case in cases
    ]
    alike, busy, _ = networks_of(job)
    network = (
        f"alpha {1e6 * alike.alpha:.0f} us ({1e6 * busy.alpha:.0f} us while others wait in MPI), "
        f"beta {1e9 * alike.beta:.4g} ns/B, links shared"
    )
    setting = (
        f"{where.hosts} hosts at {where.rate}: a cluster of namespaces under {job['mpi']} (medians "
        f"of {ITERATIONS}), SMPI, and the simulator with {network}; absorbed times, flat arrivals "
        f"and fixed steps up to {1e3 * STEP_S:.0f} ms"
    )
    claims = [
        _agree(cases, "the simulator agrees with SMPI", "simulator", "smpi", ""),
        _agree(cases, "the simulator agrees with the cluster", "as_cluster", "cluster",
               "The hosts share a few processors."),
        _agree(cases, "SMPI agrees with the cluster", "smpi", "cluster",
               "The hosts' few processors."),
        _enough(cases, "simulator", "smpi"),
        _enough(cases, "as_cluster", "cluster"),
    ]  # fmt: skip
    return Outcome(setting, COLUMNS, rows, claims, _draw(cases))


def _draw(cases: Sequence[Case]) -> Callable[[Any], Any]:
    def draw(plt: Any) -> Any:
        figure, axis = plt.subplots(figsize=(9, 5))
        places = range(len(cases))
        for offset, name in ((-0.27, "cluster"), (0.0, "smpi"), (0.27, "as_cluster")):
            values = [1e3 * (getattr(case, name) or 0.0) for case in cases]
            axis.bar([p + offset for p in places], values, 0.25, label=name)
        labels = [f"{c.collective} {c.algorithm}, {c.pattern}" for c in cases]
        axis.set_xticks(list(places), labels, rotation=60, ha="right", fontsize=7)
        axis.set_ylabel("absorbed time [ms]")
        axis.legend()
        axis.grid(alpha=0.3, axis="y")
        figure.tight_layout()
        return figure

    return draw
