"""Times of the generators of Clairvoyant schedules.

The sizes are those of the paper (P = N = 4 to 512, uniform and skewed arrivals) and larger ones;
one random instance per measurement, the generators in turn on the same instance. Times are
processor times of one thread.
"""

import csv as csv_module
import random
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from importlib import resources

import numpy
from rich.console import Console

from sibyl import _core
from sibyl.experiment.statistics import quartiles
from sibyl.schedules import clairvoyant

GENERATORS = ("linear", "pairing-heap", "segment-tree", "fast")
CASES = ("uniform", "skewed")
PAPER = [(size, size) for size in (4, 8, 16, 32, 64, 128, 256, 512)]
LARGER = [(1024, 1024), (2048, 2048), (4096, 64), (65536, 16)]
# The slow generators are left out where one instance takes too long to wait for.
MOST_CELLS = {"linear": 512 * 512, "pairing-heap": 512 * 512}
# The larger sizes are not for them.
MOST_RANKS = {"linear": 512, "pairing-heap": 512}


@dataclass
class Cell:
    """The samples of one generator on one size and case, in seconds."""

    case: str
    ranks: int
    segments: int
    generator: str
    samples: list[float] = field(default_factory=list)
    events: int = 0

    @property
    def median(self) -> float:
        """The median time in seconds."""
        return statistics.median(self.samples)

    def quartiles(self) -> tuple[float, float]:
        """The first and third quartile."""
        return quartiles(self.samples)


def instance(
    case: str, ranks: int, segments: int, draw: random.Random
) -> tuple[numpy.ndarray, float, int]:
    """Arrivals, round time and root of a random instance, as in section 5.7 of the paper."""
    arrivals = numpy.zeros(ranks)
    root = 0
    if case == "uniform":
        arrivals[:] = [draw.uniform(0, ranks + 0.1) for _ in range(ranks)]
        root = draw.randrange(ranks)
    else:
        arrivals[-1] = segments
    return arrivals, draw.uniform(0.001, 1), root


def measure(
    sizes: list[tuple[int, int]],
    generators: tuple[str, ...],
    instances: int,
    budget: float,
    seed: int,
    log: Console,
) -> list[Cell]:
    """Measure every cell: up to `instances` instances or `budget` seconds of its own, at least one.

    A generator that has used up its seconds sits out while the others go on, so that a slow one
    does not cost the fast ones their samples.
    """
    cells = []
    for case in CASES:
        for ranks, segments in sizes:
            draw = random.Random(f"{seed} {case} {ranks} {segments}")
            row = [
                Cell(case, ranks, segments, name)
                for name in generators
                if ranks <= MOST_RANKS.get(name, ranks)
                and ranks * segments <= MOST_CELLS.get(name, ranks * segments)
            ]
            left = dict.fromkeys((cell.generator for cell in row), budget)
            for _ in range(instances):
                arrivals, round_time, root = instance(case, ranks, segments, draw)
                for cell in row:
                    if left[cell.generator] <= 0:
                        continue
                    begin = time.monotonic()
                    seconds, cell.events = _core.clairvoyant_seconds(
                        arrivals, segments, round_time, root, cell.generator
                    )
                    left[cell.generator] -= time.monotonic() - begin
                    cell.samples.append(seconds)
                if max(left.values()) <= 0:
                    break
            cells += row
            taken = ", ".join(f"{cell.generator} {len(cell.samples)}" for cell in row)
            log.print(f"{case} {ranks} x {segments}: {taken} instances")
    return cells


def ratio(numerator: Cell, denominator: Cell) -> float:
    """Ratio of the median times over the instances that both were measured on."""
    common = min(len(numerator.samples), len(denominator.samples))
    return statistics.median(numerator.samples[:common]) / statistics.median(
        denominator.samples[:common]
    )


def published() -> dict[tuple[str, int, str], float]:
    """Table 1: (case, size, generator) to its time over that of the segment tree."""
    text = resources.files("sibyl").joinpath("data/clairvoyant_table_1.csv").read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    found = {}
    for row in csv_module.DictReader(lines):
        size = int(row["processes_and_segments"])
        for case in CASES:
            found[case, size, "linear"] = float(row[f"{case}_linear_over_segment_tree"])
            found[case, size, "pairing-heap"] = float(row[f"{case}_pairing_over_segment_tree"])
    return found


def seconds_to_write(events: int) -> float:
    """The bound: the median time to write as many events into fresh memory."""
    samples = []
    pattern = numpy.ones(4, dtype=numpy.uint32)
    for _ in range(5):
        begin = time.thread_time()
        rows = numpy.empty((events, 4), dtype=numpy.uint32)
        rows[:] = pattern
        samples.append(time.thread_time() - begin)
    return statistics.median(samples)


# Prints the bytes by which generating raises the peak of a process, after everything is loaded and
# the peak has been set back (Linux).
PEAK = """
import sys
import numpy
from sibyl import _core

def status(name):
    with open("/proc/self/status") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith(name))

name, ranks, segments = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
arrivals = numpy.linspace(0, ranks, ranks)
_core.clairvoyant_seconds(arrivals[:2].copy(), 1, 0.5, 0, name, 0)
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
before = status("VmRSS")
_core.clairvoyant_seconds(arrivals, segments, 0.5, 0, name, 0)
print(max(0, status("VmHWM") - before))
"""


def peak_bits_per_cell(name: str, ranks: int, segments: int) -> float | None:
    """Memory that a generator adds to a process, in bits per (process, segment).

    Measured for the program of rank 0, so that the events are few.

    Returns:
        None where the system does not tell: not every kernel or container lets a process set its
        peak back.
    """
    words = [sys.executable, "-c", PEAK, name, str(ranks), str(segments)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    return 8 * int(done.stdout) / (ranks * segments)


def share_kept(
    changes: int, instances: int, ranks: int, segments: int, draw: random.Random
) -> float:
    """Share of the events before the first difference when some arrivals are drawn anew (median).

    What generating again from the first event that changes could save.
    """
    shares = []
    for _ in range(instances):
        arrivals, round_time, root = instance("uniform", ranks, segments, draw)
        before = clairvoyant(arrivals, segments, round_time, root)
        for rank in draw.sample(range(ranks), changes):
            arrivals[rank] = draw.uniform(0, ranks + 0.1)
        after = clairvoyant(arrivals, segments, round_time, root)
        common = min(len(before), len(after))
        different = numpy.flatnonzero(before[:common] != after[:common])
        shares.append((different[0] if len(different) else common) / len(after))
    return statistics.median(shares)


def one_rank_over_all(
    case: str, instances: int, ranks: int, segments: int, draw: random.Random
) -> float:
    """Median time for the events of one random rank over the median time for all."""
    one, everything = [], []
    for _ in range(instances):
        arrivals, round_time, root = instance(case, ranks, segments, draw)
        rank = draw.randrange(ranks)
        for samples, only in ((one, rank), (everything, None)):
            arguments = () if only is None else (only,)
            seconds, _ = _core.clairvoyant_seconds(
                arrivals, segments, round_time, root, "fast", *arguments
            )
            samples.append(seconds)
    return statistics.median(one) / statistics.median(everything)
