"""Whoever has a guardian is cleaned up after, killed or not; whoever releases it is left alone."""

import os
import signal
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from sibyl.processes import ending, supervisor
from sibyl.processes.ending import end_all
from sibyl.processes.guardian import Guardian, held_open
from sibyl.processes.supervisor import GRACE, Supervised

PATIENCE = 20.0
# Says when it has a guardian; with "helper", another program is given the guardian's pipe.
GUARDED = """
import subprocess, sys, time
from pathlib import Path
from sibyl.processes.guardian import Guardian, held_open
mark, helper = Path(sys.argv[1]), sys.argv[2] == "helper"
with Guardian(lambda: mark.write_text(str(time.monotonic()))):
    if helper:
        words = ["sh", "-c", "sleep 1; date > " + str(mark.with_name("helped"))]
        subprocess.Popen(words, pass_fds=held_open, start_new_session=True)
    print("guarded", flush=True)
    if sys.argv[3] == "stay":
        time.sleep(60)
"""

# Has a guardian after it has become the reaper of all that it starts.
REAPER = """
import os, signal, sys, time
from pathlib import Path
from sibyl.processes.guardian import Guardian
from sibyl.processes.supervisor import Supervised
program = Supervised(["sleep", "60"], os.environ)
guardian = Guardian(Path(sys.argv[1]).touch)
begin = time.monotonic()
program.end(10.0)
print(time.monotonic() - begin, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def start(mark: Path, helper: str, what: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", GUARDED, mark, helper, what]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "guarded\n"
    return process


def wait_for(path: Path) -> bool:
    deadline = time.monotonic() + PATIENCE
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    return path.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_process_group_is_cleaned_up_after(tmp_path: Path, number: signal.Signals) -> None:
    process = start(tmp_path / "mark", "alone", "stay")
    os.killpg(process.pid, number)
    process.wait(PATIENCE)
    assert wait_for(tmp_path / "mark")


def test_the_guardian_waits_for_programs_that_have_its_pipe(tmp_path: Path) -> None:
    process = start(tmp_path / "mark", "helper", "stay")
    process.kill()
    process.wait(PATIENCE)
    assert wait_for(tmp_path / "mark")
    assert (tmp_path / "helped").exists()


def test_a_guardian_that_was_released_does_nothing(tmp_path: Path) -> None:
    process = start(tmp_path / "mark", "alone", "end")
    assert process.wait(PATIENCE) == 0
    time.sleep(0.3)
    assert not (tmp_path / "mark").exists()


def test_a_guardian_is_nothing_that_a_program_left_behind(tmp_path: Path) -> None:
    words = [sys.executable, "-c", REAPER, tmp_path / "mark"]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
    assert float(done.stdout) < GRACE, "nobody was waited for"
    assert wait_for(tmp_path / "mark")


def test_its_pipe_is_closed_again() -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    with Guardian(lambda: None):
        assert len(held_open) == 1
    assert held_open == []
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_what_does_not_heed_a_request_is_killed() -> None:
    words = ["sh", "-c", "trap '' TERM; echo there; while :; do sleep 0.05; done"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "there\n"
    polite = subprocess.Popen(["sleep", "60"])
    sent: list[tuple[int, signal.Signals]] = []

    def left() -> list[int]:
        return [each.pid for each in (process, polite) if each.poll() is None]

    def send(pid: int, number: signal.Signals) -> None:
        sent.append((pid, number))
        os.kill(pid, number)

    assert end_all(left, send, grace=0.2) == 2
    assert (process.returncode, polite.returncode) == (-signal.SIGKILL, -signal.SIGTERM)
    assert sent.count((process.pid, signal.SIGTERM)) == 1


def test_patience_has_an_end() -> None:
    assert end_all(lambda: [1], lambda *_: None, grace=0.0, patience=0.1) == 1


def test_what_cannot_be_killed_is_left_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter(count())

    def monotonic() -> int:
        now = next(seconds)
        assert now < 100, "it is waited for without end"
        return now

    clock = SimpleNamespace(monotonic=monotonic, sleep=lambda _: None)
    monkeypatch.setattr(ending, "time", clock)
    nobody = int(Path("/proc/sys/kernel/pid_max").read_text()) + 1
    program = Supervised(["true"], os.environ)
    program.process.wait()
    monkeypatch.setattr(supervisor, "descendants", lambda *_: [nobody])
    program.end_leftovers()
