"""The command as a process of its own that need not import it again.

Each test starts the command anew, and importing it is most of what a short one takes. A server
(multiprocessing's forkserver) that has imported it forks one process per command: directory,
environment, standard streams, exit code and signals are those of a program that was started.
"""

import multiprocessing
import os
import runpy
import subprocess
import sys
from collections.abc import Iterable, Mapping
from multiprocessing.reduction import DupFd
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

COMMAND = [sys.executable, "-m", "sibyl"]


def run_command(
    *words: object,
    cwd: Path | None = None,
    input: str = "",
    env: Mapping[str, str] | None = None,
    timeout: float = 120,
) -> subprocess.CompletedProcess[str]:
    """Runs `sibyl WORDS` as subprocess.run would, with text captured."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["sibyl.cli", "matplotlib.pyplot"])
    arguments = [*map(str, words)]
    with TemporaryFile("w+") as stdin, TemporaryFile("w+") as out, TemporaryFile("w+") as errors:
        stdin.write(input)
        stdin.seek(0)
        environment = dict(os.environ if env is None else env)
        files = (stdin, out, errors)
        process = context.Process(
            target=_become_the_command,
            args=(arguments, str(cwd or Path.cwd()), environment, _Streams(files)),
        )
        process.start()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired([*COMMAND, *arguments], timeout)
        for stream in (out, errors):
            stream.seek(0)
        return subprocess.CompletedProcess(
            [*COMMAND, *arguments], process.exitcode, out.read(), errors.read()
        )


class _Streams:
    """Standard input, output and errors, handed to a process that is about to start."""

    def __init__(self, files: Iterable[IO[str]]) -> None:
        self._files = tuple(files)

    def __getstate__(self) -> tuple[object, ...]:
        return tuple(DupFd(file.fileno()) for file in self._files)

    def __setstate__(self, handed: tuple[Any, ...]) -> None:
        self._handed = handed

    def install(self) -> None:
        for number, handed in enumerate(self._handed):
            os.dup2(handed.detach(), number)
        sys.stdin, sys.stdout, sys.stderr = (
            open(number, mode, closefd=False)  # noqa: SIM115 (open as long as the process)
            for number, mode in enumerate(("r", "w", "w"))
        )


def _become_the_command(
    words: list[str], cwd: str, environment: dict[str, str], streams: _Streams
) -> None:
    streams.install()
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["sibyl", *words]
    runpy.run_module("sibyl", run_name="__main__", alter_sys=True)
