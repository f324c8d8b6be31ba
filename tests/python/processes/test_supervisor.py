"""What a program has started ends with it; what was there before it is none of its."""

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from sibyl.processes.identity import Identity
from sibyl.processes.job import run_job
from sibyl.processes.supervisor import Supervised, run_captured

# Says the number of one that it leaves behind.
LEAVES = ["sh", "-c", "sleep 60 >/dev/null & echo $!"]
GET_CHILD_SUBREAPER = 37


def reaps_orphans() -> bool:
    found = ctypes.c_int()
    ctypes.CDLL(None).prctl(GET_CHILD_SUBREAPER, ctypes.byref(found), 0, 0, 0)
    return bool(found.value)


@pytest.fixture
def other() -> Iterator[subprocess.Popen[bytes]]:
    """A child that is no program's."""
    child = subprocess.Popen(["sleep", "60"])
    yield child
    child.kill()
    child.wait()


def test_what_was_left_behind_is_ended_and_nobody_else(other: subprocess.Popen[bytes]) -> None:
    ended = subprocess.Popen(["sh", "-c", "exit 7"])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    before = reaps_orphans()
    program = Supervised(LEAVES, os.environ, stdout=subprocess.PIPE, text=True)
    assert program.process.stdout is not None
    left = Identity.of(int(program.process.stdout.readline()))
    program.process.stdout.close()
    assert left is not None and left.alive
    program.end(1.0)
    assert not left.alive
    assert other.poll() is None
    assert ended.wait() == 7  # nobody has taken note of its end before
    assert reaps_orphans() == before


def test_a_captured_program_that_takes_too_long_ends_nobody_else(
    other: subprocess.Popen[bytes],
) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run_captured(["sleep", "60"], os.environ, patience=0.2)
    assert other.poll() is None
    done = run_captured(["sh", "-c", "echo said; exit 3"], os.environ, patience=20)
    assert (done.returncode, done.stdout) == (3, "said\n")
    assert not reaps_orphans()


def test_a_job_that_a_signal_ended_ends_nobody_else(other: subprocess.Popen[bytes]) -> None:
    assert run_job(["sh", "-c", "exit 200"], os.environ) == 200
    assert other.poll() is None


def test_what_a_shell_had_started_before_it_made_way_is_left() -> None:
    run = "import os, sys; from sibyl.processes.job import run_job; "
    run += "sys.exit(run_job(['sh', '-c', 'exit 200'], os.environ))"
    script = 'sleep 60 >/dev/null & echo $!; exec "$0" -c "$1"'
    done = subprocess.run(
        ["sh", "-c", script, sys.executable, run], stdout=subprocess.PIPE, text=True, check=False
    )
    assert done.returncode == 200
    left = Identity.of(int(done.stdout))
    assert left is not None and left.alive
    os.kill(left.pid, 9)
