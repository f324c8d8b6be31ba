#!/usr/bin/env python3
"""Uses an installed Sibyl as a user would, under one MPI.

    run_packaging_tests.py --prefix PREFIX --flavour openmpi|mpich --mpicc PATH --mpiexec PATH

Builds one program with CMake's find_package and one with pkg-config against what lies under PREFIX,
runs both under mpiexec, and looks into the libraries: none needs an MPI library or a C++ run-time
library. (What they export: check_symbols.py.) Standard library only.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
LAUNCH = HERE.parents[1] / "scripts" / "mpi-launch"
options = None


def run(*command, **settings):
    """Run a command and return its output; fail with what it printed."""
    done = subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, **settings},
    )
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}")
    return done.stdout


def library_directory():
    """Return the directory that holds the installed libraries."""
    found = sorted(options.prefix.glob(f"lib*/**/libsibyl-{options.flavour}.so"))
    if not found:
        raise AssertionError(f"no libsibyl-{options.flavour}.so under {options.prefix}")
    return found[0].parent


def launch(program, ranks):
    """Run a program under mpiexec with the installed library in the loader's path."""
    return run(
        LAUNCH,
        "--flavour",
        options.flavour,
        "--mpiexec",
        options.mpiexec,
        "--timeout",
        60,
        "--ranks",
        ranks,
        "--",
        program,
        LD_LIBRARY_PATH=str(library_directory()),
    )


class InstalledPackage(unittest.TestCase):
    """What a user does after `make install`."""

    def setUp(self):
        """Make a directory for what this test builds."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = Path(folder.name)

    def test_a_cmake_project_finds_links_and_runs_it(self):
        run(
            "cmake",
            "-S",
            HERE / "with_cmake",
            "-B",
            self.work,
            f"-DCMAKE_PREFIX_PATH={options.prefix}",
            f"-DFLAVOUR={options.flavour}",
            f"-DMPI_C_COMPILER={options.mpicc}",
            "-DMPI_CXX_SKIP_MPICXX=ON",
        )
        run("cmake", "--build", self.work)
        self.assertIn("right on 3 ranks", launch(self.work / "uses_sibyl", "1,3"))
        self.assertIn("sends", run(self.work / "uses_planners"))

    def test_a_pkg_config_project_finds_links_and_runs_it(self):
        search = str(library_directory() / "pkgconfig")
        for package in (f"sibyl-{options.flavour}", "sibyl"):
            with self.subTest(package=package):
                flags = run(
                    "pkg-config", "--cflags", "--libs", package, PKG_CONFIG_PATH=search
                ).split()
                if package == "sibyl" and not self.is_default():
                    continue  # the library of another MPI: not for this compiler
                program = self.work / package
                run(options.mpicc, HERE / "uses_sibyl.c", *flags, "-o", program)
                self.assertIn("right on 4 ranks", launch(program, "4"))

    def test_the_examples_in_c_build_as_their_preambles_say_and_are_right(self):
        search = str(library_directory() / "pkgconfig")
        flags = run(
            "pkg-config", "--cflags", "--libs", f"sibyl-{options.flavour}", PKG_CONFIG_PATH=search
        ).split()
        for source in sorted((HERE.parents[1] / "examples" / "persistent").glob("*.c")):
            with self.subTest(example=source.name):
                program = self.work / source.stem
                run(options.mpicc, "-Wall", "-Wextra", "-Werror", source, *flags, "-o", program)
                self.assertIn("10 iterations of 3 ranks, 0 wrong", launch(program, "3"))

    def test_the_example_in_fortran_builds_as_its_preamble_says_and_is_right(self):
        mpifort = Path(re.sub(r"mpicc([^/]*)$", r"mpifort\1", str(options.mpicc)))
        probe = self.work / "probe.f90"
        probe.write_text("program probe\n  use mpi_f08\n  print *, MPI_VERSION\nend program\n")
        command = [mpifort, "-c", probe, "-o", self.work / "probe.o"]
        if not mpifort.exists() or subprocess.run(command, capture_output=True).returncode != 0:
            self.skipTest(f"{mpifort} cannot use mpi_f08")
        search = str(library_directory() / "pkgconfig")
        package = f"sibyl-{options.flavour}"
        libraries = run("pkg-config", "--libs", package, PKG_CONFIG_PATH=search).split()
        headers = run("pkg-config", "--variable=includedir", package, PKG_CONFIG_PATH=search)
        module = Path(headers.strip()) / "sibyl" / "sibyl_f08.f90"
        source = HERE.parents[1] / "examples" / "persistent" / "gather.f90"
        program = self.work / "gather"
        run(mpifort, "-J", self.work, "-o", program, module, source, *libraries)
        self.assertIn("10 iterations of 3 ranks, 0 wrong", launch(program, "3"))

    def is_default(self):
        """Tell whether libsibyl.so is the library of this flavour."""
        target = (library_directory() / "libsibyl.so").resolve().name
        return target.startswith(f"libsibyl-{options.flavour}.so.")

    def test_pkg_config_names_the_version_of_the_header(self):
        header = (options.prefix / "include" / "sibyl" / "version.h").read_text()
        version = re.search(r'SIBYL_VERSION_STRING "([^"]+)"', header).group(1)
        search = str(library_directory() / "pkgconfig")
        self.assertEqual(
            run("pkg-config", "--modversion", "sibyl", PKG_CONFIG_PATH=search).strip(), version
        )

    def test_a_module_sets_up_what_compilers_and_programs_look_for(self):
        commands = {  # how each prints what its shell function would evaluate
            "Environment Modules": [
                *sorted(Path("/usr/lib").glob("*/modulecmd.tcl")),
                *sorted(Path("/usr/share/modules/libexec").glob("modulecmd.tcl")),
            ],
            "Lmod": sorted(Path("/usr/share/lmod").glob("[0-9l]*/libexec/lmod")),
        }
        modulefiles = options.prefix / "share" / "sibyl" / "modulefiles"
        prefix = str(options.prefix)
        tried = 0
        for name, found in commands.items():
            if not found:
                continue
            with self.subTest(modules=name):
                said = run(found[0], "bash", "load", "sibyl", MODULEPATH=str(modulefiles))
                script = self.work / "load.sh"
                script.write_text(said + "\nenv\n")
                values = dict(
                    line.split("=", 1)
                    for line in run("bash", script).splitlines()
                    if re.match(r"\w+=", line)
                )
                self.assertEqual(values["SIBYL_ROOT"], prefix)
                self.assertTrue(Path(values["SIBYL_PRELOAD"]).is_file())
                search = values["PKG_CONFIG_PATH"].split(":")[0]
                self.assertTrue((Path(search) / "sibyl.pc").is_file(), search)
                library = Path(values["LD_LIBRARY_PATH"].split(":")[0])
                self.assertEqual(library, library_directory())
                self.assertIn(f"{prefix}/include", values["CPATH"].split(":"))
                tried += 1
        if not tried:
            self.skipTest("neither Environment Modules nor Lmod is installed")

    def test_the_libraries_bring_no_other_library_into_a_program(self):
        for library in sorted(library_directory().glob("libsibyl*.so")):
            with self.subTest(library=library.name):
                needed = re.findall(r"NEEDED.*\[([^\]]+)\]", run("readelf", "-d", library))
                # One unwinder for the program and us, so that exceptions pass (libgcc_s).
                allowed = r"(libc|libm|libdl|libpthread|libgcc_s|ld-linux[-a-z0-9_]*)\.so\.\d+"
                self.assertEqual([n for n in needed if not re.fullmatch(allowed, n)], [])

    def test_a_program_asks_for_the_library_by_its_number_and_for_versions_of_its_functions(self):
        search = str(library_directory() / "pkgconfig")
        package = f"sibyl-{options.flavour}"
        flags = run("pkg-config", "--cflags", "--libs", package, PKG_CONFIG_PATH=search).split()
        program = self.work / "program"
        run(options.mpicc, HERE / "uses_sibyl.c", *flags, "-o", program)
        needed = re.findall(r"NEEDED.*\[(libsibyl[^\]]+)\]", run("readelf", "-d", program))
        version = run("pkg-config", "--modversion", package, PKG_CONFIG_PATH=search)
        self.assertEqual(needed, [f"libsibyl-{options.flavour}.so.{version.split('.')[0]}"])
        self.assertIn("SIBYL_Exscan@SIBYL_1.0", run("readelf", "-W", "--dyn-syms", program))


def main():
    """Read the command line and run the tests."""
    global options
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--prefix", type=lambda text: Path(text).resolve(), required=True)
    parser.add_argument("--flavour", required=True)
    parser.add_argument("--mpicc", required=True)
    parser.add_argument("--mpiexec", required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
