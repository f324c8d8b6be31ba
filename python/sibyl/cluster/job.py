"""Run a program on a cluster, and leave no process of it behind, however the run ends."""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sibyl.cluster import network, state
from sibyl.cluster.placement import WAITING, place
from sibyl.cluster.processes import end_processes, remove_tree
from sibyl.errors import CommandError
from sibyl.mpi.installation import Launcher
from sibyl.mpi.placement import Placement, check_room
from sibyl.mpi.programs import resolve_program
from sibyl.mpi.run import run_placed
from sibyl.mpi.run_options import RunOptions
from sibyl.processes.guardian import Guardian


def run_on_cluster(
    name: str, words: Sequence[str], options: RunOptions, slots: int, waiting: str = "sleep"
) -> int:
    """Run a program on the hosts of a cluster; one run at a time has it for itself.

    Args:
        name: of the cluster.
        words: the program and its arguments.
        options: without a number of ranks, all hosts are filled.
        slots: ranks on each host.
        waiting: what ranks do that wait, one of placement.WAITING.

    Returns:
        The program's exit code.
    """
    if slots < 1:
        raise CommandError(f"--ranks-per-host {slots}: a host has room for 1 rank or more")
    if waiting not in WAITING:
        raise CommandError(f"--waiting {waiting}: there are {', '.join(WAITING)}")
    options.check(words)
    network.check_possible()
    words, program = resolve_program(words, options.mpi)
    with state.locked(state.check_name(name)) as lock:
        cluster = state.existing(name)
        hosts = [(host, slots) for host in cluster.host_names]
        ranks = check_room(options.ranks, hosts, "say --ranks-per-host, or make a larger cluster")
        scratch = Path(tempfile.mkdtemp(prefix="sibyl-cluster-"))

        def placing(launcher: Launcher, directory: Path) -> Placement:
            return place(cluster, launcher, slots, directory, waiting)

        def clean() -> None:
            end_processes(cluster.namespaces)
            remove_tree(scratch)
            lock.release()

        guardian = Guardian(clean, keep=lock.handle)
        try:
            end_processes(cluster.namespaces)  # of somebody who entered by hand
            return run_placed(words, program, replace(options, ranks=ranks), scratch, placing)
        finally:
            clean()
            guardian.release()
