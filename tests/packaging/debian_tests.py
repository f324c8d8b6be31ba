#!/usr/bin/env python3
"""Installs the Debian packages of build/debian on this machine, uses them, and purges them.

    debian_tests.py [--packages DIR]

Needs root and Debian's two MPIs; does nothing where a package of Sibyl is installed already.
Standard library only.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import commands

ROOT = Path(__file__).resolve().parents[2]
LAUNCH = ROOT / "scripts" / "mpi-launch"
NAMES = ("libsibyl-openmpi1", "libsibyl-mpich1", "sibyl-preload", "libsibyl-dev")
options = None


def run(*command, **settings):
    return commands.run(*command, **{"DEBIAN_FRONTEND": "noninteractive", **settings})


def installed():
    """Which of the packages dpkg knows of, left-over settings included."""
    done = subprocess.run(
        ["dpkg-query", "--show", "--showformat", "${Package}\\n", *NAMES],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.split()


class DebianPackages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0 or shutil.which("dpkg") is None:
            raise unittest.SkipTest("needs root on Debian")
        if installed():
            raise AssertionError(f"installed already; dpkg --purge {' '.join(installed())}")
        cls.files = []
        for name in NAMES:
            found = sorted(options.packages.glob(f"{name}_*.deb"))
            if len(found) != 1:
                raise AssertionError(f"{options.packages} has {len(found)} packages {name}")
            cls.files += found
        cls.work = Path(tempfile.mkdtemp(prefix="sibyl-debian-"))
        cls.addClassCleanup(shutil.rmtree, cls.work)
        cls.addClassCleanup(cls.purge)
        run("dpkg", "--install", *cls.files)

    @classmethod
    def purge(cls):
        listed = [
            Path(line) for name in NAMES for line in run("dpkg", "--listfiles", name).splitlines()
        ]
        ours = [path for path in listed if "sibyl" in str(path)]
        run("dpkg", "--purge", *NAMES)
        left = [str(path) for path in ours if path.exists() or path.is_symlink()]
        assert len(ours) > 20 and not left and not installed(), (
            f"left after purge: {left} {installed()}"
        )

    def launch(self, flavour, program, ranks, *words, **settings):
        launcher = f"/usr/bin/mpiexec.{flavour}"
        return run(LAUNCH, "--flavour", flavour, "--mpiexec", launcher, "--timeout", 60, "--ranks",
                   ranks, "--", program, *words, **settings)  # fmt: skip

    def test_programs_are_built_linked_and_run_with_what_is_installed(self):
        for flavour in ("openmpi", "mpich"):
            with self.subTest(mpi=flavour):
                flags = run("pkg-config", "--cflags", "--libs", f"sibyl-{flavour}").split()
                program = self.work / f"uses_sibyl-{flavour}"
                source = ROOT / "tests" / "packaging" / "uses_sibyl.c"
                run(f"mpicc.{flavour}", source, *flags, "-o", program)
                self.assertIn("right on 3 ranks", self.launch(flavour, program, "3"))
                needed = re.findall(r"NEEDED.*\[(libsibyl[^\]]+)", run("readelf", "-d", program))
                self.assertEqual(needed, [f"libsibyl-{flavour}.so.1"])

    def test_the_preload_serves_programs_by_its_name_alone(self):
        for flavour in ("openmpi", "mpich"):
            with self.subTest(mpi=flavour):
                program = self.work / f"sample_sort-{flavour}"
                source = ROOT / "tests" / "applications" / "programs" / "sample_sort.c"
                run(f"mpicc.{flavour}", "-O1", source, "-o", program)
                words = (self.work / "sorted", "5", "2000")
                native = self.launch(flavour, program, "3", *words)
                settings = {"LD_PRELOAD": "libsibyl-preload.so"}
                self.assertEqual(self.served(flavour, program, words, **settings), native)

    def test_open_mpis_component_serves_programs_without_a_preload(self):
        [component] = Path("/usr/lib").glob("*/sibyl/openmpi-*/mca_coll_sibyl.so")
        program = self.work / "sample_sort-openmpi"
        source = ROOT / "tests" / "applications" / "programs" / "sample_sort.c"
        run("mpicc.openmpi", "-O2", source, "-o", program)
        words = (self.work / "sorted", "5", "2000")
        native = self.launch("openmpi", program, "3", *words)
        settings = {
            "OMPI_MCA_mca_base_component_path": f"SYSTEM_DEFAULT:{component.parent}",
            "OMPI_MCA_coll_sibyl_priority": "90",
        }
        self.assertEqual(self.served("openmpi", program, words, **settings), native)

    def served(self, flavour, program, words, **settings):
        """What a program prints of whose calls Sibyl serves some."""
        reports = Path(tempfile.mkdtemp(dir=self.work))
        settings |= {"SIBYL_SERVE_FROM": "1", "SIBYL_REPORT": str(reports)}
        said = self.launch(flavour, program, "3", *words, **settings)
        documents = [json.loads(path.read_text()) for path in reports.iterdir()]
        entries = [entry for document in documents for entry in document["entries"]]
        calls = sum(e["calls"] for e in entries if e["algorithm"] != "native")
        self.assertGreater(calls, 0, entries)
        return said

    def test_files_lie_where_debian_has_them(self):
        for name, file in zip(NAMES, self.files, strict=True):
            listing = run("dpkg-deb", "--contents", file)
            self.assertIn("usr/share/doc/" + name, listing)
            self.assertNotIn("/usr/local", listing)
        # The link for the linker is libsibyl-dev's.
        for file in self.files[:2]:
            self.assertNotRegex(run("dpkg-deb", "--contents", file), r"libsibyl-\w+\.so(?!\.)")


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packages", type=Path, default=ROOT / "build" / "debian")
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
