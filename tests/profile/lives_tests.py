"""How programs live and end under the recorder, and what it makes of that."""

import re
import sys
import tempfile
from pathlib import Path

import launching
from launching import (
    compile_program,
    setting,
)
from profiled import (
    PRELOAD_PROGRAMS,
    ProfileTest,
    c_program,
    recorder,
)
from trace_file import (
    CLOCK_UNKNOWN,
    SESSIONS_ONLY,
    SPAWNED,
    Trace,
    read_traces,
)


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
                self.assertEqual(number, trace.communicators[0].calls)
                self.assertGreater(enter, trace.records[-1].exit)
        self.assertEqual(sum(row.calls for row in traces[2].rows), 500)
        self.assertTrue(any(trace.threads[0][3] == 1 for trace in traces.values()))

    def test_the_child_of_a_fork_writes_nothing(self):
        for trace in self.life("fork", 2).values():
            self.assertEqual(sum(row.calls for row in trace.rows), 2)
            self.assertGreater(trace.end, 0)

    def test_communicators_that_are_made_and_freed_are_told_apart(self):
        traces = self.life("loop", 2)
        names = [{made.name for made in trace.communicators} for trace in traces.values()]
        self.assertEqual((len(names[0]), names[0]), (201, names[1]))
        for trace in traces.values():
            made = trace.communicators[1:]
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

    def test_no_room_for_one_piece_of_the_trace_ends_no_program(self):
        """Each in turn: of the file's beginning, and of every table that the first calls need."""
        refuses = c_program("refuse_room.c", "-shared", "-fPIC")
        without_rows = 0
        for refused in range(8):
            with self.subTest(refused=refused):
                directory = Path(tempfile.mkdtemp(dir=setting.work))
                extra = {"LD_PRELOAD": f"{recorder()} {refuses}", "SIBYL_PROFILE": str(directory)}
                command = [c_program("life.c"), "barriers"]
                done = launching.run(command, REFUSED=str(refused), **extra)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                # What there is can be read, and a call counts on its communicator for all that.
                for trace in read_traces(directory).values():
                    self.assertGreater(trace.end, 0)
                    for world in trace.communicators[:1]:
                        self.assertEqual(world.calls, 1000)
                        without_rows += not trace.rows
        self.assertEqual(without_rows, 1)

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
            self.assertEqual([record.number for record in trace.records], list(range(10)))
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

    def test_when_clocks_were_compared_is_said_alike_on_a_host(self):
        """Not when a rank came to MPI_Finalize, which may be long before rank 0 does."""
        lead = 5_000_000_000
        traces = self.life("apart", 3, SIBYL_TEST_CLOCKS=f"0,{lead},{lead}")
        self.assertEqual(traces[0].compared, (0, 0))
        self.assertEqual(traces[1].compared, traces[2].compared)
        for rank in (1, 2):
            begin, end = traces[rank].compared
            self.assertLessEqual(begin, traces[rank].begin)
            self.assertLess(traces[rank].end - lead, traces[0].end)
            self.assertLessEqual(traces[0].end, end - lead)

    def test_ranks_of_a_run_have_its_job_in_common(self):
        jobs = [{trace.job for trace in self.life("nothing", 2).values()} for _ in range(2)]
        self.assertEqual([len(job) for job in jobs], [1, 1])
        if setting.mpi == "openmpi":  # Hydra has no name for a job
            self.assertEqual(len(jobs[0] | jobs[1] | {0}), 3)

    def sessions(self, way, **extra):
        if setting.mpicc is None:
            self.skipTest("no --mpicc")
        program = compile_program(setting.mpicc, PRELOAD_PROGRAMS / "sessions.c")
        directory = Path(tempfile.mkdtemp(dir=setting.work))
        extra |= {"LD_PRELOAD": str(recorder()), "SIBYL_PROFILE": str(directory)}
        done = launching.run([program, way], ranks=2, **extra)
        if "no sessions" in done.stdout:
            self.skipTest("an MPI without sessions")
        self.assertEqual(done.returncode, 0, done.stderr)
        traces = [Trace(path) for path in directory.iterdir()]
        self.assertEqual(sorted((trace.rank, trace.size) for trace in traces), [(0, 2), (1, 2)])
        return traces

    def barriers_but_at_rank_1(self, change, **extra):
        """The traces of three ranks, of which the second runs with another environment."""
        script = (
            f'if [ "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" = 1 ]; then {change}; fi; exec "$0" "$@"'
        )
        command = ["sh", "-c", script, c_program("life.c"), "barriers"]
        directory = Path(tempfile.mkdtemp(dir=setting.work))
        extra |= {"LD_PRELOAD": str(recorder()), "SIBYL_PROFILE": str(directory)}
        done = launching.run(command, ranks=3, **extra)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return read_traces(directory)

    def test_a_rank_without_the_recorder_is_not_waited_for(self):
        self.assertEqual(sorted(self.barriers_but_at_rank_1("unset LD_PRELOAD")), [0, 2])

    def test_a_host_that_cannot_open_its_trace_holds_up_no_other(self):
        """Its clock would have been compared with theirs in MPI_Init, and in MPI_Finalize."""
        nowhere = "SIBYL_PROFILE=/nonexistent/directory"
        traces = self.barriers_but_at_rank_1(nowhere, SIBYL_TEST_CLOCKS="0,5000,7000")
        self.assertEqual(sorted(traces), [0, 2])
        for trace in traces.values():
            self.assertEqual((trace.flags, trace.offsets), (CLOCK_UNKNOWN, (0, 0, 0, 0)))
            self.assertEqual([row.calls for row in trace.rows], [500, 500])
            self.assertGreater(trace.end, trace.begin)

    def test_a_death_before_the_clocks_are_compared_again_ends_no_survivor(self):
        """Rank 1 had its host's clock, and rank 2, which is of a third host, is not to wait."""
        ulfm = ("--with-ft", "ulfm")
        command = [c_program("life.c"), "survived"]
        plain = launching.run(command, ranks=3, options=ulfm)
        if plain.stdout.count("goes on") != 2:
            self.skipTest("this MPI has no User-Level Failure Mitigation")
        directory = Path(tempfile.mkdtemp(dir=setting.work))
        extra = {"LD_PRELOAD": str(recorder()), "SIBYL_PROFILE": str(directory)}
        done = launching.run(
            command, ranks=3, options=ulfm, SIBYL_TEST_CLOCKS="0,5000,7000", **extra
        )
        self.assertEqual(done.stdout.count("goes on"), 2, f"{done.stdout}{done.stderr}")
        traces = read_traces(directory)
        for rank in (0, 2):
            self.assertEqual(traces[rank].flags, CLOCK_UNKNOWN)
            self.assertGreater(traces[rank].end, 0)

    def test_sessions_alone_leave_a_trace(self):
        for trace in self.sessions("alone"):
            self.assertEqual(trace.flags, SESSIONS_ONLY | CLOCK_UNKNOWN)
            scans = [row.calls for row in trace.calls_of("MPI_Scan")]
            self.assertEqual(scans, [16, 8, 8])
            self.assertEqual([made.members for made in trace.communicators], ["0-1"] * 3)
            self.assertEqual(len({made.name for made in trace.communicators}), 3)
            self.assertGreater(trace.end, trace.begin)

    def test_sessions_beside_the_world_are_recorded_too(self):
        for trace in self.sessions("both"):
            scans = sum(row.calls for row in trace.calls_of("MPI_Scan"))
            self.assertEqual(scans, 32)
            self.assertEqual({made.members for made in trace.communicators}, {"0-1"})
            self.assertEqual((trace.flags, trace.end > trace.begin), (CLOCK_UNKNOWN, True))
            self.assertEqual(len(trace.records), sum(row.calls for row in trace.rows))

    def test_a_session_of_one_rank_alone_holds_up_nobody_in_mpi_init(self):
        """Where clocks of hosts are compared, and the rank is not there."""
        for trace in self.sessions("one", SIBYL_TEST_CLOCKS="0,5000"):
            self.assertEqual([made.members for made in trace.communicators][-1], "0-1")
            self.assertEqual(trace.flags, CLOCK_UNKNOWN)

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
        """Far below what it would be with a lock too many; the numbers are the machine's. The
        program makes its calls past the recorder as well, in turns; measure.py has it run alone."""
        if setting.mpicc is None:
            self.skipTest("no --mpicc")
        program = compile_program(setting.mpicc, PRELOAD_PROGRAMS.parent / "overhead.c")
        (trace,) = self.profile([program, "allreduce", "barrier"]).values()
        print(f"\n  {self.done.stdout.strip()}\n  the trace says {trace.overhead}", file=sys.stderr)
        differences = re.findall(r"^(\w+) .* difference ([-\d.]+) ns", self.done.stdout, re.M)
        self.assertEqual([name for name, _ in differences], ["allreduce", "barrier"])
        for _, difference in differences:
            self.assertTrue(10 <= float(difference) <= 1000, self.done.stdout)
        self.assertTrue(20 <= trace.overhead <= 2000, trace.overhead)
