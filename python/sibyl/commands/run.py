"""`sibyl run`: start an unmodified MPI program with Sibyl's preload library."""

import json
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from sibyl.arguments import parse_setting
from sibyl.errors import CommandError
from sibyl.mpi.command_line import launcher_command, launcher_environment, rank_environment
from sibyl.mpi.installation import choose_launcher
from sibyl.mpi.job import run_job
from sibyl.mpi.library import find_implementation, find_shim
from sibyl.mpi.report import merge_reports, print_report


def find_program(name: str) -> Path:
    """The file that `name` starts: a path if it has a slash, else looked for in PATH."""
    if "/" not in name:
        found = shutil.which(name)
        if found is not None:
            return Path(found)
        if Path(name).is_file():
            raise CommandError(f"program '{name}' is not in PATH; say ./{name} for the file here")
        raise CommandError(
            f"program '{name}' was not found in PATH; check its name, or give a path"
        )
    path = Path(name)
    if not path.exists():
        raise CommandError(f"program '{name}' does not exist; check the path")
    if path.is_dir():
        raise CommandError(f"program '{name}' is a directory; give a program in it")
    if not os.access(path, os.X_OK):
        raise CommandError(f"program '{name}' may not be executed; try: chmod +x {name}")
    return path


def run_program(
    words: Sequence[str],
    ranks: int | None,
    mpi: str | None,
    settings: Sequence[str],
    report_file: Path | None,
    quiet: bool,
    launcher_args: str | None,
) -> int:
    """Run a program under Sibyl; see `sibyl run --help`.

    Args:
        words: the program and its arguments.
        ranks: None leaves the number to the launcher.
        mpi: openmpi, mpich, a prefix, or None.
        settings: COLLECTIVE=ALGORITHM, the last of a collective holds.
        report_file: where the merged report goes.
        quiet: print no table.
        launcher_args: more words for the launcher, quoted as for a shell.

    Returns:
        The program's exit code.
    """
    if ranks is not None and ranks < 1:
        raise CommandError(f"-n {ranks}: a job has at least 1 rank; say -n 1 or more")
    chosen = dict(parse_setting(text) for text in settings)
    try:
        more = shlex.split(launcher_args or "")
    except ValueError as error:
        raise CommandError(f"--launcher-args: {error}; close the quotes") from error
    if report_file is not None:
        _check_writable(report_file)
    program = find_program(words[0])
    launcher = choose_launcher(mpi, program)
    shim = find_shim()
    find_implementation(shim, launcher.flavour)

    with tempfile.TemporaryDirectory(prefix="sibyl-report-") as directory:
        command = launcher_command(
            launcher,
            ranks,
            rank_environment(shim, chosen, Path(directory)),
            words,
            more,
        )
        try:
            code = run_job(command, launcher_environment(launcher))
        except OSError as error:
            raise CommandError(f"cannot start {launcher.path}: {error.strerror}") from error
        report = merge_reports(Path(directory))
    if report_file is not None:
        text = json.dumps(report.as_json(words, code), indent=2) + "\n"
        try:
            report_file.write_text(text, encoding="utf-8")
        except OSError as error:
            print(f"sibyl: cannot write {report_file}: {error.strerror}", file=sys.stderr)
            code = code or 1
    if not quiet:
        print_report(report, Console(stderr=True))
    return code


def _check_writable(path: Path) -> None:
    """Notice before a long run, not after it, that its report has no place to go."""
    folder = path.absolute().parent
    if path.is_dir():
        raise CommandError(f"--report {path}: that is a directory; name a file in it")
    if not folder.is_dir():
        raise CommandError(f"--report {path}: there is no directory {folder}; make it first")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise CommandError(f"--report {path}: not writable; choose another place")
