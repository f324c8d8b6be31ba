#!/usr/bin/env python3
"""Runs unmodified programs with and without the preload under one MPI and compares what they print.

  run_preload_tests.py --mpi openmpi|mpich|abi --library-dir DIR --mpiexec PATH [--mpicc PATH]
                       [--mpifort PATH] [--python PATH] [--ranks N] [-k TEXT]

With --component DIR programs are served by the component of Open MPI in that directory, without a
preload; what is about the preload itself is left out.

DIR holds libsibyl-preload.so and the implementations. Without --mpifort the Fortran programs, and
without --python (an interpreter that has mpi4py) the Python ones, are reported as skipped. Standard
library only. Exit status 0: every test passed or was skipped.
"""

import contextlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import wave
from pathlib import Path

import component_tests
import counted_tests
import device_tests
import ended_tests
import everyone_tests
import first_call_tests
import governed_tests
import lifetime_tests
import lines_tests
import profiling_tests
import spawn_tests
import window_tests
from launching import (
    ALL,
    HERE,
    IRREGULAR,
    PROGRAMS,
    PreloadTest,
    c_program,
    common_options,
    compile_program,
    cxx_program,
    fortran_program,
    implementation,
    read_reports,
    run,
    run_apart,
    run_tests,
    served,
    setting,
    shim,
    symbols_of,
    under_sibyl,
)
from reference_fuzz import ReferenceFuzz  # noqa: F401 - found among this module's tests

OTHER = {"openmpi": "mpich", "mpich": "openmpi", "abi": "mpich"}
NOTHING_SERVED = {"SIBYL_SERVE_FROM": "0"}


class CPrograms(PreloadTest):
    def test_results_are_the_same_and_all_are_served(self):
        self.compare([c_program(PROGRAMS / "collectives.c")], expected=ALL | IRREGULAR)

    def test_irregular_blocks_arrive_the_same_along_a_tree(self):
        tree = {"SIBYL_GATHERV": "ordered-tree", "SIBYL_SCATTERV": "ordered-tree"}
        self.compare([c_program(PROGRAMS / "collectives.c")], expected=ALL | IRREGULAR, **tree)

    def test_a_launch_through_bash_is_served(self):
        program = c_program(PROGRAMS / "collectives.c")
        self.compare(["bash", "-c", f"exec {program}"], ALL | IRREGULAR, ranks=2)

    def test_a_launch_through_sh_that_stays_is_served(self):
        program = c_program(PROGRAMS / "collectives.c")
        self.compare(["sh", "-c", f"true; {program}; exit $?"], ALL | IRREGULAR, ranks=2)

    def test_a_launch_through_python_is_served(self):
        program = c_program(PROGRAMS / "collectives.c")
        # The rank's connection to its launcher is a file descriptor that must be handed on.
        call = f"subprocess.call([{str(program)!r}], close_fds=False)"
        script = f"import subprocess, sys; sys.exit({call})"
        self.compare([sys.executable, "-c", script], ALL | IRREGULAR, ranks=2)

    def test_calls_from_inside_a_call_go_native(self):
        # Started without a shell in between; only rank 0 prints.
        done = self.compare([c_program(PROGRAMS / "nested.c")], expected={"exscan"}, start=run)
        self.assertIn("scans made", done.stdout)

    def program(self, name):
        return (cxx_program if name.endswith(".cpp") else c_program)(PROGRAMS / name)

    def compare_where_errors_are_found(self, name, text):
        """MPI libraries may be built to find none, or few. By algorithms that serve small vectors,
        too."""
        commands = [[self.program(name), "all"], [self.program(name)]]
        found = [command for command in commands if text in run(command, ranks=1).stdout]
        if not found:
            self.skipTest("this MPI library does not find the error")
        expected = {"reduce", *everyone_tests.ALGORITHMS}
        by_trees = {"SIBYL_REDUCE": "binomial", **everyone_tests.SERVED}
        for settings in (by_trees, everyone_tests.TWO_LEVELS):
            done = self.compare(found[0], expected, ranks=3, start=run, **settings)
            self.assertIn(text, done.stdout)
            self.assertNotIn("WRONG", done.stdout)

    def test_calls_from_inside_a_call_on_another_stack_go_native(self):
        command = [c_program(PROGRAMS / "other_stack.c")]
        done = self.compare(command, {"reduce"}, ranks=3, start=run, SIBYL_REDUCE="binomial")
        self.assertIn("scans made", done.stdout)

    def test_a_rank_whose_error_handler_jumps_out_is_served_as_before(self):
        self.compare_where_errors_are_found("jump.c", "12 jumps")

    def test_an_error_handlers_exceptions_pass_and_leave_all_as_it_was(self):
        self.compare_where_errors_are_found("exceptions.cpp", "10 caught, 10 handled, 20 destroyed")

    def test_the_background_is_given_to_a_program_whose_environment_asks_for_it(self):
        self.needs_the_preload("the component comes too late to ask for MPI_THREAD_MULTIPLE")
        program = compile_program(setting.mpicc, PROGRAMS / "collectives.c")
        ways = {
            ("background", "1"): "runs",
            ("background", "0"): "SIBYL_THREAD is 0",
            ("periodic", "1"): "not asked for",
        }
        for (mode, thread), state in ways.items():
            reports = Path(tempfile.mkdtemp(dir=setting.work))
            extra = {"SIBYL_PREDICT": mode, "SIBYL_THREAD": thread, "SIBYL_REPORT": str(reports)}
            self.succeed(run([program], ranks=2, **under_sibyl(), **extra))
            states = [report["thread"] for report in read_reports(reports)]
            self.assertEqual(states, [state, state], extra)

    def test_threads_that_make_their_first_calls_together_are_all_served(self):
        if setting.mpicc is None:
            self.skipTest("no --mpicc")
        program = compile_program(setting.mpicc, PROGRAMS / "threads.c", "-pthread")
        self.compare([program], ranks=2)
        by_window = {*ALL, *everyone_tests.ALGORITHMS}
        done = self.compare([program], by_window, ranks=3, **ended_tests.WINDOW)
        self.assertNotIn("WRONG", done.stdout)

    def test_a_weak_reference_to_a_large_count_function_is_served(self):
        program = c_program(PROGRAMS / "weak_large.c")
        done = self.compare([program], expected={"gather", "scatter"}, ranks=2)
        self.assertNotIn("not refused", done.stdout)

    def test_it_is_served_above_a_library_that_has_none(self):
        """One of MPI 3 has the same binary interface: here its `_c` functions have other names."""
        if setting.flavour != "mpich":
            self.skipTest("Open MPI's of MPI 3 has none as it is; the standard's has all")
        program = c_program(PROGRAMS / "weak_large.c")
        loaded = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
        library = Path(re.search(r"=> (\S*libmp\S*\.so\S*)", loaded)[1])
        directory = Path(tempfile.mkdtemp(dir=setting.work))
        # What the library finds beside itself is to be found all the same.
        beside = [Path(name).parent for name in re.findall(r"=> (/(?!lib|usr/lib)\S+)", loaded)]
        above = {"LD_LIBRARY_PATH": ":".join(dict.fromkeys(map(str, [directory, *beside])))}
        own = re.sub(rb"(MPI_(?!File)\w+_)c\0", rb"\1x\0", library.read_bytes())
        (directory / library.name).write_bytes(own)
        done = self.compare([program], {"gather", "scatter"}, 2, **above)
        self.assertNotIn("not refused", done.stdout)
        # The library's calls reach its functions by the shim's own PMPI_X_c.
        settings = {**under_sibyl(), "SIBYL_SERVE_FROM": "1000"}
        large = self.succeed(run([program], ranks=2, **settings))
        narrow = self.succeed(run([program], ranks=2, **settings, **above))
        self.assertEqual(sorted(narrow.stdout.splitlines()), sorted(large.stdout.splitlines()))

    def test_errors_are_handled_as_without_it_where_no_handler_was_set(self):
        if setting.mpi != "mpich":  # also by the standard's binary interface
            self.skipTest("elsewhere a communicator keeps the handler that it was made with")
        program = c_program(PROGRAMS / "default_handler.c")
        plain = self.succeed(run_apart([program], ranks=3))
        for settings in ({}, NOTHING_SERVED, {"SIBYL_SCAN": "doubling", "SIBYL_SERVE_FROM": "1"}):
            with self.subTest(**settings):
                preloaded = self.succeed(run_apart([program], ranks=3, **under_sibyl(), **settings))
                self.assertEqual(preloaded.stdout, plain.stdout)

    def test_a_relative_path_is_meant_from_where_the_program_was_started(self):
        """It changes to another directory before its first call."""
        self.needs_the_preload("the component is found by Open MPI")
        program = c_program(PROGRAMS / "moves_first.c")
        place = Path(tempfile.mkdtemp(dir=setting.work))
        reports = place / "reports"
        reports.mkdir()
        extra = {"LD_PRELOAD": f"./{shim().name}", "SIBYL_REPORT": str(reports)}
        done = run([program, place], ranks=2, cwd=shim().parent, **extra)
        self.succeed(done)
        self.assertNotIn("sibyl:", done.stderr)
        self.assertEqual(len(read_reports(reports)), 2)

    def test_bytes_are_those_of_the_type_whose_handle_was_another_ones(self):
        reports = Path(tempfile.mkdtemp(dir=setting.work))
        program = c_program(PROGRAMS / "retyped.c")
        extra = {**under_sibyl(), "SIBYL_REPORT": str(reports)}
        self.succeed(run([program], ranks=2, **extra))
        written = read_reports(reports)
        self.assertEqual(len(written), 2)
        for report in written:
            counted = [each for each in report["entries"] if each["collective"] == "bcast"]
            self.assertEqual(sum(each["calls"] for each in counted), 4)
            self.assertEqual(sum(each["bytes"] for each in counted), 4 * (1 + 3 * 1000))

    def test_what_native_service_costs_is_measured(self):
        """The program of docs/results/performance.md runs; what a call takes is the machine's."""
        program = c_program(HERE / "overhead.c")
        done = self.succeed(run([program], ranks=1, **under_sibyl(), SIBYL_EXSCAN="native"))
        lines = [line.split() for line in done.stdout.splitlines()]
        self.assertEqual([line[0] for line in lines], ["exscan", "allreduce", "bcast", "barrier"])
        for words in lines:
            for what in ("direct", "intercepted"):
                self.assertGreater(float(words[words.index(what) + 1]), 0, done.stdout)

    def test_what_service_costs_a_program_that_fills_the_caches_is_measured(self):
        """Likewise; 0 MiB, since what is measured here is nothing but that it runs."""
        done = self.succeed(run([c_program(HERE / "cold_calls.c"), "8", "0"], **under_sibyl()))
        names = [line.split()[0] for line in done.stdout.splitlines()]
        native = ["Allreduce", "Reduce", "Bcast", "Allgather", "Barrier"]
        by_sibyl = ["Gather", "Scatter", "Gatherv", "Scatterv", "Exscan", "Scan"]
        self.assertEqual(names, native + by_sibyl)


MPI_ERR_IN_STATUS = {"mpich": 17, "abi": 19}


class Deaths(PreloadTest):
    """A rank is killed in the middle of a collective that Sibyl serves."""

    def run_reduces(self, *arguments, **extra):
        program = c_program(PROGRAMS / "killed.c")
        settings = {"SIBYL_REDUCE": "clairvoyant", "SIBYL_SEGMENTS": "32", **extra}
        return run([program, *arguments], ranks=4, **under_sibyl(), **settings)

    def test_the_job_ends_with_the_mpi_librarys_own_words_and_no_rank_hangs(self):
        done = self.run_reduces()
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("still running", done.stderr)
        self.assertNotIn("all calls are over", done.stdout)
        # MPICH 5 tells a rank that waits in MPI_Testsome, as Sibyl's do, before its launcher ends
        # it: the job's status is then the class of that error, and the text sometimes gets lost.
        if done.returncode == MPI_ERR_IN_STATUS.get(setting.flavour):
            return
        self.assertRegex(done.stdout + done.stderr, r"(?i)signal:? 9|killed")

    def test_the_same_program_comes_to_its_end_where_nobody_dies(self):
        directory = Path(tempfile.mkdtemp(dir=setting.work))
        done = self.run_reduces("live", SIBYL_REPORT=str(directory))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("all calls are over", done.stdout)
        self.assertEqual(served(read_reports(directory)), {rank: {"reduce"} for rank in range(4)})


class Bits(PreloadTest):
    """What the rounding of additions shows of their order."""

    def hashes(self, seed, **extra):
        """By rank, collective and count, which bits came out of twenty calls."""
        program = c_program(PROGRAMS / "bits.c")
        done = self.succeed(run_apart([program, seed], ranks=5, **under_sibyl(), **extra))
        lines = dict(line.split(": ") for line in done.stdout.splitlines())
        self.assertEqual(len(lines), 4 + 4 * 5 + 4 * 4, done.stdout)
        return {what: found.split() for what, found in lines.items()}

    def test_are_the_same_in_every_call_and_run_where_that_is_asked_for(self):
        costs = {"SIBYL_ALPHA": "1000", "SIBYL_OVERHEAD": "100", "SIBYL_BETA": "1000"}
        others = {"SIBYL_ALPHA": "900000", "SIBYL_OVERHEAD": "800000", "SIBYL_BETA": "20"}
        ways = (
            {},
            {"SIBYL_PREDICT": "periodic"},
            {"SIBYL_PREDICT": "periodic", **costs},
            {"SIBYL_ARRIVALS": "uniform:0.02:7", **others},
            {"SIBYL_ARRIVALS": "uniform:5:8", **costs},
        )
        for algorithm, taken in (("auto", ways), ("clairvoyant", ways[2:4])):
            runs = [
                self.hashes(seed, SIBYL_REPRODUCIBLE="1", SIBYL_REDUCE=algorithm, **way)
                for seed, way in enumerate(taken)
            ]
            for what, found in runs[0].items():
                self.assertEqual(len(found), 1, what)
            for way, found in zip(taken, runs, strict=True):
                self.assertEqual(found, runs[0], f"{algorithm}, {way}")

    def test_change_within_a_run_where_it_is_not(self):
        """The first two calls are the MPI library's, in another order."""
        found = self.hashes(1, SIBYL_SERVE_FROM="3")
        self.assertGreater(max(map(len, found.values())), 1)


class Files(PreloadTest):
    """A setting names something that is no file: one line per rank, and the MPI library serves."""

    def refused(self, variable, path, why):
        command = [c_program(PROGRAMS / "collectives.c")]
        plain = self.succeed(run_apart(command, ranks=2))
        reports = Path(tempfile.mkdtemp(dir=setting.work))
        extra = {**under_sibyl(), "SIBYL_REPORT": str(reports), variable: str(path)}
        done = self.succeed(run_apart(command, ranks=2, **extra))
        self.assertEqual(sorted(plain.stdout.splitlines()), sorted(done.stdout.splitlines()))
        lines = [line for line in done.stderr.splitlines() if "sibyl:" in line]
        self.assertEqual(len(lines), 2, done.stderr)
        for line in lines:
            for text in (variable, str(path), why, "MPI's own collectives are used"):
                self.assertIn(text, line)
        self.assertEqual(served(read_reports(reports)), {0: set(), 1: set()})

    def test_a_directory_a_pipe_or_a_device_is_refused_and_the_program_runs(self):
        pipe = setting.work / "pipe"
        os.mkfifo(pipe)
        cases = [(setting.work, "directory"), (pipe, "regular"), ("/dev/zero", "regular")]
        for variable in ("SIBYL_TABLE", "SIBYL_ARRIVALS"):
            for path, why in cases:
                with self.subTest(variable=variable, path=path):
                    self.refused(variable, path, why)

    def test_a_file_beyond_its_bound_is_refused(self):
        large = setting.work / "large"
        with large.open("wb") as file:
            file.truncate(1 << 40)  # holds nothing, and yet is larger than any memory
        self.refused("SIBYL_TABLE", large, "larger than 1048576 bytes")
        self.refused("SIBYL_ARRIVALS", large, "larger than 16777216 bytes")

    def test_recordings_are_whole_and_say_how_much_they_left_out(self):
        reports = Path(tempfile.mkdtemp(dir=setting.work))
        extra = {**under_sibyl(), "SIBYL_RECORD": str(reports)}
        command = [c_program(PROGRAMS / "collectives.c")]
        self.succeed(run_apart(command, ranks=2, **extra))
        for path in reports.iterdir():
            self.assertEqual(json.loads(path.read_text())["left_out"], 0)
        self.assertEqual(len(list(reports.iterdir())), 2)


class Faults(PreloadTest):
    """Processes die one after the other, or the communicator is revoked, at every call of a loop;
    the others recover by ULFM. Needs an Open MPI whose mpiexec has it: --mpiexec and --mpicc of
    Open MPI 5 beside --library-dir of the usual build."""

    ULFM = ("--with-ft", "ulfm")
    CALLS = 16  # in the loop of faults.c
    launcher_knows: bool | None = None

    def setUp(self):
        if setting.mpi != "openmpi":
            self.skipTest("User-Level Failure Mitigation is Open MPI's")
        if Faults.launcher_knows is None:
            with contextlib.suppress(OSError):
                done = run(["/bin/true"], ranks=1, options=self.ULFM)
                Faults.launcher_knows = done.returncode == 0
        if not Faults.launcher_knows:
            self.skipTest(f"{setting.mpiexec} has no {' '.join(self.ULFM)}")
        self.program = c_program(PROGRAMS / "faults.c")

    def recover(self, how, ranks, elements, calls, **extra):
        extra = {**under_sibyl(), **everyone_tests.SERVED, **extra}
        command = [self.program, how, elements, *calls]
        done = run(command, ranks=ranks, options=self.ULFM, **extra)
        text = f"{done.args}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        self.assertNotIn("still running", done.stderr, text)
        self.assertNotIn("wrong:", done.stdout, text)
        left = ranks if how == "revoke" else ranks - len(calls)
        self.assertEqual(done.stdout.count(f"of {left} at the end"), left, text)

    def recover_at_every_call(self, how, **extra):
        for ranks in (4, 5):
            for elements in (4, 50000):
                # Two deaths a run: of rank 1, and of the root.
                for first in range(0, self.CALLS, 2):
                    calls = (first, (first + 1) % self.CALLS)
                    with self.subTest(how=how, ranks=ranks, elements=elements, calls=calls):
                        self.recover(how, ranks, elements, calls, **extra)

    def test_survivors_recover_from_deaths_before_every_call(self):
        self.recover_at_every_call("before")

    def test_survivors_recover_from_deaths_where_nobody_revokes(self):
        self.recover_at_every_call("agree")

    def test_a_revocation_ends_every_call(self):
        self.recover_at_every_call("revoke")

    def test_a_revocation_in_an_error_handler_ends_calls_elsewhere(self):
        command = [c_program(PROGRAMS / "revoke_in_handler.c")]
        done = run(command, ranks=4, options=self.ULFM, **under_sibyl(), **everyone_tests.SERVED)
        self.assertEqual(done.stdout.count(": revoked"), 2, f"{done.stdout}{done.stderr}")

    def test_survivors_recover_from_deaths_inside_an_operator(self):
        for ranks in (4, 5):
            for elements in (4, 50000):
                with self.subTest(ranks=ranks, elements=elements):
                    self.recover("inside", ranks, elements, (0, 1))
                    self.recover("inside", ranks, elements, (2, 0))
                    self.recover("inside", ranks, elements, (7, 9))

    def test_survivors_recover_while_costs_are_measured_and_arrivals_predicted(self):
        extra = {"SIBYL_SERVE_FROM": "1", "SIBYL_REDUCE": "clairvoyant"}
        for calls in ((0, 1), (3, 0)):
            for predict in ({}, {"SIBYL_PREDICT": "periodic"}):
                with self.subTest(calls=calls, **predict):
                    self.recover("before", 5, 50000, calls, **extra, **predict)

    def test_messages_to_the_dead_leave_buffers_for_the_living(self):
        # Each keeps one of Open MPI's buffers in shared memory for good; here are 64 in the place
        # of 512, and vectors and blocks go in 256 messages.
        many = {"SIBYL_SEGMENTS": "256", "OMPI_MCA_btl_sm_free_list_max": "64"}
        cut = {
            "REDUCE": "clairvoyant",
            "ALLREDUCE": "ring",
            "BCAST": "chain",
            "ALLTOALLV": "shifted",
        }
        chosen = {f"SIBYL_{name}": algorithm for name, algorithm in cut.items()}
        for calls in ((0, 7), (8, 11), (1, 14)):
            with self.subTest(calls=calls):
                self.recover("before", 5, 50000, calls, SIBYL_SERVE_FROM="1", **many, **chosen)

    def test_survivors_recover_along_the_tree_of_irregular_blocks(self):
        tree = {"SIBYL_GATHERV": "ordered-tree", "SIBYL_SCATTERV": "ordered-tree"}
        for elements in (4, 50000):
            for calls in ((5, 6), (6, 5)):
                with self.subTest(elements=elements, calls=calls):
                    self.recover("before", 5, elements, calls, **tree)


class FortranNames(PreloadTest):
    """What has names of Fortran's, or Fortran's constants, in a place of its own."""

    def test_functions_that_only_have_the_names_are_called_as_they_are(self):
        source = PROGRAMS / "namesakes.c"
        if setting.mpicc is None:
            self.skipTest("no --mpicc")
        library = compile_program(setting.mpicc, source, "-DLIBRARY", "-shared", "-fPIC")
        program = setting.work / "calls_namesakes"
        words = [setting.mpicc, "-O1", source, library, f"-Wl,-rpath,{setting.work}", "-o", program]
        subprocess.run(words, check=True)
        done = self.compare([program], {"exscan"}, ranks=2)
        lines = sorted(line for line in done.stdout.splitlines() if line[:1].isdigit())
        self.assertEqual(lines, ["0: 220 9 65 21 0", "1: 220 9 65 21 1"])

    def test_constants_of_a_library_that_was_loaded_apart(self):
        if setting.mpifort is None:
            self.skipTest("no --mpifort")
        flags = ("-w", "-fallow-argument-mismatch", "-shared", "-fPIC")
        library = compile_program(setting.mpifort, PROGRAMS / "in_place_library.f90", *flags)
        program = [c_program(PROGRAMS / "loads_fortran.c"), library]
        done = self.compare(program, {"allreduce"}, ranks=2, SIBYL_ALLREDUCE="doubling")
        self.assertIn("1: 0 100 2098", done.stdout)


class FortranPrograms(PreloadTest):
    def test_mpifh(self):
        self.compare([fortran_program("collectives_mpifh.f")])

    def test_mpifh_of_compilers_that_mangle_names_otherwise(self):
        for flag, symbol in (
            ("-fsecond-underscore", "mpi_exscan__"),
            ("-fno-underscoring", "mpi_exscan"),
        ):
            with self.subTest(symbol=symbol):
                program = fortran_program("plain.f", flag)
                self.assertIn(symbol, symbols_of(program))
                self.compare([program], ranks=2)

    def test_use_mpi(self):
        self.compare([fortran_program("collectives_mpi.f90")], ALL | IRREGULAR)

    def test_use_mpi_f08(self):
        self.compare([fortran_program("collectives_f08.f90")], ALL | IRREGULAR)


class PythonPrograms(PreloadTest):
    def setUp(self):
        if setting.python is None:
            self.skipTest("no --python with mpi4py")

    def test_mpi4py(self):
        self.compare([setting.python, PROGRAMS / "collectives_mpi4py.py"], ALL | IRREGULAR)

    def test_mpi4py_with_its_mpi_in_the_global_scope(self):
        script = (
            "import sys, os, runpy; sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL); "
            f"runpy.run_path({str(PROGRAMS / 'collectives_mpi4py.py')!r})"
        )
        self.compare([setting.python, "-c", script], ALL | IRREGULAR, ranks=3)

    def test_the_example_transforms_a_recording(self):
        recording = setting.work / "tone.wav"
        samples = (round(16384 * math.sin(2 * math.pi * 1000 * i / 8000)) for i in range(8000))
        with wave.open(str(recording), "wb") as file:
            file.setparams((1, 2, 8000, 0, "NONE", ""))
            file.writeframes(
                b"".join(sample.to_bytes(2, "little", signed=True) for sample in samples)
            )
        example = HERE.parents[1] / "examples" / "python" / "fft.py"
        reports = Path(tempfile.mkdtemp(dir=setting.work))
        done = self.succeed(
            run(
                [setting.python, example, recording, 4096, 5],
                ranks=2,
                **under_sibyl(),
                SIBYL_REPORT=str(reports),
                SIBYL_GATHER="linear-synchronised",
            )
        )
        self.assertIn("loudest at 1000.0 Hz", done.stdout)
        self.assertEqual(served(read_reports(reports)), {0: {"gather"}, 1: {"gather"}})


class Strangers(PreloadTest):
    """The preload is inherited by programs that have nothing to do with it."""

    of_the_preload = True

    def test_programs_without_mpi_are_untouched(self):
        for command in (
            ["/bin/true"],
            ["bash", "-c", "echo $((6 * 7)) | cat"],
            [sys.executable, "-c", "import ctypes, json; print(json.dumps({'a': 1}))"],
        ):
            plain = self.succeed(run(command))
            preloaded = self.succeed(run(command, LD_PRELOAD=str(shim())))
            self.assertEqual((plain.stdout, plain.stderr), (preloaded.stdout, preloaded.stderr))

    def test_an_mpi_program_that_calls_nothing_that_is_served_says_nothing(self):
        source = setting.work / "silent.c"
        source.write_text(
            "#include <mpi.h>\n#include <stdio.h>\n"
            "int main(int argc, char** argv) { MPI_Init(&argc, &argv);"
            ' MPI_Finalize(); puts("done"); return 0; }\n'
        )
        empty = setting.work / "empty"
        empty.mkdir(exist_ok=True)
        extra = {"LD_PRELOAD": str(shim()), "SIBYL_LIBRARY_DIR": str(empty)}
        done = self.succeed(run([c_program(source)], ranks=2, **extra))
        self.assertEqual((done.stdout.count("done"), done.stderr), (2, ""))

    def test_the_shim_takes_the_listed_symbols_and_no_other(self):
        # Nonblocking and persistent collectives pass by.
        listing = subprocess.run(
            ["nm", "-D", "--defined-only", shim()], capture_output=True, text=True, check=True
        ).stdout
        expected = {"PMIx_Commit"}
        large = (
            "Exscan Scan Reduce Gather Scatter Gatherv Scatterv Allreduce Bcast Reduce_scatter "
            "Reduce_scatter_block Allgather Allgatherv Alltoall Alltoallv Alltoallw "
            "Neighbor_allgather Neighbor_allgatherv Neighbor_alltoall Neighbor_alltoallv "
            "Neighbor_alltoallw"
        )
        large = {f"MPI_{short}" for short in large.split()}
        for name in large | {"MPI_Barrier", "MPIX_Comm_revoke"}:
            lower, upper = name.lower(), name.upper()
            expected |= {name + "_c", "P" + name + "_c"} if name in large else set()
            expected |= {name, "P" + name, upper}
            expected |= {lower, lower + "_", lower + "__", lower + "_f08_"}
        plain = (
            "MPI_Comm_spawn MPI_Comm_spawn_multiple MPI_Comm_dup MPI_Comm_dup_with_info "
            "MPI_Comm_create MPI_Comm_split MPI_Comm_split_type MPI_Cart_create MPI_Cart_sub "
            "MPI_Graph_create MPI_Dist_graph_create MPI_Dist_graph_create_adjacent MPI_Comm_free "
            "MPI_Comm_disconnect"
        )
        for name in plain.split():
            expected |= {name, "P" + name}
        hooked = ("Init", "Init_thread", "Finalize", "Session_init", "Session_finalize")
        hooked += ("Comm_set_errhandler", "Errhandler_set")
        for name in (f"MPI_{short}" for short in hooked):
            lower = name.lower()
            expected |= {name, "P" + name}
            expected |= {lower, lower + "_", lower + "__", lower + "_f08_", name.upper()}
        self.assertEqual({line.split()[-1] for line in listing.splitlines()}, expected)

    def test_the_shim_needs_no_mpi_and_the_implementation_names_none(self):
        for name in ("preload", setting.flavour):
            dynamic = subprocess.run(
                ["readelf", "-d", setting.library_dir / f"libsibyl-{name}.so"],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            needed = [
                line.split("[")[1].rstrip("]") for line in dynamic.splitlines() if "NEEDED" in line
            ]
            self.assertEqual([n for n in needed if "mpi" in n], [])
            if name == "preload":
                self.assertEqual([n for n in needed if "stdc++" in n or "gcc" in n], [])


class Generator(PreloadTest):
    """One line in functions.txt is all that a further function needs."""

    of_the_preload = True
    SOURCES = HERE.parent.parent / "src" / "preload"

    def generate(self, what, line):
        functions = setting.work / "functions.txt"
        functions.write_text((self.SOURCES / "functions.txt").read_text() + line + "\n")
        output = setting.work / f"generated-{what}.c"
        command = [sys.executable, self.SOURCES / "generate.py", what, output]
        done = subprocess.run([*command, "--functions", functions], capture_output=True, text=True)
        return done, output

    def test_a_line_gives_entries_for_every_binding_and_a_wrapper(self):
        line = "MPI_Allnew c+large sendbuf:in recvbuf:out new:counts@all datatype op comm"
        done, shim_source = self.generate("shim", line)
        self.succeed(done)
        library = setting.work / "generated.so"
        includes = [f"-I{self.SOURCES}", f"-I{self.SOURCES.parents[1] / 'include'}"]
        command = ["cc", "-shared", "-fPIC", *includes, shim_source, "-o", library]
        self.succeed(subprocess.run(command, capture_output=True, text=True))
        names = subprocess.run(["nm", "-D", library], capture_output=True, text=True).stdout.split()
        for symbol in (
            "MPI_Allnew",
            "MPI_Allnew_c",
            "mpi_allnew_",
            "MPI_ALLNEW",
            "mpi_allnew_f08_",
        ):
            self.assertIn(symbol, names)
        done, source = self.generate("implementation", line)
        self.succeed(done)
        self.assertIn("serve_allnew(", source.read_text())

    def test_a_wrong_line_is_named(self):
        for kind in ("input", "counts", "counts@sources"):
            done, _ = self.generate("shim", f"MPI_Allnew c sendbuf:{kind}")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"unknown kind '{kind}'", done.stderr)


class Misfits(PreloadTest):
    """No implementation fits: one clear line per rank, and the results of the MPI library."""

    of_the_preload = True

    def forwarded(self, directory, *texts, command=None, ranks=2):
        command = command or [c_program(PROGRAMS / "collectives.c")]
        plain = self.succeed(run_apart(command, ranks=ranks))
        self.assertNotEqual(plain.stdout, "")
        extra = {"LD_PRELOAD": str(shim()), "SIBYL_LIBRARY_DIR": str(directory)}
        done = self.succeed(run_apart(command, ranks=ranks, **extra))
        self.assertEqual(sorted(plain.stdout.splitlines()), sorted(done.stdout.splitlines()))
        lines = [line for line in done.stderr.splitlines() if "sibyl:" in line]
        self.assertEqual(len(lines), ranks, done.stderr)
        for line in lines:
            for text in texts:
                self.assertIn(text, line)

    def directory(self, name):
        path = setting.work / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        return path

    def test_only_the_other_mpis_implementation_is_there(self):
        directory = self.directory("other")
        other = setting.library_dir / implementation(OTHER[setting.flavour])
        if other.exists():
            (directory / other.name).symlink_to(other)
        self.forwarded(
            directory, f"{implementation(setting.flavour)} is missing", "MPI's own collectives"
        )

    def test_a_pipe_in_the_place_of_an_implementation_is_not_waited_for(self):
        directory = self.directory("waiting")
        os.mkfifo(directory / implementation(setting.flavour))
        self.forwarded(directory, "is missing", "MPI's own collectives")

    def test_an_implementation_that_is_no_library(self):
        directory = self.directory("broken")
        (directory / implementation(setting.flavour)).write_text("not a library")
        self.forwarded(directory, "MPI's own collectives")

    def test_an_implementation_built_for_another_mpi(self):
        other = setting.library_dir / implementation(OTHER[setting.flavour])
        if not other.exists():
            self.skipTest(f"no {other.name}")
        directory = self.directory("misnamed")
        (directory / implementation(setting.flavour)).symlink_to(other)
        self.forwarded(directory, "MPI's own collectives")

    def test_an_implementation_of_another_release(self):
        directory = self.directory("released")
        own = implementation(setting.flavour)
        library = (setting.library_dir / own).read_bytes()
        release = re.search(rb" by Sibyl ([0-9.]+)\0", library)[1]
        other = (b"9" if release[:1] != b"9" else b"8") + release[1:]
        (directory / own).write_bytes(
            library.replace(b" by Sibyl " + release, b" by Sibyl " + other)
        )
        self.forwarded(directory, f" by Sibyl {other.decode()}, wanted is", "MPI's own collectives")

    def test_a_weak_reference_to_a_large_count_function_falls_back(self):
        command = [c_program(PROGRAMS / "weak_large.c")]
        self.forwarded(self.directory("none"), "is missing", command=command)

    def test_fortran_programs_fall_back_as_well(self):
        program = fortran_program("collectives_f08.f90")
        self.forwarded(self.directory("none"), "is missing", command=[program])

    def test_python_programs_fall_back_as_well(self):
        if setting.python is None:
            self.skipTest("no --python with mpi4py")
        command = [setting.python, PROGRAMS / "collectives_mpi4py.py"]
        self.forwarded(self.directory("none"), "is missing", command=command)


def main():
    parser = common_options(__doc__.splitlines()[0])
    parser.add_argument("--mpifort")
    parser.add_argument("--ranks", type=int, default=4)
    own = sys.modules[__name__]
    others = (
        counted_tests,
        device_tests,
        component_tests,
        ended_tests,
        everyone_tests,
        first_call_tests,
        governed_tests,
        lifetime_tests,
        lines_tests,
        profiling_tests,
        spawn_tests,
        window_tests,
    )
    run_tests(parser, shim, (own, *others))


if __name__ == "__main__":
    main()
