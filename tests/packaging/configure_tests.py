"""CMake on a machine that lacks what the programs that measure are made with."""

import argparse
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CMAKE = "cmake"
PROGRAMS = ("sibyl-bench", "sibyl-cluster-check", "sibyl-fft")


class Configure(unittest.TestCase):
    def test_programs_are_left_out_and_the_libraries_are_not(self) -> None:
        """As with `pip install .` where CLI11 is not installed; nothing is compiled."""
        with tempfile.TemporaryDirectory() as tree:
            command = [CMAKE, "-S", str(ROOT), "-B", tree, "-G", "Ninja", "-DSIBYL_BUILD_TESTS=OFF"]
            command += ["-DSIBYL_SMPI=OFF", "-DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("are left out: they need CLI11, fmt and nlohmann-json", done.stdout)
            rules = (Path(tree) / "build.ninja").read_text(encoding="utf-8")
            for name in PROGRAMS:
                self.assertNotIn(f"bin/{name}", rules)
            self.assertIn("lib/libsibyl-preload.so", rules)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cmake", default=CMAKE)
    options, rest = parser.parse_known_args()
    CMAKE = options.cmake
    unittest.main(argv=[sys.argv[0], *rest])
