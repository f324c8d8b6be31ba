#!/usr/bin/env python3
"""Runs programs under the recorder of `sibyl profile` and reads the traces that they leave.

  run_profile_tests.py --mpi openmpi|mpich --library-dir DIR --mpiexec PATH [--mpicc PATH]
                       [--mpifort PATH] [--python PATH] [-k TEXT]

DIR holds libsibyl-profile.so, and the preload shim with its implementation. Programs for which no
compiler or interpreter is given are reported as skipped. Standard library only. Exit status 0:
every test passed or was skipped.
"""

import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import ClassVar

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "preload"))

import launching  # noqa: E402 - a folder beside this one
from launching import (  # noqa: E402
    common_options,
    compile_program,
    read_reports,
    run_tests,
    setting,
)
from trace_file import (  # noqa: E402
    CLOCK_UNKNOWN,
    SESSIONS_ONLY,
    SPAWNED,
    Trace,
    read_traces,
)

PROGRAMS = HERE / "programs"
PRELOAD_PROGRAMS = HERE.parent / "preload" / "programs"
INT = 4
LATE = 0.02  # seconds, in the programs with a late rank


def recorder():
    return setting.library_dir / "libsibyl-profile.so"


def c_program(name, *flags):
    if setting.mpicc is None:
        raise unittest.SkipTest("no --mpicc")
    return compile_program(setting.mpicc, PROGRAMS / name, "-g", *flags)


def marked_line(name, mark):
    """The line of a program that ends in this comment."""
    lines = (PROGRAMS / name).read_text().splitlines()
    (found,) = (i for i, line in enumerate(lines, 1) if re.search(rf"\W{mark}(?: \*/)?$", line))
    return found


class ProfileTest(unittest.TestCase):
    maxDiff = 4000

    def profile(self, command, ranks=None, preload=(), may_fail=False, **extra):
        """By rank, the traces of a run."""
        directory = Path(tempfile.mkdtemp(dir=setting.work))
        libraries = " ".join(str(library) for library in (recorder(), *preload))
        done = launching.run(
            command, ranks=ranks, LD_PRELOAD=libraries, SIBYL_PROFILE=str(directory), **extra
        )
        if not may_fail:
            self.assertEqual(done.returncode, 0, f"{done.args}\n{done.stdout[-2000:]}{done.stderr}")
        self.assertNotIn("still running", done.stderr)
        self.done = done
        traces = read_traces(directory)
        self.assertEqual(len(traces), len(list(directory.iterdir())), "a trace for each process")
        if ranks is not None:
            self.assertEqual(sorted(traces), list(range(ranks)))
            self.assertEqual({trace.size for trace in traces.values()}, {ranks})
        for trace in traces.values():
            self.assertEqual(trace.flavour, {"openmpi": 1, "mpich": 2}[setting.mpi])
            self.assertEqual(trace.flags & ~SPAWNED, 0)
            self.assertNotEqual(trace.boot_id, "")
        return traces

    def lines(self, trace, row):
        """File and line of a site in compiled code, as debug information has them."""
        if shutil.which("addr2line") is None:
            self.skipTest("no addr2line")
        at = hex(row.site.offset - 1)
        command = ["addr2line", "-e", row.site.module, at]
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        file, _, line = found.partition(" ")[0].rpartition(":")
        return Path(file).name, int(line)

    def one_row(self, trace, function, line=None):
        rows = trace.calls_of(function)
        if line is not None:
            rows = [row for row in rows if self.lines(trace, row)[1] == line]
        self.assertEqual(len(rows), 1, f"{function} at line {line}")
        return rows[0]

    def check_agreement(self, traces):
        """All ranks of a communicator have made the same calls, with the same signatures."""
        calls = {}
        for trace in traces.values():
            for record in trace.records:
                made = trace.rows[record.row].communicator
                place = (made.members, made.occurrence, record.number)
                what = (trace.rows[record.row].function, record.signature)
                calls.setdefault(place, []).append((what, made.size))
        for place, found in calls.items():
            ((_, size),) = set(found)  # more than one: ranks differ
            self.assertEqual(len(found), size, place)
        return {what for found in calls.values() for what, _ in found}

    def check_late_rank(self, traces, line_of, line):
        """The last rank came last to the marked reduces, and by as much as it slept."""
        late = max(traces)
        arrivals = {}
        for rank, trace in traces.items():
            rows = [row for row in trace.calls_of("MPI_Reduce") if line_of(trace, row) == line]
            self.assertEqual(len(rows), 1, f"rank {rank}")
            (row,) = rows
            self.assertEqual((row.calls, row.bytes), (5, 5 * 100 * INT))
            for record in trace.records_of(row):
                self.assertEqual((record.root, record.bytes), (0, 100 * INT))
                arrivals.setdefault(record.number, {})[rank] = record.enter
        self.assertEqual(len(arrivals), 5)
        lateness = []
        for times in arrivals.values():
            others = [time for rank, time in times.items() if rank != late]
            self.assertGreater(times[late], max(others))
            lateness.append((times[late] - statistics.median(others)) / 1e9)
        self.assertGreater(statistics.median(lateness), 0.9 * LATE)
        self.check_agreement(traces)


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
            self.assertEqual((world.occurrence, ring.occurrence), (0, 1))
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

    def test_threads_have_their_own_calls(self):
        program = c_program("threads.c", "-pthread")
        traces = self.profile([program], 2)
        if "no threads" in self.done.stdout:
            self.skipTest("no MPI_THREAD_MULTIPLE")
        for trace in traces.values():
            rows = trace.calls_of("MPI_Allreduce")
            self.assertEqual([(row.calls, row.bytes) for row in rows], [(1000, 4000)] * 4)
            self.assertEqual({row.communicator.occurrence for row in rows}, {1, 2, 3, 4})
            self.assertEqual(sum(row.calls for row in trace.calls_of("MPI_Barrier")), 100)
            self.assertEqual(len(trace.records), 4100)
            self.assertLessEqual(
                len(trace.threads), 6
            )  # those that have ended give their places back


class Lives(ProfileTest):
    def life(self, what, ranks, **extra):
        return self.profile([c_program("life.c"), what], ranks, **extra)

    def test_no_collectives(self):
        for ranks in (1, 2):
            for trace in self.life("nothing", ranks).values():
                self.assertEqual((trace.rows, trace.records), ([], []))
                self.assertGreater(trace.end, trace.begin)
                self.assertGreater(trace.overhead, 0)

    def test_a_program_without_mpi_leaves_no_trace(self):
        self.assertEqual(self.profile(["/bin/sh", "-c", "true; /bin/true"]), {})

    def test_a_run_without_a_launcher(self):
        traces = self.profile([c_program("life.c"), "barriers"])
        self.assertEqual((sorted(traces), traces[0].size), ([0], 1))
        self.assertEqual([row.calls for row in traces[0].rows], [500, 500])

    def test_a_killed_program_leaves_what_was_seen(self):
        traces = self.life("killed", 3, may_fail=True)
        for rank, trace in traces.items():
            self.assertEqual(trace.end, 0)
            self.assertGreaterEqual(len(trace.records), 498)
            (tid, live_row, _, inside, number, enter, *_) = trace.threads[0]
            self.assertEqual((tid, trace.rows[live_row].function), (trace.pid, "MPI_Barrier"))
            if inside and rank != 2:
                self.assertEqual(number, trace.communicators[0].calls - 1)
                self.assertGreater(enter, trace.records[-1].exit)
        self.assertEqual(sum(row.calls for row in traces[2].rows), 500)
        self.assertTrue(any(trace.threads[0][3] == 1 for trace in traces.values()))

    def test_the_child_of_a_fork_writes_nothing(self):
        for trace in self.life("fork", 2).values():
            self.assertEqual(sum(row.calls for row in trace.rows), 2)
            self.assertGreater(trace.end, 0)

    def test_communicators_that_are_made_and_freed_are_told_apart(self):
        for trace in self.life("loop", 2).values():
            made = trace.communicators[1:]
            self.assertEqual([made.occurrence for made in made], list(range(1, 201)))
            self.assertEqual([made.calls for made in made], [1 + i % 3 for i in range(200)])
            self.assertEqual({made.members for made in made}, {"0-1"})

    def test_full_memory_keeps_the_same_calls_on_all_ranks(self):
        traces = self.life("barriers", 3, SIBYL_PROFILE_MEMORY=str(48 * 100))
        kept = {trace.kept_every_log2: len(trace.records) for trace in traces.values()}
        self.assertEqual(len(kept), 1, "the same steps")
        numbers = {tuple(record.number for record in trace.records) for trace in traces.values()}
        self.assertEqual(len(numbers), 1)
        self.assertTrue(40 <= len(next(iter(numbers))) <= 100, numbers)
        for trace in traces.values():
            self.assertEqual([row.calls for row in trace.rows], [500, 500])
            self.assertEqual(trace.lost + len(trace.records), 1000)
            for row in trace.rows:  # none of two sites that take turns is left out
                self.assertGreater(len(trace.records_of(row)), 10)

    def test_no_memory_at_all_leaves_totals(self):
        for trace in self.life("barriers", 2, SIBYL_PROFILE_MEMORY="0").values():
            self.assertEqual((trace.records, trace.lost), ([], 1000))
            self.assertEqual([row.calls for row in trace.rows], [500, 500])

    def test_groups_are_named_by_their_ranks_in_order(self):
        traces = self.life("groups", 6)
        for rank, trace in traces.items():
            half = next(made for made in trace.communicators if made.size == 3 and not made.flags)
            self.assertEqual(half.members, "4,2,0" if rank % 2 == 0 else "5,3,1")
            (between,) = (made for made in trace.communicators if made.flags)
            self.assertEqual((between.flags, between.members, between.calls), (1, "", 1))
            rows = {row.communicator: row for row in trace.calls_of("MPI_Allreduce")}
            self.assertEqual([rows[half].bytes, rows[between].bytes], [4, 0])
            self.assertEqual((len(trace.records_of(rows[between])), rows[between].calls), (0, 1))

    def test_a_call_that_an_error_handler_leaves_is_the_only_one_missing(self):
        for trace in self.life("jump", 2, may_fail=True).values():
            (row,) = trace.calls_of("MPI_Barrier")
            self.assertEqual(row.calls, 10)
            self.assertGreater(trace.end, 0)

    def test_clocks_of_several_hosts_are_compared(self):
        leads = [0, 5_000_000_000, 0, -7_000_000]
        text = ",".join(str(lead) for lead in leads)
        traces = self.life("barriers", 5, SIBYL_TEST_CLOCKS=text)
        for rank, trace in traces.items():
            lead = leads[rank % 4]
            for offset, error in (trace.offsets[:2], trace.offsets[2:]):
                self.assertLessEqual(abs(offset + lead), error)
                self.assertEqual(error == 0, lead == 0)
                self.assertLess(error, 5_000_000)
        # On one clock, no rank leaves a barrier before another has come to it.
        first = [
            (trace.records[0].enter + trace.offsets[0], trace.records[0].exit + trace.offsets[0])
            for trace in traces.values()
        ]
        error = max(trace.offsets[1] for trace in traces.values())
        self.assertLess(
            max(enter for enter, _ in first), min(left for _, left in first) + 2 * error
        )

    def sessions(self, way):
        if setting.mpicc is None:
            self.skipTest("no --mpicc")
        program = compile_program(setting.mpicc, PRELOAD_PROGRAMS / "sessions.c")
        directory = Path(tempfile.mkdtemp(dir=setting.work))
        extra = {"LD_PRELOAD": str(recorder()), "SIBYL_PROFILE": str(directory)}
        done = launching.run([program, way], ranks=2, **extra)
        if "no sessions" in done.stdout:
            self.skipTest("an MPI without sessions")
        self.assertEqual(done.returncode, 0, done.stderr)
        traces = [Trace(path) for path in directory.iterdir()]
        self.assertEqual(sorted((trace.rank, trace.size) for trace in traces), [(0, 2), (1, 2)])
        return traces

    def test_a_rank_without_the_recorder_is_not_waited_for(self):
        script = (
            'if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]; then unset LD_PRELOAD; fi; '
            'exec "$0" "$@"'
        )
        command = ["sh", "-c", script, c_program("life.c"), "barriers"]
        directory = Path(tempfile.mkdtemp(dir=setting.work))
        extra = {"LD_PRELOAD": str(recorder()), "SIBYL_PROFILE": str(directory)}
        done = launching.run(command, ranks=3, **extra)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(read_traces(directory)), [0, 2])

    def test_sessions_alone_leave_a_trace(self):
        for trace in self.sessions("alone"):
            self.assertEqual(trace.flags, SESSIONS_ONLY | CLOCK_UNKNOWN)
            scans = [row.calls for row in trace.calls_of("MPI_Scan")]
            self.assertEqual(scans, [16, 8, 8])
            made = [(made.members, made.occurrence) for made in trace.communicators]
            self.assertEqual(made, [("0-1", 0), ("0-1", 1), ("0-1", 2)])

    def test_sessions_beside_the_world_are_recorded_too(self):
        for trace in self.sessions("both"):
            scans = sum(row.calls for row in trace.calls_of("MPI_Scan"))
            self.assertEqual(scans, 32)

    def test_spawned_processes_have_a_world_of_their_own(self):
        if setting.mpicc is None:
            self.skipTest("no --mpicc")
        program = compile_program(setting.mpicc, PRELOAD_PROGRAMS / "spawn.c")
        directory = Path(tempfile.mkdtemp(dir=setting.work))
        extra = {"LD_PRELOAD": str(recorder()), "SIBYL_PROFILE": str(directory)}
        if launching.run([program], ranks=2).returncode != 0:
            self.skipTest("this MPI starts no processes here")
        done = launching.run([program], ranks=2, **extra)
        self.assertEqual(done.returncode, 0, done.stderr)
        traces = [Trace(path) for path in directory.iterdir()]
        spawned = sorted((trace.rank, bool(trace.flags & SPAWNED)) for trace in traces)
        # Where the launcher does not hand LD_PRELOAD to what is spawned, only the parents have one.
        self.assertIn(spawned, ([(0, 0), (1, 0)], [(0, 0), (0, 1), (1, 0), (1, 1)]))

    def test_what_a_call_costs_is_said_and_measured(self):
        """Far below what it would be with a lock too many; the numbers are the machine's."""
        program = c_program("overhead.c", "-O2")
        plain = launching.run([program])
        (trace,) = self.profile([program]).values()
        for done in (plain, self.done):
            print(f"\n  {done.stdout.strip()}", end="", file=sys.stderr)
        print(f"; the trace says {trace.overhead}", file=sys.stderr)
        native, recorded = (
            [float(w) for w in re.findall(r"[\d.]+", done.stdout)] for done in (plain, self.done)
        )
        for before, after in zip(native, recorded, strict=True):
            self.assertLess(after - before, 2000)
        self.assertTrue(20 <= trace.overhead <= 2000, trace.overhead)


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


class PythonPrograms(ProfileTest):
    NAME = "collectives_mpi4py.py"

    def check(self, **extra):
        if setting.python is None:
            self.skipTest("no --python with mpi4py")
        traces = self.profile([setting.python, PROGRAMS / self.NAME], 3, **extra)
        for row in (row for trace in traces.values() for row in trace.rows):
            self.assertEqual((row.site.module, row.site.file), ("", str(PROGRAMS / self.NAME)))
        line = marked_line(self.NAME, "late reduce")
        self.check_late_rank(traces, lambda trace, row: row.site.line, line)
        for trace in traces.values():
            (late,) = trace.calls_of("MPI_Reduce")
            self.assertEqual(late.site.function, "step")
            first = marked_line(self.NAME, "first barrier")
            lines = {row.site.line for row in trace.calls_of("MPI_Barrier")}
            self.assertEqual(lines, {first, first + 1})
            of_object = marked_line(self.NAME, "of an object")
            world = trace.communicators[0]
            at = {(row.site.line, row.communicator == world) for row in trace.rows}
            self.assertIn((of_object, False), at)  # mpi4py's own duplicate of the world
            (allgather,) = trace.calls_of("MPI_Allgather")
            self.assertEqual(allgather.bytes, 7 * INT)
            for function, mark in (("MPI_Sendrecv", "sendrecv"), ("MPI_Recv", "recv")):
                lines = {row.site.line for row in trace.calls_of(function)}
                self.assertIn(marked_line(self.NAME, mark), lines)

    def test_lines_of_python(self):
        self.check()

    def test_lines_of_python_above_sibyl(self):
        self.check(preload=(setting.library_dir / "libsibyl-preload.so",))


def main():
    parser = common_options(__doc__.splitlines()[0])
    parser.add_argument("--mpifort")
    run_tests(parser, recorder, (sys.modules[__name__],))


if __name__ == "__main__":
    main()
