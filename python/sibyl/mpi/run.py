"""`sibyl run`: start an unmodified MPI program with Sibyl's preload library."""

import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from sibyl.arguments import parse_setting
from sibyl.errors import CommandError
from sibyl.files import stdout_beside, write_result
from sibyl.inputs import read_text
from sibyl.mpi import slurm
from sibyl.mpi.arrivals import EMPTY, merge_arrivals
from sibyl.mpi.command_line import (
    hosts_are_given,
    launcher_command,
    launcher_environment,
    rank_environment,
)
from sibyl.mpi.governed_report import LARGEST_TABLE, rules_of, to_table
from sibyl.mpi.installation import (
    Launcher,
    choose_flavour,
    choose_launcher,
    flavour_under,
    mismatch,
)
from sibyl.mpi.library import find_implementation, find_shim, preload_list
from sibyl.mpi.placement import Placement, check_room, read_hostfile, write_hosts
from sibyl.mpi.prediction_report import print_predictions
from sibyl.mpi.programs import resolve_program
from sibyl.mpi.report import merge_reports, print_report
from sibyl.mpi.run_options import RunOptions
from sibyl.paths import is_file
from sibyl.processes.job import run_job
from sibyl.processes.signals import handled, heeded, leave, put_off
from sibyl.processes.supervisor import ENDING
from sibyl.terminal import Terminal, say

# Given the launcher and a directory for the run: where the ranks go.
Placing = Callable[[Launcher, Path], Placement]


def run_program(words: Sequence[str], options: RunOptions, hostfile: Path | None = None) -> int:
    """Run a program on this machine, on the hosts of a file, or on those of the Slurm job.

    Args:
        words: the program and its arguments.
        options: see `sibyl run --help`.
        hostfile: names the hosts.

    Returns:
        The program's exit code.
    """
    options.check(words, hostfile)
    words, program = resolve_program(words, options.mpi)
    if hostfile is not None:
        if options.launcher == "srun":
            raise CommandError("--hostfile is for mpiexec; under srun Slurm names the hosts")
        hosts = read_hostfile(hostfile)
        ranks = check_room(options.ranks, hosts, "add hosts or slots to the host file")
        options = replace(options, ranks=ranks)

        def place(launcher: Launcher, scratch: Path) -> Placement:
            return Placement(options=write_hosts(launcher, hosts, scratch))

        with scratch_directory(shared=True) as scratch:
            return run_placed(words, program, options, scratch, place)
    if options.launcher == "srun":
        slurm.check_inside_job()
    if options.launcher == "srun" or (options.launcher is None and slurm.inside_job()):
        with scratch_directory(shared=True) as scratch:
            return _run_by_srun(words, program, options, scratch)
    with scratch_directory(has_other_hosts(options)) as scratch:
        return run_placed(words, program, options, scratch)


def has_other_hosts(options: RunOptions, hostfile: Path | None = None) -> bool:
    """Whether ranks may run on other hosts than this one."""
    named = hostfile is not None or options.launcher == "srun"
    return named or hosts_are_given(options.launcher_words())


def run_placed(
    words: Sequence[str],
    program: Path,
    options: RunOptions,
    scratch: Path,
    place: Placing | None = None,
) -> int:
    """Run a program by its MPI's own launcher.

    Args:
        words: the program and its arguments.
        program: the program's file.
        options: checked.
        scratch: an empty directory for the files of this run.
        place: says where the ranks go; None leaves it to the launcher.

    Returns:
        The program's exit code.
    """
    launcher = choose_launcher(options.mpi, program)
    warning = mismatch(launcher, program)
    if warning:
        say(warning)
    variables = _rank_variables(flavour_under(launcher, program), options, scratch)
    placement = place(launcher, scratch) if place is not None else None
    if placement is not None:
        variables |= placement.rank_environment
        for library in placement.preload:
            before = variables.get("LD_PRELOAD") or os.environ.get("LD_PRELOAD", "")
            variables["LD_PRELOAD"] = preload_list(before, library)
    command = launcher_command(
        launcher, options.ranks, variables, words, options.launcher_words(), placement
    )
    return _run(words, command, launcher_environment(launcher, placement), options, scratch)


def _run_by_srun(words: Sequence[str], program: Path, options: RunOptions, scratch: Path) -> int:
    flavour = choose_flavour(options.mpi, program)
    variables = _rank_variables(flavour, options, scratch)
    command = slurm.srun_command(flavour, options.ranks, variables, words, options.launcher_words())
    return _run(words, command, os.environ, options, scratch)


def _rank_variables(flavour: str, options: RunOptions, scratch: Path) -> dict[str, str]:
    variables: dict[str, str] = {}
    if not options.native:
        shim = find_shim()
        find_implementation(shim, flavour)
        settings = dict(map(parse_setting, options.settings or []))
        variables |= rank_environment(shim, settings, scratch)
    before = variables.get("LD_PRELOAD") or os.environ.get("LD_PRELOAD")
    variables["SIBYL_PYTHON"] = sys.executable  # a program of Sibyl's own draws its picture by it
    variables |= options.variables
    if "LD_PRELOAD" in options.variables and before:  # what is asked for here sees calls first
        variables["LD_PRELOAD"] += f":{before}"
    if options.native:
        return variables
    if options.records:
        variables["SIBYL_RECORD"] = str(scratch)
    if options.predict is not None:
        variables["SIBYL_PREDICT"] = options.predict
    if options.reproducible:
        variables["SIBYL_REPRODUCIBLE"] = "1"
    govern = True if options.learn is not None else options.govern
    if govern is not None:
        variables["SIBYL_GOVERN"] = "1" if govern else "0"
    return variables


def _run(
    words: Sequence[str],
    command: Sequence[str],
    environment: Mapping[str, str],
    options: RunOptions,
    scratch: Path,
) -> int:
    """Run the launcher, then put the ranks' reports together."""
    begin = time.monotonic()
    try:
        with stdout_beside(options.report, options.record, options.learn):
            code = run_job(command, environment)
    except OSError as error:
        raise CommandError(f"cannot start {command[0]}: {error.strerror}") from error
    if options.durations is not None:
        options.durations.append(time.monotonic() - begin)
    if options.native:
        return code
    report = merge_reports(scratch)
    written = []
    if options.report is not None:
        written.append(_write(options.report, json.dumps(report.as_json(words, code), indent=2)))
    if options.learn is not None:
        table = to_table(report.sites(), _table_in_force(options)).rstrip("\n")
        if rules_of(table) or not is_file(options.learn):
            written.append(_write(options.learn, table))
        else:
            say(f"{options.learn}: no verdicts to learn from; the table is as it was")
    if not options.quiet:
        if os.environ.get("LD_PRELOAD"):
            below = os.environ.get("SIBYL_INTERCEPT") == "pmpi"
            how = "PMPI_X, below" if below else "MPI_X, above"
            say(f"calls are taken by {how} the libraries in LD_PRELOAD")
        print_report(report, Terminal(stderr=True))
    # Last, since it may want more memory than there is.
    if options.records:
        written.append(_put_recording_together(words, options, scratch))
    return code if all(written) else code or 1


def _put_recording_together(words: Sequence[str], options: RunOptions, scratch: Path) -> bool:
    try:
        return _tell_recording(merge_arrivals(scratch, words), options)
    except MemoryError:
        say("there is not enough memory to put together what the ranks have recorded")
        return False


def _tell_recording(recording: Mapping[str, Any], options: RunOptions) -> bool:
    written = True
    if options.record is not None:
        if recording["sites"] or not is_file(options.record):
            written = _write(options.record, json.dumps(recording))
        if not recording["sites"]:
            say(f"{options.record}: {EMPTY}")
    if not options.quiet:
        _print_recording(recording, options)
    return written


def _table_in_force(options: RunOptions) -> str:
    path = Path(options.variables.get("SIBYL_TABLE") or os.environ.get("SIBYL_TABLE") or "")
    try:
        return read_text(path, LARGEST_TABLE) if is_file(path) else ""
    except (OSError, UnicodeDecodeError):  # the ranks have said so, and had none
        return ""


def _write(path: Path, text: str) -> bool:
    """Write a file after a run, whose exit code is worth more than what cannot be written."""
    try:
        write_result(path, text + "\n")
    except CommandError as error:
        say(str(error))
        return False
    return True


def _print_recording(recording: Mapping[str, Any], options: RunOptions) -> None:
    if options.record is not None and recording["left_out"]:
        say(
            f"{options.record} holds the first calls alone; {recording['left_out']} later "
            f"ones are left out"
        )
    if options.predicts:
        print_predictions(dict(recording), Terminal(stderr=True))


@contextmanager
def scratch_directory(shared: bool) -> Iterator[Path]:
    """A directory for the files of one run, gone when the body ends, by a signal too.

    Traces are gigabytes, and what ends a command by default would leave them. While a job runs,
    run_job has handlers of its own.

    Args:
        shared: where other hosts see it as well, so that their ranks' reports arrive: the working
            directory, as far as one may write there.
    """
    place = Path.cwd() if shared and os.access(Path.cwd(), os.W_OK) else None
    prefix = ".sibyl-report-" if place else "sibyl-report-"
    with handled(heeded((signal.SIGTERM, signal.SIGHUP)), leave):
        directory = tempfile.TemporaryDirectory(prefix=prefix, dir=place)
        try:
            yield Path(directory.name)
        finally:
            with put_off(heeded(ENDING)):
                directory.cleanup()
