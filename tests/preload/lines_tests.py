"""Equal calls on several lines of a program are predicted apart, whatever it is written in."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

from launching import PROGRAMS, PreloadTest, c_program, fortran_program, run, setting, shim

RANKS, STEPS = 3, 40
# What is predicted by history, between ranks of one node; and what an allreduce learns from its own
# messages, between nodes: the default. There links are said to take 20 ms for the vector, so that
# ranks that come 10 ms late count: in the middle between those that sleep 20 ms and the others,
# which a busy machine keeps waiting for a processor as well, for some slices of 4 ms.
BY_HISTORY = {"SIBYL_PREDICT": "periodic", "SIBYL_REDUCE": "clairvoyant"}
BY_MESSAGES = {"SIBYL_TEST_PLACEMENT": "0,1,2", "SIBYL_BETA": "20000", "SIBYL_GOVERN": "0"}


def with_sibyls_module():
    """The Fortran program by the module sibyl, linked to the library as a user's."""
    if setting.mpifort is None:
        raise unittest.SkipTest("no --mpifort")
    module = setting.library_dir.parent / "fortran" / "sibyl.f90"
    if not module.exists():
        raise unittest.SkipTest(f"no {module}")
    program = setting.work / "two_lines-of-sibyl"
    if not program.exists():
        library = setting.library_dir / f"libsibyl-{setting.mpi}.so"
        sources = [module, PROGRAMS / "two_lines.F90", library]
        options = ["-O1", "-w", "-DSIBYL", f"-Wl,-rpath,{setting.library_dir}"]
        command = [setting.mpifort, *options, *map(str, sources), "-o", str(program)]
        subprocess.run(command, cwd=setting.work, check=True, capture_output=True)
    return program


class TwoLines(PreloadTest):
    """In each program rank 1 is late at the first line and rank 2 at the second."""

    def told_apart(self, *command, preload=True):
        self.needs_the_preload("the component sees no line of the program")
        with self.subTest(by="history"):
            self.turns("reduce", command, BY_HISTORY, preload)
        with self.subTest(by="messages"):
            self.turns("allreduce", [*command, "allreduce"], BY_MESSAGES, preload)

    def turns(self, *run_of_lines):
        """Tried again on a busy machine, on which other ranks are late as well."""
        attempts = 3
        for left in reversed(range(attempts)):
            try:
                return self.turns_once(*run_of_lines)
            except AssertionError:
                if left == 0:
                    raise

    def turns_once(self, collective, command, served, preload):
        """There is a pattern for each line, on all ranks. What an allreduce has followed is
        recorded by call: in the second half of the run some follow one, and that of their own line,
        but for what a busy machine does to a few of them."""
        recordings = Path(tempfile.mkdtemp(dir=setting.work))
        extra = {"LD_PRELOAD": str(shim())} if preload else {}
        record = {"SIBYL_RECORD": str(recordings)}
        done = self.succeed(run(command, ranks=RANKS, **record, **extra, **served))
        self.assertEqual(done.stdout.split(), ["OK"])
        paths = list(recordings.iterdir())
        self.assertEqual(len(paths), RANKS)
        for path in paths:
            (world,) = json.loads(path.read_text())["communicators"]
            late = {
                version: times.index(max(times)) for *_, version, times in world.get("patterns", [])
            }
            self.assertTrue({1, 2} <= set(late.values()), late)
            if served is BY_HISTORY:
                continue
            calls = [call for call in world["calls"] if call[1] == collective]
            self.assertEqual(len(calls), 2 * STEPS)
            right = [
                late[call[-1]] == 1 + number % 2
                for number, call in enumerate(calls)
                if number >= STEPS and call[-2] == "predicted"
            ]
            self.assertGreater(len(right), STEPS / 2)
            self.assertGreaterEqual(sum(right), 0.9 * len(right), (late, calls))

    def test_of_a_c_program(self):
        self.told_apart(c_program(PROGRAMS / "two_lines.c"))

    def test_of_a_fortran_program(self):
        self.told_apart(fortran_program("two_lines.F90"))

    def test_of_a_program_of_mpi_f08(self):
        self.told_apart(fortran_program("two_lines.F90", "-DF08"))

    def test_of_a_program_of_sibyls_own_module(self):
        self.told_apart(with_sibyls_module(), preload=False)

    def test_of_a_program_of_mpi4py(self):
        if setting.python is None:
            self.skipTest("no --python with mpi4py")
        self.told_apart(setting.python, PROGRAMS / "two_lines_mpi4py.py")
