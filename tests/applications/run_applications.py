#!/usr/bin/env python3
"""Runs programs that people use, natively and under the preload, and compares what they leave.

  run_applications.py --mpi openmpi|mpich --library-dir DIR --mpiexec PATH [--mpicc PATH]
                      [--python PATH] [--sibyl PATH] [--component DIR] [--short] [-k TEXT]

Each program runs twice natively and twice under the preload: with Sibyl's own choice, and with an
algorithm of Sibyl's named for every collective. The exit status, the output to the digits that the
native runs agree on (comparison.py), and what it says on standard error have to be the same; and
of its calls of blocking collectives 95 % are served, or left to the MPI library by decision, which
may not happen in the second run. What served them is printed. Nothing is timed; measure.py does.
With --component Open MPI's component of that directory serves programs in the place of the preload.
With --sibyl, `sibyl profile` is held against an independent stopwatch as well (profile_tests.py).
Programs that are not installed are reported as skipped; --short runs the few that take a second,
with Sibyl's own choice. Standard library only. Exit status 0: every test passed or was skipped.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "preload"))

import applications  # noqa: E402 - it needs the folder beside this one
import comparison_tests  # noqa: E402
import profile_tests  # noqa: E402
from launching import common_options, run_tests, shim  # noqa: E402


def main():
    parser = common_options(__doc__.splitlines()[0])
    parser.set_defaults(timeout=200)
    parser.add_argument("--sibyl", help="the command, to hold its profile against a stopwatch")
    parser.add_argument("--short", action="store_true", help="only what takes a second")
    run_tests(parser, shim, (comparison_tests, applications, profile_tests))


if __name__ == "__main__":
    main()
