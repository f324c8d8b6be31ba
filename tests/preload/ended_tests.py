"""What is left of communicators that are freed, and of jobs that lose a rank: nothing."""

import contextlib
import os
import random
import re
import signal
import stat
import subprocess
import tempfile
import time
from pathlib import Path

from everyone_tests import SERVED, TWO_LEVELS
from launching import (
    HERE,
    PROGRAMS,
    PreloadTest,
    c_program,
    environment,
    read_reports,
    run,
    served,
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
# Of most types that are committed, as for messages that carry arrivals, MPICH 4.0 over UCX keeps 64
# bytes for good.
OVER_NODES = {**TWO_LEVELS, "SIBYL_PREDICT": "off"}
COLLECTIVES = 16  # in endless.c


class Communicators(PreloadTest):
    def test_what_is_made_for_a_communicator_goes_with_it(self):
        many = 10000 if LONG else 400
        for settings, times in (({}, many), (WINDOW, many), (OVER_NODES, many // 2)):
            with self.subTest(**settings):
                reports = Path(tempfile.mkdtemp(dir=setting.work))
                extra = {**under_sibyl(), **settings, "SIBYL_REPORT": str(reports)}
                program = [c_program(PROGRAMS / "churn.c"), times]
                done = self.succeed(run(program, ranks=3, limit=600 if LONG else None, **extra))
                of_sibyl = {"scan", "allreduce", "reduce"} if settings else {"scan"}
                by_rank = served(read_reports(reports))
                self.assertEqual([*by_rank], [0, 1, 2])
                for collectives in by_rank.values():
                    self.assertLessEqual(of_sibyl, collectives)
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
            for settings in (SERVED_ALL, WINDOW, TWO_LEVELS) if LONG else (SERVED_ALL,):
                with self.subTest(number=number, **settings):
                    settings = {**under_sibyl(), **settings}
                    took = self.lose_a_rank(program, draw, settings, number)
                    self.assertLess(took, native + 1)

    def test_it_leaves_nothing_behind_that_it_would_not_leave_natively(self):
        draw = random.Random(setting.mpi)
        program = c_program(PROGRAMS / "endless.c")
        natively = self.lose_all(program, draw, {})
        for turn in range(50 if LONG else 2):
            settings = {**under_sibyl(), **WINDOW}
            with self.subTest(turn=turn, **settings):
                job = self.lose_all(program, draw, settings, by_launcher=turn % 2 == 1)
                # What the MPI library makes it may leave behind, if its launcher is too late.
                own = {path for path in job.left if kind_of(path) not in natively.kinds}
                self.assertEqual(own, set())

    def lose_all(self, program, draw, settings, *, by_launcher=False):
        """A job that has lost a rank, or whose launcher was told to end it."""
        job = Job(setting.work)
        command = [setting.mpiexec, "-n", str(self.ranks), str(program), str(job.told)]
        with job.start(command, settings) as launcher:
            processes = self.processes_of(launcher, job.told)
            job.look()
            self.assertTrue(job.processes.issuperset(processes))
            time.sleep(draw.uniform(0, 0.1))
            if by_launcher:
                launcher.terminate()
            else:
                os.kill(draw.choice(processes), signal.SIGKILL)
            try:
                launcher.wait(timeout=40)
            except subprocess.TimeoutExpired:
                launcher.kill()
                self.fail("the job did not end")
            finally:
                left = job.end()
        self.assertEqual(left, set(), "processes are left")
        return job

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


class Job:
    """A job told from all others on the machine by a mark in its environment, with a folder of its
    own for temporary files."""

    def __init__(self, work):
        self.told = Path(tempfile.mkdtemp(dir=work))
        self.temporary = Path(tempfile.mkdtemp(dir=work))  # a short path: sockets lie there
        self.mark = f"ENDED_TEST={self.told}"
        # By the clock of the files: what is older is none of the job's.
        self.began = self.temporary.stat().st_ctime_ns
        self.processes = set()  # that were seen, the launcher's too
        self.files = set()  # that it made, of those that they had mapped or open
        self.left = set()  # of them and of the folder, after its end

    @property
    def kinds(self):
        return {kind_of(path) for path in self.files | self.left}

    def start(self, command, settings):
        name, _, value = self.mark.partition("=")
        folders = dict.fromkeys(("TMPDIR", "PRTE_MCA_prte_tmpdir_base"), str(self.temporary))
        env = environment(**settings, **folders, **{name: value})
        if setting.mpi == "mpich":
            env = yielding(env)
        quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        return subprocess.Popen(command, env=env, **quiet)

    def look(self):
        """What it consists of; while it runs."""
        self.processes = self.running()
        paths = set().union(*map(files_of, self.processes))
        paths |= {str(path) for path in self.temporary.rglob("*")}
        self.files |= set(filter(self.made, paths))

    def end(self):
        """Notes what is left; the processes among it are returned, and ended."""
        deadline = time.monotonic() + 20
        while (left := self.running()) and time.monotonic() < deadline:
            time.sleep(0.05)
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.left = set(filter(self.made, self.files))
        self.left |= {str(path) for path in self.temporary.rglob("*")}
        return left

    def running(self):
        numbers = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())
        return {number for number in numbers if self.mark in environment_of(number)}

    def made(self, path):
        """Whether there is such a file that this job may have made: not a library or a program,
        wherever the build lies."""
        built = (HERE.parents[1], setting.library_dir, setting.component)
        if any(each is not None and Path(path).is_relative_to(each) for each in built):
            return False
        try:
            found = Path(path).stat()
        except OSError:
            return False
        return not stat.S_ISCHR(found.st_mode) and found.st_ctime_ns >= self.began


def kind_of(path):
    """The word that a name begins with: the rest differs from job to job."""
    return re.match("[a-zA-Z]*", Path(path).name)[0]


def environment_of(process):
    """Empty of one that has ended."""
    try:
        return Path(f"/proc/{process}/environ").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


def files_of(process):
    """Paths of files that are mapped or open; none where it has ended."""
    paths = set()
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{process}/maps").read_text(errors="replace").splitlines()
        paths |= {words[5] for line in lines if len(words := line.split(maxsplit=5)) == 6}
    with contextlib.suppress(OSError):
        for link in Path(f"/proc/{process}/fd").iterdir():
            with contextlib.suppress(OSError):
                paths.add(str(link.readlink()))
    return {path for path in paths if path.startswith("/") and not Path(path).is_dir()}


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
