"""Profiling tools beside the preload: before it and behind it, our own and one of Open MPI's."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from launching import (
    PROGRAMS,
    PreloadTest,
    c_program,
    compile_program,
    read_reports,
    run,
    setting,
    shim,
)

RANKS = 3
# The first two calls of the world, one of each, are handed back; gather is native.
HALF = {("reduce", "served"): 19, ("reduce", "native"): 1, ("gather", "native"): 20}
ALL_CALLS = {"init": 1, "reduce": 20, "gather": 20}


def tool():
    if setting.mpicc is None:
        raise unittest.SkipTest("no --mpicc")
    return compile_program(setting.mpicc, PROGRAMS / "tool.c", "-shared", "-fPIC")


def calls(reports):
    """Of every rank: how many calls Sibyl has served and handed back."""
    result = {}
    for report in reports:
        lines = {}
        for entry in report["entries"]:
            how = "native" if entry["algorithm"] == "native" else "served"
            key = (entry["collective"], how)
            lines[key] = lines.get(key, 0) + entry["calls"]
        result[report["rank"]] = lines
    return result


class KnownCalls(PreloadTest):
    """What the MPI library has whenever it comes again goes there from the program's own call."""

    of_the_preload = True
    kinds = ("barrier", "bcast", "allreduce", "reduce", "scan", "exscan", "allgather", "alltoall")
    kinds += ("gather", "scatter", "gatherv", "scatterv", "reduce_scatter_block", "allgatherv")
    kinds += ("reduce_scatter", "some")  # the last is a gatherv

    def seen(self, preload, *options, **settings):
        """Of each kind, how many calls came from the program, and how many in all."""
        settings |= {f"SIBYL_{kind.upper()}": "native" for kind in self.kinds if kind != "some"}
        program = c_program(PROGRAMS / "known.c")
        libraries = " ".join(str(library) for library in preload)
        command = ["env", f"LD_PRELOAD={libraries}", program, *options, *self.kinds]
        done = self.succeed(run(command, ranks=RANKS, **settings))
        found = re.findall(r"known (\w+) (\d+) of (\d+)", done.stdout)
        seen = {kind: (int(known), int(in_all)) for kind, known, in_all in found}
        self.assertEqual(set(seen), set(self.kinds))
        for kind, (_, in_all) in seen.items():
            self.assertGreaterEqual(in_all, 20, kind)
        return seen

    def tool(self):
        if setting.mpicc is None:
            raise unittest.SkipTest("no --mpicc")
        return compile_program(setting.mpicc, PROGRAMS / "known_tool.c", "-shared", "-fPIC")

    def test_they_are_right_and_most_come_from_the_program(self):
        for kind, (known, in_all) in self.seen([shim(), self.tool()]).items():
            with self.subTest(kind=kind):
                self.assertGreaterEqual(in_all, 70)
                self.assertGreater(known, in_all // 4)
                self.assertLess(known, in_all)

    def test_none_is_known_where_the_program_handles_errors(self):
        for known, _ in self.seen([shim(), self.tool()], "handlers").values():
            self.assertEqual(known, 0)

    def test_those_that_are_counted_go_through_sibyl(self):
        with tempfile.TemporaryDirectory(dir=setting.work) as directory:
            for known, _ in self.seen([shim(), self.tool()], SIBYL_REPORT=directory).values():
                self.assertEqual(known, 0)

    def test_below_tools_nothing_is_known(self):
        for known, in_all in self.seen([shim(), self.tool()], SIBYL_INTERCEPT="pmpi").values():
            self.assertEqual(known, in_all)  # the tool stands in front

    def test_where_nothing_is_to_be_served_the_program_calls_the_library(self):
        seen = self.seen([shim(), self.tool()], SIBYL_SERVE_FROM="0")
        for known, in_all in seen.values():
            self.assertEqual(known, in_all)


class ProfilingTools(PreloadTest):
    of_the_preload = True

    def run_with(self, preload, *arguments, program=None, **settings):
        """What the tool saw and what Sibyl did, by rank."""
        directory = Path(tempfile.mkdtemp(dir=setting.work))
        libraries = " ".join(str(library) for library in preload)
        program = program or c_program(PROGRAMS / "twenty.c")
        done = self.succeed(
            run(
                # Not for the launcher: some tools can be loaded into MPI programs only.
                ["env", f"LD_PRELOAD={libraries}", program, *arguments],
                ranks=RANKS,
                SIBYL_REPORT=str(directory),
                SIBYL_REDUCE="binomial",
                SIBYL_GATHER="native",
                SIBYL_SERVE_FROM="3",
                **settings,
            )
        )
        self.assertIn("sum ", done.stdout)
        self.assertNotIn("could not write", done.stdout)
        self.assertNotIn("sibyl:", done.stderr)
        pattern = r"tool at (\d+): init (\d+), reduce (\d+), gather (\d+)"
        seen = {
            int(rank): {"init": int(init), "reduce": int(reduce), "gather": int(gather)}
            for rank, init, reduce, gather in re.findall(pattern, done.stdout)
        }
        return seen, calls(read_reports(directory)), done

    def everywhere(self, what):
        return dict.fromkeys(range(RANKS), what)

    def test_a_tool_behind_sees_what_is_handed_back(self):
        seen, did, _ = self.run_with([shim(), tool()])
        self.assertEqual(seen, self.everywhere({"init": 1, "reduce": 1, "gather": 20}))
        self.assertEqual(did, self.everywhere(HALF))

    def test_under_a_tool_in_front_nothing_is_served(self):
        seen, did, _ = self.run_with([tool(), shim()])
        self.assertEqual(seen, self.everywhere(ALL_CALLS))
        self.assertEqual(did, {})

    def test_below_a_tool_in_either_place_all_are_seen_and_served(self):
        for preload in ([shim(), tool()], [tool(), shim()]):
            seen, did, _ = self.run_with(preload, SIBYL_INTERCEPT="pmpi")
            self.assertEqual(seen, self.everywhere(ALL_CALLS), preload)
            self.assertEqual(did, self.everywhere(HALF), preload)

    def test_without_a_tool_both_places_are_the_same(self):
        for place in ("mpi", "pmpi"):
            _, did, _ = self.run_with([shim()], SIBYL_INTERCEPT=place)
            self.assertEqual(did, self.everywhere(HALF), place)

    def test_what_the_library_calls_for_its_files_is_not_taken(self):
        for place in ("mpi", "pmpi"):
            file = setting.work / f"written-{place}"
            # Open MPI has two that write files; one gathers by PMPI_Gather.
            _, did, _ = self.run_with([shim()], file, SIBYL_INTERCEPT=place, OMPI_MCA_io="^ompio")
            self.assertEqual(did, self.everywhere(HALF), place)
            self.assertEqual(len(file.read_text().splitlines()), RANKS)

    def test_fortran_below_a_tool_is_served(self):
        if setting.mpifort is None:
            self.skipTest("no --mpifort")
        program = compile_program(setting.mpifort, PROGRAMS / "twenty.f90")
        for preload in ([shim(), tool()], [tool(), shim()], [shim()]):
            for place in ("mpi", "pmpi"):
                _, did, _ = self.run_with(preload, program=program, SIBYL_INTERCEPT=place)
                if place == "pmpi" or preload[0] == shim():
                    self.assertEqual(did, self.everywhere(HALF), (preload, place))

    def test_a_tool_of_open_mpis_own(self):
        if setting.mpi != "openmpi":
            self.skipTest("libompitrace is Open MPI's")
        listing = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
        found = re.search(r"libompitrace\.so\S* .*=> (\S+)", listing)
        if found is None:
            self.skipTest("no libompitrace")
        for preload in ([shim(), found[1]], [found[1], shim()]):
            _, did, done = self.run_with(preload, SIBYL_INTERCEPT="pmpi")
            lines = re.findall(r"MPI_REDUCE\W", (done.stdout + done.stderr).upper())
            self.assertEqual(len(lines), 20 * RANKS, done.stderr[:2000])
            self.assertEqual(did, self.everywhere(HALF), preload)

    def test_another_word_is_named_and_the_program_runs(self):
        done = run(
            [c_program(PROGRAMS / "twenty.c")],
            ranks=1,
            LD_PRELOAD=str(shim()),
            SIBYL_INTERCEPT="both",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("SIBYL_INTERCEPT=both: neither mpi nor pmpi", done.stderr)
