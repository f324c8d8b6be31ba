"""What ranks need to be recorded: variables of the recorder, libsibyl-profile.so."""

import os
from pathlib import Path

from sibyl.mpi.library import find_recorder, preload_list


def recorder_variables(directory: Path, memory: int | None = None) -> dict[str, str]:
    """Variables for every rank of a run (RunOptions.variables).

    Args:
        directory: where ranks leave their traces.
        memory: bytes of records a rank, unless SIBYL_PROFILE_MEMORY says it; the recorder's own
            default if None.
    """
    variables = {"SIBYL_PROFILE": str(directory), "LD_PRELOAD": preload_list(find_recorder())}
    room = os.environ.get("SIBYL_PROFILE_MEMORY", memory)
    if room is not None:
        variables["SIBYL_PROFILE_MEMORY"] = str(room)
    return variables
