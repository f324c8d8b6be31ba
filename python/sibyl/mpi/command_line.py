"""The launcher's command line: what every family calls the same few wishes.

The ranks get LD_PRELOAD and all SIBYL_ variables through the launcher's own options, so that the
launcher itself runs as it would without Sibyl, and so that ranks on other hosts get them too.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from sibyl.mpi.installation import Launcher
from sibyl.mpi.library import preload_list
from sibyl.mpi.placement import Placement

# A batch system or a host file has already said how many ranks go where.
ALLOCATION_VARIABLES = ("SLURM_JOB_ID", "PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "PE_HOSTFILE")
# Launchers' options that name hosts, besides those that have "host" in their names.
HOST_OPTIONS = ("-H", "-f", "-machinefile", "--machinefile")


def physical_cores() -> int:
    """Cores (not hardware threads) that this process may use; Open MPI counts its slots so."""
    cores = set()
    cpus = os.sched_getaffinity(0)
    for cpu in cpus:
        topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology")
        try:
            package = (topology / "physical_package_id").read_text()
            core = (topology / "core_id").read_text()
        except OSError:
            return len(cpus)
        cores.add((package, core))
    return len(cores)


def rank_environment(shim: Path, settings: Mapping[str, str], report: Path) -> dict[str, str]:
    """The variables that every rank gets: LD_PRELOAD with the shim first, and all of SIBYL_.

    Args:
        shim: the preload shim.
        settings: algorithm by collective; stands above the environment's SIBYL_<COLLECTIVE>.
        report: the directory for the ranks' reports.
    """
    variables = {n: v for n, v in sorted(os.environ.items()) if n.startswith("SIBYL_")}
    for collective, algorithm in settings.items():
        variables[f"SIBYL_{collective.upper()}"] = algorithm
    variables["SIBYL_REPORT"] = str(report)
    variables["LD_PRELOAD"] = preload_list(shim, os.environ.get("LD_PRELOAD", ""))
    return variables


def launcher_environment(launcher: Launcher, placement: Placement | None = None) -> dict[str, str]:
    """The environment of the launcher itself: ours, and root's permission where Open MPI asks."""
    environment = {**os.environ, **(placement.environment if placement else {})}
    if launcher.family == "openmpi" and os.geteuid() == 0:
        for prefix in ("OMPI", "PRTE"):
            environment[f"{prefix}_ALLOW_RUN_AS_ROOT"] = "1"
            environment[f"{prefix}_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    return environment


def hosts_are_given(more: Sequence[str]) -> bool:
    """Whether a batch system, or the user's words for the launcher, say where ranks run."""
    if any(name in os.environ for name in ALLOCATION_VARIABLES):
        return True
    return any("host" in word or word in HOST_OPTIONS for word in more)


def _oversubscribes(ranks: int | None, more: Sequence[str]) -> bool:
    return ranks is not None and ranks > physical_cores() and not hosts_are_given(more)


def launcher_command(
    launcher: Launcher,
    ranks: int | None,
    variables: Mapping[str, str],
    program: Sequence[str],
    more: Sequence[str] = (),
    placement: Placement | None = None,
) -> list[str]:
    """The words that start `program` on `ranks` ranks (None: as many as the launcher likes).

    Args:
        launcher: speaks Open MPI's options or hydra's.
        ranks: at least 1; more ranks than cores are allowed and then yield while they wait.
        variables: for every rank.
        program: the program and its arguments.
        more: words of the user's for the launcher.
        placement: the hosts; None leaves them to the launcher.
    """
    # By its plain name where PATH leads to it: called by an absolute path, Open MPI takes the path
    # for a prefix and changes the ranks' LD_LIBRARY_PATH.
    name = launcher.path.name
    words = [name if shutil.which(name) == str(launcher.path) else str(launcher.path)]
    if placement is not None:
        words = [*placement.prefix, *words, *placement.options]
    oversubscribed = placement is None and _oversubscribes(ranks, more)
    if launcher.family == "openmpi":
        if oversubscribed:
            words += ["--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"]
            words += ["--mca", "mpi_yield_when_idle", "1"]
        for name, value in variables.items():
            words += ["-x", f"{name}={value}"]
    else:
        for name, value in variables.items():
            words += ["-genv", name, value]
        if oversubscribed and launcher.family == "intel":
            words += ["-genv", "I_MPI_THREAD_YIELD", "2"]
    words += more
    if ranks is not None:
        words += ["-n", str(ranks)]
    return [*words, *program]
