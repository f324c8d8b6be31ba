"""What a program has started ends with it; what was there before it is none of its."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

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


# A launcher that leaves a rank which ignores SIGTERM, and dies of a signal.
DIES = """
trap '' TERM
(while :; do sleep 0.05; done) &
echo $! > "$1"
trap - TERM
kill -KILL $$
"""


def test_a_second_signal_saves_nobody(tmp_path: Path) -> None:
    """Ranks that ignore a polite signal are ended, however impatient the user is."""
    code = (
        "import os, sys; from sibyl.processes.job import run_job;"
        "sys.exit(run_job(['sh', '-c', sys.argv[1], 'sh', sys.argv[2]], os.environ))"
    )
    noted = tmp_path / "rank"
    command = subprocess.Popen([sys.executable, "-c", code, DIES, str(noted)])
    while not (noted.exists() and noted.read_text().endswith("\n")):
        assert command.poll() is None
        time.sleep(0.02)
    rank = Identity.of(int(noted.read_text()))
    time.sleep(0.5)  # within the two seconds that it has
    assert rank is not None and rank.alive
    for number in (signal.SIGINT, signal.SIGTERM):
        command.send_signal(number)
        time.sleep(0.2)
    assert command.wait(timeout=20) == 128 + signal.SIGKILL
    assert not rank.alive


def test_a_captured_program_that_dies_leaves_nothing(tmp_path: Path) -> None:
    noted = tmp_path / "rank"
    words = ["sh", "-c", "sleep 60 > /dev/null 2>&1 & echo $! > $0; kill -9 $$", str(noted)]
    assert run_captured(words, os.environ, patience=20).returncode == -signal.SIGKILL
    assert Identity.of(int(noted.read_text())) is None


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
