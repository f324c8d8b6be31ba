"""`sibyl run --hang-after`: a run that says where its ranks are when they hang."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sibyl.errors import CommandError
from sibyl.experiment.units import read_time
from sibyl.mpi.run import has_other_hosts, run_program, scratch_directory
from sibyl.mpi.run_options import RunOptions
from sibyl.profile.recorder import recorder_variables
from sibyl.profile.watch import watching

# Bytes of records a rank: old calls are not looked at.
MEMORY = 4 << 20


def run_watched(
    program: Sequence[str], options: RunOptions, hostfile: Path | None, hang_after: str
) -> int:
    """Run a program and watch it.

    Args:
        program: the program and its arguments.
        options: as for a run that is not watched.
        hostfile: names the hosts.
        hang_after: a time; a bare number is seconds.

    Returns:
        The program's exit code.
    """
    plain = re.fullmatch(r"[0-9]+(\.[0-9]*)?|\.[0-9]+", hang_after)
    seconds = read_time(f"{hang_after}s" if plain else hang_after)
    if seconds <= 0:
        raise CommandError(f"--hang-after {hang_after}: give a time, as in --hang-after 60s")
    with scratch_directory(has_other_hosts(options, hostfile)) as directory:
        variables = recorder_variables(directory, MEMORY)
        with watching(directory, seconds):
            return run_program(program, replace(options, variables=variables), hostfile)
