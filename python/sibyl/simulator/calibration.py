"""Where alpha, beta and the operator's cost come from: measured on this machine, or read."""

import json
import signal
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sibyl.errors import CommandError
from sibyl.experiment.grid import Cell, Grid
from sibyl.experiment.runner import (
    Interrupted,
    choose_benchmark_launcher,
    local_job,
    run_job,
    signals_interrupt,
)
from sibyl.experiment.samples import CellResult
from sibyl.inputs import read_text

# The numbers are least times; of several jobs the middle one.
JOBS = 3
# Clairvoyant's plan needs to know what an operator costs, so its communicator measures that.
CONTENDERS = ("native", "clairvoyant")


@dataclass(frozen=True)
class Calibration:
    """What messages and operators cost.

    Attributes:
        alpha: seconds of an empty message.
        beta: seconds per byte.
        gamma: seconds per byte of the reduction operator; None: not known.
        origin: where this is from.
    """

    alpha: float
    beta: float
    gamma: float | None
    origin: str


def measure(mpi: str | None) -> Calibration:
    """By ping-pong between two ranks on this machine; the operator adds doubles.

    Args:
        mpi: openmpi, mpich or a prefix; None for the first in PATH.

    Raises:
        CommandError: there is no MPI, or the measurement failed.
    """
    launcher = choose_benchmark_launcher(mpi)
    cell = Cell(2, 1 << 16, "same", "flat", 0.0)
    grid = Grid("reduce", CONTENDERS, (cell,), iterations=2, warm_up=1, compute=1e-3, mpi=mpi)
    found: list[CellResult] = []
    costs: list[dict[str, float]] = []
    try:
        with signals_interrupt():
            for _ in range(JOBS):
                job = local_job(grid, launcher, None)
                costs.append(run_job(job, grid, found.append, lambda _cell: None))
    except Interrupted as signalled:
        if signalled.number == signal.SIGINT:
            raise KeyboardInterrupt from None
        raise SystemExit(128 + signalled.number) from None
    if not all("gamma_s_per_byte" in of for of in costs):
        raise CommandError(
            "Sibyl has not measured the costs of its reduce; leave SIBYL_REDUCE and SIBYL_TABLE out"
        )
    return Calibration(
        statistics.median(result.job["alpha_s"] for result in found),
        _beta([result.job["beta_s_per_byte"] for result in found], costs),
        statistics.median(of["gamma_s_per_byte"] for of in costs),
        f"measured between two ranks of {launcher} on this machine",
    )


def _beta(slopes: Sequence[float], costs: Sequence[dict[str, float]]) -> float:
    """The middle slope of the ping-pongs; a busy machine may leave none above 0.

    Then the least of the streams by which Sibyl calibrates a communicator.
    """
    above = [slope for slope in slopes if slope > 0]
    if above:
        return statistics.median(above)
    return min(of["beta_s_per_byte"] for of in costs)


def read(path: Path) -> Calibration:
    """From a JSON file.

    Takes {"alpha": seconds, "beta": seconds per byte} and, if it is there, "gamma", and what
    `sibyl cluster check --json` and `sibyl simulate --json` write: alpha_s, beta_s_per_byte and
    gamma_s_per_byte.

    Raises:
        CommandError: the file cannot be read, or holds something else.
    """
    try:
        document = json.loads(read_text(path))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or "it is not JSON"
        raise CommandError(f"--calibration {path}: cannot be read: {reason}") from error
    entry = document if isinstance(document, dict) else {}
    try:
        alpha = float(entry["alpha_s"] if "alpha_s" in entry else entry["alpha"])
        beta = float(entry["beta_s_per_byte"] if "beta_s_per_byte" in entry else entry["beta"])
        combine = entry.get("gamma_s_per_byte", entry.get("gamma"))
        gamma = None if combine is None else float(combine)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise CommandError(
            f'--calibration {path}: write {{"alpha": seconds, "beta": seconds per byte}}'
        ) from error
    if not all(0 <= value < float("inf") for value in (alpha, beta, gamma or 0.0)):
        raise CommandError(f"--calibration {path}: alpha and beta are not negative")
    return Calibration(alpha, beta, gamma, f"read from {path}")
