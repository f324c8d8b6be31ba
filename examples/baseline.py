"""The baseline to beat: both native MPIs on a cluster of 8 and of 48 hosts, as a page.

    sibyl must be built (make); needs root, for the network namespaces. About ten minutes.

    .venv/bin/python examples/baseline.py --results DIR --page docs/results/baseline.md
    .venv/bin/python examples/baseline.py --results DIR --page FILE --quick      # a minute
    .venv/bin/python examples/baseline.py --results DIR --page FILE --page-only  # measures nothing

Every grid's result lies in DIR as JSON with its raw samples; those that are there already are not
measured again, and an interrupted run goes on where it was. Delays are 0.6 of the time that the
wire needs, as 50 ms are to the 8 MB of Proficz 2020 over 1 Gbit/s links.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from sibyl.bench import output
from sibyl.errors import CommandError
from sibyl.experiment.grid import ROOTED_BLOCKS, Grid, make_cells
from sibyl.experiment.judge import Row, instrument_limit, judge
from sibyl.experiment.places import (
    check_cluster,
    cluster_up,
    job_runner,
    measure,
    open_journal,
    samples_bar,
)
from sibyl.experiment.provenance import provenance
from sibyl.experiment.runner import Interrupted, choose_benchmark_launcher, signals_interrupt
from sibyl.experiment.samples import CellResult
from sibyl.experiment.units import size_text, time_text
from sibyl.files import write_whole
from sibyl.mpi.library import find_benchmark
from sibyl.reproduce.evidence import LEAST_ITERATIONS, MANY_HOSTS, iterations_of

TITLES = {"openmpi": "Open MPI", "mpich": "MPICH"}
DELAY_TO_WIRE = 0.6
SERVED = ("gather", "scatter")
SCAN_CONTENDERS = ("native", "native:recursive_doubling", "auto", "123-doubling")


@dataclass(frozen=True)
class Setup:
    """One cluster and what is measured on it."""

    hosts: int
    rate: str
    bits_per_second: float
    sizes: dict[str, int] = field(hash=False)
    iterations: int = 12

    @property
    def title(self) -> str:
        return f"{self.hosts} hosts at {self.bits_per_second / 1e6:.0f} Mbit/s"

    def wire(self, collective: str, size: int) -> float:
        """Seconds that the busiest link needs for the bytes."""
        share = (self.hosts - 1) / self.hosts if collective in ROOTED_BLOCKS else 1.0
        return size * 8 * share / self.bits_per_second


KIB, MIB = 1 << 10, 1 << 20
BLOCKS = dict.fromkeys(ROOTED_BLOCKS, MIB)
SMALLER = {**dict.fromkeys(ROOTED_BLOCKS, MIB // 2), "gather": MIB}
SETUPS = (
    Setup(8, "100mbit", 100e6, {**BLOCKS, "reduce": MIB, "exscan": MIB}, iterations=10),
    Setup(
        48,
        "10mbit",
        10e6,
        {**SMALLER, "reduce": 256 * KIB, "exscan": 64 * KIB},
        iterations=LEAST_ITERATIONS,
    ),
)


def contenders(collective: str) -> tuple[str, ...]:
    if collective == "exscan":
        return SCAN_CONTENDERS
    return ("native", "auto") if collective in SERVED else ("native",)


def grids(setup: Setup, mpi: str, quick: bool) -> Iterator[tuple[str, Grid]]:
    """Name and grid of everything to measure with one MPI on one cluster."""
    for collective, size in setup.sizes.items():
        delay = round(DELAY_TO_WIRE * setup.wire(collective, size), 3)
        counts = "random" if collective in ("gatherv", "scatterv") else "same"
        grid = Grid(
            collective=collective,
            algorithms=contenders(collective),
            cells=make_cells([setup.hosts], [size], [counts], ["flat", "uniform"], [delay]),
            iterations=2 if quick else setup.iterations,
            warm_up=0 if quick else 1,
            operator="bxor" if collective == "exscan" else "sum",
            on="cluster",
            mpi=mpi,
            rate=setup.rate,
        )
        yield collective, grid
        # Once more, in a job of its own: does it repeat?
        if collective in ("gather", "reduce"):
            flat = tuple(cell for cell in grid.cells if cell.pattern == "flat")
            yield f"{collective}-again", replace(grid, cells=flat, algorithms=("native",))


def measure_all(directory: Path, setups: list[Setup], quick: bool, console: Console) -> None:
    """Measure what the directory lacks."""
    for setup in setups:
        wanted = [
            (mpi, directory / f"{mpi}-{setup.hosts}-{name}.json", grid)
            for mpi in TITLES
            for name, grid in grids(setup, mpi, quick)
        ]
        missing = [each for each in wanted if not each[1].exists()]
        if not missing:
            continue
        console.print(f"{setup.title}: {len(missing)} grids")
        with cluster_up(setup.hosts, setup.rate):
            checks: dict[str, dict[str, Any]] = {}
            for mpi, path, grid in missing:
                if mpi not in checks:
                    checks[mpi] = check_cluster(mpi)
                begin = time.monotonic()
                try:
                    _measure_one(path, grid, checks[mpi])
                except CommandError as error:  # the others are still worth having
                    console.print(f"  {path.stem}: {error}", style="red")
                    continue
                console.print(f"  {path.stem}: {time.monotonic() - begin:.0f} s")


def _measure_one(path: Path, grid: Grid, check: dict[str, Any]) -> None:
    launcher = choose_benchmark_launcher(grid.mpi)
    journal = open_journal(grid, launcher, resume=not path.stem.endswith("-again"))
    with samples_bar(grid, journal.read()) as progressed:
        results = measure(grid, journal, progressed, job_runner(launcher, check))
    rows = judge(results, "native")
    origin = provenance(find_benchmark(launcher.flavour), launcher, ["(examples/baseline.py)"])
    write_whole(path, output.to_json(grid, results, rows, origin))
    journal.forget()


# --- the page --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """What one file holds."""

    mpi: str
    setup: Setup
    name: str
    document: dict[str, Any]
    results: list[CellResult]
    rows: list[Row]


def read_parts(directory: Path, setups: list[Setup]) -> list[Part]:
    parts = []
    for setup in setups:
        for mpi in TITLES:
            for name, _ in grids(setup, mpi, quick=False):
                path = directory / f"{mpi}-{setup.hosts}-{name}.json"
                if not path.exists():
                    continue
                document = json.loads(path.read_text(encoding="utf-8"))
                results = [CellResult.from_json(each) for each in document["cells"]]
                parts.append(Part(mpi, setup, name, document, results, judge(results, "native")))
    return parts


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.1f}" if seconds < 1 else f"{seconds * 1e3:.0f}"


def _arrivals(row: Row) -> str:
    cell = row.result.cell
    return "flat" if not cell.max_delay else f"{cell.pattern} to {_ms(cell.max_delay)}"


def _collective(part: Part) -> str:
    cell = part.results[0].cell
    counts = "" if cell.counts == "same" else f", {cell.counts} counts"
    each = "in all" if part.document["parameters"]["collective"] in ROOTED_BLOCKS else "a rank"
    return f"{part.document['parameters']['collective']}, {size_text(cell.size)} {each}{counts}"


def instrument_section(parts: list[Part]) -> list[str]:
    lines = [
        "## The instrument",
        "",
        "What `sibyl cluster check` found before the measurements. Ratios are to the time that",
        "the wire needs; 1.1 counts as true. Where the links that a collective keeps busy are not",
        "true, its rows say *no verdict*; so do those of 48 hosts in fewer than "
        f"{LEAST_ITERATIONS} iterations.",
        "",
        "| cluster | MPI | alpha us | alpha us, others waiting | all to one | all to neighbours |",
        "|---|---|---|---|---|---|",
    ]
    seen = set()
    for part in parts:
        if (part.setup.hosts, part.mpi) in seen:
            continue
        seen.add((part.setup.hosts, part.mpi))
        check = part.results[0].job["cluster_check"]
        lines.append(
            f"| {part.setup.title} | {check['mpi']} | {check['alpha_s'] * 1e6:.0f} | "
            f"{check['alpha_busy_s'] * 1e6:.0f} | {check['gather_ratio']:.2f} | "
            f"{check['shift_ratio']:.2f} |"
        )
    return lines


HEAD = [
    "| collective | arrivals ms | MPI | algorithm | bound ms | run ms (quartiles) | absorbed ms | "
    "run / bound | run / native | verdict |",
    "|---|---|---|---|---|---|---|---|---|---|",
]


def _line(part: Part, row: Row) -> str:
    low, high = row.quarters
    verdict = "no verdict" if row.verdict == "none" else row.verdict
    few = part.setup.hosts >= MANY_HOSTS and iterations_of(part.results) < LEAST_ITERATIONS
    if row.verdict == "reference":
        verdict = "no verdict" if instrument_limit(row.result, "native") else "baseline"
    elif few:
        verdict = "no verdict"
    return (
        f"| {_collective(part)} | {_arrivals(row)} | {TITLES[part.mpi]} | {row.algorithm} | "
        f"{_ms(row.bound)} | {_ms(row.run)} ({_ms(low)}-{_ms(high)}) | {_ms(row.absorbed)} | "
        f"{row.to_bound:.2f} | {row.ratio:.2f} | {verdict} |"
    )


def setup_section(setup: Setup, parts: list[Part]) -> list[str]:
    lines = [f"## {setup.title}", "", *HEAD]
    here = [p for p in parts if p.setup == setup and not p.name.endswith("-again")]
    for collective in setup.sizes:
        for flat in (True, False):
            for part in here:
                if part.name != collective:
                    continue
                lines += [
                    _line(part, row)
                    for row in part.rows
                    if (row.result.cell.pattern == "flat") == flat
                ]
    return lines


def repeat_section(parts: list[Part]) -> list[str]:
    lines = [
        "## Does it repeat?",
        "",
        "The same cell measured twice, by separate jobs; operations above 20 ms.",
        "",
        "| cluster | collective | MPI | median ms | again ms | difference |",
        "|---|---|---|---|---|---|",
    ]
    by_name = {(p.setup.hosts, p.mpi, p.name): p for p in parts}
    for (hosts, mpi, name), part in by_name.items():
        again = by_name.get((hosts, mpi, f"{name}-again"))
        if again is None:
            continue
        flat = [r for r in part.rows if r.algorithm == "native" and r.result.cell.pattern == "flat"]
        first, second = flat[0].run, again.rows[0].run
        if first < 20e-3:
            continue
        lines.append(
            f"| {part.setup.title} | {_collective(part)} | {TITLES[mpi]} | {_ms(first)} | "
            f"{_ms(second)} | {abs(second - first) / first:.1%} |"
        )
    return lines


def page(parts: list[Part]) -> str:
    origin = parts[0].document["provenance"]
    job = parts[0].results[0].job
    wrong = sum(sum(r.wrong.values()) for part in parts for r in part.results)
    versions = dict.fromkeys(part.results[0].job["mpi"] for part in parts)
    clocks = max(part.results[0].job["clocks"]["worst_error_s"] for part in parts)
    lines = [
        "---",
        "examples: they measure for minutes, on clusters of namespaces; that their options are "
        "there is tested",
        "---",
        "# The baseline to beat",
        "",
        "Native collectives under arrival patterns, with the lower bounds of the model beside",
        "them. Written by `examples/baseline.py`, as root, from its results:",
        "",
        "    make build",
        "    .venv/bin/python examples/baseline.py --results DIR --page docs/results/baseline.md",
        "",
        f"Measured on {origin['date'][:10]}: {job['cpu']}, {job['cores']} cores, "
        f"{origin['system']}; {' and '.join(versions)}; Sibyl {origin['sibyl']}"
        + (f", commit {origin['commit']}." if origin["commit"] else "."),
        "Hosts are network namespaces on this one machine, one rank each, joined by links of the",
        "stated rate ([cluster](../how-to/cluster.md)); real MPI processes over real TCP. Medians;",
        "quartiles in brackets. Every contender takes its turn in every iteration. *run*: last",
        "exit minus first arrival. *absorbed*: last exit minus last arrival. *bound*: no",
        "algorithm can be faster ([bench](../how-to/bench.md)). Random arrivals are uniform up to",
        "0.6 of what the wire needs, as 50 ms are to the 8 MB of Proficz 2020 over 1 Gbit/s.",
        "gather, scatter, gatherv, scatterv: floats, root 0. reduce: sums of floats. exscan:",
        "MPI_LONG, MPI_BXOR. Root 0.",
        f"All ranks read one clock; ping-pong agrees to {time_text(clocks)}. "
        f"Wrong results: {wrong}.",
        "",
        *instrument_section(parts),
        "",
    ]
    for setup in dict.fromkeys(part.setup for part in parts):
        lines += [*setup_section(setup, parts), ""]
    lines += repeat_section(parts)
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, required=True, help="directory of the results")
    parser.add_argument("--page", type=Path, required=True, help="the page to write")
    parser.add_argument("--hosts", type=int, choices=[8, 48], help="only this cluster")
    parser.add_argument("--quick", action="store_true", help="two iterations, no warm-up")
    parser.add_argument("--page-only", action="store_true", help="measure nothing")
    args = parser.parse_args()
    setups = [setup for setup in SETUPS if args.hosts in (None, setup.hosts)]
    console = Console(stderr=True, highlight=False)
    args.results.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    try:
        if not args.page_only:
            with signals_interrupt():
                measure_all(args.results, setups, args.quick, console)
        parts = read_parts(args.results, setups)
        if not parts:
            raise CommandError(f"{args.results} holds no results")
        write_whole(args.page, page(parts))
    except CommandError as error:
        sys.exit(f"baseline: {error}")
    except Interrupted as signal:
        console.print("interrupted; the same command goes on where it was")
        return 128 + signal.number
    console.print(f"{args.page} written after {time.monotonic() - begin:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
