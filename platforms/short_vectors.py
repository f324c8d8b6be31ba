#!/usr/bin/env python3
"""Short vectors on a simulated cluster: the tables of docs/results/all-ranks.md.

Runs what Sibyl chooses beside what SMPI chooses as MPICH and as Open MPI, each pair of a collective
and a library in a simulation of its own, and prints a Markdown table of how long Sibyl's choice
takes over theirs. Bytes are those of a vector, or of one block. Cells within 1 % of both libraries,
which is what calls take that are left to the library, are counted in the last line and not listed.

    platforms/short_vectors.py build/release/bin/sibyl-bench-smpi --platform tryton
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

LIBRARIES = {"mpich": "MPICH", "ompi": "Open MPI"}
COLLECTIVES = [
    *("allreduce", "bcast", "reduce_scatter", "allgather", "allgatherv", "alltoall", "alltoallv"),
    *("barrier",),
]
ALIKE = 0.01  # what is left to the library differs by where its ranks leave the barrier before it
BYTES_OF_AN_ELEMENT = 8

# Per collective, bytes and library: seconds of the library's choice and of Sibyl's.
Times = dict[tuple[str, int, str], tuple[float, float]]


def measure(options: argparse.Namespace, collective: str, library: str) -> Times:
    """Simulate one call of every size by the library's choice and by Sibyl's."""
    counts = [str(int(size) // BYTES_OF_AN_ELEMENT) for size in options.bytes.split(",")]
    command = [
        *(str(Path(__file__).parent / "run-smpi"), "--platform", options.platform),
        *(["--nodes", str(options.nodes)] if options.nodes else []),
        *("--ranks-per-node", str(options.ranks_per_node), "--placement", options.placement),
        *(options.bench, "--collective", collective, "--operators", "bxor"),
        *("--repetitions", "1", "--warm-up", "0", "--batch-us", "0"),
        *("--counts", ",".join(counts), "--algorithms", "native,auto"),
        f"--cfg=smpi/{collective}:{library}",
        *options.smpi,
    ]
    free = {"SIBYL_SMPI_FREE_OPERATORS": "1"} if options.free_operators else {}
    env = {**os.environ, **free}
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=env)
    times: Times = {}
    for line in run.stdout.splitlines():
        event = json.loads(line)
        if event["type"] != "calls":
            continue
        if event["wrong"]:
            raise SystemExit(f"wrong on {event['bytes']} bytes: {collective} by {event['wrong']}")
        seconds = {series["algorithm"]: series["single_s"][0] for series in event["series"]}
        times[collective, event["bytes"], library] = seconds["native"], seconds["auto"]
    return times


def cells(times: Times, collective: str, size: int) -> list[str]:
    """Write what Sibyl takes of each library's time; nothing where it is all of both."""
    ratios = []
    for library in LIBRARIES:
        native, own = times[collective, size, library]
        ratios.append(own / native)
    if all(abs(ratio - 1) <= ALIKE for ratio in ratios):
        return []
    return [f"**{ratio:.2f}**" if ratio > 1 + ALIKE else f"{ratio:.2f}" for ratio in ratios]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("bench", help="sibyl-bench-smpi")
    parser.add_argument("--collectives", default=",".join(COLLECTIVES))
    parser.add_argument("--bytes", default="8,64,512,4096,16384")
    parser.add_argument("--platform", default="omnipath-36x32")
    parser.add_argument("--nodes", type=int, help="all of the platform's unless told otherwise")
    parser.add_argument("--ranks-per-node", type=int, default=1)
    parser.add_argument("--placement", choices=["consecutive", "cyclic"], default="consecutive")
    parser.add_argument(
        "--free-operators",
        action="store_true",
        help="they cost Sibyl nothing either, as they cost SMPI's own collectives nothing",
    )
    parser.add_argument("smpi", nargs="*", help="options of SMPI, after --")
    options = parser.parse_args()
    print("| collective | bytes | " + " | ".join(f"/ {name}" for name in LIBRARIES.values()) + " |")
    print("|---|---|" + "---|" * len(LIBRARIES))
    alike = 0
    for collective in options.collectives.split(","):
        times: Times = {}
        for library in LIBRARIES:
            times |= measure(options, collective, library)
        for size in sorted({size for _, size, _ in times}):
            row = cells(times, collective, size)
            alike += not row
            if row:
                print("| " + " | ".join([collective, str(size), *row]) + " |", flush=True)
    print(f"\n{alike} other cells are within 1 % of both libraries.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
