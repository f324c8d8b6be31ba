"""How the preload's tests build programs, start them and read what Sibyl reports about them."""

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
ALL = {"exscan", "scan", "gather", "scatter"}
IRREGULAR = {"gatherv", "scatterv"}
INTEL = "I_MPI_ROOT" in os.environ  # Intel MPI's own setting, which says where it lies
# The command line of run_preload_tests.py, and `work`, a temporary directory.
setting = argparse.Namespace()


def environment(**extra):
    """The caller's environment, made fit for a small machine and any user, plus `extra`."""
    result = {k: v for k, v in os.environ.items() if not k.startswith(("SIBYL_", "LD_PRELOAD"))}
    if setting.mpi == "openmpi":
        for prefix in ("OMPI", "PRTE"):
            result[f"{prefix}_ALLOW_RUN_AS_ROOT"] = "1"
            result[f"{prefix}_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
        result["OMPI_MCA_rmaps_base_oversubscribe"] = "1"
        result["PRTE_MCA_rmaps_default_mapping_policy"] = ":oversubscribe"
        # Killed, Open MPI 5's launcher leaves a file named by its process id, and none that has the
        # same id later starts while it lies there.
        result["PRTE_MCA_prte_tmpdir_base"] = tempfile.mkdtemp(dir=setting.work)
        result["OMPI_MCA_hwloc_base_binding_policy"] = "none"
        result["OMPI_MCA_mpi_yield_when_idle"] = "1"
        result["OMPI_MCA_btl_vader_single_copy_mechanism"] = "none"
        result["OMPI_MCA_btl_base_warn_component_unused"] = "0"
        # Libfabric looks for networks for a second in every MPI_Init of Open MPI 5, to be left out
        # where all ranks share a machine.
        result["OMPI_MCA_btl"] = result["OMPI_MCA_mtl"] = "^ofi"
    result["SIBYL_TEST_SERVE"] = "1"  # on two ranks of one machine, too
    result.update(extra)
    return result


def yielding(env):
    """Has MPICH's waiting ranks yield, as Open MPI's do when they are told to; behind what is
    preloaded already."""
    library = setting.work / "libyield-when-idle.so"
    if not library.exists():
        source = HERE.parent / "support" / "yield_when_idle.c"
        command = ["cc", "-shared", "-fPIC", "-O2", "-o", str(library), str(source), "-ldl"]
        subprocess.run(command, check=True)
    return {**env, "LD_PRELOAD": f"{env.get('LD_PRELOAD', '')} {library}".strip()}


def shim():
    return setting.library_dir / "libsibyl-preload.so"


def implementation(flavour):
    """The file that the shim loads for a flavour."""
    header = (HERE.parents[1] / "include" / "sibyl" / "version.h").read_text()
    return f"libsibyl-{flavour}.so." + re.search(r"VERSION_MAJOR (\d+)", header)[1]


def under_sibyl():
    """The variables with which a program is served."""
    if setting.component is None:
        return {"LD_PRELOAD": str(shim())}
    return {
        "OMPI_MCA_mca_base_component_path": f"SYSTEM_DEFAULT:{setting.component}",
        "OMPI_MCA_coll_sibyl_priority": "90",
    }


def run(command, *, ranks=None, options=(), cwd=None, stdin=None, spins=False, limit=None, **extra):
    """Runs `command`, under mpiexec with these options if `ranks` are given, in the folder `cwd`,
    reading the file `stdin`. The preload, if any, is in the environment from the start, so that the
    launcher and all else in the path carries it too. `spins`: waiting ranks do not yield. `limit`:
    seconds, if not as many as others may take."""
    limit = limit or setting.timeout
    if ranks is not None:
        command = [setting.mpiexec, *options, "-n", str(ranks), *command]
    command = [str(word) for word in command]
    env = environment(**extra)
    if spins:
        env["OMPI_MCA_mpi_yield_when_idle"] = "0"
    elif ranks is not None and setting.mpi == "mpich":
        env = yielding(env)
    with (
        contextlib.nullcontext() if stdin is None else Path(stdin).open() as source,
        subprocess.Popen(
            command,
            env=env,
            cwd=cwd,
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        try:
            stdout, stderr = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.terminate()  # the launcher ends its ranks; killed, it would leave them behind
            try:
                stdout, stderr = process.communicate(timeout=15)
            except subprocess.TimeoutExpired:
                process.kill()
                stdout, stderr = process.communicate()
            stderr += f"\nstill running after {limit:.0f} s"
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def run_apart(command, *, ranks, **extra):
    """Like run, but a shell puts each rank's output into a file of its own, since launchers merge
    the ranks' outputs in pieces; the result's stdout holds the ranks one after the other."""
    prefix = Path(tempfile.mkdtemp(dir=setting.work)) / "rank"
    script = 'exec "$@" > "$0.${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-$PMIX_RANK}}"'
    done = run(["sh", "-c", script, prefix, *command], ranks=ranks, **extra)
    outputs = (prefix.with_suffix(f".{rank}") for rank in range(ranks))
    done.stdout += "".join(path.read_text() for path in outputs if path.exists())
    return done


def compile_program(compiler, source, *flags):
    output = setting.work / "-".join([source.stem, source.suffix[1:], *flags])
    if not output.exists():
        command = [compiler, *flags, "-O1", str(source), "-o", str(output)]
        done = subprocess.run(command, cwd=setting.work, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
    return output


def c_program(name):
    if setting.mpicc is None:
        raise unittest.SkipTest("no --mpicc")
    return compile_program(setting.mpicc, name)


def linked_program(source):
    """One that calls Sibyl's functions itself."""
    if setting.mpicc is None:
        raise unittest.SkipTest("no --mpicc")
    include = HERE.parents[1] / "include"
    library = setting.library_dir / f"libsibyl-{setting.flavour}.so"
    output = setting.work / f"{source.stem}-linked"
    options = ["-O1", "-DLINKED", f"-I{include}", f"-Wl,-rpath,{setting.library_dir}"]
    command = [setting.mpicc, *options, str(source), str(library), "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stderr}")
    return output


def cxx_program(name):
    """Compiled by the C++ compiler beside the C one, with what MPI's mpicc says that it needs: not
    every MPI has a wrapper for C++."""
    if setting.mpicc is None:
        raise unittest.SkipTest("no --mpicc")
    asked = subprocess.run([setting.mpicc, "-show"], capture_output=True, text=True)
    words = asked.stdout.split()
    compiler = shutil.which("g++") or shutil.which("c++")
    if asked.returncode != 0 or not words or compiler is None:
        raise unittest.SkipTest("no C++ compiler")
    output = setting.work / f"{name.stem}-cpp"
    if not output.exists():
        command = [compiler, "-O1", "-DOMPI_SKIP_MPICXX", str(name), "-o", str(output), *words[1:]]
        done = subprocess.run(command, cwd=setting.work, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
    return output


def fortran_program(name, *flags):
    if setting.mpifort is None:
        raise unittest.SkipTest("no --mpifort")
    if name.endswith("_f08.f90") and INTEL:
        raise unittest.SkipTest("Intel MPI has mpi_f08 for Intel's compiler only")
    # Buffers of several types in one program: an old habit that newer compilers must be told.
    return compile_program(
        setting.mpifort, PROGRAMS / name, "-w", "-fallow-argument-mismatch", *flags
    )


def symbols_of(program):
    """The names that a program or library takes from others or gives to them."""
    command = ["nm", "-D", str(program)]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in listing.splitlines()}


def read_reports(directory):
    return [json.loads(path.read_text()) for path in sorted(directory.glob("rank-*.json"))]


def served(reports):
    """The collectives that Sibyl itself performed, by rank."""
    return {
        report["rank"]: {
            entry["collective"]
            for entry in report["entries"]
            if entry["algorithm"] != "native" and entry["calls"] > 0
        }
        for report in reports
    }


def common_options(description):
    """The options that all scripts of tests under an MPI have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--mpi", choices=("mpich", "openmpi", "abi"), required=True)
    parser.add_argument("--library-dir", type=Path, required=True)
    parser.add_argument("--component", type=Path, help="of Open MPI, in the place of the preload")
    parser.add_argument("--mpiexec", required=True)
    parser.add_argument("--mpicc")
    parser.add_argument("--python", help="an interpreter that has mpi4py")
    parser.add_argument("--timeout", type=float, default=120, help="seconds per run")
    parser.add_argument("-k", action="append", help="only tests whose name contains this")
    parser.add_argument(
        "--without", metavar="TEXT[,TEXT...]", help="no test whose name contains one of these"
    )
    parser.add_argument("--results", type=Path, help="a JSON file: what became of each test")
    return parser


def run_tests(parser, library, modules):
    """Reads the command line into `setting`, looks for the library that `library()` names, runs the
    tests of these modules, and ends the process: 0 where every test passed or was skipped."""
    parser.parse_args(namespace=setting)
    # What the library is called, and the family of the MPI beneath: those that have the standard's
    # binary interface are MPICH's kin.
    setting.flavour = setting.mpi
    setting.mpi = "mpich" if setting.mpi == "abi" else setting.mpi
    setting.library_dir = setting.library_dir.resolve()
    setting.component = setting.component and setting.component.resolve()
    if not library().exists():
        parser.error(f"{library()} is missing")
    with tempfile.TemporaryDirectory() as directory:
        setting.work = Path(directory).resolve()
        loader = unittest.TestLoader()
        if setting.k:
            loader.testNamePatterns = [f"*{text}*" for text in setting.k]
        found = unittest.TestSuite(loader.loadTestsFromModule(module) for module in modules)
        left_out = setting.without.split(",") if setting.without else []
        suite = unittest.TestSuite(
            test for test in each_of(found) if not any(text in test.id() for text in left_out)
        )
        runner = unittest.TextTestRunner(verbosity=2, resultclass=Outcomes)
        result = runner.run(suite)
    if setting.results is not None:
        setting.results.write_text(json.dumps(result.outcomes))
    if result.testsRun == 0:
        sys.exit("no test has such a name")
    sys.exit(not result.wasSuccessful())


def each_of(suite):
    """The tests of suites within suites."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from each_of(test)
        else:
            yield test


class Outcomes(unittest.TextTestResult):
    """Keeps "passed", "failed" or why a test was skipped, by its name."""

    def __init__(self, *arguments, **settings):
        super().__init__(*arguments, **settings)
        self.outcomes = {}

    def keep(self, test, outcome):
        self.outcomes[".".join(test.id().split(".")[-2:])] = outcome

    def addSuccess(self, test):
        super().addSuccess(test)
        self.keep(test, "passed")

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.keep(test, "failed")

    def addError(self, test, error):
        super().addError(test, error)
        self.keep(test, "failed")

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.keep(test, "failed")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.keep(test, f"skipped: {reason}")


class PreloadTest(unittest.TestCase):
    maxDiff = 4000
    of_the_preload = False  # and not of the component

    @classmethod
    def setUpClass(cls):
        if cls.of_the_preload and setting.component is not None:
            raise unittest.SkipTest("about the preload")

    def needs_the_preload(self, why):
        if setting.component is not None:
            self.skipTest(why)

    def succeed(self, done):
        self.assertEqual(done.returncode, 0, f"{done.args}\n{done.stdout[-2000:]}{done.stderr}")
        return done

    def compare(self, command, expected=frozenset(ALL), ranks=None, start=run_apart, **settings):
        """Same output with and without the preload, and the preload served `expected`."""
        ranks = ranks or setting.ranks
        plain = self.succeed(start(command, ranks=ranks))
        self.assertNotEqual(plain.stdout, "")
        reports = Path(tempfile.mkdtemp(dir=setting.work))
        # What goes through a window of one node depends on the machine's processors.
        extra = {
            **under_sibyl(),
            "SIBYL_REPORT": str(reports),
            "SIBYL_NODE_WINDOW": "0",
            **settings,
        }
        preloaded = self.succeed(start(command, ranks=ranks, **extra))
        self.assertEqual(sorted(plain.stdout.splitlines()), sorted(preloaded.stdout.splitlines()))
        self.assertNotIn("sibyl:", preloaded.stderr)
        by_rank = served(read_reports(reports))
        self.assertEqual(sorted(by_rank), list(range(ranks)), "one report per rank")
        for rank, names in by_rank.items():
            self.assertEqual(names, set(expected), f"served at rank {rank}")
        return preloaded
