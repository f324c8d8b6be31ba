#!/usr/bin/env python3
"""Fills traces without MPI and reads them: run_trace_tests.py PROGRAM, which is fill_trace."""

import resource
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RECORDS = 640 + 5 * 32  # the table's description in the header
RECORD = "<IiQqqQQ"
SIZE = struct.calcsize(RECORD)


class Filled(unittest.TestCase):
    def fill(self, memory, calls, may_fail=False, **how):
        with tempfile.TemporaryDirectory() as directory:
            command = [sys.argv[1], directory, str(memory), str(calls)]
            done = subprocess.run(
                command, check=not may_fail, stdout=subprocess.PIPE, text=True, **how
            )
            self.status, self.output = done.returncode, done.stdout
            paths = list(Path(directory).iterdir())
            if may_fail and not paths:
                return
            (path,) = paths
            self.data = path.read_bytes()
        (self.kept_every_log2,) = struct.unpack_from("<I", self.data, 28)
        (self.lost,) = struct.unpack_from("<Q", self.data, 104)
        offset, self.capacity, used, size = struct.unpack_from("<4Q", self.data, RECORDS)
        self.assertEqual(size, SIZE)
        self.records = list(struct.iter_unpack(RECORD, self.data[offset : offset + used * SIZE]))
        self.numbers = [record[2] for record in self.records]

    def test_no_link_is_followed_that_anybody_could_have_laid(self):
        with tempfile.TemporaryDirectory() as directory:
            target, link = Path(directory) / "target", Path(directory) / "link"
            (target / "below").mkdir(parents=True)
            link.symlink_to(target)
            for mode, traces in ((0o755, 2), (0o777, 0), (0o1777, 0)):
                Path(directory).chmod(mode)
                for place in (link, link / "below"):
                    subprocess.run(
                        [sys.argv[1], place, "4096", "1"], check=False, stdout=subprocess.DEVNULL
                    )
                found = list(target.rglob("*.trace"))
                self.assertEqual(len(found), traces, f"mode {mode:o}")
                for path in found:
                    path.unlink()

    def test_all_records_are_there_where_they_fit(self):
        self.fill(SIZE * 1000, 1000)
        self.assertEqual(self.numbers, list(range(1000)))
        self.assertEqual((self.kept_every_log2, self.lost), (0, 0))
        self.assertTrue(all(record[5] == 7 * record[2] for record in self.records))

    def test_nothing_is_read_ahead(self):
        """Megabytes of zeros at the first touch of each table, 20 ms a program where a disk is set
        to that."""
        self.fill(SIZE * 1000, 1)
        self.assertIn(" rr ", self.output)

    def test_no_store_waits_for_the_file_system(self):
        """A major fault in each new page took 4 us, a third of what a recorded call costs."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_majflt
        self.fill(SIZE * 100_000, 100_000)
        waited = resource.getrusage(resource.RUSAGE_CHILDREN).ru_majflt - before
        self.assertLess(waited, SIZE * 100_000 / 4096 / 4)

    def test_of_one_more_half_goes(self):
        self.fill(SIZE * 1000, 1001)
        self.assertEqual(self.kept_every_log2, 1)
        self.assertEqual(self.lost + len(self.records), 1001)
        self.assertTrue(450 <= len(self.records) <= 550)

    def test_what_is_kept_of_many_calls_depends_on_their_numbers_alone(self):
        """Ranks with more or less memory keep calls that the others keep as well."""
        self.fill(SIZE * 1000, 100_000)
        small, step = set(self.numbers), self.kept_every_log2
        self.assertEqual(sorted(small), self.numbers)
        for record in self.numbers:
            self.assertEqual(record * 0x9E3779B97F4A7C15 % 2**64 >> (64 - step), 0)
        self.fill(SIZE * 5000, 100_000)
        self.assertLess(self.kept_every_log2, step)
        self.assertLess(small, set(self.numbers))

    def test_sites_that_take_turns_are_all_kept(self):
        self.fill(SIZE * 1000, 100_000)
        for row in (0, 1):
            self.assertGreater(sum(record[0] == row for record in self.records), 200)

    def test_memory_for_hardly_anything_is_enough(self):
        for memory in (0, 1, SIZE - 1, SIZE, 2 * SIZE):
            self.fill(memory, 1000)
            self.assertEqual(self.capacity, memory // SIZE)
            self.assertLessEqual(len(self.records), self.capacity)
            self.assertEqual(self.lost + len(self.records), 1000)

    def test_strings_stand_one_after_the_other(self):
        self.fill(0, 0)
        offset, _, used, _ = struct.unpack_from("<4Q", self.data, 640)
        self.assertEqual(self.data[offset : offset + used], b"\0first\0second\0")

    def test_a_file_that_may_not_be_so_large_is_not_begun(self):
        """The system would end the program."""

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (10_000_000, 10_000_000))

        self.fill(1 << 20, 10, may_fail=True, preexec_fn=limit)
        self.assertEqual(self.status, 1)

    def test_a_full_file_system_is_a_full_table(self):
        """Stores to pages for which there is no room would end the program."""
        with tempfile.TemporaryDirectory() as directory:
            mount = f"mount -t tmpfs -o size=1100k none {directory}"
            inside = (
                f"{sys.argv[1]} {directory} 67108864 100000 > /dev/null && cat {directory}/*.trace"
            )
            shell = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
            able = subprocess.run([*shell, mount], capture_output=True)
            if able.returncode != 0:
                self.skipTest("file systems may not be mounted here")
            done = subprocess.run([*shell, f"{mount} && {inside}"], capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        _, _, used, _ = struct.unpack_from("<4Q", done.stdout, RECORDS)
        (lost,) = struct.unpack_from("<Q", done.stdout, 104)
        self.assertEqual(used + lost, 100_000)
        self.assertTrue(1000 <= used <= 1100 * 1024 / SIZE, used)


if __name__ == "__main__":
    program = Path(sys.argv[1]).resolve()
    sys.argv[1] = str(program)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
