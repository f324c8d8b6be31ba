"""Below directories that may not be searched nothing is seen, and nobody is told by a traceback."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

NOBODY = [shutil.which("setpriv") or "", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


def may_run_as_nobody() -> bool:
    """Whether a program can be started as somebody whom permissions bind, and find this Python."""
    if os.geteuid() != 0 or not NOBODY[0]:
        return False
    ask = [*NOBODY, sys.executable, "-c", "import sibyl.cli"]
    return subprocess.run(ask, capture_output=True, check=False).returncode == 0


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Path]:
    """A directory that nobody may enter, in one that anybody may write to."""
    if os.geteuid() == 0 and not may_run_as_nobody():
        pytest.skip("as root, without a way to be somebody else")
    for parent in (tmp_path, *tmp_path.parents):
        if parent.stat().st_uid == os.geteuid():  # pytest's own are its user's alone
            parent.chmod(parent.stat().st_mode | 0o011)
    tmp_path.chmod(0o777)
    directory = tmp_path / "closed"
    (directory / "bin").mkdir(parents=True)
    directory.chmod(0)
    yield directory
    directory.chmod(0o700)


def run(closed: Path, *words: object, **variables: object) -> subprocess.CompletedProcess[str]:
    """The command, by somebody whom permissions bind."""
    before = NOBODY if os.geteuid() == 0 else []
    # What the session preloads lies where others may not enter.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    return subprocess.run(
        [*before, sys.executable, "-m", "sibyl", *map(str, words)],
        cwd=closed.parent,
        env={**environment, **{name: str(value) for name, value in variables.items()}},
        capture_output=True,
        text=True,
        check=False,
    )


def assert_told(result: subprocess.CompletedProcess[str], part: str) -> None:
    assert result.returncode == 2, result
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert part in result.stderr


def test_a_file_below_a_closed_directory_is_told_in_one_line(closed: Path) -> None:
    told = f"no permission to enter {closed}"
    file = closed / "file"
    link = closed.parent / "link"
    link.symlink_to(file)
    plan = ["plan", "exscan", "--algorithm", "hybrid", "-n", 4, "--json", file]
    for words in (
        ["run", "--", file],
        ["run", "--mpi", closed / "bin", "--", "true"],
        ["run", "--report", file, "--", "true"],
        ["run", "--report", link, "--", "true"],
        ["verify", "exscan", "--ranks", 2, "--json", file],
        ["profile", "--traces", closed / "traces"],
        ["profile", "--calibration", file, "--", "true"],
        plan,
    ):
        assert_told(run(closed, *words), told)


def test_sibyl_s_own_libraries_are_not_seen_in_a_closed_directory(closed: Path) -> None:
    asked = run(closed, "doctor", SIBYL_LIBRARY_DIR=closed / "lib", PATH=closed / "bin")
    assert "Traceback" not in asked.stderr
    assert f"SIBYL_LIBRARY_DIR is {closed}/lib, but no permission to enter {closed}" in asked.stdout


def test_launchers_are_looked_for_behind_a_closed_directory_of_the_path(closed: Path) -> None:
    executable = closed.parent / "program"
    executable.write_text("#!/bin/sh\n")
    executable.chmod(0o755)
    for words in ([], ["--mpi", "mpich"]):
        result = run(closed, "run", *words, "--", executable, PATH=f"{closed}/bin")
        assert_told(result, "install one")


def test_arrivals_that_may_not_be_read_are_told_in_one_line(closed: Path) -> None:
    file = closed.parent / "arrivals"
    file.write_text("0\n1\n")
    file.chmod(0)
    words = ["simulate", "gather", "-n", 2, "--pattern"]
    assert_told(run(closed, *words, file), f"--pattern {file}: neither a shape nor a file that can")
    assert_told(run(closed, *words, closed / "file"), f"no permission to enter {closed}")
