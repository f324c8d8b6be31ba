"""Programs that MPI lets fail, or begin and end MPI in an unusual way: as without Sibyl."""

import re
import tempfile
from functools import partial
from pathlib import Path

from ended_tests import WINDOW
from everyone_tests import SERVED, TWO_LEVELS
from launching import (
    INTEL,
    PROGRAMS,
    PreloadTest,
    c_program,
    fortran_program,
    linked_program,
    read_reports,
    run,
    run_apart,
    setting,
    under_sibyl,
)

# From the first call of every communicator on, and as it comes.
WAYS = ({}, {"SIBYL_SERVE_FROM": "1"})
# The same by algorithms of Sibyl's, and by those for nodes of several ranks.
ALL_WAYS = ({}, {"SIBYL_SERVE_FROM": "1", **SERVED}, TWO_LEVELS)


class AsWithoutSibyl(PreloadTest):
    def lines(self, done):
        """What the program printed; UCX warns of messages that nobody has received."""
        self.succeed(done)
        self.assertNotIn("WRONG", done.stdout)
        return sorted(line for line in done.stdout.splitlines() if " WARN " not in line)

    def check(self, source, *arguments, ranks=3, start=run_apart, ways=WAYS, **settings):
        fortran = source.endswith(".f90")
        program = fortran_program(source) if fortran else c_program(PROGRAMS / source)
        command = [program, *arguments]
        plain = self.lines(start(command, ranks=ranks))
        self.assertNotEqual(plain, [])
        for way in ways:
            with self.subTest(arguments=arguments, ranks=ranks, **way):
                done = start(command, ranks=ranks, **under_sibyl(), **way, **settings)
                self.assertEqual(self.lines(done), plain)
                self.assertNotIn("sibyl:", done.stderr)

    def test_calls_that_one_rank_is_refused(self):
        self.skip_where_the_library_ends_with("refused.c")
        if INTEL:
            self.skipTest("Intel MPI itself hangs after them")
        for between in ("nothing", "barrier"):
            for ranks in (1, 4):
                self.check("refused.c", between, ranks=ranks)

    def test_collectives_on_a_communicator_that_is_being_freed(self):
        """A state that is made there outlives its communicator: MPI_Finalize ended the program."""
        for settings in ({}, SERVED):
            for ranks in (1, 3):
                self.check("freed.c", ranks=ranks, **settings)
        self.check("freed.c", ranks=3, ways=(TWO_LEVELS,))

    def test_the_same_in_fortran(self):
        if setting.mpi == "openmpi":
            self.skipTest("Open MPI itself may have lost the communicator there")
        self.check("freed_f08.f90", ways=ALL_WAYS)

    def test_error_handlers_that_free_the_communicator(self):
        self.skip_where_the_library_ends_with("freed_by_handler.c")
        ways = [{**way, "SIBYL_REPORT": str(setting.work / "of_freed")} for way in ALL_WAYS]
        self.check("freed_by_handler.c", ways=ways)

    def test_error_handlers_that_jump_out_of_a_delete_callback(self):
        plain = run_apart([c_program(PROGRAMS / "freed_by_jump.c")], ranks=3)
        if plain.returncode != 0:
            self.skipTest("this MPI itself does not stand it")
        self.check("freed_by_jump.c", ways=ALL_WAYS)

    def test_groups_of_ranks_that_a_port_joins(self):
        joined = False
        for arguments in ((), ("worlds",)):
            command = [c_program(PROGRAMS / "connected.c"), *arguments]
            if run(command, ranks=3).returncode != 0:
                continue  # this MPI itself joins none here
            joined = True
            self.check("connected.c", *arguments, ways=ALL_WAYS[1:])
        if not joined:
            self.skipTest("this MPI itself joins none here")

    def test_the_tool_information_interface(self):
        for when in ("before", "after"):
            plain = run([c_program(PROGRAMS / "tool_information.c"), when], ranks=1)
            if plain.returncode != 0:  # Open MPI 4.1 ends so where it is finalised after MPI
                self.assertEqual(when, "after", plain.stderr)
                continue
            self.check("tool_information.c", when, ways=(TWO_LEVELS,))

    def test_programs_that_end_without_finalize(self):
        way = {**WINDOW, "SIBYL_PREDICT": "background", "SIBYL_THREAD": "1"}
        for how, ranks in (("exit", 3), ("_exit", 3), ("return", 1)):
            with self.subTest(how=how, ranks=ranks):
                plain = self.end(how, ranks)
                self.assertEqual(plain[0].count("right"), ranks, plain)
                self.assertEqual(self.end(how, ranks, **under_sibyl(), **way), plain)

    def end(self, how, ranks, **settings):
        """What came out, and how it ended. Launchers tell of that, with the numbers of processes;
        where there are several ranks they may have killed some before those ended. MPICH's tells
        the rank's status, or now and then 1 where it sees the end of the connection first."""
        program = c_program(PROGRAMS / "unfinished.c")
        done = run_apart([program, how], ranks=ranks, **settings)
        self.assertNotIn("still running", done.stderr)
        self.assertNotIn("sibyl:", done.stderr)
        printed = sorted(re.findall(r"\d of \d: .*", done.stdout))
        if ranks > 1:
            return "\n".join(printed), done.returncode != 0
        status = done.returncode if setting.mpi == "openmpi" else done.returncode != 0
        return "\n".join(printed), status, re.sub(r"\d+", "N", done.stderr)

    def test_operators_that_the_library_refuses_for_the_type(self):
        """One rank alone counted them, and set its communicator up without the others."""
        self.skip_where_the_library_ends_with("refused_pairs.c")
        for settings in ({}, SERVED):
            self.check("refused_pairs.c", ranks=3, **settings)

    def test_a_collective_outside_of_mpi_is_refused_by_its_name(self):
        program = c_program(PROGRAMS / "outside.c")
        for arguments in ((), ("after",)):
            for extra in ({}, under_sibyl()):
                with self.subTest(arguments=arguments, **extra):
                    done = run([program, *arguments], ranks=1, **extra)
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn("llreduce", done.stderr)
                    self.assertNotIn("create_keyval", done.stderr)

    def skip_where_the_library_ends_with(self, source, **settings):
        if run([c_program(PROGRAMS / source)], ranks=1, **settings).returncode != 0:
            self.skipTest("this MPI itself ends with them (MPICH 5.0 does)")

    def test_collectives_for_everyone_that_one_rank_is_refused(self):
        self.skip_where_the_library_ends_with("refused_everyone.c")
        for settings in ({}, SERVED):
            for ranks in (1, 4):
                self.check("refused_everyone.c", ranks=ranks, **settings)

    def test_what_some_libraries_let_pass_in_collectives_for_everyone(self):
        """Sibyl raises it where the library does not."""
        self.needs_the_preload("Open MPI itself looks at the arguments first, or ends")
        self.skip_where_the_library_ends_with("refused_everyone.c")
        command = [c_program(PROGRAMS / "refused_everyone.c"), "more"]
        for settings in ({}, SERVED):
            lines = self.lines(run_apart(command, ranks=3, **under_sibyl(), **settings))
            classes = dict(line[2:].split(": ") for line in lines if line.startswith("0 "))
            count = classes["allgather of less than nothing"]
            for what in ("allreduce", "reduce_scatter_block", "allgatherv"):
                self.assertEqual(classes[f"{what} of less than nothing"], count)
            for what in (
                "allgatherv without counts",
                "reduce_scatter without counts",
                "bcast of MPI_IN_PLACE",
                "allreduce of no buffer",
                "bcast of no buffer",
                "alltoall of no buffer",
            ):
                self.assertNotEqual(classes[what], "0", what)

    def test_the_same_buffer_twice_where_the_library_lets_it_pass(self):
        """The root alone went to the library, which should have refused it, and the job hung."""
        lenient = {"MPIR_CVAR_COLL_ALIAS_CHECK": "0", "OMPI_MCA_mpi_param_check": "0"}
        self.skip_where_the_library_ends_with("same_buffer.c", **lenient)
        for settings in (lenient, lenient | SERVED):
            for ranks in (1, 4):
                self.check("same_buffer.c", ranks=ranks, start=partial(run_apart, **settings))

    def test_irregular_blocks_that_a_rank_within_the_tree_refuses(self):
        tree = {"SIBYL_GATHERV": "ordered-tree", "SIBYL_SCATTERV": "ordered-tree"}
        for collective in ("gatherv", "scatterv"):
            for rank in ("3", "4"):  # has nobody behind it; has others
                self.check("refused_trees.c", rank, collective, ranks=6, **tree)

    def test_the_level_of_thread_support_stays(self):
        for level in range(4):
            self.check("thread_level.c", level, ranks=2)

    def test_collectives_in_callbacks_of_finalize(self):
        self.check("finalize_callback.c", ways=ALL_WAYS)

    def test_sessions(self):
        if run([c_program(PROGRAMS / "sessions.c")], ranks=1).stdout.startswith("no sessions"):
            self.skipTest("this MPI has no sessions")
        # Intel MPI refuses MPI_Init once there was a session.
        for way in ("alone",) if INTEL else ("alone", "both", "after"):
            self.check("sessions.c", way, ways=ALL_WAYS)

    def test_communicators_of_sessions_make_no_keys_each(self):
        program = c_program(PROGRAMS / "session_keys.c")
        if run([program], ranks=1).stdout.startswith("no sessions"):
            self.skipTest("this MPI has no sessions")
        done = self.succeed(run_apart([program], ranks=2, **under_sibyl()))
        made = [int(line.split()[0]) for line in done.stdout.splitlines()]
        self.assertEqual(len(made), 2)
        for keys in made:
            self.assertIn(keys, range(1, 10))  # of the process, once

    def test_a_session_after_the_world_leaves_its_report(self):
        program = c_program(PROGRAMS / "sessions.c")
        if INTEL or run([program], ranks=1).stdout.startswith("no sessions"):
            self.skipTest("this MPI has no sessions beside a world")
        reports = Path(tempfile.mkdtemp(dir=setting.work))
        extra = {"SIBYL_SERVE_FROM": "1", "SIBYL_REPORT": str(reports)}
        self.succeed(run_apart([program, "after"], ranks=3, **under_sibyl(), **extra))
        scans = dict.fromkeys(range(3), 0)
        for report in read_reports(reports):
            self.assertEqual(report["world_size"], 3)
            entries = [e for e in report["entries"] if e["collective"] == "scan"]
            scans[report["rank"]] += sum(entry["calls"] for entry in entries)
        for calls in scans.values():  # some libraries have no communicator afterwards that counts
            self.assertIn(calls, (3 * 8, 4 * 8))

    def test_a_session_after_another_that_left_its_communicator(self):
        plain = run([c_program(PROGRAMS / "sessions_again.c")], ranks=2)
        if plain.returncode != 0 or "both sessions are over" not in plain.stdout:
            self.skipTest("this MPI has no session after another")

        def start(command, **options):
            # A rank may make its second communicator before another has left the first, whose
            # number it takes: MPICH 5.0 ended there by itself, once, on a busy machine.
            for _ in range(5):
                done = run_apart(command, **options)
                if "Comm_create_from_group" not in done.stderr:
                    break
            return done

        self.check("sessions_again.c", ranks=2, start=start)

    def test_as_many_communicators(self):
        most = "8192" if setting.mpi == "mpich" else "600"  # Open MPI's do not run out
        self.check("many_communicators.c", most, ranks=2)


class Linked(PreloadTest):
    """Programs that are linked with the library, as a user's: nobody tells it of anything."""

    of_the_preload = True

    def test_sessions_and_a_world_in_turn(self):
        def start(command):
            # MPICH 5.0 hangs by itself in one of ten of these jobs on two cores.
            for _ in range(4):
                reports = Path(tempfile.mkdtemp(dir=setting.work))
                done = run_apart(command, ranks=3, limit=20, SIBYL_REPORT=str(reports))
                if "still running" not in done.stderr:
                    break
            return done, reports

        source = PROGRAMS / "linked_sessions.c"
        lived = 0
        for life, gathers in (("s", 6), ("ss", 12), ("sw", 18), ("ws", 18), ("ssws", 30)):
            plain, _ = start([c_program(source), life])
            if plain.returncode != 0 or plain.stdout.count("right") != 3:
                continue  # this MPI itself has no such life
            lived += 1
            done, reports = start([linked_program(source), life])
            self.assertEqual(self.succeed(done).stdout, plain.stdout, life)
            counted = dict.fromkeys(range(3), 0)
            for report in read_reports(reports):
                entries = [e for e in report["entries"] if e["collective"] == "gather"]
                counted[report["rank"]] += sum(entry["calls"] for entry in entries)
            self.assertEqual(set(counted.values()), {gathers}, life)
        if lived == 0:
            self.skipTest("this MPI has no sessions")
