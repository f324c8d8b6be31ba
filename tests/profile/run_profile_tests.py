#!/usr/bin/env python3
"""Runs programs under the recorder of `sibyl profile` and reads the traces that they leave.

  run_profile_tests.py --mpi openmpi|mpich|abi --library-dir DIR --mpiexec PATH [--mpicc PATH]
                       [--mpifort PATH] [--python PATH] [-k TEXT]

DIR holds libsibyl-profile.so, and the preload shim with its implementation. Programs for which no
compiler or interpreter is given are reported as skipped. Standard library only. Exit status 0:
every test passed or was skipped.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "preload"))

import c_programs_tests
import languages_tests
import lives_tests
from launching import common_options, run_tests
from profiled import recorder


def main():
    parser = common_options(__doc__.splitlines()[0])
    parser.add_argument("--mpifort")
    run_tests(parser, recorder, (c_programs_tests, lives_tests, languages_tests))


if __name__ == "__main__":
    main()
