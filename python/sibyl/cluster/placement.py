"""How each MPI's launcher is told to start its ranks on the hosts of a cluster."""

import os
import shlex
from pathlib import Path

from sibyl.cluster.network import tool
from sibyl.cluster.state import NETNS, Cluster
from sibyl.errors import CommandError
from sibyl.mpi.installation import FAMILY_TITLES, Launcher
from sibyl.mpi.library import library_directories
from sibyl.mpi.placement import Placement, write_hosts
from sibyl.paths import is_cut, is_file

AGENT = Path(__file__).parent / "agent.sh"
# What ranks do that wait: leave the processor to others, or look at their sockets all the time.
WAITING = ("sleep", "spin")


def place(
    cluster: Cluster, launcher: Launcher, slots: int, scratch: Path, waiting: str = "sleep"
) -> Placement:
    """The launcher's words and variables for a cluster.

    The launcher runs in the switch's namespace, every daemon and rank in its host's. Ranks of
    different hosts talk by TCP, those of one host as the MPI library likes.

    Args:
        cluster: is up.
        launcher: of Open MPI or MPICH.
        slots: ranks on each host.
        scratch: a directory for this run, which the caller removes.
        waiting: one of WAITING.
    """
    agent = scratch / "agent"
    words = shlex.join(["sh", str(AGENT), cluster.prefix])
    agent.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    agent.chmod(0o755)
    _check_agent(agent)
    addresses = [(cluster.address(host), slots) for host in range(cluster.hosts)]
    if launcher.family == "openmpi":
        options = _openmpi(cluster, launcher, slots, agent, scratch, waiting)
    elif launcher.family == "mpich":
        options = ["-launcher", "ssh", "-launcher-exec", str(agent), "-iface", "bridge"]
    else:
        raise CommandError(
            f"sibyl cluster starts Open MPI and MPICH, not {FAMILY_TITLES[launcher.family]}; say "
            f"--mpi openmpi or --mpi mpich"
        )
    options += write_hosts(launcher, addresses, scratch)
    rank_environment, preload = {}, []
    if waiting == "sleep":
        rank_environment["CLUSTER_IDLE"] = "sleep" if slots == 1 else "yield"
        preload.append(_find_help("idle"))
    if launcher.family == "mpich" and launcher.major < 5:
        preload.append(_find_help("old_mpich"))
        rank_environment["CLUSTER_FINISH_DIRECTORY"] = str(_make_directory(scratch / "finish"))
    return Placement(
        prefix=[tool("nsenter"), f"--net={NETNS / cluster.switch}"],
        options=options,
        environment=_mpich(waiting) if launcher.family == "mpich" else {},
        rank_environment=rank_environment,
        preload=preload,
    )


def _check_agent(agent: Path) -> None:
    # Open MPI cuts the path there and finds no such program; MPICH waits for ever.
    if is_cut(agent):
        raise CommandError(
            f"no launcher starts its daemons by a file in {agent.parent.parent}; set TMPDIR to a "
            f"directory without blanks and colons in its name"
        )
    if not os.access(agent, os.X_OK):
        raise CommandError(
            f"no program may be started from {agent.parent.parent}; set TMPDIR to a directory "
            f"that is not mounted noexec"
        )


# MPICH is built over UCX or libfabric; each heeds its own variables and no others.
_MPICH = {
    "UCX_TLS": "tcp,self",
    "UCX_NET_DEVICES": "eth0",
    "FI_PROVIDER": "tcp",
    "FI_TCP_IFACE": "eth0",
}


def _mpich(waiting: str) -> dict[str, str]:
    # Ranks that wait give way, as Open MPI's do below: hosts are many and cores few.
    return _MPICH | ({"MPIR_CVAR_POLLS_BEFORE_YIELD": "1"} if waiting == "sleep" else {})


def _find_help(what: str) -> Path:
    """A library that ranks on clusters need, made from the file of that name in cluster/."""
    name = f"libsibyl-cluster-{what}.so"
    for directory in library_directories():
        library = directory / name
        if is_file(library):
            return library.absolute()
    raise CommandError(f"{name} was not found, which ranks on a cluster need; build it with: make")


def _make_directory(path: Path) -> Path:
    path.mkdir()
    return path


def _openmpi(
    cluster: Cluster, launcher: Launcher, slots: int, agent: Path, scratch: Path, waiting: str
) -> list[str]:
    transports = "self,tcp"
    if launcher.major >= 5:
        daemons = {
            "plm_ssh_agent": str(agent),
            "plm_ssh_no_tree_spawn": "1",
            "prte_if_include": cluster.network,
            "prte_tmpdir_base": str(scratch),
        }
        words = [word for pair in daemons.items() for word in ("--prtemca", *pair)]
        if slots > 1:
            transports += ",sm"
    else:
        daemons = {
            "plm_rsh_agent": str(agent),
            "plm_rsh_no_tree_spawn": "1",
            "oob_tcp_if_include": cluster.network,
            "orte_tmpdir_base": str(scratch),
            # The kernel may forbid it, in a container; then nothing is printed.
            "btl_vader_single_copy_mechanism": "none",
        }
        words = [word for pair in daemons.items() for word in ("--mca", *pair)]
        if slots > 1:
            transports += ",vader"
    ranks = {
        "pml": "ob1",
        "btl": transports,
        "btl_tcp_if_include": cluster.network,
        "mpi_yield_when_idle": "1" if waiting == "sleep" else "0",
        # Its own poll() goes over the sockets of all ranks at each look.
        "opal_event_include": "epoll",
    }
    words += [word for pair in ranks.items() for word in ("--mca", *pair)]
    return [*words, "--map-by", "slot", "--bind-to", "none"]
