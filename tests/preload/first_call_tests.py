"""All sixteen collectives, each counted: served from the first call on, and by default."""

import tempfile
from pathlib import Path

import everyone_tests
from launching import (
    PROGRAMS,
    PreloadTest,
    c_program,
    read_reports,
    run_apart,
    setting,
    under_sibyl,
)

TIMES = 5  # in every_collective.c
FORCED = {
    **everyone_tests.ALGORITHMS,
    "exscan": "123-doubling",
    "scan": "doubling",
    "reduce": "binomial",
    "gather": "binomial",
    "scatter": "binomial",
    "gatherv": "linear",
    "scatterv": "linear",
}


class EveryCollective(PreloadTest):
    def calls(self, **settings):
        """By rank, how often Sibyl has served each collective, and how often the MPI library."""
        command = [c_program(PROGRAMS / "every_collective.c")]
        plain = self.succeed(run_apart(command, ranks=setting.ranks))
        self.assertEqual(len(plain.stdout.splitlines()), len(FORCED) * setting.ranks)
        reports = Path(tempfile.mkdtemp(dir=setting.work))
        extra = {**under_sibyl(), "SIBYL_REPORT": str(reports), **settings}
        done = self.succeed(run_apart(command, ranks=setting.ranks, **extra))
        self.assertEqual(sorted(done.stdout.splitlines()), sorted(plain.stdout.splitlines()))
        self.assertNotIn("sibyl:", done.stderr)
        found = read_reports(reports)
        self.assertEqual(len(found), setting.ranks, "one report per rank")
        for report in found:
            counted = {name: [0, 0] for name in FORCED}
            for entry in report["entries"]:
                native = entry["algorithm"] == "native"
                counted[entry["collective"]][native] += entry["calls"]
            yield counted

    def test_is_served_from_the_first_call(self):
        forced = {f"SIBYL_{name.upper()}": algorithm for name, algorithm in FORCED.items()}
        for counted in self.calls(SIBYL_SERVE_FROM="1", **forced):
            self.assertEqual(counted, {name: [TIMES, 0] for name in FORCED})

    def test_is_counted_by_default(self):
        for counted in self.calls():
            self.assertEqual(
                {name: sum(both) for name, both in counted.items()}, dict.fromkeys(FORCED, TIMES)
            )
            self.assertGreater(sum(served for served, _ in counted.values()), 0)
