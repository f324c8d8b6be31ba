"""Programs in Fortran and Python under the recorder: their lines, not those of bindings."""

import shutil
import statistics
import subprocess
from pathlib import Path
from typing import ClassVar

from launching import (
    compile_program,
    setting,
)
from profiled import (
    INT,
    LATE,
    PROGRAMS,
    ProfileTest,
    marked_line,
)


class FortranPrograms(ProfileTest):
    RANKS = 3
    BYTES: ClassVar = {
        "MPI_Bcast": 36, "MPI_Allreduce": 40, "MPI_Scan": 44, "MPI_Gather": 12, "MPI_Gatherv": 8,
        "MPI_Scatter": 16, "MPI_Allgather": 28, "MPI_Alltoall": 32 * RANKS,
        "MPI_Alltoallv": 8 * RANKS, "MPI_Alltoallw": 4 * RANKS, "MPI_Reduce_scatter_block": 52,
        "MPI_Waitall": 0, "MPI_Sendrecv": 0,
    }  # fmt: skip

    def check(self, binding):
        if setting.mpifort is None:
            self.skipTest("no --mpifort")
        flags = ("-g", "-w", "-fallow-argument-mismatch", "-ffree-line-length-none")
        program = compile_program(
            setting.mpifort, PROGRAMS / "collectives.F90", f"-D{binding}", *flags
        )
        traces = self.profile([program], self.RANKS)
        line = marked_line("collectives.F90", "late reduce")
        self.check_late_rank(traces, lambda trace, row: self.lines(trace, row)[1], line)
        for trace in traces.values():
            known = {"MPI_Barrier", "MPI_Reduce"}
            self.assertEqual({row.function for row in trace.rows}, known | set(self.BYTES))
            for function, size in self.BYTES.items():
                (row,) = trace.calls_of(function)
                self.assertEqual((row.calls, row.bytes), (1, size), function)
            first = marked_line("collectives.F90", "first barrier")
            lines = {self.lines(trace, row)[1] for row in trace.calls_of("MPI_Barrier")}
            self.assertEqual(lines, {first, first + 1})
            self.assertEqual({row.site.module for row in trace.rows}, {str(program)})
            self.assertEqual(trace.python_ns, 0)
            (world,) = trace.communicators
            self.assertEqual(world.calls, len(trace.records))

    def test_mpif_h(self):
        self.check("MPIFH")

    def test_use_mpi(self):
        self.check("USE_MPI")

    def test_mpi_f08(self):
        self.check("USE_F08")

    def test_mpi_f08_with_large_counts(self):
        if setting.mpifort is None:
            self.skipTest("no --mpifort")
        try:
            program = compile_program(setting.mpifort, PROGRAMS / "large_f08.f90", "-g")
        except RuntimeError:
            self.skipTest("an mpi_f08 without large counts")
        for trace in self.profile([program], 2).values():
            found = {row.function: (row.calls, row.bytes) for row in trace.rows}
            expected = {"MPI_Allreduce": (1, 40), "MPI_Allgather": (1, 12), "MPI_Bcast": (1, 20)}
            self.assertEqual(found, expected)
            self.assertEqual({row.site.module for row in trace.rows}, {str(program)})


def packages_of_python():
    """Where the interpreter's packages lie."""
    where = "import mpi4py, pathlib; print(pathlib.Path(mpi4py.__file__).parents[1])"
    done = subprocess.run([setting.python, "-c", where], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def self_contained_python():
    """An interpreter that is not linked to libpython, to which mpi4py's modules fit."""
    here = Path("/usr/bin/python3")
    if not here.exists():
        return None
    ask = "import sys; print(sys.version_info[:2])"
    versions = {
        subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True).stdout
        for python in (setting.python, here)
    }
    linked = subprocess.run(["ldd", here], capture_output=True, text=True, check=True).stdout
    return here if len(versions) == 1 and "libpython" not in linked else None


class PythonPrograms(ProfileTest):
    NAME = "collectives_mpi4py.py"

    def check(self, program=PROGRAMS / NAME, python=None, **extra):
        if setting.python is None:
            self.skipTest("no --python with mpi4py")
        traces = self.profile([python or setting.python, program], 3, **extra)
        for row in (row for trace in traces.values() for row in trace.rows):
            self.assertEqual((row.site.module, row.site.file), ("", str(program)))
        line = marked_line(self.NAME, "late reduce")
        self.check_late_rank(traces, lambda trace, row: row.site.line, line)
        for trace in traces.values():
            self.assertGreater(trace.python_ns, 0)
            (late,) = trace.calls_of("MPI_Reduce")
            self.assertEqual(late.site.function, "step")
            first = marked_line(self.NAME, "first barrier")
            lines = {row.site.line for row in trace.calls_of("MPI_Barrier")}
            self.assertEqual(lines, {first, first + 1})
            of_object = marked_line(self.NAME, "of an object")
            world = trace.communicators[0]
            at = {(row.site.line, row.communicator == world) for row in trace.rows}
            self.assertIn((of_object, False), at)  # mpi4py's own duplicate of the world
            # Who has received from others before the broadcast has been there since then.
            sums = [row for row in trace.calls_of("MPI_Bcast") if row.site.line == of_object]
            spent = sum(r.exit - r.enter for row in sums for r in trace.records_of(row))
            received = any(row.site.line == of_object for row in trace.calls_of("MPI_Recv"))
            self.assertEqual(spent > sum(row.ns for row in sums), received)
            self.assertEqual(received, trace.rank == 0)
            (allgather,) = trace.calls_of("MPI_Allgather")
            self.assertEqual(allgather.bytes, 7 * INT)
            scan_line = marked_line(self.NAME, "two on a line")
            calls = {(row.site.line, row.bytes): row.calls for row in trace.calls_of("MPI_Scan")}
            self.assertEqual(calls, {(scan_line, 2 * 5 * INT): 4})
            for function, mark in (("MPI_Sendrecv", "sendrecv"), ("MPI_Recv", "recv")):
                lines = {row.site.line for row in trace.calls_of(function)}
                self.assertIn(marked_line(self.NAME, mark), lines)

    def test_lines_of_python(self):
        self.check()

    def test_lines_of_python_above_sibyl(self):
        self.check(preload=(setting.library_dir / "libsibyl-preload.so",))

    def test_lines_of_an_interpreter_that_is_not_linked_to_libpython(self):
        if setting.python is None:
            self.skipTest("no --python with mpi4py")
        python = self_contained_python()
        if python is None:
            self.skipTest("no such interpreter")
        self.check(python=python, PYTHONPATH=packages_of_python())

    def test_a_directory_of_the_users_may_be_called_as_the_package(self):
        directory = setting.work / "mpi4py"
        directory.mkdir()
        self.check(Path(shutil.copy(PROGRAMS / self.NAME, directory)))

    def test_a_line_that_forwards_all_calls_is_come_to_anew_with_each(self):
        if setting.python is None:
            self.skipTest("no --python with mpi4py")
        traces = self.profile([setting.python, PROGRAMS / "forwarded_mpi4py.py"], 2)
        (row,) = traces[1].calls_of("MPI_Allreduce")
        inside = [record.exit - record.enter for record in traces[1].records_of(row)]
        self.assertEqual(len(inside), 5)
        self.assertLess(statistics.median(inside) / 1e9, 0.5 * LATE)
