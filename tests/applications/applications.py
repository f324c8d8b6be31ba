"""Programs natively and under the preload; run_applications.py says what has to be the same."""

import tempfile
import unittest
from collections import Counter, defaultdict
from pathlib import Path
from typing import ClassVar

from comparison import differences, new_messages
from launching import read_reports, run, setting, under_sibyl
from programs import PROGRAMS, RANKS

# Ranks share two cores; numpy's own threads would take them from each other.
ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
SHARE = 0.95
# Where all ranks share a node, most calls are left to the MPI library by choice. Here they are not.
SERVED = {
    "SIBYL_SERVE_FROM": "1",
    "SIBYL_ALLREDUCE": "recursive-doubling",
    "SIBYL_BCAST": "binomial",
    "SIBYL_REDUCE": "binomial",
    "SIBYL_REDUCE_SCATTER": "ring",
    "SIBYL_REDUCE_SCATTER_BLOCK": "doubling",
    "SIBYL_GATHER": "binomial",
    "SIBYL_SCATTER": "binomial",
    "SIBYL_GATHERV": "ordered-tree",
    "SIBYL_SCATTERV": "ordered-tree",
    "SIBYL_ALLGATHER": "ring",
    "SIBYL_ALLGATHERV": "circulant",
    "SIBYL_ALLTOALL": "bruck",
    "SIBYL_ALLTOALLV": "shifted",
    "SIBYL_BARRIER": "dissemination",
}


def new_folder():
    return Path(tempfile.mkdtemp(dir=setting.work))


def run_in_its_folder(program, **extra):
    """The folder of a run, and what it said."""
    folder = new_folder()
    program.prepare(folder)
    words = program.words(folder)
    ranks = program.ranks.get(setting.mpi, RANKS)
    done = run(words, ranks=ranks, cwd=folder, stdin=program.stdin, **ENVIRONMENT, **extra)
    return folder, done


def how_served(reports):
    """Calls of all ranks: by collective and what served them, or why the MPI library did."""
    calls = defaultdict(Counter)
    for report in reports:
        for entry in report["entries"]:
            if entry["algorithm"] != "native":
                calls[entry["collective"]][entry["algorithm"]] += entry["calls"]
            for reason, count in entry.get("reasons", {}).items():
                calls[entry["collective"]][f"native: {reason}"] += count
    return calls


class Applications(unittest.TestCase):
    maxDiff = 4000
    natives: ClassVar = {}  # by program: two runs of it

    def native_runs(self, program):
        if program.name not in self.natives:
            runs = [run_in_its_folder(program) for _ in range(2)]
            if all(done.returncode != 0 for _, done in runs):
                self.fail(f"{program.name} does not run natively: {runs[0][1].stderr[-2000:]}")
            for folder, _ in runs:
                self.assertEqual(program.check(folder), "", "natively")
            for name in program.exact:
                first, second = ((folder / name).read_bytes() for folder, _ in runs)
                self.assertTrue(first == second, f"{name} of two native runs")
            self.natives[program.name] = runs
        return self.natives[program.name]

    def run_under_the_preload(self, program, digits, **settings):
        """Holds a run against the native ones; gives its calls, by collective and what served."""
        plain = self.native_runs(program)
        reports = new_folder()
        extra = {**under_sibyl(), "SIBYL_REPORT": str(reports), **settings}
        folder, done = run_in_its_folder(program, **extra)
        text = f"{done.args}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        self.assertIn(done.returncode, {each.returncode for _, each in plain}, text)
        messages = new_messages([each.stderr for _, each in plain], done.stderr)
        self.assertEqual(messages, [], "on standard error")
        outputs = [("its output", [each.stdout for _, each in plain], done.stdout)]
        for name in program.files:
            natives = [(each / name).read_text() for each, _ in plain]
            outputs.append((name, natives, (folder / name).read_text()))
        for what, natives, output in outputs:
            found = differences(natives, output, program.only, program.apart, digits)
            self.assertEqual(found, [], what)
        for name in program.exact:
            native = (plain[0][0] / name).read_bytes()
            self.assertTrue(native == (folder / name).read_bytes(), f"{name} is another")
        self.assertEqual(program.check(folder), "")
        return self.calls_of(program, read_reports(reports))

    def calls_of(self, program, reports):
        ranks = program.ranks.get(setting.mpi, RANKS)
        self.assertEqual(sorted(report["rank"] for report in reports), list(range(ranks)))
        calls = how_served(reports)
        for collective, counts in sorted(calls.items()):
            print(f"\n    {collective}:", end="")
            print(*(f" {how} {count}" for how, count in counts.most_common()), sep=",", end="")
        print(flush=True)
        return calls

    def hold_share(self, calls, *others):
        """All but a few calls ended otherwise than so."""
        total = sum(counts.total() for counts in calls.values())
        apart = sum(counts[how] for counts in calls.values() for how in others)
        self.assertGreater(total, 0, "no call of a blocking collective is in the report")
        self.assertGreaterEqual((total - apart) / total, SHARE, calls)


def add_tests(program):
    def as_it_comes(self):
        if setting.short and not program.short:
            self.skipTest("takes longer; `make test-applications` runs it")
        calls = self.run_under_the_preload(program, program.digits)
        self.hold_share(calls, "native: not served", "native: arguments")

    def served(self):
        if setting.short:
            self.skipTest("takes longer; `make test-applications` runs it")
        calls = self.run_under_the_preload(program, program.digits_served, **SERVED)
        self.hold_share(calls, "native: choice", "native: not served", "native: arguments")

    setattr(Applications, f"test_{program.name}", as_it_comes)
    setattr(Applications, f"test_{program.name}_with_its_calls_served", served)


for each in PROGRAMS:
    add_tests(each)
