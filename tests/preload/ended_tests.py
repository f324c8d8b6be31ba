"""What is left of communicators that are freed, and of jobs that lose a rank: nothing."""

import contextlib
import os
import random
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from everyone_tests import SERVED
from launching import (
    PROGRAMS,
    PreloadTest,
    c_program,
    environment,
    run,
    setting,
    under_sibyl,
    yielding,
)

LONG = "SIBYL_TEST_LONG" in os.environ
WINDOW = {
    "SIBYL_NODE_WINDOW": "1048576",
    "SIBYL_SERVE_FROM": "1",
    "SIBYL_REDUCE": "binomial",
    "SIBYL_GATHER": "binomial",
    "SIBYL_SCATTER": "binomial",
    **SERVED,
}
# By algorithms of Sibyl's, whatever it would choose.
SERVED_ALL = {name: value for name, value in WINDOW.items() if name != "SIBYL_NODE_WINDOW"}
SERVED_ALL |= {"SIBYL_GATHERV": "ordered-tree", "SIBYL_SCATTERV": "ordered-tree"}
COLLECTIVES = 16  # in endless.c


class Communicators(PreloadTest):
    def test_what_is_made_for_a_communicator_goes_with_it(self):
        times = 10000 if LONG else 400
        program = [c_program(PROGRAMS / "churn.c"), times]
        for settings in ({}, WINDOW):
            with self.subTest(**settings):
                done = self.succeed(run(program, ranks=3, **under_sibyl(), **settings))
                files, mappings, memory = zip(
                    *(map(int, line.split()) for line in done.stdout.splitlines()), strict=True
                )
                self.assertEqual(len(files), 4)
                self.assertEqual(len(set(files[1:])), 1, files)
                self.assertEqual(len(set(mappings[1:])), 1, mappings)
                if settings:
                    self.assertGreater(mappings[0], 0, "there was no window")
                # KiB; pools of the MPI library grow too.
                self.assertLess(memory[3] - memory[1], 1024 + times // 2, memory)


class KilledRanks(PreloadTest):
    """The launcher ends a job that has lost a rank, whatever the others wait for."""

    ranks = 4

    def test_a_job_that_loses_a_rank_ends(self):
        draw = random.Random(setting.mpi)
        program = c_program(PROGRAMS / "endless.c")
        self.lose_a_rank(program, draw, {})  # the MPI library's own way
        for turn in range(100 if LONG else 4):
            settings = {**under_sibyl(), **(WINDOW if turn % 2 == 0 else SERVED)}
            with self.subTest(turn=turn, **settings):
                self.lose_a_rank(program, draw, settings)

    def test_it_ends_as_soon_as_natively_whatever_it_was_in(self):
        """Within a second more than the slower of two jobs natively."""
        draw = random.Random(os.environ.get("SIBYL_TEST_SEED", str(time.time_ns() if LONG else 7)))
        program = c_program(PROGRAMS / "endless.c")
        numbers = range(COLLECTIVES) if LONG else draw.sample(range(COLLECTIVES), 2)
        for number in numbers:
            native = max(self.lose_a_rank(program, draw, {}, number) for _ in range(2))
            for settings in (SERVED_ALL, WINDOW) if LONG else (SERVED_ALL,):
                with self.subTest(number=number, **settings):
                    settings = {**under_sibyl(), **settings}
                    took = self.lose_a_rank(program, draw, settings, number)
                    self.assertLess(took, native + 1)

    def lose_a_rank(self, program, draw, settings, *number):
        """Seconds from its death to the job's end."""
        directory = Path(tempfile.mkdtemp(dir=setting.work))
        env = environment(**settings)
        if setting.mpi == "mpich":
            env = yielding(env)
        command = [setting.mpiexec, "-n", str(self.ranks), str(program), str(directory)]
        command += map(str, number)
        with subprocess.Popen(
            command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as job:
            processes = self.processes_of(job, directory)
            windows = set().union(*map(windows_of, processes))
            if not number:  # a collective alone may need none
                self.assertEqual(bool(windows), "SIBYL_NODE_WINDOW" in settings)
            time.sleep(draw.uniform(0, 0.1))
            os.kill(draw.choice(processes), signal.SIGKILL)
            begin = time.monotonic()
            try:
                status = job.wait(timeout=20)
            except subprocess.TimeoutExpired:
                job.terminate()
                self.fail("the job did not end")
        took = time.monotonic() - begin
        self.assertNotEqual(status, 0)
        deadline = time.monotonic() + 5
        while (left := [p for p in processes if alive(p)]) and time.monotonic() < deadline:
            time.sleep(0.01)
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.assertEqual(left, [])
        everybody = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())
        self.assertEqual(windows & set().union(*map(windows_of, everybody)), set())
        return took

    def processes_of(self, job, directory):
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and job.poll() is None:
            told = [path.read_text() for path in directory.iterdir()]
            if len(told) == self.ranks and all(text.endswith("\n") for text in told):
                return [int(text) for text in told]
            time.sleep(0.01)
        job.terminate()
        raise AssertionError("the ranks did not begin")


def alive(process):
    """Whether it runs; one whose parent has not asked for it yet does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def windows_of(process):
    """The files without a name that are windows of nodes, by device and inode."""
    try:
        lines = Path(f"/proc/{process}/maps").read_text().splitlines()
    except OSError:  # it has ended, or is another user's
        return set()
    return {tuple(line.split()[3:5]) for line in lines if "/memfd:sibyl " in line}
