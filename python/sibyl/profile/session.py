"""Drives `sibyl profile`: runs the program with the recorder, reads its traces, writes reports."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from sibyl.errors import CommandError
from sibyl.files import stdout_beside, write_result
from sibyl.mpi.installation import choose_launcher, launcher_in_path
from sibyl.mpi.programs import resolve_program
from sibyl.mpi.run import has_other_hosts, run_program, scratch_directory
from sibyl.mpi.run_options import RunOptions
from sibyl.processes.signals import heeded, put_off
from sibyl.processes.supervisor import ENDING
from sibyl.profile import otf2_archive
from sibyl.profile.chrome import to_chrome
from sibyl.profile.costs import find_costs
from sibyl.profile.document import to_json
from sibyl.profile.options import Launch, Outputs
from sibyl.profile.page import to_html
from sibyl.profile.profile import Profile, make_profile
from sibyl.profile.recorder import recorder_variables
from sibyl.profile.table import to_table
from sibyl.profile.terminal import print_profile
from sibyl.profile.watch import watching
from sibyl.profile.world import World, read_world
from sibyl.progress import progress_bar
from sibyl.terminal import Terminal, say

FLAVOURS = {1: "openmpi", 2: "mpich"}  # 3, the standard's interface, names no MPI


def profile_program(
    program: Sequence[str], launch: Launch, outputs: Outputs, command: Sequence[str]
) -> int:
    """Run and report.

    Args:
        program: the program and its arguments; nothing where traces are read.
        launch: how it is run.
        outputs: what is written.
        command: the words that repeat this.

    Returns:
        The program's exit code.
    """
    launch.check(list(program))
    outputs.check(launch.hostfile, program, launch.traces)
    if launch.traces is not None:
        world = read_world(launch.traces)
        if not world.traces:
            why = world.notes[0] if world.notes else "ranks with SIBYL_PROFILE leave *.trace there"
            raise CommandError(f"--traces {launch.traces}: no trace to read; {why}")
        return 0 if _report(world, launch.mpi, outputs, command) else 1
    options = _run_options(launch)
    with scratch_directory(has_other_hosts(options, launch.hostfile)) as directory:
        options = replace(options, variables=recorder_variables(directory))
        try:
            with stdout_beside(*(path for path, _ in _files(outputs))), watching(directory):
                code = run_program(program, options, launch.hostfile)
            written = _report(read_world(directory), _mpi_of(program, launch), outputs, command)
        except BaseException:
            _keep(directory)
            raise
        if not written:
            _keep(directory)
        return code if written else code or 1


def _keep(directory: Path) -> None:
    """The run's traces, beside where they would be removed: the run may have taken hours."""
    traces = [*directory.iterdir()]
    if not traces:
        return
    with put_off(heeded(ENDING)):
        place = Path(tempfile.mkdtemp(prefix="sibyl-traces-", dir=directory.parent))
        for trace in traces:
            trace.rename(place / trace.name)
    say(f"the traces of the run are kept: sibyl profile --traces {place}")


def _run_options(launch: Launch) -> RunOptions:
    """The program runs natively unless it is to be served."""
    return RunOptions(
        ranks=launch.ranks,
        mpi=launch.mpi,
        launcher=launch.launcher,
        launcher_args=launch.launcher_args,
        native=not launch.serve,
        quiet=True,
    )


def _mpi_of(program: Sequence[str], launch: Launch) -> str | None:
    """The MPI that the program ran with, as --mpi takes it."""
    if launch.mpi is not None:
        return launch.mpi
    try:
        found = choose_launcher(None, resolve_program(program, None)[1])
    except CommandError:
        return None  # srun started it
    in_path = launcher_in_path(found.flavour)
    return found.flavour if in_path == found else str(found.path.parent)


def _report(world: World, mpi: str | None, outputs: Outputs, command: Sequence[str]) -> bool:
    """Analyse and write; whether everything could be written."""
    if mpi is None and world.traces:
        mpi = FLAVOURS.get(int(next(iter(world.traces.values())).header["flavour"]))
    with progress_bar("analysing", 1.0) as advance:
        profile = make_profile(
            world, lambda: find_costs(world, mpi, outputs.calibration), list(command), advance
        )
    written = [_write(path, make, profile) for path, make in _files(outputs)]
    print_profile(profile, Terminal(stderr=True), outputs.top)
    return all(written)


def _files(outputs: Outputs) -> list[tuple[Path, Callable[[Profile], str]]]:
    """What is to be written, and what makes its text."""
    wished = (
        (outputs.html, to_html),
        (outputs.json, to_json),
        (outputs.trace, to_chrome),
        (outputs.table, to_table),
    )
    return [(path, make) for path, make in wished if path is not None]


def _write(path: Path, make: Callable[[Profile], str], profile: Profile) -> bool:
    """Write after the run, whose exit code is worth more than what cannot be written."""
    try:
        if make is to_chrome and path.suffix == otf2_archive.SUFFIX:
            otf2_archive.write_otf2(profile, path)
        else:
            write_result(path, make(profile))
    except CommandError as error:
        say(str(error))
        return False
    return True
