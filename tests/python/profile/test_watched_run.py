"""`sibyl run --hang-after` of programs that hang and that mismatch, under each MPI."""

import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from conftest import PROGRAMS, Mpi, Sibyl, assert_usage_error, compiled
from forked_command import COMMAND

RANKS = 3


def line_of(name: str) -> int:
    lines = (PROGRAMS / "hangs.c").read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if f"/* at {name} */" in line)


@pytest.fixture(scope="session")
def hangs(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """programs/hangs.c with debug information."""
    return compiled("hangs", mpi, tmp_path_factory.mktemp("hangs"), "-g", "-O1")


def watched(sibyl: Sibyl, mpi: Mpi, after: str, *words: object) -> subprocess.CompletedProcess:
    options = ("-n", RANKS, "--mpi", mpi.option, "--quiet", "--hang-after", after)
    return sibyl("run", *options, "--", *words)


def test_who_does_not_come_and_who_waits_are_named_with_their_lines(
    sibyl: Sibyl, mpi: Mpi, hangs: Path
) -> None:
    result = watched(sibyl, mpi, "1", hangs, 4)
    assert result.returncode == 0, result.stderr
    assert "sibyl: a call has lasted for 1 s; where the ranks are:" in result.stderr
    barrier, step = line_of("barrier"), line_of("step")
    assert f"  rank 1: outside MPI, after MPI_Barrier at hangs.c:{barrier} in main" in result.stderr
    assert f"  ranks 0,2: in MPI_Allreduce at hangs.c:{step} in step" in result.stderr
    assert "does not match" not in result.stderr


def test_calls_that_do_not_match_are_named_though_the_program_ends(
    sibyl: Sibyl, mpi: Mpi, hangs: Path
) -> None:
    result = watched(sibyl, mpi, "60s", hangs, 0, "mismatch")
    assert result.stderr.count("does not match") == 1, result.stderr
    assert f"rank 0 calls MPI_Bcast (root 0, 4 B) at hangs.c:{line_of('bcast')}" in result.stderr
    assert f"rank 1 calls MPI_Bcast (root 1, 4 B) at hangs.c:{line_of('other')}" in result.stderr
    assert "has lasted" not in result.stderr


def test_a_signal_asks_where_the_ranks_are(sibyl: Sibyl, mpi: Mpi, hangs: Path) -> None:
    words = ("run", "-n", RANKS, "--mpi", mpi.option, "--quiet", "--hang-after", "60s")
    process = subprocess.Popen(
        [*COMMAND, *map(str, words), "--", str(hangs), "5"],
        cwd=sibyl.directory,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )

    def ask() -> None:
        time.sleep(3)
        os.kill(process.pid, signal.SIGUSR1)

    asking = threading.Thread(target=ask)
    asking.start()
    _, stderr = process.communicate(timeout=60)
    asking.join()
    assert process.returncode == 0, stderr
    assert "sibyl: where the ranks are:" in stderr
    assert "in MPI_Allreduce at hangs.c" in stderr


@pytest.mark.parametrize("after", ["0", "soon", "-1s"])
def test_a_time_that_is_none_ends_in_one_line(sibyl: Sibyl, after: str) -> None:
    result = sibyl("run", f"--hang-after={after}", "--", "true")
    assert_usage_error(result, after)
