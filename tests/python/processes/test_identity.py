"""A process is told from a later one of its number, and only it gets a signal."""

import os
import signal
import subprocess
from dataclasses import replace

import pytest

from sibyl.processes.identity import Identity, send_if


def test_a_process_is_known_by_number_and_beginning() -> None:
    own = Identity.of(os.getpid())
    assert own is not None and own.alive
    assert Identity.parse(str(own)) == own
    assert not replace(own, began=own.began + 1).alive


@pytest.mark.parametrize("text", ["", "12", "x 5", "-1 5", "0 5", "12 5 6", "12 " + "9" * 30])
def test_other_text_names_nobody(text: str) -> None:
    assert Identity.parse(text) is None


@pytest.mark.parametrize("held", [True, False])
def test_a_signal_reaches_the_process_that_is_meant_and_no_other(
    monkeypatch: pytest.MonkeyPatch, held: bool
) -> None:
    def forbidden(_pid: int) -> int:
        raise PermissionError

    if not held:
        monkeypatch.setattr(os, "pidfd_open", forbidden)
    child = subprocess.Popen(["sleep", "60"])
    try:
        it = Identity.of(child.pid)
        assert it is not None
        assert not replace(it, began=it.began - 1).send(signal.SIGKILL)
        assert not send_if(child.pid, signal.SIGKILL, lambda: False)
        assert child.poll() is None
        assert it.send(signal.SIGKILL)
        assert child.wait(5) == -signal.SIGKILL
        assert not it.send(signal.SIGKILL)
        assert not it.alive
    finally:
        child.kill()
        child.wait()
