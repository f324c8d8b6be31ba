"""The places where grids are measured: this machine, a cluster of namespaces, a simulated one."""

import math
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from sibyl.cluster.lifecycle import take_down
from sibyl.errors import CommandError
from sibyl.experiment import simulated
from sibyl.experiment.grid import Cell, Grid
from sibyl.experiment.journal import Journal
from sibyl.experiment.judge import cluster_limit
from sibyl.experiment.runner import (
    choose_benchmark_launcher,
    cluster_job,
    local_job,
    pattern_files,
    run_job,
    run_sibyl,
    signals_ignored,
)
from sibyl.experiment.samples import CellResult
from sibyl.mpi.installation import Launcher
from sibyl.processes.guardian import Guardian

# Hears of every sample's cell.
Progressed = Callable[[Cell], None]
# Measures a grid with one number of ranks, with the file that is replayed; hands out each cell
# when it is complete, and names the cell of every sample.
JobRunner = Callable[[Grid, str | None, Callable[[CellResult], None], Progressed], None]
# Seconds of a measurement that take many times as long as a check.
LONG = 300.0
MOST_CHECKS = 3
CLUSTER_NAME = f"bench-{os.getpid()}"  # several runs side by side do not meet


@contextmanager
def cluster_up(hosts: int, rate: str, queue: int = 0) -> Iterator[None]:
    """A cluster of namespaces for the jobs within, taken down whatever happens."""
    link = ["--rate", rate, *(["--queue", str(queue)] if queue else [])]
    name = ["--name", CLUSTER_NAME]
    # Not released where the cluster cannot be taken down: it is when this process has ended.
    guardian = Guardian(partial(take_down, CLUSTER_NAME, force=True))

    def down() -> None:
        with signals_ignored():
            run_sibyl("cluster", "down", "--force", *name)
        guardian.release()

    try:
        run_sibyl("cluster", "up", "--hosts", str(hosts), *link, *name)
        yield
    except BaseException:
        with suppress(CommandError):  # what has happened says more
            down()
        raise
    down()


def check_cluster(mpi: str | None) -> dict[str, Any]:
    """How true the cluster that is up is to its wire."""
    from sibyl.cluster import check

    return check(CLUSTER_NAME, mpi).as_json()


def check_for(grid: Grid, collectives: Collection[str] = ()) -> dict[str, Any]:
    """How true the cluster that is up is to its wire, before this grid is measured on it.

    Args:
        grid: all cells.
        collectives: that are measured; the grid's if there are none.

    What else a machine does for some seconds says little of the half hour after them: before a long
    measurement a check that finds against it is repeated, and `checks` says how many there were.
    """
    is_long = sum(map(grid.seconds_expected, grid.cells)) >= LONG
    made = 1
    found = check_cluster(grid.mpi)
    measured = collectives or (grid.collective,)
    while (
        is_long
        and made < MOST_CHECKS
        and any(cluster_limit(found, collective, math.inf) for collective in measured)
    ):
        made += 1
        found = check_cluster(grid.mpi)
    return {**found, "checks": made}


def job_runner(launcher: Launcher, check: dict[str, Any] | None) -> JobRunner:
    """How jobs are run: on this machine, or on the cluster that is up and was checked."""

    def run(
        part: Grid,
        pattern_file: str | None,
        finished: Callable[[CellResult], None],
        progressed: Progressed,
    ) -> None:
        if check is None:
            job = local_job(part, launcher, pattern_file)
        else:
            job = cluster_job(part, launcher, CLUSTER_NAME, check, pattern_file)
        run_job(job, part, finished, progressed)

    return run


def _nowhere(*_: object) -> None:
    """What is to be measured on a cluster is not measured elsewhere."""
    raise AssertionError("no cluster was brought up")


@contextmanager
def place(
    grid: Grid, launcher: Launcher, needed: bool, collectives: Collection[str] = ()
) -> Iterator[JobRunner]:
    """Where the jobs run: here, on a simulated cluster, or on one that is brought up.

    Args:
        grid: all cells.
        launcher: of the MPI that the grid names.
        needed: whether any cell is still to be measured.
        collectives: that are measured, where that is not the grid's alone.
    """
    if grid.on == "smpi":
        cluster = simulated.SimulatedCluster(launcher, grid.platform, grid.ranks_per_node, grid.mpi)
        cluster.check(max(cell.ranks for cell in grid.cells))
        yield cluster.run
    elif grid.on == "cluster" and not needed:
        yield _nowhere
    elif grid.on == "cluster":
        hosts = max(cell.ranks for cell in grid.cells) // grid.ranks_per_node
        with cluster_up(hosts, grid.rate, grid.queue):
            yield job_runner(launcher, check_for(grid, collectives))
    else:
        yield job_runner(launcher, None)


def measure(
    grid: Grid, journal: Journal[CellResult], progressed: Progressed, run: JobRunner
) -> list[CellResult]:
    """Measure what the journal lacks, put it there, and return all in the grid's order.

    Args:
        grid: what to measure.
        journal: of this grid.
        progressed: hears of every sample.
        run: of the place where the jobs run.
    """
    for part in grid.without([result.cell for result in journal.read()]).jobs():
        with pattern_files(part) as pattern_file:
            run(part, pattern_file, journal.add, progressed)
    results = {result.cell: result for result in journal.read()}
    return [results[cell] for cell in grid.cells]


def find_launcher(on: str, mpi: str | None) -> Launcher:
    """What starts the jobs."""
    return simulated.find_launcher() if on == "smpi" else choose_benchmark_launcher(mpi)
