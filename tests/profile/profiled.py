"""What the tests of the recorder share: programs under it, and the traces of a run."""

import re
import shutil
import statistics
import subprocess
import tempfile
import unittest
from pathlib import Path

import launching
from launching import (
    compile_program,
    setting,
)
from trace_file import (
    SPAWNED,
    read_traces,
)

HERE = Path(__file__).resolve().parent
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
            self.assertEqual(trace.flavour, {"openmpi": 1, "mpich": 2, "abi": 3}[setting.flavour])
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
                place = (made.members, made.name, record.number)
                what = (trace.rows[record.row].function, record.signature)
                calls.setdefault(place, []).append((what, made.size))
        for place, found in calls.items():
            ((_, size),) = set(found)  # more than one: ranks differ
            self.assertEqual(len(found), size, place)
        return {what for found in calls.values() for what, _ in found}

    def check_late_rank(self, traces, line_of, line):
        """The last rank came last to most of the marked reduces, and by as much as it slept. A
        busy machine may keep another one away for longer, now and then."""
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
        last = 0
        for times in arrivals.values():
            others = [time for rank, time in times.items() if rank != late]
            last += times[late] > max(others)
            lateness.append((times[late] - statistics.median(others)) / 1e9)
        self.assertGreaterEqual(last, 3, arrivals)
        self.assertGreater(statistics.median(lateness), 0.7 * LATE)
        self.check_agreement(traces)
