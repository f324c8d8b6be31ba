"""Standard output that is closed, full or read no further: no traceback, and no lost line."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "sibyl"]
PLAN = ["plan", "exscan", "--algorithm", "hybrid", "-n", "4"]
# What prints by itself, by Rich, and by writing a result.
PRINTING = [["--version"], ["algorithms"], [*PLAN], [*PLAN, "--json", "-"], ["plan", "--help"]]


def run(words: list[str], stdout: int | None, redirect: str = "") -> tuple[int, str]:
    """Exit code and errors of a command with this standard output."""
    words = ["/bin/sh", "-c", f'exec "$@" {redirect}', "sh", *COMMAND, *words]
    # As users have it: what is printed is written at the end.
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        words, stdout=stdout, stderr=subprocess.PIPE, env=usual, text=True, check=False
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("words", PRINTING, ids=" ".join)
def test_a_full_standard_output_is_told_in_one_line(words: list[str]) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    said = "sibyl: standard output cannot be written: No space left on device\n"
    assert run(words, None, ">/dev/full") == (2, said)


@pytest.mark.parametrize("words", PRINTING, ids=" ".join)
def test_a_closed_standard_output_is_told_in_one_line(words: list[str]) -> None:
    said = "sibyl: standard output cannot be written: Bad file descriptor\n"
    assert run(words, None, ">&-") == (2, said)


def test_a_closed_standard_output_is_no_error_where_nothing_is_printed(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    assert run([*PLAN, "--json", str(file)], None, ">&- 2>&- <&-") == (0, "")
    assert file.read_text().startswith("{")


@pytest.mark.parametrize("words", PRINTING, ids=" ".join)
def test_a_standard_output_that_nobody_reads_any_more_is_left_quietly(words: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    code, said = run(words, writer)
    os.close(writer)
    assert (code, said) == (0, "")


def test_an_error_that_is_none_of_printing_stays_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sibyl import cli

    def fail(**_: object) -> None:
        raise OSError(5, "of something else")

    monkeypatch.setattr(cli, "app", fail)
    with pytest.raises(OSError, match="of something else"):
        cli.main([])


def test_a_full_standard_error_loses_no_result_and_no_exit_code(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    file = tmp_path / "out"
    assert run([*PLAN, "--json", "-"], None, f">{file} 2>/dev/full") == (0, "")
    assert json.loads(file.read_text())["ranks"] == 4
    assert run(["plan", "nosuch", "-n", "3"], None, "2>/dev/full") == (2, "")


def test_a_full_disk_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from sibyl import cli

    def fail(**_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cli, "app", fail)
    with pytest.raises(SystemExit) as ended:
        cli.main([])
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("sibyl: No space left on device: ")


def test_a_printed_name_that_is_no_text_does_not_end_the_command() -> None:
    code = "import sys; from sibyl.streams import take_streams; take_streams(); print(sys.argv[1])"
    words = [sys.executable, "-c", code, os.fsdecode(b"caf\xe9")]
    strict = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}
    result = subprocess.run(words, capture_output=True, env=strict, check=False)
    assert (result.returncode, result.stdout) == (0, b"caf\\udce9\n"), result
