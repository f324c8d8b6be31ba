#!/usr/bin/env python3
"""Runs programs that people use, natively and under the preload, and compares what they leave.

  run_applications.py --mpi openmpi|mpich --library-dir DIR --mpiexec PATH [--mpicc PATH]
                      [--python PATH] [--sibyl PATH] [--short] [-k TEXT]

Each program runs twice natively and twice under the preload: with Sibyl's own choice, and with an
algorithm of Sibyl's named for every collective. The exit status, the output to the digits that the
native runs agree on (comparison.py), and what it says on standard error have to be the same; and
of its calls of blocking collectives 95 % are served, or left to the MPI library by decision, which
may not happen in the second run. What served them is printed. Nothing is timed; measure.py does.
With --sibyl, `sibyl profile` is held against an independent stopwatch as well (profile_tests.py).
Programs that are not installed are reported as skipped; --short runs the few that take a second,
with Sibyl's own choice. Standard library only. Exit status 0: every test passed or was skipped.
"""

import argparse
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "preload"))

import applications  # noqa: E402 - it needs the folder beside this one
import comparison_tests  # noqa: E402
import profile_tests  # noqa: E402
from launching import setting, shim  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", choices=("openmpi", "mpich"), required=True)
    parser.add_argument("--library-dir", type=Path, required=True)
    parser.add_argument("--mpiexec", required=True)
    parser.add_argument("--mpicc")
    parser.add_argument("--python", help="an interpreter that has mpi4py and numpy")
    parser.add_argument("--sibyl", help="the command, to hold its profile against a stopwatch")
    parser.add_argument("--short", action="store_true", help="only what takes a second")
    parser.add_argument("--timeout", type=float, default=200, help="seconds per run")
    parser.add_argument("-k", action="append", help="only tests whose name contains this")
    parser.parse_args(namespace=setting)
    setting.library_dir = setting.library_dir.resolve()
    if not shim().exists():
        parser.error(f"{shim()} is missing")
    with tempfile.TemporaryDirectory() as directory:
        setting.work = Path(directory)
        loader = unittest.TestLoader()
        if setting.k:
            loader.testNamePatterns = [f"*{text}*" for text in setting.k]
        modules = (comparison_tests, applications, profile_tests)
        suite = unittest.TestSuite(loader.loadTestsFromModule(module) for module in modules)
        result = unittest.TextTestRunner(verbosity=2).run(suite)
    if result.testsRun == 0:
        sys.exit("no test has such a name")
    sys.exit(not result.wasSuccessful())


if __name__ == "__main__":
    main()
