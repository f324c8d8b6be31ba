"""examples/demo: what it leaves behind."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).resolve().parents[2] / "examples" / "demo"

# Stands for the command: notes its words, and ends the demo where this runs the first program.
COMMAND = """#!/bin/sh
echo "$*" >> {notes}
case "$*" in
  *{program}*) kill -{signal} $PPID; sleep 60 ;;
esac
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_demo_that_is_ended_takes_its_cluster_down(
    tmp_path: Path, number: signal.Signals
) -> None:
    notes, command = tmp_path / "notes", tmp_path / "sibyl"
    words = {"notes": notes, "program": "some-program", "signal": int(number)}
    command.write_text(COMMAND.format(**words))
    command.chmod(0o755)
    code = (
        f"import sys; sys.path.insert(0, {str(DEMO)!r}); import demo; "
        f"demo.SIBYL = {str(command)!r}; "
        f"demo.programs = lambda build, out: [demo.Program('C', 'openmpi', ['some-program'])]; "
        f"sys.argv[1:] = ['--build', {str(tmp_path)!r}]; sys.exit(demo.main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=50, check=False
    )
    assert done.returncode == 128 + number, done.stderr
    first, *_, last = notes.read_text().splitlines()
    assert first.startswith("cluster up --hosts 8 ")
    assert last == f"cluster down --name {first.rpartition(' ')[2]}"
