"""Random collectives beside a serial reference, by MPI's names: first without Sibyl, which shows
what the MPI itself can do, then under the preload.

The program is built from the files of the unit tests (tests/collectives/reference_*). A failure
prints the seed and the case; `reference_fuzz SEED 1 CASE` repeats it on as many ranks.
"""

import os
import random
import subprocess
import tempfile
import unittest
from pathlib import Path

from launching import PROGRAMS, read_reports, run, served, setting, shim

TESTS = PROGRAMS.parent.parent
CASES = 10000 if "SIBYL_TEST_LONG" in os.environ else 250


def build():
    """The C++ wrapper stands beside the C wrapper."""
    wrapper = Path(setting.mpicc)
    compiler = wrapper.with_name(wrapper.name.replace("mpicc", "mpicxx"))
    if not compiler.exists():
        raise unittest.SkipTest(f"no {compiler}")
    output = setting.work / "reference_fuzz"
    if not output.exists():
        sources = sorted((TESTS / "collectives").glob("reference_*.cpp"))
        sources = [path for path in sources if not path.name.endswith("_test.cpp")]
        flags = ["-std=c++20", "-O1", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", f"-I{TESTS}"]
        command = [compiler, *flags, PROGRAMS / "reference_fuzz.cpp", *sources, "-o", output]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
    return output


class ReferenceFuzz(unittest.TestCase):
    def fuzz(self, **extra):
        if setting.mpicc is None:
            self.skipTest("no --mpicc")
        seed = os.environ.get("SIBYL_TEST_SEED") or random.SystemRandom().randrange(1 << 32)
        done = run([build(), seed, CASES], ranks=setting.ranks, **extra)
        self.assertEqual(done.returncode, 0, f"seed {seed}\n{done.stdout[-6000:]}{done.stderr}")
        self.assertIn(f"{CASES} cases, 0 failures", done.stdout)

    def test_the_mpi_itself_equals_the_reference(self):
        self.fuzz()

    def test_every_collective_under_the_preload_equals_the_reference(self):
        reports = Path(tempfile.mkdtemp(dir=setting.work))
        extra = {"SIBYL_REPORT": str(reports), "SIBYL_SERVE_FROM": "1"}
        self.fuzz(LD_PRELOAD=str(shim()), **extra)
        by_rank = served(read_reports(reports))
        for rank in range(setting.ranks):
            self.assertTrue(by_rank.get(rank), f"nothing was served at rank {rank}")
