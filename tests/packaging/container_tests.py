#!/usr/bin/env python3
"""Builds packaging/Containerfile with buildah, and runs a program in the container.

    container_tests.py [--work DIR]

No registry of images is asked: what the file begins with, debian:12-slim, is made by debootstrap of
Debian's packages. Images and layers are kept in DIR (build/container), apart from the system's, so
that a second run builds only what has changed. Needs root, buildah and debootstrap, and the network
for Debian's and Python's packages. Standard library only.
"""

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

import commands

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "packaging" / "Containerfile"
BASE = "docker.io/library/debian:12-slim"
IMAGE = "localhost/sibyl"
SAMPLE_SORT = ROOT / "tests" / "applications" / "programs" / "sample_sort.c"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
# Containers of a machine that may itself be one: no namespaces of their own.
CHROOT = ("--isolation", "chroot")
options = None


def run(*command, limit=300):
    return commands.run(*command, limit=limit, TMPDIR=str(options.work))


def buildah(*words, limit=300):
    places = ("--root", options.work / "storage", "--runroot", options.work / "run")
    return run("buildah", *places, *words, limit=limit)


def make_base():
    """Debian 12 as debootstrap makes it, under the name that the container file has."""
    if BASE in buildah("images", "--format", "{{.Name}}:{{.Tag}}").split():
        return
    place = options.work / "debian"
    shutil.rmtree(place, ignore_errors=True)
    run("debootstrap", "--variant=minbase", "bookworm", place, limit=1200)
    shutil.rmtree(place / "var" / "cache" / "apt")
    container = buildah("from", "scratch").split()[-1]
    buildah("add", "--quiet", container, place, "/")
    buildah("commit", "--quiet", "--rm", container, BASE, limit=600)
    shutil.rmtree(place)


def build(*words):
    """Build the image as its file says, from the checkout as it is."""
    # Python's packages come by certificates that this machine trusts.
    settings = options.work / "pip.conf"
    settings.write_text("[global]\ncert = /certificates.crt\n")
    trusted = CERTIFICATES if CERTIFICATES.exists() else settings
    if trusted is settings:
        settings.write_text("")
    mounts = ("-v", f"{trusted}:/certificates.crt:ro", "-v", f"{settings}:/etc/pip.conf:ro")
    file = ("-f", FILE, "--pull=never", "--layers")
    buildah("bud", *CHROOT, *file, *mounts, *words, ROOT, limit=3000)


class Sources(unittest.TestCase):
    def test_pip_takes_nothing_of_the_registry_but_what_is_pinned_by_hashes(self):
        calls = re.findall(r"\bpip (?:[^&\n\\]|\\\n)*", FILE.read_text())
        self.assertGreater(len(calls), 0)
        for call in calls:
            self.assertRegex(call, "--require-hashes|--no-index")


class Container(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("needs root")
        for tool in ("buildah", "debootstrap"):
            if shutil.which(tool) is None:
                raise unittest.SkipTest(f"{tool} is not installed")
        options.work.mkdir(parents=True, exist_ok=True)
        make_base()
        build("--target", "build", "-t", f"{IMAGE}-build")
        build("-t", IMAGE)
        cls.work = Path(tempfile.mkdtemp(prefix="sibyl-container-"))
        cls.addClassCleanup(shutil.rmtree, cls.work)
        cls.work.chmod(0o777)  # the container's user is another

    def inside(self, image, *command):
        """What a command prints in a new container of an image."""
        container = buildah("from", "--pull=never", image).split()[-1]
        self.addCleanup(buildah, "rm", container)
        return buildah("run", *CHROOT, "-v", f"{self.work}:/work", container, "--", *command)

    def test_nothing_that_was_built_here_is_taken_along(self):
        there = self.inside(f"{IMAGE}-build", "ls", "-A", "/sources").split()
        self.assertIn("CMakeLists.txt", there)
        self.assertEqual({".git", ".venv", "build", "dist"} & set(there), set())

    def test_the_command_finds_its_libraries_and_the_mpi(self):
        said = self.inside(IMAGE, "sibyl", "doctor")
        self.assertIn("Open MPI", said)
        self.assertIn("all is well", said)

    def test_a_program_of_this_machine_is_served_in_it(self):
        if shutil.which("mpicc.openmpi") is None:
            self.skipTest("no Open MPI to compile a program with")
        run("mpicc.openmpi", "-O1", SAMPLE_SORT, "-o", self.work / "sample_sort")
        program = "./sample_sort sorted 5 2000"
        launch = f"mpiexec --oversubscribe -n 3 {program} && cp sorted native"
        native = self.inside(IMAGE, "sh", "-c", f"cd /work && {launch}")
        serve = f"SIBYL_SERVE_FROM=1 sibyl run -n 3 --report report.json -- {program}"
        served = self.inside(IMAGE, "sh", "-c", f"cd /work && {serve}")
        self.assertIn(native.strip(), served)
        same = (self.work / "sorted").read_bytes() == (self.work / "native").read_bytes()
        self.assertTrue(same)
        report = json.loads((self.work / "report.json").read_text())
        self.assertEqual(report["missing_ranks"], [])
        calls = sum(e["calls"] for e in report["entries"] if e["algorithm"] != "native")
        self.assertGreater(calls, 0, report)

    def test_programs_run_as_a_user_who_is_not_root(self):
        self.assertEqual(self.inside(IMAGE, "id", "-u").strip(), "1000")


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    place = ROOT / "build" / "container"
    parser.add_argument("--work", type=lambda text: Path(text).resolve(), default=place)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
