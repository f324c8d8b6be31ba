"""Handlers of signals are put back, those of others too, of which Python knows nothing."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sibyl.processes.signals import handled, heeded, put_off

PROGRAMS = Path(__file__).parents[1] / "programs"


def test_handlers_are_as_before_however_the_body_ends() -> None:
    def mine(number: int, frame: object) -> None:
        """Does nothing."""

    before = signal.signal(signal.SIGUSR1, mine)
    try:
        with pytest.raises(ValueError), handled([signal.SIGUSR1], signal.SIG_IGN):
            assert signal.getsignal(signal.SIGUSR1) == signal.SIG_IGN
            assert heeded([signal.SIGUSR1, signal.SIGUSR2]) == [signal.SIGUSR2]
            raise ValueError
        assert signal.getsignal(signal.SIGUSR1) is mine
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_a_signal_that_is_put_off_comes_behind_the_body() -> None:
    came: list[str] = []
    with handled([signal.SIGUSR1], lambda *_: came.append("the signal")):
        with put_off([signal.SIGUSR1]):
            signal.raise_signal(signal.SIGUSR1)
            signal.raise_signal(signal.SIGUSR1)
            came.append("the body's end")
        assert came == ["the body's end", "the signal"]
        with put_off([signal.SIGUSR1]):
            came.clear()
        assert came == []


@pytest.fixture(scope="session")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with handlers of its own."""
    library = tmp_path_factory.mktemp("tool") / "libhandlers.so"
    words = ["cc", "-shared", "-fPIC", PROGRAMS / "handlers.c", "-o", library]
    subprocess.run(words, check=True)
    return library


def test_handlers_of_a_preloaded_tool_are_put_back(tool: Path) -> None:
    code = (
        "import os, signal; from sibyl.processes.signals import handled\n"
        "assert signal.getsignal(signal.SIGTERM) is None\n"
        "with handled([signal.SIGTERM], lambda *_: print('ours', flush=True)):\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "os.kill(os.getpid(), signal.SIGUSR1)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"LD_PRELOAD": str(tool)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "ours\nin place\n"), done


def test_a_job_runs_below_a_preloaded_tool_that_handles_signals(tool: Path) -> None:
    code = (
        "import os, sys; from sibyl.processes.job import run_job; "
        "sys.exit(run_job([sys.executable, '-c', 'print(6 * 7)'], os.environ))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"LD_PRELOAD": str(tool)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "42\n", ""), done
