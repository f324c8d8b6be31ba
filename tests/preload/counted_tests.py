"""Collectives that pass through: as without the preload, and counted where a report is wanted."""

import tempfile
from pathlib import Path

from launching import (
    PROGRAMS,
    PreloadTest,
    c_program,
    fortran_program,
    read_reports,
    run_apart,
    setting,
    under_sibyl,
)

NEIGHBOURS = (
    "neighbor_allgather",
    "neighbor_allgatherv",
    "neighbor_alltoall",
    "neighbor_alltoallv",
    "neighbor_alltoallw",
)


class Counted(PreloadTest):
    of_the_preload = True

    def compare_counted(self, command, topologies, **settings):
        """The same output, and a line of the report for each collective."""
        plain = self.succeed(run_apart(command, ranks=3))
        self.assertIn("alltoallw", plain.stdout)
        reports = Path(tempfile.mkdtemp(dir=setting.work))
        for wanted in ({}, {"SIBYL_REPORT": str(reports)}):
            done = self.succeed(run_apart(command, ranks=3, **under_sibyl(), **wanted, **settings))
            self.assertEqual(sorted(done.stdout.splitlines()), sorted(plain.stdout.splitlines()))
            self.assertNotIn("sibyl:", done.stderr)
        expected = {"alltoallw": 3} | dict.fromkeys(NEIGHBOURS, 2 * topologies)
        found = read_reports(reports)
        self.assertEqual(len(found), 3)
        for report in found:
            entries = {entry["collective"]: entry for entry in report["entries"]}
            self.assertEqual({name: e["calls"] for name, e in entries.items()}, expected)
            self.assertEqual(len(entries), len(report["entries"]))
            for entry in entries.values():
                self.assertEqual(entry["algorithm"], "native")
                self.assertEqual(entry["communicator_size"], 3)
                self.assertEqual(entry["bytes"], 0)
            self.assertGreater(sum(entry["seconds"] for entry in entries.values()), 0)

    def test_c(self):
        for arguments in ([], ["large"]):
            for place in ("mpi", "pmpi"):
                with self.subTest(arguments=arguments, place=place):
                    command = [c_program(PROGRAMS / "passed_on.c"), *arguments]
                    self.compare_counted(command, 3, SIBYL_INTERCEPT=place)

    def test_fortran(self):
        for flags in (["-cpp"], ["-cpp", "-DF08"]):
            for place in ("mpi", "pmpi"):
                with self.subTest(flags=flags, place=place):
                    program = fortran_program("passed_on.f90", *flags)
                    self.compare_counted([program], 1, SIBYL_INTERCEPT=place)

    def test_mpi4py(self):
        if setting.python is None:
            self.skipTest("no --python with mpi4py")
        self.compare_counted([setting.python, PROGRAMS / "passed_on_mpi4py.py"], 1)


class WeakArrays(PreloadTest):
    """Large-count functions that only the shim has, where the MPI is older than MPI 4."""

    of_the_preload = True

    def compare_arrays(self, **settings):
        command = [c_program(PROGRAMS / "weak_arrays.c")]
        for ranks in (3, 5):  # groups of two and one, of three and two
            plain = self.succeed(run_apart(command, ranks=ranks))
            self.assertNotIn("not refused", plain.stdout)
            done = self.succeed(run_apart(command, ranks=ranks, **under_sibyl(), **settings))
            self.assertEqual(sorted(done.stdout.splitlines()), sorted(plain.stdout.splitlines()))

    def test_arrays_come_to_the_library_as_ints(self):
        self.compare_arrays()

    def test_arrays_are_served(self):
        reports = Path(tempfile.mkdtemp(dir=setting.work))
        self.compare_arrays(
            SIBYL_ALLGATHERV="ring",
            SIBYL_ALLTOALLV="shifted",
            SIBYL_REDUCE_SCATTER="pairwise",
            SIBYL_GATHERV="linear",
            SIBYL_REPORT=str(reports),
        )
        found = read_reports(reports)
        self.assertGreaterEqual(len({report["rank"] for report in found}), 2)
        for report in found:
            served = {e["collective"] for e in report["entries"] if e["algorithm"] != "native"}
            self.assertEqual(served, {"allgatherv", "alltoallv", "reduce_scatter", "gatherv"})

    def test_arrays_come_to_the_library_where_there_is_no_implementation(self):
        self.compare_arrays(SIBYL_LIBRARY_DIR=tempfile.mkdtemp(dir=setting.work))
