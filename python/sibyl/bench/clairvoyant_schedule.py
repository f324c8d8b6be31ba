"""`sibyl bench clairvoyant-schedule`: what the generators of Clairvoyant schedules cost.

Table 1 and figures 7 and 8 of the paper (P = N = 4 to 512, uniform and skewed arrivals) and larger
sizes; one random instance per measurement, the generators in turn on the same instance. Times are
processor times of one thread.
"""

import csv as csv_module
import io
import math
import random
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

import numpy
from rich.console import Console
from rich.table import Table

from sibyl import _core
from sibyl.errors import CommandError
from sibyl.files import write_result
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
        if len(self.samples) < 2:
            return self.samples[0], self.samples[0]
        low, _, high = statistics.quantiles(self.samples, n=4, method="inclusive")
        return low, high


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


def peak_bits_per_cell(name: str, ranks: int, segments: int) -> float:
    """Memory that a generator adds to a process, in bits per (process, segment).

    Measured for the program of rank 0, so that the events are few.
    """
    words = [sys.executable, "-c", PEAK, name, str(ranks), str(segments)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
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


def print_repairs(size: int, instances: int, seed: int, out: Console) -> None:
    """What one rank's events take, and what a changed pattern leaves of a schedule."""
    draw = random.Random(f"{seed} repairs")
    table = Table(title=f"fast, {size} x {size}, medians of {instances}")
    table.add_column("what")
    table.add_column("share", justify="right")
    for case in CASES:
        share = one_rank_over_all(case, instances, size, size, draw)
        table.add_row(f"time for one rank's events over that for all, {case}", f"{share:.2f}")
    for changes in (1, 2, 4):
        share = share_kept(changes, instances, size, size, draw)
        table.add_row(
            f"events before the first change, {changes} arrivals drawn anew", f"{share:.1%}"
        )
    out.print(table)


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.3g}"


def print_tables(cells: list[Cell], out: Console) -> None:
    """Medians with quartiles, ratios to the segment tree beside the published ones, the bound."""
    table1 = published()
    for case in CASES:
        table = Table(title=f"{case}: processor time in ms, median (quartiles) instances")
        for head in ("P x N", *GENERATORS, "write"):
            table.add_column(head, justify="right")
        ratios = Table(title=f"{case}: time over that of segment-tree (published)")
        for head in ("P x N", "linear", "pairing-heap", "segment-tree / fast"):
            ratios.add_column(head, justify="right")
        sizes = dict.fromkeys((c.ranks, c.segments) for c in cells if c.case == case)
        for ranks, segments in sizes:
            row = {
                c.generator: c
                for c in cells
                if (c.case, c.ranks, c.segments) == (case, ranks, segments)
            }
            any_cell = next(iter(row.values()))
            words = []
            for name in GENERATORS:
                if name not in row:
                    words.append("")
                    continue
                low, high = row[name].quartiles()
                words.append(
                    f"{_milliseconds(row[name].median)} "
                    f"({_milliseconds(low)}-{_milliseconds(high)}) {len(row[name].samples)}"
                )
            size = f"{ranks} x {segments}"
            bound = _milliseconds(seconds_to_write(any_cell.events))
            table.add_row(size, *words, bound)
            if "segment-tree" not in row:
                continue
            tree = row["segment-tree"]
            found = []
            for name in ("linear", "pairing-heap"):
                text = f"{ratio(row[name], tree):.2f}" if name in row else ""
                known = table1.get((case, ranks, name)) if ranks == segments else None
                found.append(text if known is None else f"{text} ({known:g})")
            fast = f"{ratio(tree, row['fast']):.2f}" if "fast" in row else ""
            ratios.add_row(size, *found, fast)
        out.print(table)
        out.print(ratios)


def as_csv(cells: list[Cell]) -> str:
    """All samples as a table: one line each."""
    text = io.StringIO()
    writer = csv_module.writer(text, lineterminator="\n")
    writer.writerow(["case", "ranks", "segments", "generator", "instance", "seconds"])
    for cell in cells:
        for number, seconds in enumerate(cell.samples):
            writer.writerow(
                [cell.case, cell.ranks, cell.segments, cell.generator, number, f"{seconds:.9f}"]
            )
    return text.getvalue()


def draw(cells: list[Cell], path: Path) -> None:
    """Figures 7 and 8: time over size in log scale, quartiles as bars, the bound as a line."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise CommandError("--plot needs matplotlib: pip install matplotlib") from error
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, case in zip(panels, CASES, strict=True):
        square = [c for c in cells if c.case == case and c.ranks == c.segments]
        for name in GENERATORS:
            line = [c for c in square if c.generator == name]
            if not line:
                continue
            middle = [1e3 * c.median for c in line]
            spread = numpy.array([c.quartiles() for c in line]).T * 1e3
            axes.errorbar(
                [c.ranks for c in line],
                middle,
                yerr=[numpy.maximum(0, middle - spread[0]), numpy.maximum(0, spread[1] - middle)],
                marker="o",
                markersize=4,
                capsize=3,
                label=name,
            )
        bound = {c.ranks: c.events for c in square}
        axes.plot(
            list(bound),
            [1e3 * seconds_to_write(events) for events in bound.values()],
            color="grey",
            linestyle="--",
            label="writing the events",
        )
        ticks = list(bound)
        axes.set(
            xscale="log", yscale="log", xlabel="processes = segments", title=f"{case} arrivals"
        )
        axes.set_xticks(ticks, [str(t) for t in ticks])
        axes.minorticks_off()
        axes.grid(True, alpha=0.3)
    panels[0].set_ylabel("time to generate (ms)")
    panels[0].legend()
    image = io.BytesIO()
    figure.savefig(image, format=path.suffix[1:] or "png", dpi=140)
    write_result(path, image.getvalue())


def clairvoyant_schedule(
    instances: int = 250,
    budget: float = 10.0,
    seed: int = 1,
    quick: bool = False,
    csv: Path | None = None,
    plot: Path | None = None,
) -> int:
    """Measure the generators; see `sibyl bench clairvoyant-schedule --help`.

    Args:
        instances: random instances per size and case.
        budget: seconds after which a generator gets no further instance of a size.
        seed: of the instances.
        quick: only the sizes up to 128.
        csv: where to write all samples.
        plot: where to draw the figure.

    Returns:
        The exit code.
    """
    if instances < 1:
        raise CommandError(f"--iterations {instances}: measure at least 1 instance")
    if not (budget > 0 and math.isfinite(budget)):
        raise CommandError("the time per size must be positive")
    sizes = [size for size in PAPER if size[0] <= 128] if quick else PAPER + LARGER
    log = Console(stderr=True, quiet=not sys.stderr.isatty())
    cells = measure(sizes, GENERATORS, instances, budget, seed, log)
    out = Console(width=140)
    print_tables(cells, out)
    print_repairs(128 if quick else 512, min(25, instances), seed, out)
    memory = Table(title="peak memory, bits per (process, segment), events not kept")
    places = [(512, 512)] if quick else [(512, 512), (2048, 2048), (4096, 4096)]
    memory.add_column("P x N", justify="right")
    for name in GENERATORS:
        memory.add_column(name, justify="right")
    for ranks, segments in places if sys.platform == "linux" else []:
        memory.add_row(
            f"{ranks} x {segments}",
            *(
                f"{peak_bits_per_cell(name, ranks, segments):.1f}"
                if ranks <= 512 or name in ("segment-tree", "fast")
                else ""
                for name in GENERATORS
            ),
        )
    out.print(memory)
    if csv is not None:
        write_result(csv, as_csv(cells))
    if plot is not None:
        draw(cells, plot)
    return 0
