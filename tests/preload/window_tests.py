"""Ranks of one node with a processor each: through memory that they share where that pays."""

import os
import tempfile
from pathlib import Path

from launching import (
    INTEL,
    PROGRAMS,
    PreloadTest,
    c_program,
    read_reports,
    run_apart,
    setting,
    under_sibyl,
)

# Of an allreduce of two ranks that goes by it: under Open MPI and MPICH 4.0, and under MPICH 5.
SIZES = (49152, 98304)


class OneNode(PreloadTest):
    of_the_preload = True

    def served_calls(self, world, copy, size, **settings):
        """Of two ranks, by collective; the results are as without the preload."""
        command = [c_program(PROGRAMS / "one_node.c"), world, copy, size // 4]
        plain = self.succeed(run_apart(command, ranks=2))
        reports = Path(tempfile.mkdtemp(dir=setting.work))
        wanted = {"SIBYL_REPORT": str(reports), "SIBYL_GOVERN": "0", **settings}
        done = self.succeed(run_apart(command, ranks=2, **under_sibyl(), **wanted))
        self.assertEqual(done.stdout, plain.stdout)
        self.assertEqual(done.stderr, plain.stderr)
        found = []
        for report in read_reports(reports):
            calls = {"allreduce": 0, "bcast": 0}
            for entry in report["entries"]:
                calls[entry["collective"]] += entry["calls"] * (entry["algorithm"] != "native")
            found.append(calls)
        self.assertEqual(len(found), 2)
        self.assertEqual(found[0], found[1])
        return found[0]

    def setUp(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("two processors are needed")
        if INTEL:
            self.skipTest("nothing is known of what pays beside it")

    def test_the_world_is_served_from_the_first_call_on(self):
        # Bcasts of two ranks are the library's.
        found = [self.served_calls(20, 0, size) for size in SIZES]
        self.assertIn({"allreduce": 20, "bcast": 0}, found)

    def test_another_communicator_is_served_once_that_has_repaid_its_set_up(self):
        # The hundredth call is the first of three that a set-up takes, and the last one is served.
        found = [self.served_calls(0, 60, size) for size in SIZES]
        self.assertIn({"allreduce": 9, "bcast": 0}, found)
        for calls, size in ((50, SIZES[0]), (50, SIZES[1]), (200, 4092)):
            self.assertEqual(self.served_calls(0, calls, size), {"allreduce": 0, "bcast": 0})

    def test_nothing_is_served_where_it_is_switched_off(self):
        for size in SIZES:
            served = self.served_calls(20, 60, size, SIBYL_NODE_WINDOW="0")
            self.assertEqual(served, {"allreduce": 0, "bcast": 0})
