"""Runs programs with a late rank, as they are, without and with Sibyl, and shows why they wait.

On a cluster of 8 hosts on this machine (network namespaces, 100 Mbit/s); where these are not
allowed, on the machine itself, where messages are copies in memory and there is little to win. What
a program takes is the time from start to end, the launcher's included; runs without and with Sibyl
take turns. Then `sibyl profile` looks at the same program in the same place and writes a page.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
SIBYL = str(Path(sys.executable).parent / "sibyl")
RANKS, RATE = 8, 100  # Mbit/s
COMPUTE_MS, LATE_MS, VECTOR_BYTES = 30, 150, 1 << 20
# Of what a link carries, headers of Ethernet, IP and TCP are this much more than the data.
WIRE = 1.0 / (RATE * 1e6 / 8) * (1538 / 1448)
LINE = re.compile(r"seconds ([\d.]+) checksum (\S+)")


@dataclass(frozen=True)
class Program:
    """One program for one MPI."""

    name: str
    mpi: str
    words: list[str]


def flavours(build: Path) -> list[tuple[str, str]]:
    """(flavour, compiler wrapper) of each real MPI that the build tree was made for."""
    lines = (build / "sibyl-mpis.txt").read_text().splitlines()
    fields = [line.split() for line in lines]
    return [(f[0], f[1]) for f in fields if f and f[0] != "smpi"]


def run(command: list[str], what: str) -> tuple[str, str]:
    """Standard output and error of a command; ends the demo with them when it fails."""
    result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if result.returncode != 0:
        sys.stderr.write(result.stdout + result.stderr)
        sys.exit(f"demo: {what} failed with exit code {result.returncode}")
    return result.stdout, result.stderr


def programs(build: Path, out: Path) -> list[Program]:
    """The C program for every MPI, and the Python program where there is an mpi4py for it."""
    found = []
    for flavour, compiler in flavours(build):
        program = out / f"imbalanced-{flavour}"
        source = str(HERE / "imbalanced.c")
        run([compiler, "-O2", "-g", "-o", str(program), source], "building the program")
        found.append(Program("C", flavour, [str(program)]))
        python = Path(sys.prefix) / f"mpi4py-{flavour}" / "bin" / "python"
        if python.exists():
            found.append(Program("Python", flavour, [str(python), str(HERE / "imbalanced.py")]))
    return found


@dataclass(frozen=True)
class Place:
    """Where programs run.

    Attributes:
        start: the words that start ranks.
        native: those that leave Sibyl out of it.
        where: in words.
        cluster: its name; empty on this machine.
    """

    start: list[str]
    native: list[str]
    where: str
    cluster: str = ""


@contextmanager
def place() -> Iterator[Place]:
    """A cluster, which is taken down at the end, or this machine."""
    name = f"demo-{os.getpid()}"
    up = [SIBYL, "cluster", "up", "--hosts", str(RANKS), "--rate", f"{RATE}mbit", "--name", name]
    made = subprocess.run(up, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        print(f"demo: no cluster: {made.stderr.strip()}")
        yield Place([SIBYL, "run", "-n", str(RANKS)], ["--set=allreduce=native"], "this machine")
        return
    try:
        start = [SIBYL, "cluster", "run", "--name", name]
        yield Place(start, ["--native"], f"{RANKS} hosts, {RATE} Mbit/s", name)
    finally:
        subprocess.run([SIBYL, "cluster", "down", "--name", name], capture_output=True, check=False)


def compare(place: Place, program: Program, steps: int, runs: int) -> tuple[float, float, bool]:
    """Median seconds without and with Sibyl, and whether their results are the same."""
    times: dict[str, list[float]] = {"native": [], "sibyl": []}
    sums = set()
    for _ in range(runs):
        for side in times:
            how = place.native if side == "native" else []
            words = [*program.words, str(steps), str(COMPUTE_MS), str(LATE_MS)]
            command = [*place.start, "--mpi", program.mpi, "--quiet", *how, "--", *words]
            begin = time.monotonic()
            text, _ = run(command, f"the {side} run of the {program.name} program, {program.mpi}")
            times[side].append(time.monotonic() - begin)
            if match := LINE.search(text):
                sums.add(match[2])
    return statistics.median(times["native"]), statistics.median(times["sibyl"]), len(sums) == 1


def profile(place: Place, program: Program, steps: int, build: Path, page: Path) -> str:
    """What `sibyl profile` says of a run without Sibyl; writes its page."""
    words = [*program.words, str(steps), str(COMPUTE_MS), str(LATE_MS)]
    command = [SIBYL, "profile", "--mpi", program.mpi, "--html", str(page)]
    if not place.cluster:
        return run([*command, "-n", str(RANKS), "--", *words], "profiling the program")[1]
    # Messages between its hosts cost what a check of the cluster has measured.
    costs = page.with_name("costs.json")
    check = [SIBYL, "cluster", "check", "--name", place.cluster, "--mpi", program.mpi]
    run([*check, "--json", str(costs)], "checking the cluster")
    with tempfile.TemporaryDirectory() as traces:
        recorder = str(build.resolve() / "lib" / "libsibyl-profile.so")
        start = [*place.start, *place.native, "--mpi", program.mpi, "--quiet", "--"]
        # What the cluster preloads has ranks sleep while they wait.
        shell = ["sh", "-c", 'LD_PRELOAD="$LD_PRELOAD $0" SIBYL_PROFILE="$1"; shift; '
                 'export LD_PRELOAD SIBYL_PROFILE; exec "$@"', recorder, traces]  # fmt: skip
        run([*start, *shell, *words], "profiling the program")
        read = ["--traces", traces, "--calibration", str(costs)]
        return run([*command, *read], "reading the profile")[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="build tree of Sibyl")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--runs", type=int, default=1, help="runs of each side")
    args = parser.parse_args()
    console = Console(width=max(80, Console().width) if not sys.stdout.isatty() else None)
    out = args.build / "demo"
    out.mkdir(parents=True, exist_ok=True)
    # So that the cluster is taken down then too.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: sys.exit(128 + number))
    right = True
    own = programs(args.build, out)
    if not own:
        sys.exit("demo: Sibyl was built without an MPI; mend it with: scripts/setup test")
    page = out / "profile.html"
    with place() as here:
        print(
            f"{RANKS} ranks sum {VECTOR_BYTES >> 20} MiB in each of {args.steps} steps; "
            f"rank 3 comes {LATE_MS} ms after the others. On {here.where}:"
        )
        table = Table()
        table.add_column("program")
        for heading in ("native", "with Sibyl", "ratio", "bound", "results"):
            table.add_column(heading, justify="right")
        on_wire = WIRE * VECTOR_BYTES if here.cluster else 0.0
        bound = args.steps * ((COMPUTE_MS + LATE_MS) * 1e-3 + on_wire)
        for program in own:
            native, ours, same = compare(here, program, args.steps, args.runs)
            right = right and same
            table.add_row(
                f"{program.name}, {program.mpi}",
                f"{native:.1f} s",
                f"{ours:.1f} s",
                f"{ours / native:.2f}",
                f"{bound:.1f} s",
                "equal" if same else "[red]DIFFERENT[/red]",
            )
        console.print(table)
        print("bound: computing, lateness, and once the vector over a link, without start-up")
        said = profile(here, own[0], args.steps, args.build, page)
    print(f"\nWhat sibyl profile says of the {own[0].name} program there, without Sibyl:")
    sys.stdout.write(said)
    print(f"Its page: {page}")
    print(
        f"\nNot helped: the {args.steps * LATE_MS / 1000:.1f} s by which rank 3 comes late are "
        f"still waited for; only an even load\nmends that. Sibyl shortens what follows it."
    )
    if not right:
        console.print("[red]Results differ from the native ones.[/red]")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
