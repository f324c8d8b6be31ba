"""C programs under the recorder: what is noted of each call, and where."""

import re
import subprocess
import tempfile
from pathlib import Path

import launching
from launching import (
    compile_program,
    read_reports,
    setting,
)
from profiled import (
    PRELOAD_PROGRAMS,
    PROGRAMS,
    ProfileTest,
    c_program,
    marked_line,
    recorder,
)


class CPrograms(ProfileTest):
    RANKS = 3

    def expected(self):
        """By function: calls a site, and bytes of each call at each site in the program's order."""
        ranks, each = self.RANKS, self.RANKS
        return {
            "MPI_Barrier": (1, [0, 0]),
            "MPI_Reduce": (5, [400]),
            "MPI_Gather": (each, [12, 20]),
            "MPI_Gatherv": (each, [8]),
            "MPI_Scatter": (each, [16]),
            "MPI_Scatterv": (each, [8]),
            "MPI_Allgather": (each, [24, 28]),
            "MPI_Allgatherv": (each, [4]),
            "MPI_Alltoall": (each, [32 * ranks]),
            "MPI_Alltoallv": (each, [8 * ranks]),
            "MPI_Alltoallw": (each, [4 * ranks]),
            "MPI_Bcast": (each, [36]),
            "MPI_Allreduce": (each, [40]),
            "MPI_Scan": (each, [44]),
            "MPI_Exscan": (each, [48]),
            "MPI_Reduce_scatter": (each, [8]),
            "MPI_Reduce_scatter_block": (each, [52]),
            "MPI_Neighbor_allgather": (1, [56]),
            "MPI_Neighbor_allgatherv": (1, [8]),
            "MPI_Neighbor_alltoall": (1, [120]),
            "MPI_Neighbor_alltoallv": (1, [8]),
            "MPI_Neighbor_alltoallw": (1, [8]),
        }

    def traces(self, **extra):
        return self.profile([c_program("collectives.c")], self.RANKS, **extra)

    def check_calls(self, traces, program):
        expected = self.expected()
        waits = {
            "MPI_Recv", "MPI_Mrecv", "MPI_Sendrecv", "MPI_Sendrecv_replace", "MPI_Wait",
            "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome", "MPI_Probe", "MPI_Mprobe",
        }  # fmt: skip
        for trace in traces.values():
            self.assertEqual({row.function for row in trace.rows}, set(expected) | waits)
            for function, (calls, sizes) in expected.items():
                rows = sorted(trace.calls_of(function), key=lambda row: row.site.offset)
                found = [(row.calls, row.bytes) for row in rows]
                self.assertEqual(found, [(calls, calls * size) for size in sizes], function)
            for function in waits:
                (row,) = trace.calls_of(function)
                self.assertEqual((row.calls, row.bytes, row.communicator), (1, 0, None), function)
            for row in trace.rows:
                self.assertEqual(row.site.module, str(program))
                if row.communicator is not None:
                    records = trace.records_of(row)
                    self.assertEqual(len(records), row.calls, row)
                    spent = [record.exit - record.enter for record in records]
                    self.assertEqual((sum(spent), max(spent)), (row.ns, row.max_ns))
            world, ring = trace.communicators
            ours = (f"0-{self.RANKS - 1}", self.RANKS, trace.rank)
            self.assertEqual((world.members, world.size, world.rank), ours)
            self.assertEqual((ring.members, ring.size, ring.rank), ours)
            self.assertEqual((world.name, ring.name), (0, 1))
            for communicator in (world, ring):
                numbers = [
                    record.number
                    for record in trace.records
                    if trace.rows[record.row].communicator == communicator
                ]
                self.assertEqual(numbers, list(range(communicator.calls)))
            self.assertEqual(len({row.site for row in trace.rows}), len(trace.rows))
            rooted = ("MPI_Gatherv", "MPI_Scatter", "MPI_Bcast")
            for row in (row for function in rooted for row in trace.calls_of(function)):
                roots = [record.root for record in trace.records_of(row)]
                self.assertEqual(roots, list(range(self.RANKS)))
            self.assertEqual({record.root for record in trace.records_of(trace.rows[0])}, {-1})
            self.assertGreater(trace.end, trace.begin)
            self.assertEqual((trace.kept_every_log2, trace.lost), (0, 0))
            self.assertEqual(trace.program, str(program))
            self.assertTrue(all(inside == 0 for _, _, _, inside, *_ in trace.threads))

    def test_every_collective_is_recorded_with_its_number_bytes_root_and_place(self):
        traces = self.traces()
        self.check_calls(traces, c_program("collectives.c"))
        signatures = self.check_agreement(traces)
        functions = {function for function, _ in signatures}
        self.assertGreater(len(signatures), len(functions))

    def test_sizes_that_mpi_wants_alike_are_told_apart(self):
        """So that ranks which differ in them can be named."""
        traces = self.profile([c_program("sizes.c")], 2)
        self.check_agreement(traces)
        for trace in traces.values():
            self.assertEqual(len(trace.rows), 6)
            for row in trace.rows:
                first, again, in_place, other = (r.signature for r in trace.records_of(row))
                self.assertEqual({first, again, in_place}, {first}, row.function)
                self.assertNotEqual(first, other, row.function)

    def test_the_late_rank_is_seen_at_its_line(self):
        line = marked_line("collectives.c", "late reduce")
        traces = self.traces()
        self.check_late_rank(traces, lambda trace, row: self.lines(trace, row)[1], line)
        first = marked_line("collectives.c", "first barrier")
        for trace in traces.values():
            self.assertEqual(self.one_row(trace, "MPI_Barrier", first).calls, 1)
            self.assertEqual(self.one_row(trace, "MPI_Barrier", first + 1).calls, 1)

    def test_a_program_that_is_not_position_independent_has_its_lines(self):
        program = c_program("collectives.c", "-no-pie")
        for trace in self.profile([program], 2).values():
            (row,) = trace.calls_of("MPI_Reduce")
            at = hex(0x400000 + row.site.offset - 1)
            command = ["addr2line", "-e", str(program), at]
            found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            self.assertIn(f"collectives.c:{marked_line('collectives.c', 'late reduce')}", found)

    def test_a_stripped_program_has_module_and_offset(self):
        program = c_program("collectives.c")
        stripped = setting.work / "stripped"
        subprocess.run(["strip", "-o", str(stripped), str(program)], check=True)
        for trace in self.profile([stripped], 2).values():
            (row,) = trace.calls_of("MPI_Reduce")
            self.assertEqual(row.site.module, str(stripped))
            self.assertEqual(self.lines_of_other(program, row), "late reduce")

    def lines_of_other(self, program, row):
        command = ["addr2line", "-e", str(program), hex(row.site.offset - 1)]
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        line = int(found.partition(" ")[0].strip().rpartition(":")[2])
        text = (PROGRAMS / "collectives.c").read_text().splitlines()[line - 1]
        return re.search(r"/\* (.*) \*/", text)[1]

    def test_calls_of_a_library_that_is_loaded_by_name_are_at_its_lines(self):
        plugin = c_program("plugin.c", "-shared", "-fPIC")
        for trace in self.profile([c_program("host.c"), plugin], 2).values():
            row = self.one_row(trace, "MPI_Allreduce", marked_line("plugin.c", "of a plugin"))
            self.assertEqual((row.calls, row.site.module), (3, str(plugin)))
            self.assertEqual(row.site.function, "work")

    def test_nothing_is_written_where_no_directory_is_given(self):
        program = c_program("life.c")
        for extra in ({}, {"SIBYL_PROFILE": ""}, {"SIBYL_PROFILE": "/nonexistent/directory"}):
            done = launching.run([program, "groups"], ranks=4, LD_PRELOAD=str(recorder()), **extra)
            self.assertEqual((done.returncode, done.stderr), (0, ""), extra)

    def test_a_program_that_sibyl_serves_is_recorded_above_it(self):
        shim = setting.library_dir / "libsibyl-preload.so"
        reports = Path(tempfile.mkdtemp(dir=setting.work))
        served = {"SIBYL_REPORT": str(reports), "SIBYL_REDUCE": "binomial"}
        traces = self.traces(preload=(shim,), **served)
        self.check_calls(traces, c_program("collectives.c"))
        for trace in traces.values():
            by_sibyl = {trace.rows[r.row].function for r in trace.records if r.by_sibyl}
            self.assertIn("MPI_Reduce", by_sibyl)
            self.assertNotIn("MPI_Alltoallw", by_sibyl)
        for trace in self.traces().values():
            self.assertFalse(any(record.by_sibyl for record in trace.records))
        found = launching.served(read_reports(reports))
        self.assertEqual(sorted(found), list(range(self.RANKS)))
        self.assertTrue(all("reduce" in names for names in found.values()), found)

    def same_output(self, program, ranks):
        """What the program says without the recorder, in any order of ranks; and the traces."""
        plain = launching.run([program], ranks=ranks)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        traces = self.profile([program], ranks)
        self.assertEqual(sorted(self.done.stdout.split("\n")), sorted(plain.stdout.split("\n")))
        return traces

    def test_large_counts_are_recorded_also_where_the_mpi_has_none(self):
        """The programs refer to the functions weakly, and find the recorder's."""
        for name, call in (("weak_large.c", "MPI_Gather"), ("weak_arrays.c", "MPI_Alltoallw")):
            program = c_program(PRELOAD_PROGRAMS / name)
            traces = self.same_output(program, 3)
            for trace in traces.values():
                self.assertGreaterEqual(sum(row.calls for row in trace.calls_of(call)), 1)
                self.assertEqual({row.site.module for row in trace.rows}, {str(program)})

    def test_what_mpi_refuses_at_one_rank_is_no_call(self):
        """The others' next call is still to be made there."""
        if setting.mpicc is None:
            self.skipTest("no --mpicc")
        program = compile_program(setting.mpicc, PRELOAD_PROGRAMS / "refused_everyone.c", "-w")
        if launching.run([program], ranks=3).returncode != 0:
            self.skipTest("this MPI library does not find the errors")
        traces = self.profile([program], 3)
        self.assertGreaterEqual(len(self.check_agreement(traces)), 9)
        self.assertIn("after", self.done.stdout)

    def test_exceptions_of_error_handlers_pass(self):
        if setting.mpicc is None:
            self.skipTest("no --mpicc")
        program = launching.cxx_program(PRELOAD_PROGRAMS / "exceptions.cpp")
        for trace in self.same_output(program, 3).values():
            self.assertTrue(all(inside == 0 for _, _, _, inside, *_ in trace.threads))

    def test_threads_of_another_class_wait_for_each_other(self):
        """Of a real-time class and of the usual one, on one processor."""
        program = c_program("classes.c", "-pthread")
        (trace,) = self.profile([program], 1).values()
        if self.done.stdout.startswith("no "):
            self.skipTest(self.done.stdout.strip())
        (row,) = trace.calls_of("MPI_Bcast")
        self.assertEqual(row.calls, 2000)
        # Linux takes the processor from such a thread after 0.95 of a second.
        self.assertLess(float(self.done.stdout.split()[0]), 0.5)

    def test_communicators_of_threads_are_told_apart_alike_on_all_ranks(self):
        """Whichever thread comes first."""
        traces = self.profile([c_program("crossed.c", "-pthread")], 2)
        if "no threads" in self.done.stdout:
            self.skipTest("no MPI_THREAD_MULTIPLE")
        self.assertEqual(len(self.check_agreement(traces)), 4)

    def test_threads_have_their_own_calls(self):
        program = c_program("threads.c", "-pthread")
        traces = self.profile([program], 2)
        if "no threads" in self.done.stdout:
            self.skipTest("no MPI_THREAD_MULTIPLE")
        for trace in traces.values():
            rows = trace.calls_of("MPI_Allreduce")
            self.assertEqual([(row.calls, row.bytes) for row in rows], [(1000, 4000)] * 4)
            self.assertEqual(len({row.communicator.name for row in rows}), 4)
            # Those of one line add up in one row.
            (row,) = trace.calls_of("MPI_Sendrecv_replace")
            self.assertEqual(row.calls, 4000)
            self.assertGreater(row.ns, row.max_ns)
            self.assertEqual(sum(row.calls for row in trace.calls_of("MPI_Barrier")), 100)
            self.assertEqual(len(trace.records), 4100)
            self.assertLessEqual(
                len(trace.threads), 6
            )  # those that have ended give their places back
