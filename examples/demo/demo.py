"""Runs collectives.c without and with Sibyl, in turn, and prints the two beside each other.

The program is built with the MPI's own compiler and never sees Sibyl: native runs and runs under
`sibyl run` alternate, so that a machine whose speed drifts treats both alike. Times are the median
over the runs of the program's own median per call on the slowest rank.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
LINE = re.compile(r"(\w+) (\d+) ([\d.]+) us checksum (\w+)")


def flavours(build: Path) -> list[tuple[str, str]]:
    """(flavour, compiler wrapper) of each real MPI that the build tree was made for."""
    lines = (build / "sibyl-mpis.txt").read_text().splitlines()
    fields = [line.split() for line in lines]
    return [(f[0], f[1]) for f in fields if f and f[0] != "smpi"]


def run(command: list[str], what: str) -> str:
    """Standard output of a command; ends the demo with its messages when it fails."""
    result = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if result.returncode != 0:
        sys.stderr.write(result.stdout + result.stderr)
        sys.exit(f"demo: {what} failed with exit code {result.returncode}")
    return result.stdout


def demo(console: Console, flavour: str, compiler: str, args: argparse.Namespace) -> bool:
    """Runs the program on one MPI and prints its table; False where results differ."""
    out = args.build / "demo"
    out.mkdir(parents=True, exist_ok=True)
    program = out / f"collectives-{flavour}"
    run([compiler, "-O2", "-o", str(program), str(HERE / "collectives.c")], "building the program")
    sibyl = [str(Path(sys.executable).parent / "sibyl"), "run", "--quiet", "--mpi", flavour]
    ranks = ["-n", str(args.ranks), "--"]
    report = out / f"report-{flavour}.json"
    settings = [f"--set={c}=native" for c in ("exscan", "scan", "gather", "scatter")]
    times: dict[tuple[str, int], dict[str, list[float]]] = {}
    checksums: dict[tuple[str, int], set[str]] = {}
    for _ in range(args.runs):
        for side, extra in (("native", settings), ("Sibyl", [f"--report={report}"])):
            text = run([*sibyl, *extra, *ranks, str(program)], f"the {side} run on {flavour}")
            for name, count, time, checksum in LINE.findall(text):
                key = (name, int(count))
                times.setdefault(key, {}).setdefault(side, []).append(float(time))
                checksums.setdefault(key, set()).add(checksum)
    merged = json.loads(report.read_text())
    served: dict[str, list[str]] = {}
    for entry in merged["entries"]:
        if entry["algorithm"] != "native":
            served.setdefault(entry["collective"], []).append(entry["algorithm"])
    table = Table(title=f"{merged['mpi']}, {args.ranks} ranks, {os.cpu_count()} cores")
    for heading in ("collective", "elements", "native", "Sibyl", "Sibyl / native", "results"):
        table.add_column(
            heading, justify="left" if heading in ("collective", "results") else "right"
        )
    for (name, count), sides in times.items():
        native, ours = statistics.median(sides["native"]), statistics.median(sides["Sibyl"])
        same = len(checksums[name, count]) == 1
        table.add_row(
            f"MPI_{name.capitalize()}",
            f"{count}",
            f"{native:.2f} us",
            f"{ours:.2f} us",
            f"{ours / native:.2f}" if native > 0 else "-",
            "identical" if same else "[red]DIFFERENT[/red]",
        )
    console.print(table)
    for name, algorithms in served.items():
        console.print(
            f"  MPI_{name.capitalize()} was served by: {', '.join(sorted(set(algorithms)))}"
        )
    missing = [n for n in ("exscan", "scan", "gather", "scatter") if n not in served]
    if missing:
        console.print(f"  [red]not served by Sibyl: {', '.join(missing)}[/red]")
    return not missing and all(len(seen) == 1 for seen in checksums.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="build tree of Sibyl")
    parser.add_argument("--ranks", type=int, default=max(2, min(8, os.cpu_count() or 2)))
    parser.add_argument("--runs", type=int, default=5, help="runs of each side")
    args = parser.parse_args()
    console = Console(width=max(100, Console().width) if not sys.stdout.isatty() else None)
    found = flavours(args.build)
    if not found:
        sys.exit("demo: Sibyl was built without an MPI; mend it with: scripts/setup build")
    right = True
    for flavour, compiler in found:
        right = demo(console, flavour, compiler, args) and right
    picture = args.build / "demo" / "exscan-hybrid-8-ranks.svg"
    run(
        [
            str(Path(sys.executable).parent / "sibyl"),
            "plan",
            "exscan",
            "--algorithm",
            "hybrid",
            "--ranks",
            "8",
            "--svg",
            str(picture),
        ],
        "drawing the schedule",
    )
    print(f"Picture of a schedule (exclusive scan, 8 ranks): {picture}")
    if not right:
        console.print("[red]Some results differ from the native ones, or were not served.[/red]")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
