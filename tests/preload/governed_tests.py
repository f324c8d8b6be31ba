"""Governed programs whose model, processors or arrivals are not what a governor would wish for:
results are right, nothing hangs, and all ranks decide alike. Who wins is left to the machine."""

import os
import shutil
import tempfile
from pathlib import Path

from everyone_tests import ALGORITHMS
from launching import (
    ALL,
    PROGRAMS,
    PreloadTest,
    c_program,
    compile_program,
    read_reports,
    run,
    setting,
    under_sibyl,
)

# What a governor watches on one node, and in all: the library's barrier is never given up.
WITHIN_A_NODE = {*ALL, "gatherv", "scatterv"}
WATCHED = {*WITHIN_A_NODE, "reduce", *ALGORITHMS} - {"barrier"}
INTS = 16384  # calls of 64 KiB are worth asking what messages cost
NODES = {"SIBYL_TEST_PLACEMENT": "0,1,2,3,4,5,6,7"}
# In memory a message takes a microsecond, and a byte a ten-thousandth of one.
FALSE_COSTS = {
    **NODES,
    "SIBYL_ALPHA": "300000",
    "SIBYL_OVERHEAD": "300000",
    "SIBYL_BETA": "1200000",
}
SHORT_LINKS = {**NODES, "SIBYL_ALPHA": "1000", "SIBYL_OVERHEAD": "100", "SIBYL_BETA": "1000"}
FEWEST = 5  # calls of an arm in its first trial: four that are compared, and one before
DECIDED_BY = 60  # calls of a site


class Governed(PreloadTest):
    def sites_of(self, rounds, ints, how, *names, ranks=3, prefix=(), spins=False, **settings):
        """Runs governed.c; gives its sites, of which all ranks say the same."""
        reports = Path(tempfile.mkdtemp(dir=setting.work))
        command = [*prefix, c_program(PROGRAMS / "governed.c"), rounds, ints, how, *names]
        extra = {**under_sibyl(), "SIBYL_REPORT": str(reports), **settings}
        done = self.succeed(run(command, ranks=ranks, spins=spins, **extra))
        self.assertEqual(done.stdout.split(), ["OK"])
        self.assertNotIn("sibyl:", done.stderr)
        found = read_reports(reports)
        self.assertEqual(len(found), ranks, "one report per rank")
        sites = found[0].get("governed", [])
        for report in found:
            self.assertEqual(report.get("governed", []), sites)
        return [site for site in sites if site["calls"] > 1]  # the program's own are made once

    def assert_tried(self, sites, rounds):
        """Each one's every call was governed - but the first one that asks what messages cost - and
        both arms have had a trial."""
        for site in sites:
            with self.subTest(**site):
                self.assertIn(site["calls"], (rounds - 1, rounds))
                own = site["calls"] - site["native_calls"] - site["challenger_calls"]
                self.assertGreaterEqual(own, FEWEST)
                self.assertGreaterEqual(site["native_calls"], FEWEST)
                if rounds >= DECIDED_BY:
                    self.assertIn(site["verdict"], ("own", "native", "challenger"))
                    self.assertGreater(site["own_seconds"], 0)
                    self.assertGreater(site["native_seconds"], 0)

    def test_where_costs_are_wrong_a_thousandfold_every_site_is_judged(self):
        rounds = DECIDED_BY + 10
        sites = self.sites_of(rounds, INTS, "flat", SIBYL_PREDICT="off", **FALSE_COSTS)
        self.assertEqual({site["collective"] for site in sites}, WATCHED)
        self.assert_tried(sites, rounds)

    def test_what_is_clearly_slower_goes_native_within_twenty_calls_of_it(self):
        """Sibyl's messages alone are slow, whatever they were taken to cost."""
        if setting.mpicc is None:
            self.skipTest("no --mpicc")
        slow = compile_program(
            setting.mpicc, PROGRAMS / "slow_messages.c", "-shared", "-fPIC", "-ldl"
        )
        names = {"allreduce", "bcast", "exscan", "alltoall"}
        sites = self.sites_of(
            40,
            INTS,
            "flat",
            *sorted(names),
            prefix=("sh", "-c", 'LD_PRELOAD="$LD_PRELOAD $0" exec "$@"', slow),
            SIBYL_PREDICT="off",
            **SHORT_LINKS,
        )
        self.assertEqual({site["collective"] for site in sites}, names)
        for site in sites:
            with self.subTest(**site):
                own = site["calls"] - site["native_calls"] - site["challenger_calls"]
                self.assertGreaterEqual(own, FEWEST)
                self.assertLessEqual(own, 20)
                self.assertEqual(site["verdict"], "native")
                self.assertGreater(site["own_seconds"], 1.05 * site["native_seconds"])
                lost = own * (site["own_seconds"] - site["native_seconds"])
                tried = site["challenger_seconds"] - site["native_seconds"]
                lost += site["challenger_calls"] * max(tried, 0)
                self.assertAlmostEqual(site["lost_seconds"] / lost, 1, places=3)

    def test_where_ranks_are_stopped_and_go_on_again(self):
        rounds = DECIDED_BY + 10
        for settings, names in (({}, WITHIN_A_NODE), (FALSE_COSTS, {"allreduce", "bcast"})):
            with self.subTest(**settings):
                sites = self.sites_of(
                    rounds, INTS, "stopped", *sorted(names), SIBYL_PREDICT="off", **settings
                )
                self.assertEqual({site["collective"] for site in sites}, names)
                self.assert_tried(sites, rounds)

    def test_where_a_rank_is_late_from_the_middle_of_the_run_on(self):
        """What follows no arrivals is judged as ever; what does may be another algorithm's then."""
        rounds = 2 * DECIDED_BY
        names = {"reduce", "allreduce", "exscan"}
        sites = self.sites_of(
            rounds, INTS, "late", *sorted(names), SIBYL_PREDICT="periodic", **SHORT_LINKS
        )
        self.assertEqual({site["collective"] for site in sites}, names)
        self.assert_tried([site for site in sites if site["collective"] == "exscan"], rounds)
        for name in names:
            calls = sum(site["calls"] for site in sites if site["collective"] == name)
            self.assertLessEqual(calls, rounds)

    def test_where_spinning_ranks_share_two_processors(self):
        if shutil.which("taskset") is None:
            self.skipTest("no taskset")
        processors = ",".join(map(str, sorted(os.sched_getaffinity(0))[:2]))
        rounds = 24
        sites = self.sites_of(
            rounds,
            2048,
            "flat",
            "exscan",
            "alltoallv",
            ranks=8,
            prefix=("taskset", "-c", processors),
            spins=True,
            **NODES,
        )
        self.assertEqual({site["collective"] for site in sites}, {"exscan", "alltoallv"})
        self.assert_tried(sites, rounds)
