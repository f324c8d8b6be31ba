"""Processes in namespaces: find them, end them."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from sibyl.cluster.state import NETNS
from sibyl.processes.ending import end_all
from sibyl.processes.identity import send_if

# Seconds that a process has to end after SIGTERM.
GRACE = 0.5


def _namespace(path: Path) -> tuple[int, int] | None:
    """What tells a network namespace from all others; None if there is none at the path."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _network_of(pid: int | str) -> tuple[int, int] | None:
    return _namespace(Path(f"/proc/{pid}/ns/net"))


def _wanted(namespaces: Iterable[str]) -> set[tuple[int, int]]:
    """The namespaces of these names, but never the machine's or that of this process.

    A name may lead anywhere (`ip netns attach`), and who ends all processes of the machine's own
    namespace ends the machine.
    """
    found = {_namespace(NETNS / name) for name in namespaces}
    found -= {None, _network_of("self"), _network_of(1)}
    return {one for one in found if one is not None}


def processes_in(namespaces: Iterable[str]) -> list[int]:
    """The processes whose network namespace is one of these; never this process."""
    wanted = _wanted(namespaces)
    if not wanted:
        return []
    numbers = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return [pid for pid in numbers if pid != os.getpid() and _network_of(pid) in wanted]


def end_processes(namespaces: Iterable[str]) -> int:
    """End every process in the namespaces, first politely; return how many there were."""
    names = list(namespaces)
    wanted = _wanted(names)
    return end_all(
        lambda: processes_in(names),
        lambda pid, number: send_if(pid, number, lambda: _network_of(pid) in wanted),
        GRACE,
    )


def remove_tree(path: Path) -> None:
    """Remove a directory; what cannot be removed stays."""
    shutil.rmtree(path, ignore_errors=True)
