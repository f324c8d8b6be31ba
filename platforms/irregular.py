#!/usr/bin/env python3
"""Irregular gather or scatter on a simulated cluster: the table of docs/results/irregular.md.

Runs the six problems of the paper on irregular gather, each in a simulation of its own so that no
tree is left over from the one before, and prints a Markdown table: what a tree's start-ups and the
data take at least, SMPI's own collective, Sibyl's linear algorithm, and the ordered tree in a call
that constructs it and in one that reuses it.

    platforms/irregular.py build/release/bin/sibyl-bench-smpi --collective gatherv
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PROBLEMS = ["same", "random", "spikes", "decreasing", "alternating", "two-blocks"]
# Half a round trip of one byte within and between nodes, and a node's rate: infiniband-35x16.
ALPHA_WITHIN = 0.62e-6
ALPHA_BETWEEN = 2.07e-6
BETA = 1 / 2.9e9
# A contender's own first call is made before anything is measured, so that this is the second call
# with its root, which constructs; the next one does not.
CONSTRUCTING, AGAIN = 0, 1


@dataclass
class Measured:
    """One problem: bytes of the ranks' blocks, and seconds of each algorithm's calls."""

    blocks: list[float]
    seconds: dict[str, list[float]]


def measure(options: argparse.Namespace, problem: str, elements: int) -> Measured:
    """Simulate a few calls of every algorithm."""
    ranks = options.nodes * options.ranks_per_node
    # SMPI looks for a probed message in steps. This many of them for the data's time are exact to
    # a quarter of a per cent a hop, and spare the simulation many steps where blocks are large.
    step = max(1e-7, BETA * 4 * ranks * elements / 200)
    command = [
        str(Path(__file__).parent / "run-smpi"),
        *("--platform", options.platform, "--nodes", str(options.nodes)),
        *("--ranks-per-node", str(options.ranks_per_node), "--placement", options.placement),
        *(options.bench, "arrivals", "--collective", options.collective),
        *("--root", str(ranks // 2), "--compute", "0.001", "--alpha", "1e-6", "--beta", "1e-9"),
        *("--warm-up", "0", "--iterations", "2"),
        *("--algorithms", "native,linear,ordered-tree"),
        *("--cell", f"bytes={4 * ranks * elements},delay=0,counts={problem},pattern=flat"),
        f"--cfg=smpi/iprobe:{step:.1e}",
        *options.smpi,
    ]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    measured = Measured([], {})
    for line in run.stdout.splitlines():
        event = json.loads(line)
        if event["type"] == "cell":
            measured.blocks = event["bytes"]
        elif event["type"] == "sample":
            if not event["right"]:
                raise SystemExit(f"{event['algorithm']} is wrong on {problem}, {elements}")
            measured.seconds.setdefault(event["algorithm"], []).append(event["run_s"])
    return measured


def start_ups_and_data(options: argparse.Namespace, blocks: list[float]) -> float:
    """Seconds of a tree's start-ups, and of the data that crosses the link of the root's node."""
    root = len(blocks) // 2
    if options.placement == "cyclic":
        here = blocks[root % options.nodes :: options.nodes]
    else:
        first = root // options.ranks_per_node * options.ranks_per_node
        here = blocks[first : first + options.ranks_per_node]
    crossing = sum(blocks) - sum(here)
    within = (options.ranks_per_node - 1).bit_length()
    between = (options.nodes - 1).bit_length()
    return within * ALPHA_WITHIN + between * ALPHA_BETWEEN + BETA * crossing


def row(options: argparse.Namespace, problem: str, elements: int) -> str:
    """One line of the table, in microseconds."""
    measured = measure(options, problem, elements)
    tree = measured.seconds["ordered-tree"]
    linear = measured.seconds["linear"][AGAIN]
    numbers = [
        start_ups_and_data(options, measured.blocks),
        measured.seconds["native"][AGAIN],
        linear,
        tree[CONSTRUCTING],
        tree[AGAIN],
    ]
    cells = [problem, f"{elements:,}".replace(",", " ")]
    cells += [f"{number * 1e6:.1f}" for number in numbers]
    cells += [f"{linear / tree[CONSTRUCTING]:.2f}", f"{linear / tree[AGAIN]:.2f}"]
    return "| " + " | ".join(cells) + " |"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("bench", help="sibyl-bench-smpi")
    parser.add_argument("--collective", choices=["gatherv", "scatterv"], default="gatherv")
    parser.add_argument("--problems", default=",".join(PROBLEMS))
    parser.add_argument("--blocks", default="1,10,100,1000,10000", help="mean blocks, MPI_FLOAT")
    parser.add_argument("--platform", default="infiniband-35x16")
    parser.add_argument("--nodes", type=int, default=35)
    parser.add_argument("--ranks-per-node", type=int, default=16)
    parser.add_argument("--placement", choices=["consecutive", "cyclic"], default="consecutive")
    parser.add_argument("smpi", nargs="*", help="options of SMPI, after --")
    options = parser.parse_args()
    header = ["problem", "b", "d alpha + beta sum", "SMPI's own", "linear"]
    header += ["tree, constructing", "tree, again", "linear / constructing", "linear / again"]
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for problem in options.problems.split(","):
        for elements in options.blocks.split(","):
            print(row(options, problem, int(elements)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
