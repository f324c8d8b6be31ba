#!/usr/bin/env python3
"""Prints what `sibyl profile` costs: of a call, and of LAMMPS, as docs/how-to/profile.md has it.

  measure.py --mpi openmpi|mpich [--library-dir DIR] [--mpicc PATH] [--ranks P] [--turns K]
             [--lmp PATH] [--steps N] [--keep FILE] [--python PATH]
             [calls|python|steps|start|run]...

calls   tests/preload/overhead.c, in which batches of calls that pass by the recorder alternate with
        batches that do not: the median of the differences, on the rank on which it is most.
python  calls from Python (calls_mpi4py.py), in runs with and without the recorder in turns.
steps   runs of LAMMPS in which blocks of 40 ms or so alternate in the same way (alternate.c): the
        ratio of each two neighbouring blocks.
start   the wall time, from the launcher's start to its end, of a program that begins and ends, with
        and without the recorder in turns: what the recorder costs once.
run     the same of a whole run of LAMMPS. On a machine that others share single runs may differ by
        a sixth; then `steps` and `start` together say more.

The last three print medians, and the medians of ratios and of differences with their intervals.
With --keep, pairs are added to those of earlier runs in FILE, and all are judged.

As many ranks as processors, or the launcher's ranks take them from each other. Runs with the
checkout's Python (.venv/bin/python), whose sibyl has the statistics.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sibyl.experiment.statistics import median, median_interval

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
INPUT = ROOT / "tests" / "applications" / "inputs" / "gradient.lammps"
FUNCTIONS = ("allreduce", "bcast", "barrier")


def start(words, folder, recorded, before="", **extra):
    """Run so many ranks in an empty folder; its output, and the seconds that it took."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("SIBYL_")}
    env |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    env |= {"OMP_NUM_THREADS": "1"}
    command = [f"mpiexec.{options.mpi}", "-n", options.ranks]
    if recorded:
        recorder = options.library_dir.resolve() / "libsibyl-profile.so"
        settings = {"LD_PRELOAD": f"{before} {recorder}", "SIBYL_PROFILE": folder, **extra}
        command += ["env", *(f"{name}={value}" for name, value in settings.items())]
    begin = time.monotonic()
    done = subprocess.run(
        [str(word) for word in [*command, *words]],
        cwd=folder, env=env, capture_output=True, text=True,
    )  # fmt: skip
    seconds = time.monotonic() - begin
    if done.returncode != 0:
        sys.exit(f"measure: {done.args}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    traces = list(Path(folder).glob("*.trace"))
    if len(traces) != (options.ranks if recorded else 0):
        sys.exit(f"measure: {len(traces)} traces of {options.ranks} ranks")
    return done.stdout, seconds


def compiled(source, folder, *flags):
    program = Path(folder) / source.stem
    compiler = options.mpicc or f"mpicc.{options.mpi}"
    subprocess.run([compiler, "-O2", *flags, source, "-o", program], check=True)
    return program


def calls():
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(ROOT / "tests" / "preload" / "overhead.c", folder)
        output, _ = start([program, *FUNCTIONS], folder, True)
    for name in FUNCTIONS:
        of_rank = re.findall(rf"{name} direct ([\d.]+) ns.*difference ([-\d.]+) ns (.*)", output)
        direct, difference, quartiles = max(of_rank, key=lambda found: float(found[1]))
        print(f"{name}: {direct} ns, recorded {difference} ns more {quartiles}")


def python():
    """Nanoseconds of a call without and with the recorder."""
    words = [options.python, HERE / "programs" / "calls_mpi4py.py"]
    pairs = []
    for turn in range(options.turns):
        took = [0.0, 0.0]
        for recorded in (0, 1) if turn % 2 == 0 else (1, 0):
            with tempfile.TemporaryDirectory() as folder:
                output, _ = start(words, folder, recorded)
            took[recorded] = float(re.search(r"allreduce ([\d.]+) ns", output)[1])
        pairs.append(took)
    more = [with_it - without for without, with_it in pairs]
    low, high = median_interval(more)
    native = median([without for without, _ in pairs])
    print(
        f"allreduce from Python: {native:.0f} ns, recorded {median(more):.0f} ns more, "
        f"95 % interval {low:.0f} to {high:.0f}, {len(pairs)} pairs of runs"
    )


def lammps():
    program = shutil.which(options.lmp)
    if program is None:
        sys.exit(f"measure: there is no {options.lmp} (Debian package lammps)")
    variables = ["-var", "slices", options.ranks, "-var", "steps", options.steps]
    return [program, "-in", INPUT, "-log", "none", *variables]


def in_turns(words):
    """Wall times of a program without and with the recorder."""
    for turn in range(options.turns):
        seconds = [0.0, 0.0]
        for recorded in (0, 1) if turn % 2 == 0 else (1, 0):
            with tempfile.TemporaryDirectory() as folder:
                seconds[recorded] = start(words, folder, recorded)[1]
        yield seconds


def steps():
    """Seconds of neighbouring blocks of rank 0, without and with the recorder."""
    with tempfile.TemporaryDirectory() as build:
        alternate = compiled(HERE / "programs" / "alternate.c", build, "-shared", "-fPIC", "-ldl")
        for _ in range(options.turns):
            with tempfile.TemporaryDirectory() as folder:
                start(lammps(), folder, 1, before=alternate, ALTERNATE=folder)
                lines = (Path(folder) / "0").read_text().splitlines()
            blocks = [(int(recorded), float(took)) for recorded, took in map(str.split, lines)]
            for pair in zip(blocks[::2], blocks[1::2], strict=False):
                yield [took for _, took in sorted(pair)]


def begin_and_end():
    with tempfile.TemporaryDirectory() as build:
        yield from in_turns([compiled(HERE / "programs" / "nothing.c", build)])


def judge(name, found):
    """Prints what pairs of seconds say, those that were kept included."""
    pairs = []
    if options.keep is not None and options.keep.exists():
        lines = map(json.loads, options.keep.read_text().splitlines())
        pairs = [seconds for kept, *seconds in lines if kept == name]
    for pair in found:
        pairs.append(pair)
        if options.keep is not None:
            with options.keep.open("a") as file:
                file.write(json.dumps([name, *pair]) + "\n")
    native, own = map(median, zip(*pairs, strict=True))
    print(f"{name}: {native:.4f} s, recorded {own:.4f} s, {len(pairs)} pairs")
    ratios = [with_it / without for without, with_it in pairs]
    low, high = median_interval(ratios)
    print(f"{name}: ratio {median(ratios):.4f}, 95 % interval {low:.4f} to {high:.4f}")
    more = [1e3 * (with_it - without) for without, with_it in pairs]
    low, high = median_interval(more)
    print(f"{name}: {median(more):.2f} ms more, 95 % interval {low:.2f} to {high:.2f}", flush=True)


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--mpi", choices=("openmpi", "mpich"), required=True)
parser.add_argument("--library-dir", type=Path, default=ROOT / "build" / "release" / "lib")
parser.add_argument("--mpicc")
parser.add_argument("--lmp", default="lmp", help="LAMMPS; Debian's is for Open MPI")
parser.add_argument("--ranks", type=int, default=2)
parser.add_argument("--turns", type=int, default=15)
parser.add_argument("--steps", type=int, default=2000, help="of LAMMPS")
parser.add_argument("--keep", type=Path, metavar="FILE", help="adds pairs to those in a file")
parser.add_argument(
    "--python", type=Path, help="with the mpi4py of that MPI; .venv/mpi4py-MPI if absent"
)
KINDS = ("calls", "python", "steps", "start", "run")
parser.add_argument("what", nargs="*", choices=(*KINDS, []), default=[])
options = parser.parse_args()
python_of_mpi = ROOT / ".venv" / f"mpi4py-{options.mpi}" / "bin" / "python"
# Ranks run in a folder of their own.
options.python = (options.python or python_of_mpi).absolute()
for measured in options.what or KINDS:
    if measured in ("calls", "python"):
        (calls if measured == "calls" else python)()
    elif measured == "steps":
        judge(measured, steps())
    else:
        judge(measured, begin_and_end() if measured == "start" else in_turns(lammps()))
