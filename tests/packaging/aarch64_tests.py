#!/usr/bin/env python3
"""The wheels for 64-bit ARM under qemu-user, with an MPI and a Python of that machine.

    aarch64_tests.py [--wheels DIR]

A program in C runs on ranks that qemu emulates, under a launcher of this machine, natively and
under the preload of the wheel: equal output, calls served. With PyPI's MPICH for that machine, and
with Debian's Open MPI. The command and its bindings run in Debian's Python of that machine, which
is 3.11; other wheels are looked at. What is Debian's is unpacked into build/aarch64-debian, by
debootstrap, which as root installs nothing here. Needs qemu-aarch64, Debian's cross compiler, and
what `scripts/wheel --architecture aarch64` leaves. Standard library only; needs the network.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

from commands import run

ROOT = Path(__file__).resolve().parents[2]
MPICH = ROOT / "build" / "wheel" / "aarch64" / "mpich"
SYSTEM = "/usr/aarch64-linux-gnu"
DEBIAN = ROOT / "build" / "aarch64-debian"
LAUNCH = ROOT / "scripts" / "mpi-launch"
RANKS = 3
# By interpreter, as the names of files have them; the last one serves all later versions.
TAGS = ("cp39-cp39", "cp310-cp310", "cp311-cp311", "cp312-abi3")
options = None


class Aarch64(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for tool in ("qemu-aarch64", "aarch64-linux-gnu-gcc", "readelf"):
            if shutil.which(tool) is None:
                raise unittest.SkipTest(f"{tool} is not installed")
        wheels = sorted(options.wheels.glob("sibyl_mpi-*_aarch64.whl"))
        if not wheels:
            raise unittest.SkipTest("there is no wheel: scripts/wheel --architecture aarch64")
        # Its libraries are those of all.
        cls.wheels = {tag: next((w for w in wheels if tag in w.name), None) for tag in TAGS}
        cls.wheel = next(wheel for wheel in reversed(cls.wheels.values()) if wheel)
        cls.work = Path(tempfile.mkdtemp(prefix="sibyl-aarch64-"))
        cls.addClassCleanup(shutil.rmtree, cls.work)
        with zipfile.ZipFile(cls.wheel) as archive:
            archive.extractall(cls.work)
        cls.lib = cls.work / "sibyl" / "lib"

    def test_all_that_is_compiled_is_for_that_machine(self):
        for tag, wheel in self.wheels.items():
            if wheel is None:
                continue
            with self.subTest(wheel=wheel.name), tempfile.TemporaryDirectory() as place:
                with zipfile.ZipFile(wheel) as archive:
                    archive.extractall(place)
                package = Path(place) / "sibyl"
                compiled = [*(package / "lib").iterdir(), *package.glob("_core*.so")]
                self.assertGreaterEqual(len(compiled), 7)
                for file in compiled:
                    self.assertIn("AArch64", run("readelf", "--file-header", file), file.name)
                # The name under which that machine's Python looks for it.
                version = tag.split("-")[0].removeprefix("cp")
                suffix = "abi3" if "abi3" in tag else f"cpython-{version}-aarch64-linux-gnu"
                self.assertTrue((package / f"_core.{suffix}.so").is_file(), compiled)

    def test_the_libraries_export_what_those_of_this_machine_do(self):
        check = ROOT / "tests" / "packaging" / "check_symbols.py"
        names = ("openmpi", "mpich", "abi")
        flavours = [f"{name}={self.lib / f'libsibyl-{name}.so.1'}" for name in names]
        recorder = self.lib / "libsibyl-profile.so"
        said = run(sys.executable, check, "--recorder", recorder, *flavours)
        self.assertIn("3 flavours, 0 difference(s)", said)

    def emulated(self, launcher, system, libraries, program, *words, **settings):
        """Runs ranks under qemu; settings are of the ranks alone."""
        settings["LD_LIBRARY_PATH"] = libraries
        given = [word for name, value in settings.items() for word in ("-E", f"{name}={value}")]
        emulator = ["qemu-aarch64", "-L", system, *given]
        return run(*launcher, *emulator, program, *words, cwd=self.work)

    def same_and_served(self, launcher, system, libraries, program):
        """A program's output natively and under the preload; some of its calls are Sibyl's."""
        words = (self.work / "sorted", "4", "1000")
        native = self.emulated(launcher, system, libraries, program, *words)
        reports = Path(tempfile.mkdtemp(dir=self.work))
        served = self.emulated(
            launcher,
            system,
            libraries,
            program,
            *words,
            LD_PRELOAD=str(self.lib / "libsibyl-preload.so"),
            SIBYL_SERVE_FROM="1",
            # By a relative name: to qemu "/", where a full one begins, is the other machine's.
            SIBYL_REPORT=reports.name,
        )
        self.assertEqual(served, native)
        read = [json.loads(path.read_text()) for path in reports.iterdir()]
        self.assertEqual(len(read), RANKS)
        calls = sum(
            e["calls"] for report in read for e in report["entries"] if e["algorithm"] != "native"
        )
        self.assertGreater(calls, 0, read)

    def sample_sort(self, name, headers, *libraries):
        program = self.work / name
        source = ROOT / "tests" / "applications" / "programs" / "sample_sort.c"
        run("aarch64-linux-gnu-gcc", "-O1", f"-I{headers}", source, "-o", program, *libraries,
            "-Wl,--allow-shlib-undefined")  # fmt: skip
        return program

    def test_programs_run_under_the_preload_with_mpich(self):
        if options.mpiexec is None or not Path(options.mpiexec).exists():
            self.skipTest("no mpiexec of PyPI's MPICH: tests/packaging/wheel_tests.py makes it")
        prefix = (MPICH / "prefix").resolve()
        program = self.sample_sort("with_mpich", prefix / "include", f"-L{prefix / 'lib'}", "-lmpi")
        launcher = (options.mpiexec, "-n", RANKS)
        self.same_and_served(launcher, SYSTEM, f"{prefix / 'lib'}:{SYSTEM}/lib", program)

    def debian(self):
        """Debian 12 for that machine, unpacked: a system for qemu."""
        if os.geteuid() != 0 or shutil.which("debootstrap") is None:
            self.skipTest("needs root and debootstrap")
        if not (DEBIAN / ".complete").exists():
            shutil.rmtree(DEBIAN, ignore_errors=True)
            wanted = ("--foreign", "--variant=minbase", "--include=python3,libopenmpi3")
            run("debootstrap", "--arch=arm64", *wanted, "bookworm", DEBIAN, limit=900)
            for package in sorted((DEBIAN / "var" / "cache" / "apt" / "archives").glob("*.deb")):
                run("dpkg-deb", "--extract", package, DEBIAN)
                package.unlink()
            (DEBIAN / ".complete").touch()
        return DEBIAN

    def test_programs_run_under_the_preload_with_open_mpi(self):
        debian = self.debian()
        mpiexec = Path("/usr/bin/mpiexec.openmpi")
        headers = Path("/usr/lib/x86_64-linux-gnu/openmpi/include")
        if not (mpiexec.exists() and headers.exists()):
            self.skipTest("no Open MPI of Debian's, whose launcher and headers it takes")
        library = debian / "usr" / "lib" / "aarch64-linux-gnu" / "libmpi.so.40"
        program = self.sample_sort("with_openmpi", headers, library)
        launcher = (LAUNCH, "--flavour", "openmpi", "--mpiexec", mpiexec, "--timeout", 240,
                    "--ranks", RANKS, "--")  # fmt: skip
        self.same_and_served(launcher, debian, "/usr/lib/aarch64-linux-gnu", program)

    def test_the_command_and_its_bindings_run(self):
        """In a Python of that machine, with what the command needs from PyPI for it."""
        wheel = self.wheels["cp311-cp311"]
        if wheel is None:
            self.skipTest("there is no wheel for Python 3.11")
        debian = self.debian()
        place = self.work / "site-packages"
        run(sys.executable, "-m", "pip", "--quiet", "install", "--target", place, "--platform",
            "manylinux_2_34_aarch64", "--platform", "manylinux_2_28_aarch64", "--platform",
            "manylinux2014_aarch64", "--python-version", "3.11", "--implementation", "cp",
            "--only-binary", ":all:", wheel, limit=600)  # fmt: skip

        def command(*words):
            python = debian / "usr" / "bin" / "python3.11"
            given = ("-E", f"PYTHONPATH={place}", "-E", "COLUMNS=100")
            started = ("-c", "from sibyl.cli import main; main()", *words)
            return run("qemu-aarch64", "-L", debian, *given, python, *started)

        # The same as on this machine, but for the numbers' last digits.
        proof = command("verify", "exscan", "--ranks", "1..9")
        self.assertIn("123-doubling", proof)
        made = command("simulate", "allreduce", "--algorithms", "ring", "--size", "1MiB", "-n", "8")
        self.assertIn("ring", made)


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheels", type=Path, default=ROOT / "dist")
    mpiexec = ROOT / "build" / "mpis" / "mpich" / "bin" / "mpiexec"
    parser.add_argument("--mpiexec", default=mpiexec)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
