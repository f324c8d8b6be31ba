#!/usr/bin/env python3
"""Prints wall times of the programs of this folder, natively and under the preload, as a table.

  measure.py --mpi openmpi|mpich --sibyl PATH [--turns K] [--mpicc PATH] [--python PATH] [-k TEXT]
             [--settings NAME=VALUE,...] [--longer] [--ranks P]

Each runs `sibyl run --compare K` times with and without Sibyl in turns; the table has the median of
the turns' ratios and its interval, as docs/results/applications.md has it. Programs that are
not installed are left out. With SIBYL_ variables set, the runs with Sibyl have them. --longer: with
inputs that take seconds, of which the set-up at the start is little, where a program has them.

With --settings each of these has its turn, and what is compared is Sibyl with one of them and with
the first: what prediction is worth, say, with SIBYL_PREDICT=off,SIBYL_PREDICT=periodic. That takes
a Python in which Sibyl is installed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "preload"))

from launching import environment, setting, yielding  # noqa: E402 - a folder beside this one
from programs import PROGRAMS, RANKS  # noqa: E402


def measured(program, folder, turns, **more):
    """What the command says of a program in its folder, with more variables set."""
    words = program.words(folder)
    ranks = program.ranks.get(setting.mpi, setting.ranks)
    if setting.longer:
        words = program.longer(words, folder, ranks)
    elif program.stdin is not None:  # the command gives its programs none
        words = ["sh", "-c", f'exec "$0" "$@" < {program.stdin}', *words]
    command = [setting.sibyl, "run", "-n", ranks, "--mpi", setting.mpi, "--compare", turns]
    extra = {name: value for name, value in os.environ.items() if name.startswith("SIBYL_")}
    extra.setdefault("SIBYL_TEST_SERVE", "0")  # what a user gets
    env = environment(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", **extra | more)
    if setting.mpi == "mpich":
        env = yielding(env)
    output = folder / "times.json"
    command = [str(word) for word in [*command, "--json", output, "--", *words]]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{done.args}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return json.loads(output.read_text())


def row(program, folder):
    found = measured(program, folder, setting.turns)
    low, high = found["interval"]
    seconds = f"{found['native_median']:.2f} s | {found['sibyl_median']:.2f} s"
    return (
        f"| {program.name} | {setting.mpi} | {found['ranks']} | {seconds} | {found['ratio']:.3f} | "
        f"{low:.3f} to {high:.3f} |"
    )


def rows_by_setting(program, folder):
    """By wall times with Sibyl; who begins changes from turn to turn."""
    from sibyl.experiment.statistics import median, median_interval

    arms = setting.settings.split(",")
    seconds = {arm: [] for arm in arms}
    for turn in range(setting.turns):
        for place in range(len(arms)):
            arm = arms[(turn + place) % len(arms)]
            found = measured(program, folder, 1, **dict([arm.split("=", 1)]))
            seconds[arm] += found["sibyl_seconds"]
    for arm in arms:
        ratios = [own / first for own, first in zip(seconds[arm], seconds[arms[0]], strict=True)]
        low, high = median_interval(ratios)
        yield (
            f"| {program.name} | {setting.mpi} | {found['ranks']} | {arm} | "
            f"{median(seconds[arm]):.2f} s | {median(ratios):.3f} | {low:.3f} to {high:.3f} |"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", choices=("openmpi", "mpich"), required=True)
    parser.add_argument("--sibyl", required=True, help="the command")
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--mpicc")
    parser.add_argument("--python", help="an interpreter that has mpi4py and numpy")
    parser.add_argument("-k", default="", help="only programs whose name contains this")
    parser.add_argument("--longer", action="store_true", help="with inputs that take seconds")
    parser.add_argument("--ranks", type=int, default=RANKS)
    parser.add_argument(
        "--settings", help="compare Sibyl with each of these with it with the first"
    )
    parser.parse_args(namespace=setting)
    # What launching.py needs to prepare graphs.
    setting.mpiexec, setting.timeout = f"mpiexec.{setting.mpi}", 200
    setting.sibyl = str(Path(setting.sibyl).absolute())
    if setting.python is not None and "/" in setting.python:
        setting.python = str(Path(setting.python).absolute())
    times = "setting | with Sibyl" if setting.settings else "natively | with Sibyl"
    print(f"| program | MPI | ranks | {times} | ratio | interval, 95 % |")
    print("|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as directory:
        setting.work = Path(directory)
        for program in PROGRAMS:
            if setting.k not in program.name or (setting.longer and program.longer is None):
                continue
            try:
                folder = Path(tempfile.mkdtemp(dir=setting.work))
                program.prepare(folder)
                rows = rows_by_setting if setting.settings else lambda *now: [row(*now)]
                print(*rows(program, folder), sep="\n", flush=True)
            except unittest.SkipTest as reason:
                print(f"measure: {program.name}: {reason}", file=sys.stderr)


if __name__ == "__main__":
    main()
