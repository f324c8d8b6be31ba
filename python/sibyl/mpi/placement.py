"""Where the ranks of a job go: host files, and the words that tell a launcher."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sibyl.errors import CommandError, counted
from sibyl.inputs import read_text, whole_number
from sibyl.mpi.installation import Launcher


@dataclass(frozen=True)
class Placement:
    """What to add to a launcher's command so that the ranks go to certain hosts.

    Attributes:
        prefix: words before the launcher's name.
        options: words for the launcher.
        environment: variables for the launcher, in addition to this process's.
        rank_environment: variables for every rank.
        preload: libraries for every rank, behind Sibyl's own.
    """

    prefix: Sequence[str] = ()
    options: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    rank_environment: Mapping[str, str] = field(default_factory=dict)
    preload: Sequence[Path] = ()


def read_hostfile(path: Path) -> list[tuple[str, int]]:
    """Read a host file: `HOST`, `HOST slots=N` (Open MPI) or `HOST:N` (MPICH) a line.

    `#` begins a comment. Returns hosts and ranks on each, in the file's order.
    """
    try:
        text = read_text(path)
    except OSError as error:
        raise CommandError(f"cannot read the host file {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"the host file {path} is not text; write one host a line") from error
    hosts = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        match = re.fullmatch(r"([A-Za-z0-9][A-Za-z0-9._-]*)(?::([0-9]+))?", words[0])
        slots = match.group(2) if match else None
        for word in words[1:]:
            option = re.fullmatch(r"(slots|max[-_]slots)=([0-9]{1,9})", word)
            if option is None or (option.group(1) == "slots" and slots is not None):
                match = None
            elif option.group(1) == "slots":
                slots = option.group(2)
        ranks = whole_number(slots or "1")
        if match is None or not ranks or ranks >= 2**31:
            raise CommandError(
                f"{path}:{number}: '{line.strip()}' is no host; write HOST, HOST slots=N or HOST:N"
            )
        hosts.append((match.group(1), ranks))
    if not hosts:
        raise CommandError(f"the host file {path} names no host; write one host a line")
    return hosts


def write_hosts(launcher: Launcher, hosts: Sequence[tuple[str, int]], scratch: Path) -> list[str]:
    """Write hosts in the launcher's notation into `scratch`; return its words for them."""
    path = scratch / "hosts"
    if launcher.family == "openmpi":
        path.write_text("".join(f"{host} slots={slots}\n" for host, slots in hosts))
        return ["--hostfile", str(path)]
    path.write_text("".join(f"{host}:{slots}\n" for host, slots in hosts))
    return ["-f", str(path)]


def check_room(ranks: int | None, hosts: Sequence[tuple[str, int]], more: str) -> int:
    """The number of ranks: `ranks`, or one for each slot.

    Args:
        ranks: wanted, or None.
        hosts: and the ranks that each has room for.
        more: how to get more room, for the error message.

    Raises:
        CommandError: more ranks are wanted than there is room for.
    """
    slots = sum(count for _, count in hosts)
    if ranks is not None and ranks > slots:
        raise CommandError(f"-n {ranks}: there is room for {counted(slots, 'rank')}; {more}")
    return slots if ranks is None else ranks
