"""`sibyl bench thread`: what the thread in the background costs, and MPI_THREAD_MULTIPLE with it.

The same program (tools/bench/thread_cost.hpp) runs at both levels of threads in turns, so that
whatever else the machine does meets both; what is printed are medians over the rounds.
"""

import json
import os
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from sibyl.bench.options import Wishes
from sibyl.errors import CommandError
from sibyl.experiment.runner import LONGEST_WAIT, JobFailed, choose_benchmark_launcher
from sibyl.experiment.units import read_time, time_text
from sibyl.files import console_beside, write_result
from sibyl.inputs import whole_number
from sibyl.mpi.command_line import launcher_command, launcher_environment
from sibyl.mpi.installation import Launcher
from sibyl.mpi.library import find_benchmark
from sibyl.processes.supervisor import run_captured

LEVELS = ("single", "multiple")
ROUNDS = 5
# Seconds for one program beyond what it computes.
PATIENCE = 120.0
# Turns of one program where nobody asks for a number: so many, or fewer where ranks share cores, so
# that it ends in about so many seconds.
ITERATIONS = 20
FEWEST_ITERATIONS = 4
SECONDS = 3.0
# After so many seconds no round begins, but for the first ones.
ENOUGH_SECONDS = 60.0
FEWEST_ROUNDS = 2


def affordable_iterations(ranks: int, cores: int, compute: float) -> int:
    """How many turns of `compute` to 1.5 `compute` seconds fit, on so many cores."""
    turn = 1.25 * compute * max(ranks / cores, 1.2)
    return min(ITERATIONS, max(FEWEST_ITERATIONS, int(SECONDS / turn)))


def measure(
    launcher: Launcher, ranks: int, iterations: int, compute: float, rounds: int = ROUNDS
) -> list[dict[str, Any]]:
    """Run the program at each level in every round; the lines that it printed.

    Raises:
        JobFailed: it ended badly, or hung.
    """
    # As many ranks may share a core as there are.
    patience = min(PATIENCE + 2 * ranks * (iterations + 2) * compute, LONGEST_WAIT)
    lines = []
    begin = time.monotonic()
    for number in range(rounds):
        if number >= FEWEST_ROUNDS and time.monotonic() - begin > ENOUGH_SECONDS:
            break
        for level in LEVELS:
            words = [str(find_benchmark(launcher.flavour)), "thread", "--level", level]
            words += ["--iterations", str(iterations), "--compute", repr(compute)]
            try:
                done = run_captured(
                    launcher_command(launcher, ranks, {}, words),
                    launcher_environment(launcher),
                    patience,
                )
            except subprocess.TimeoutExpired as error:
                raise JobFailed(f"the benchmark has not ended within {patience:.0f} s") from error
            found = [text for text in done.stdout.splitlines() if text.startswith('{"type":"th')]
            if done.returncode != 0 or not found:
                raise JobFailed(f"the benchmark ended with status {done.returncode}: {done.stderr}")
            lines.append(json.loads(found[0]))
    return lines


def print_costs(lines: Sequence[dict[str, Any]], console: Console) -> None:
    """Print the table."""
    by_level = {level: [line for line in lines if line["level"] == level] for level in LEVELS}
    first = lines[0]
    table = Table(
        title=f"{first['mpi']}, {first['ranks']} ranks on {first['cores']} cores, a turn computes "
        f"{time_text(first['compute_s'])} to {time_text(1.5 * first['compute_s'])}",
        title_justify="left",
    )
    table.add_column("medians of programs")
    for level in LEVELS:
        table.add_column(f"MPI_THREAD_{level.upper()}", justify="right")

    def row(title: str, figure: str, text: Callable[[float], str]) -> None:
        cells = [[line[figure] for line in by_level[level]] for level in LEVELS]
        table.add_row(title, *(text(statistics.median(c)) if c else "-" for c in cells))

    def percent(share: float) -> str:
        return f"{100 * share:.3f} %"

    row("thread / computation, the most of all ranks", "share", percent)
    row("the same at the root", "root_share", percent)
    row("its looks at the root, a turn", "root_looks", lambda looks: f"{looks:.0f}")
    row("thread / time, nothing under way", "idle_share", percent)
    row("a turn, the slowest rank", "turn_s", time_text)
    row("one byte, one way", "latency_s", time_text)
    console.print(table)
    if not all(line["has_thread"] for line in by_level["multiple"]):
        console.print("no thread: MPI gives no MPI_THREAD_MULTIPLE, or SIBYL_THREAD is 0")


def thread_cost(wishes: Wishes, json_file: Path | None) -> int:
    """Measure and print; see `sibyl bench thread`. Returns the exit code."""
    text, iterations, compute = wishes.ranks or "2", wishes.iterations, read_time(wishes.compute)
    ranks = whole_number(text)
    if not ranks:
        raise CommandError(f"--ranks {text}: thread wants one number of ranks, at least 1")
    if iterations is not None and iterations < 1:
        raise CommandError(f"--iterations {iterations}: thread wants at least 1")
    if compute == 0:
        raise CommandError(f"--compute {wishes.compute}: thread wants more than 0, as in 100ms")
    if iterations is None:
        iterations = affordable_iterations(ranks, len(os.sched_getaffinity(0)), compute)
    lines = measure(choose_benchmark_launcher(wishes.mpi), ranks, iterations, compute)
    print_costs(lines, console_beside(json_file))
    if json_file is not None:
        write_result(json_file, json.dumps(lines, indent=1) + "\n")
    return 0
