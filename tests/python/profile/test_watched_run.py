"""`sibyl run --hang-after` of programs that hang and that mismatch, under each MPI."""

import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from conftest import PROGRAMS, Mpi, Sibyl, assert_usage_error, compiled
from forked_command import COMMAND

from sibyl.profile.watch import Watch, watching

RANKS = 3


def line_of(name: str) -> int:
    lines = (PROGRAMS / "hangs.c").read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if f"/* at {name} */" in line)


@pytest.fixture(scope="session")
def hangs(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """programs/hangs.c with debug information."""
    return compiled("hangs", mpi, tmp_path_factory.mktemp("hangs"), "-g", "-O1")


@contextmanager
def hanging(sibyl: Sibyl, mpi: Mpi, hangs: Path, words: str) -> Iterator[subprocess.Popen]:
    """A command with the program that hangs for minutes; what it says goes to the file `said`."""
    (sibyl.directory / "costs.json").write_text('{"alpha": 1e-6, "beta": 1e-9, "gamma": 0}')
    command = [*words.split(), "-n", str(RANKS), "--mpi", mpi.option, "--", str(hangs), "300"]
    with (sibyl.directory / "said").open("w") as stderr:
        process = subprocess.Popen(
            [*COMMAND, *command], cwd=sibyl.directory, stdin=subprocess.DEVNULL, stderr=stderr
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=100)


def wait_for(
    process: subprocess.Popen, said: Path, text: str, ask: Callable[[], None] = lambda: None
) -> None:
    """Wait until it has said so, and ask again and again."""
    deadline = time.monotonic() + 100
    while text not in said.read_text() and time.monotonic() < deadline:
        assert process.poll() is None, said.read_text()
        ask()
        time.sleep(0.3)
    assert text in said.read_text()


def test_who_does_not_come_and_who_waits_are_named_with_their_lines(
    sibyl: Sibyl, mpi: Mpi, hangs: Path
) -> None:
    said = sibyl.directory / "said"
    with hanging(sibyl, mpi, hangs, "run --quiet --hang-after 1") as process:
        wait_for(process, said, f"  ranks 0,2: in MPI_Allreduce at hangs.c:{line_of('step')}")
    text = said.read_text()
    assert "sibyl: a call has lasted for 1 s; where the ranks are:" in text
    outside = f"rank 1: outside MPI, after MPI_Barrier at hangs.c:{line_of('barrier')} in main"
    assert f"  {outside}" in text
    assert "does not match" not in text


def test_ranks_are_looked_at_once_more_when_the_program_has_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    looks: list[float] = []
    looking = threading.Event()

    def look(_: Watch, now: float, asked: bool = False) -> None:
        looks.append(now)
        looking.set()
        time.sleep(0.2)  # the program ends meanwhile

    monkeypatch.setattr(Watch, "look", look)
    with watching(tmp_path, 60.0):
        assert looking.wait(10)
        ended = time.monotonic()
    assert looks[-1] >= ended


def test_calls_that_do_not_match_are_named_though_the_program_ends(
    sibyl: Sibyl, mpi: Mpi, hangs: Path
) -> None:
    options = ("-n", RANKS, "--mpi", mpi.option, "--quiet", "--hang-after", "60s")
    result = sibyl("run", *options, "--", hangs, 0, "mismatch")
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("does not match") == 1, result.stderr
    assert f"rank 0 calls MPI_Bcast (root 0, 4 B) at hangs.c:{line_of('bcast')}" in result.stderr
    assert f"rank 1 calls MPI_Bcast (root 1, 4 B) at hangs.c:{line_of('other')}" in result.stderr
    assert "has lasted" not in result.stderr


def started(process: subprocess.Popen) -> bool:
    """Whether the command has begun to run the program; before that a signal ends it."""
    with suppress(OSError):
        return bool(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split())
    return False


@pytest.mark.parametrize(
    "words", ["run --quiet --hang-after 300s", "profile --calibration costs.json"]
)
def test_a_signal_asks_where_the_ranks_are(sibyl: Sibyl, mpi: Mpi, hangs: Path, words: str) -> None:
    said = sibyl.directory / "said"
    with hanging(sibyl, mpi, hangs, words) as process:

        def ask() -> None:
            if started(process):
                process.send_signal(signal.SIGUSR1)

        step = f"  ranks 0,2: in MPI_Allreduce at hangs.c:{line_of('step')} in step"
        wait_for(process, said, step, ask)
    assert "sibyl: where the ranks are:" in said.read_text()


@pytest.mark.parametrize("after", ["0", "soon", "-1s"])
def test_a_time_that_is_none_ends_in_one_line(sibyl: Sibyl, after: str) -> None:
    result = sibyl("run", f"--hang-after={after}", "--", "true")
    assert_usage_error(result, after)


def test_a_bare_number_is_seconds(sibyl: Sibyl) -> None:
    result = sibyl("run", "--hang-after", "1.5", "--", "no-such-program")
    assert_usage_error(result, "no-such-program")
