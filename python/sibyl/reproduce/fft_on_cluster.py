"""Table 5 of Proficz 2020 measured: sibyl-fft on a cluster of namespaces.

As with the other tables links are slower than the paper's and computation is longer by the same
factor: it is slept, since the transform itself takes a millisecond today. The input is noise, as in
the paper. Ways to gather take turns in every window. The windows are measured by several jobs, and
those that an interrupted run has finished are kept.
"""

import json
import random
import tempfile
import wave
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

from sibyl.errors import CommandError
from sibyl.experiment.grid import Cell
from sibyl.experiment.journal import Journal, say_kept
from sibyl.experiment.judge import cluster_limit
from sibyl.experiment.places import CLUSTER_NAME, check_cluster, cluster_up
from sibyl.experiment.runner import (
    Interrupted,
    choose_benchmark_launcher,
    run_sibyl,
    signals_interrupt,
)
from sibyl.experiment.samples import CellResult
from sibyl.experiment.statistics import median, sign_below
from sibyl.mpi.library import find_own_program
from sibyl.reproduce.control import published_only, wrong
from sibyl.reproduce.evidence import both, decided
from sibyl.reproduce.fft import (
    COMPUTE,
    CONTROLS,
    FLOATS,
    GATHERS,
    METRICS,
    UNPUBLISHED,
    WORTHS,
    Bound,
    Window,
    claims_of,
    draw,
    rows_of_worth,
    table,
)
from sibyl.reproduce.on_cluster import SLOWER, demand_root, stretch
from sibyl.reproduce.outcome import Advance, Claim, Measured, Measurement, Outcome, Where
from sibyl.reproduce.worth import Told

JOBS = 4
# As sibyl-fft calls them; its native one is the paper's MPI.
NAMES = {
    "native": "MPI",
    **{name: name for name in (*GATHERS, *UNPUBLISHED, *map(wrong, CONTROLS))},
    "auto": "Sibyl's choice",
}
FIELDS = {"total": "whole", "run": "run", "elapsed": "elapsed"}
COLUMNS = (
    "gather",
    *(
        f"{metric}_{what}"
        for metric in METRICS
        for what in ("published_ms", "paper_ms", "ms", "low_ms", "high_ms")
    ),
    *WORTHS,
)


def write_noise(path: Path) -> None:
    """A recording of four windows of white noise."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(44100)
        file.writeframes(random.Random(1).randbytes(2 * 4 * FLOATS))


def _measure(
    program: Path,
    where: Where,
    windows: int,
    journal: Journal[CellResult],
    advance: Callable[[], None],
) -> None:
    """What the journal lacks of the jobs."""
    compute = 1e3 * COMPUTE * stretch(where.rate)
    cell = Cell(where.hosts, 4 * FLOATS, "same", "flat", 0.0)
    with (
        tempfile.TemporaryDirectory(prefix="sibyl-fft-") as folder,
        cluster_up(where.hosts, where.rate),
    ):
        noise, report = Path(folder) / "noise.wav", Path(folder) / "report.json"
        write_noise(noise)
        check = check_cluster(where.mpi)
        for _ in range(JOBS - len(journal.read())):
            words = ["cluster", "run", "--name", CLUSTER_NAME, "--native", "--quiet"]
            words += ["-n", str(where.hosts), *(["--mpi", where.mpi] if where.mpi else []), "--"]
            words += [str(program), str(noise), "--gather", ",".join(NAMES), "--json", str(report)]
            words += ["--iterations", str(windows), "--check-every", str(windows)]
            run_sibyl(*words, "--compute", f"{compute:.6f}")
            run = json.loads(report.read_text(encoding="utf-8"))
            samples = {
                NAMES[one["gather"]]: {metric: one[field] for metric, field in FIELDS.items()}
                for one in run["times"]
            }
            journal.add(CellResult(cell, {"mpi": run["mpi"], "cluster_check": check}, samples, {}))
            advance()


# Milliseconds of every window here, by way to gather, by metric.
Samples = dict[str, dict[str, list[float]]]


def _samples_of(results: Sequence[CellResult]) -> Samples:
    return {
        name: {
            metric: [1e3 * time for result in results for time in result.samples[name][metric]]
            for metric in METRICS
        }
        for name in NAMES.values()
    }


def _row(name: str, of: dict[str, list[float]], factor: float) -> list[Any]:
    """Published and ours, the latter in milliseconds of the paper and of this cluster."""
    theirs = table()
    row: list[Any] = [name]
    for metric in METRICS:
        low, middle, high = numpy.quantile(of[metric], (0.25, 0.5, 0.75)).tolist()
        given = getattr(theirs[name], metric) if name in theirs else ""
        row += [given, *(round(time, 3) for time in (middle / factor, middle, low, high))]
    return row


def _spread(times: Sequence[float], factor: float) -> tuple[float, float]:
    """What lies between the median and the quartiles, in milliseconds of the paper."""
    low, middle, high = numpy.quantile(times, (0.25, 0.5, 0.75)).tolist()
    return (middle - low) / factor, (high - middle) / factor


def _setting(where: Where, job: dict[str, Any], windows: int) -> str:
    factor = stretch(where.rate)
    return (
        f"measured: sibyl-fft on {where.hosts} hosts of a namespace cluster at {where.rate} each, "
        f"{job['mpi']}; medians and quartiles of {windows} windows of 1 MiB "
        f"of noise, all ways to gather in every window, ratios of the same window; "
        f"{1e3 * COMPUTE:.1f} ms of the paper's computation between a share and the gather, "
        f"{factor:.2f} times as long here as a byte takes, and slept; milliseconds of the paper "
        f"are ours over {factor:.2f}. A gather takes {job['cluster_check']['gather_ratio']:.2f} "
        f"times what the wire needs for its data"
    )


@dataclass(frozen=True)
class Windows:
    """Times of the same windows: whatever else the machine does meets all ways to gather alike.

    So quotients of a window are what is told, and judged by the sign test.

    Attributes:
        samples: in milliseconds.
        limits: by metric what the instrument decides there, if it does.
    """

    samples: Samples
    limits: dict[str, str]

    @property
    def names(self) -> Sequence[str]:
        """Of the ways to gather."""
        return list(published_only(self.samples))

    def _quotients(self, own: str, other: str, metric: str) -> list[float]:
        pair = (self.samples[name][metric] for name in (own, other))
        return [one / base for one, base in zip(*pair, strict=True)]

    def over(self, own: str, other: str, metric: str) -> float:
        """How many times as long one takes as another."""
        return median(self._quotients(own, other, metric))

    def told(self, name: str, metric: str) -> Told:
        """Times of one that knows who is late beside its control."""
        return Told(*(self.samples[of][metric] for of in (name, CONTROLS[name], wrong(name))))

    def _chances(self, bound: Bound) -> tuple[float, float]:
        below = self._quotients(bound.own, bound.other, bound.metric)
        above = [-quotient for quotient in below]
        most = sign_below(below, bound.most), sign_below(above, -bound.most)
        if not bound.least:
            return most
        return both(most, (sign_below(above, -bound.least), sign_below(below, bound.least)))

    def judged(self, text: str, bounds: Mapping[str, Bound], reason: str, **more: Any) -> Claim:
        """As `decided`."""
        chances = {name: self._chances(bound) for name, bound in bounds.items()}
        limits = {
            name: limit for name, bound in bounds.items() if (limit := self.limits[bound.metric])
        }
        return decided(text, chances, reason, limits, **more)


def _limits(results: Sequence[CellResult]) -> dict[str, str]:
    """Computation hides what is amiss with the links in the whole time, not in the gather's."""
    gather = median([time for result in results for time in result.samples["MPI"]["elapsed"]])
    # Jobs of a run that was interrupted are of several clusters.
    limits = (cluster_limit(result.job["cluster_check"], "gather", gather) for result in results)
    limit = next(filter(None, limits), "")
    return {metric: "" if metric == "total" else limit for metric in METRICS}


def _claim_of_choice(found: Windows) -> Claim:
    total, run = (found.over("Sibyl's choice", "MPI", metric) for metric in ("total", "run"))
    return found.judged(
        "Sibyl's own choice is not slower than the MPI library's gather by more than "
        f"{100 * (SLOWER - 1):.0f} %",
        {metric: Bound("Sibyl's choice", "MPI", metric, SLOWER) for metric in ("total", "run")},
        f"Its total time is {total:.3f}, its run time {run:.3f} of the library's.",
        kind="own",
    )


def outcome_of(where: Where, results: Sequence[CellResult]) -> Outcome:
    """Ours beside the published times, and what becomes of the claims."""
    factor = stretch(where.rate)
    samples = _samples_of(results)
    ours = {
        name: Window(*(median(of[metric]) / factor for metric in METRICS))
        for name, of in samples.items()
    }
    spread = {
        name: {metric: _spread(of[metric], factor) for metric in METRICS}
        for name, of in samples.items()
    }
    windows = Windows(samples, _limits(results))
    why = (
        "Ranks 0 and 1 come last, at about the same time: LS takes rank 1 first, SLS last. Who "
        "receives in the background has most blocks when rank 0 comes."
    )
    worth = rows_of_worth(windows, list(samples))
    return Outcome(
        _setting(where, results[0].job, len(samples["MPI"]["total"])),
        COLUMNS,
        [
            [*_row(name, of, factor), *more]
            for (name, of), more in zip(samples.items(), worth, strict=True)
        ],
        [*claims_of(windows, why), _claim_of_choice(windows)],
        draw(published_only(ours), table(), "measured", spread),
    )


def _windows(iterations: int) -> int:
    """Of a job."""
    return -(-iterations // JOBS)


def _asked(where: Where, iterations: int) -> str:
    if where.hosts & (where.hosts - 1):
        raise CommandError(f"--hosts {where.hosts}: the transform takes a power of two")
    return (
        f"fft {','.join(NAMES)} {FIELDS} {JOBS} jobs of {_windows(iterations)} windows of {FLOATS} "
        f"floats of noise, {COMPUTE} s apart, {where}"
    )


def _measured(where: Where, iterations: int, mark: str, advance: Advance) -> Measured:
    demand_root()
    launcher = choose_benchmark_launcher(where.mpi)
    program = find_own_program("sibyl-fft", launcher.flavour)
    journal = Journal(mark, CellResult.from_json)
    journal.hold()
    for _ in journal.read():
        advance()
    try:
        if len(journal.read()) < JOBS:
            with signals_interrupt():
                _measure(program, where, _windows(iterations), journal, advance)
    except Interrupted:
        say_kept([journal], JOBS, "jobs", "the same command")
        raise KeyboardInterrupt from None
    return Measured({"": journal.read()}, journal.forget)


# All algorithms, the MPI library's own and Sibyl's choice.
table_5 = Measurement(_asked, _measured, lambda where, parts: outcome_of(where, parts[""]))
