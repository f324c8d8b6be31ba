"""Sibyl as a component of Open MPI: what differs from the preload."""

import tempfile
from pathlib import Path

from first_call_tests import FORCED
from launching import (
    PROGRAMS,
    PreloadTest,
    c_program,
    linked_program,
    read_reports,
    run_apart,
    served,
    setting,
    shim,
    under_sibyl,
)

PRIORITY = "OMPI_MCA_coll_sibyl_priority"


class Component(PreloadTest):
    def setUp(self):
        if setting.component is None:
            self.skipTest("no --component")
        self.reports = Path(tempfile.mkdtemp(dir=setting.work))
        self.program = c_program(PROGRAMS / "every_collective.c")

    def run_with(self, **settings):
        """Who served what, by rank; the results must be those of a run without Sibyl."""
        plain = self.succeed(run_apart([self.program], ranks=3))
        extra = {"SIBYL_REPORT": str(self.reports), **settings}
        done = self.succeed(run_apart([self.program], ranks=3, **extra))
        self.assertEqual(sorted(done.stdout.splitlines()), sorted(plain.stdout.splitlines()))
        return done, read_reports(self.reports)

    def test_without_a_priority_it_stands_aside(self):
        for priority in ("0", None):
            settings = under_sibyl()
            del settings[PRIORITY]
            if priority is not None:
                settings[PRIORITY] = priority
            done, reports = self.run_with(**settings)
            self.assertEqual((reports, done.stderr), ([], ""))

    def test_the_components_below_serve_what_sibyl_leaves(self):
        # Between them: one that counts on, above and below Sibyl.
        native = {f"SIBYL_{name.upper()}": "native" for name in FORCED}
        for below in (
            {},
            {"OMPI_MCA_coll_sync_priority": "95", "OMPI_MCA_coll_sync_barrier_after": "1"},
        ):
            for settings in (native, {"SIBYL_SERVE_FROM": "0"}):
                done, reports = self.run_with(**under_sibyl(), **settings, **below)
                self.assertEqual(served(reports), {rank: set() for rank in range(3)})
                self.assertEqual(done.stderr, "")

    def test_a_component_above_goes_on_to_sibyl(self):
        above = {"OMPI_MCA_coll_sync_priority": "95", "OMPI_MCA_coll_sync_barrier_after": "1"}
        forced = {f"SIBYL_{name.upper()}": algorithm for name, algorithm in FORCED.items()}
        _, reports = self.run_with(**under_sibyl(), **forced, **above)
        self.assertEqual(served(reports), {rank: set(FORCED) for rank in range(3)})

    def test_under_the_preload_it_stands_aside(self):
        forced = {f"SIBYL_{name.upper()}": algorithm for name, algorithm in FORCED.items()}
        done, reports = self.run_with(**under_sibyl(), LD_PRELOAD=str(shim()), **forced)
        self.assertEqual(served(reports), {rank: set(FORCED) for rank in range(3)})
        for report in reports:
            calls = sum(entry["calls"] for entry in report["entries"])
            self.assertEqual(calls, 5 * len(FORCED), "each once")
        self.assertEqual(done.stderr, "")

    def test_without_its_library_it_says_so_and_stands_aside(self):
        empty = tempfile.mkdtemp(dir=setting.work)
        done, reports = self.run_with(**under_sibyl(), SIBYL_LIBRARY_DIR=empty)
        self.assertEqual(reports, [])
        self.assertEqual(done.stderr.count("sibyl: coll_sibyl: "), 3, done.stderr)
        self.assertIn("libsibyl-openmpi.so", done.stderr)

    def test_a_wrong_setting_is_named(self):
        done, reports = self.run_with(**under_sibyl(), SIBYL_SCAN="nonsense")
        self.assertEqual(done.stderr.count("SIBYL_SCAN=nonsense"), 3, done.stderr)
        self.assertEqual(served(reports), {rank: set() for rank in range(3)})

    def check_that_errors_are_raised_once(self, **extra):
        program = c_program(PROGRAMS / "raised.c")
        extra |= {"SIBYL_BCAST": "binomial", "SIBYL_REPORT": str(self.reports)}
        done = self.succeed(run_apart([program], ranks=3, **under_sibyl(), **extra))
        wrong = [f"{rank}: 1 calls, truncated, truncated" for rank in (1, 2)]
        lines = sorted(done.stdout.splitlines())
        self.assertEqual(lines, ["0: 0 calls, nothing, well", *wrong])
        self.assertEqual(served(read_reports(self.reports)), {r: {"bcast"} for r in range(3)})

    def test_a_program_that_calls_sibyl_too_is_served_once(self):
        program = linked_program(PROGRAMS / "component_linked.c")
        extra = {"SIBYL_SCAN": "doubling", "SIBYL_REPORT": str(self.reports)}
        done = self.succeed(run_apart([program], ranks=3, **under_sibyl(), **extra))
        saw = "1 1 7 sums, 1, 5 merges, 99 scans, raised 0"
        self.assertEqual(sorted(done.stdout.splitlines()), [f"{r}: {saw}" for r in range(3)])
        for report in read_reports(self.reports):
            calls = {"allreduce": 0, "scan": 0}
            for entry in report["entries"]:
                if entry["collective"] in calls:
                    calls[entry["collective"]] += entry["calls"]
            self.assertEqual(calls, {"allreduce": 12, "scan": 99}, "each once")

    def test_an_error_is_raised_once(self):
        self.check_that_errors_are_raised_once()

    def test_under_the_preload_behind_a_tool_it_stands_aside(self):
        recorder = setting.library_dir / "libsibyl-profile.so"
        traces = tempfile.mkdtemp(dir=setting.work)
        self.check_that_errors_are_raised_once(
            LD_PRELOAD=f"{recorder} {shim()}", SIBYL_PROFILE=traces
        )
