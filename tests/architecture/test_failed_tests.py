"""What scripts/failed_tests.py tells of a failed test: the runs that failed, and in brief."""

import subprocess
import tempfile
import unittest
from pathlib import Path
from xml.sax.saxutils import escape

SCRIPT = Path(__file__).parents[2] / "scripts" / "failed_tests.py"
TWO_RUNS = """== test_x, 2 rank(s)
[ RUN      ] A.B
SIBYL_TEST_SEED=17
[rank 1] x_test.cpp:3: A.B
[  FAILED  ] A.B
mpi-launch: FAILED: test_x on 2 rank(s) with mpich: exit status 1
== test_x, 5 rank(s)
[ RUN      ] A.B
SIBYL_TEST_SEED=18
[       OK ] A.B (3 ms)
[  PASSED  ] 1 test.
"""


def told(said: str, *options: str) -> str:
    """What the script prints of a failed test that printed `said`, beside one that passed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tests.xml"
        file.write_text(
            '<testsuite><testcase name="good" status="run"><system-out>fine</system-out></testcase>'
            f'<testcase name="bad" status="fail"><failure/><system-out>{escape(said)}</system-out>'
            "</testcase></testsuite>"
        )
        command = [SCRIPT, *options, file]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class FailedTests(unittest.TestCase):
    """Run as scripts/test runs it."""

    def test_only_the_run_that_failed_is_told(self):
        """The last of several runs passed."""
        said = told(TWO_RUNS)
        self.assertIn("SEED=17", said)
        self.assertNotIn("SEED=18", said)
        self.assertNotIn("good", said)

    def test_in_brief_the_telling_lines_are_left(self):
        """Few enough for the end of a long output."""
        said = told(TWO_RUNS.replace("[rank 1]", "and so on\n" * 500 + "[rank 1]"), "--brief")
        self.assertIn("[rank 1] x_test.cpp:3", said)
        self.assertIn("exit status 1", said)
        self.assertLess(len(said.splitlines()), 20)

    def test_all_is_told_of_a_test_without_a_launcher(self):
        """A serial test has one run, which is the one that failed."""
        self.assertIn("Segmentation fault", told("begin\nSegmentation fault\n"))

    def test_of_a_test_in_python_the_error_is_told(self):
        """It has a traceback, and no run on several ranks."""
        trace = "def test_x():\n>   assert a() == 2\nE   assert 1 == 2\ntest_x.py:3: AssertionError"
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "tests.xml"
            cases = [
                f'<testcase name="bad"><{kind}>{escape(trace)}</{kind}></testcase>'
                for kind in ("failure", "error")
            ]
            file.write_text(f"<testsuite>{''.join(cases)}</testsuite>")
            command = [SCRIPT, "--brief", file]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        error = "--- bad ---\nE   assert 1 == 2\ntest_x.py:3: AssertionError\n"
        self.assertEqual(said, 2 * error)


if __name__ == "__main__":
    unittest.main()
