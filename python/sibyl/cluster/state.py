"""What is known of each cluster: one JSON file and one lock per name under /run.

A file is written before the first namespace is made and says whether the cluster is complete, so
that whatever an interrupted command leaves behind is known and can be taken down.
"""

import errno
import fcntl
import json
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from sibyl.errors import CommandError, one_line
from sibyl.inputs import read_text
from sibyl.processes.identity import Identity

OF_ROOT = Path("/run/sibyl-cluster")  # where root's states are
NETNS = Path("/run/netns")  # where `ip netns` keeps its names
SUBNETS = range(64, 192)  # second numbers of 10.x.0.0/16
NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?")
LEAST_RATE, MOST_RATE = 64_000, 100_000_000_000  # bits per second
LEAST_QUEUE, MOST_QUEUE = 16 * 1024, 1 << 30  # bytes
MOST_HOSTS = 256  # every host knows every other's address: the square of this in all


@dataclass(frozen=True)
class Cluster:
    """A cluster: its name and what it is made of.

    Attributes:
        name: letters, digits and dashes.
        hosts: number of hosts.
        rate: of every link in each direction, in bits per second.
        subnet: the hosts are in 10.subnet.0.0/16.
        queue: bytes that the switch keeps in front of each host's link and no more: what comes
            besides is lost; 0: a second's worth, so that nothing is.
        complete: False from before the first namespace until the last is ready.
    """

    name: str
    hosts: int
    rate: int
    subnet: int
    complete: bool = True
    queue: int = 0

    @property
    def prefix(self) -> str:
        """What the names of the hosts begin with; a dash and the host's number follow."""
        return f"sibyl-{self.name}"

    @property
    def switch(self) -> str:
        """The namespace of the bridge that joins the hosts."""
        return f"{self.prefix}-switch"

    @property
    def network(self) -> str:
        """The subnet in the notation of the launchers."""
        return f"10.{self.subnet}.0.0/16"

    @property
    def switch_address(self) -> str:
        """The address of the launcher."""
        return f"10.{self.subnet}.255.254"

    @property
    def host_names(self) -> list[str]:
        """Names of the hosts, which are those of their namespaces."""
        return [f"{self.prefix}-{host}" for host in range(self.hosts)]

    @property
    def namespaces(self) -> list[str]:
        """All namespaces, the switch first."""
        return [self.switch, *self.host_names]

    def address(self, host: int) -> str:
        """The address of a host."""
        return f"10.{self.subnet}.{(host + 1) >> 8}.{(host + 1) & 255}"

    def missing(self) -> list[str]:
        """Namespaces that should be there and are not."""
        return [name for name in self.namespaces if not (NETNS / name).exists()]


def check_name(name: str) -> str:
    """Return `name` if a cluster may be called so."""
    if not NAME.fullmatch(name):
        raise CommandError(
            f"--name '{name}': a cluster's name has 1 to 32 small letters, digits and dashes"
        )
    return name


def parse_rate(text: str) -> int:
    """Read a rate as tc writes it (100mbit, 1.5gbit, also Mbit/s); return bits per second."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([kmg])bit(?:/s)?", text.strip().lower())
    if not match:
        raise CommandError(f"--rate '{text}': say kbit, mbit or gbit, as in --rate 100mbit")
    rate = float(match.group(1)) * {"k": 1e3, "m": 1e6, "g": 1e9}[match.group(2)]
    if not LEAST_RATE <= rate <= MOST_RATE:
        raise CommandError(f"--rate {text}: choose between 64kbit and 100gbit")
    return round(rate)


def check_queue(size: int) -> int:
    """Return a queue's bytes if a switch may have it."""
    if not LEAST_QUEUE <= size <= MOST_QUEUE:
        raise CommandError(f"--queue {size}: choose between {LEAST_QUEUE} bytes and 1 GiB")
    return size


def rate_text(rate: float) -> str:
    """A rate as people write it: 100 Mbit/s."""
    for factor, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s")):
        if rate >= factor:
            return f"{rate / factor:.4g} {unit}"
    return f"{rate / 1e3:.4g} kbit/s"


def directory() -> Path:
    """Where states and locks are kept: /run, or the user's own run-time directory.

    What lies there decides what is done with the rights of root, so nobody else may have made it
    or may write into it. In the common temporary directory anybody could have been first.

    Raises:
        CommandError: there is something of somebody else.
    """
    own = os.environ.get("XDG_RUNTIME_DIR")
    if os.access("/run", os.W_OK):
        place = OF_ROOT
    elif own:
        place = Path(own) / "sibyl-cluster"
    else:
        place = Path(tempfile.gettempdir()) / f"sibyl-cluster-{os.geteuid()}"
    try:
        status = place.lstat()
    except FileNotFoundError:
        return place
    except OSError as error:
        raise CommandError(f"cannot look at {place}: {error.strerror}") from error
    if not stat.S_ISDIR(status.st_mode):
        raise CommandError(f"{place} is no directory of its own; remove it")
    if status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise CommandError(
            f"{place} belongs to somebody else or others may write to it; remove it, after a look "
            f"at what is in it"
        )
    return place


def roots_are_hidden() -> bool:
    """Whether root has kept states that we may not look at."""
    return directory() != OF_ROOT and OF_ROOT.exists()


def _read_cluster(name: str, text: str) -> Cluster:
    """The cluster of a state file, whose fields go into commands that root runs.

    Raises:
        TypeError, ValueError: some field is none.
    """
    cluster = Cluster(**json.loads(text))
    if cluster.name != name or not NAME.fullmatch(name):
        raise ValueError(f"its name is not {name}")
    numbers = {
        "hosts": (cluster.hosts, range(1, MOST_HOSTS + 1)),
        "rate": (cluster.rate, range(LEAST_RATE, MOST_RATE + 1)),
        "subnet": (cluster.subnet, SUBNETS),
        "queue": (cluster.queue, range(MOST_QUEUE + 1)),
    }
    for field, (value, allowed) in numbers.items():
        if type(value) is not int or value not in allowed:
            raise ValueError(f"{field} is not a whole number from {allowed[0]} to {allowed[-1]}")
    if type(cluster.complete) is not bool:
        raise ValueError("complete is neither true nor false")
    return cluster


@dataclass(frozen=True)
class Damaged:
    """What is left of a cluster whose state file cannot be read, as after a full disk.

    Attributes:
        name: of the cluster.
        problem: what is wrong with the file.
    """

    name: str
    problem: str

    @property
    def namespaces(self) -> list[str]:
        """Those of that name, which no other cluster's can be."""
        own = re.compile(rf"sibyl-{re.escape(self.name)}-(switch|[0-9]+)")
        found = [path.name for path in NETNS.glob("sibyl-*")]
        return sorted(name for name in found if own.fullmatch(name))


def load(name: str) -> Cluster | Damaged | None:
    """The cluster of that name; None if there is none."""
    path = directory() / f"{name}.json"
    try:
        return _read_cluster(name, read_text(path))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, RecursionError) as error:
        return Damaged(name, f"{path} is damaged ({one_line(str(error))})")
    except OSError as error:  # it may be sound
        if error.errno == errno.EFBIG:
            return Damaged(name, f"{path} is damaged ({error.strerror})")
        raise CommandError(f"cannot read {path}: {error.strerror}") from error


def names() -> list[str]:
    """Of all clusters of the machine, damaged ones among them."""
    return sorted(path.stem for path in directory().glob("*.json") if NAME.fullmatch(path.stem))


def load_all() -> list[Cluster | Damaged]:
    """All clusters of the machine, by name."""
    return [cluster for cluster in map(load, names()) if cluster is not None]


def existing(name: str) -> Cluster:
    """The complete cluster of that name.

    Raises:
        CommandError: there is none, or parts of it are missing.
    """
    cluster = load(check_name(name))
    if cluster is None:
        others = ", ".join(c.name for c in load_all())
        raise CommandError(
            f"there is no cluster '{name}'; "
            + (f"there are {others}; " if others else "")
            + f"make it with: sibyl cluster up --hosts N{_name_option(name)}"
        )
    if isinstance(cluster, Damaged):
        raise CommandError(
            f"{cluster.problem}; mend it with: sibyl cluster up --hosts N{_name_option(name)}"
        )
    if not cluster.complete or cluster.missing():
        raise CommandError(
            f"cluster '{name}' is damaged or half built; mend it with: sibyl cluster up --hosts "
            f"{cluster.hosts}{_name_option(name)}"
        )
    return cluster


def _name_option(name: str) -> str:
    return "" if name == "default" else f" --name {name}"


def save(cluster: Cluster) -> None:
    """Write a cluster's state in one step: a reader sees the old or the new one, never a part.

    Raises:
        CommandError: it cannot be written.
    """
    place = directory()
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{cluster.name}-", dir=place)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(asdict(cluster), file)
                file.write("\n")
            Path(temporary).replace(place / f"{cluster.name}.json")
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise CommandError(f"cannot write to {place}: {error.strerror}") from error


def forget(cluster: Cluster | Damaged) -> None:
    """Remove a cluster's state."""
    (directory() / f"{cluster.name}.json").unlink(missing_ok=True)


class Lock:
    """The right to use or change a cluster; it ends with the last process that holds it."""

    def __init__(self, handle: int, path: Path) -> None:
        self.handle = handle
        self._path = path

    def release(self) -> None:
        """Give the lock back and leave no file; a second call does nothing.

        Whoever has a guardian releases the lock first and the guardian last, so that no moment is
        left in which a killed process would leave the file behind.
        """
        if self.handle < 0:
            return
        with suppress(FileNotFoundError):
            if _is_at(self.handle, self._path):
                self._path.unlink()
        os.close(self.handle)
        self.handle = -1


def _is_at(handle: int, path: Path) -> bool:
    """Whether the file there is still the open one: a lock's file goes with its holder."""
    return path.stat().st_ino == os.fstat(handle).st_ino


def holder(name: str) -> Identity | Literal["unknown"] | None:
    """The process that holds the lock of a cluster, or did when it took it; None if nobody does.

    Its guardian holds on to the lock after its end, when its number may be another process's.
    """
    path = directory() / f"{name}.lock"
    try:
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return None
    except OSError:
        text = os.pread(handle, 64, 0).decode("ascii", errors="replace")
        return Identity.parse(text) or "unknown"
    finally:
        os.close(handle)


def take_lock(name: str) -> Lock | None:
    """Lock a cluster for this process; None if another one holds it."""
    place = directory()
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"cannot make {place}: {error.strerror}") from error
    place = directory()  # another look, at what is there now
    path = place / f"{name}.lock"
    while True:
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            handle = os.open(path, flags, 0o644)
        except OSError as error:
            raise CommandError(f"cannot open {path}: {error.strerror}") from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            return None
        with suppress(FileNotFoundError):
            if _is_at(handle, path):
                try:
                    os.truncate(handle, 0)
                    os.pwrite(handle, str(Identity.of(os.getpid())).encode(), 0)
                except OSError as error:
                    Lock(handle, path).release()
                    raise CommandError(f"cannot write to {path}: {error.strerror}") from error
                return Lock(handle, path)
        os.close(handle)


@contextmanager
def locked(name: str) -> Iterator[Lock]:
    """Hold the lock of a cluster.

    Raises:
        CommandError: another process holds it.
    """
    patience = time.monotonic() + 10
    while (lock := take_lock(name)) is None:
        process = holder(name)
        # A killed command's guardian holds the lock until it has cleaned up; and somebody may have
        # asked just now who holds it.
        known = isinstance(process, Identity)
        ending = process is None or (known and not process.alive)
        if ending and time.monotonic() < patience:
            time.sleep(0.05)
            continue
        raise CommandError(
            f"cluster '{name}' is in use{f' by process {process.pid}' if known else ''}; wait for "
            f"its end, or use a cluster of another name"
        )
    try:
        yield lock
    finally:
        lock.release()
