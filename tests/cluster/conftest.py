"""What the tests of clusters share: starting the command, the MPIs here, and what must be gone."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from forked_command import COMMAND, run_command
from installed_mpis import with_compilers

from sibyl.cluster import network, state
from sibyl.cluster.processes import processes_in
from sibyl.cluster.state import NETNS
from sibyl.errors import CommandError
from sibyl.mpi.installation import Launcher, library_of_launcher

PROGRAMS = Path(__file__).parent / "programs"

# A shell that starts the suite in the background has it ignore interrupts, and so all its children.
signal.signal(signal.SIGINT, signal.default_int_handler)
PATIENCE = 20.0  # seconds for a job to start, or for its processes to end


def why_impossible() -> str | None:
    """Why no cluster can be made here; None if one can. What Sibyl builds has no part in it."""
    try:
        network.check_possible()
    except CommandError as error:
        return str(error)
    name = f"trial-{os.getpid()}"
    steps = (
        f"ip netns add {name}",
        f"ip -n {name} link add trial0 type veth peer name trial1",
        f"tc -n {name} qdisc add dev trial0 root tbf rate 1mbit burst 32kbit latency 400ms",
    )
    try:
        for step in steps:
            done = subprocess.run(step.split(), capture_output=True, text=True, check=False)
            if done.returncode != 0:
                return f"{step}: {done.stderr.strip()}"
    finally:
        subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
    return None


REASON = why_impossible()
needs_namespaces = pytest.mark.skipif(REASON is not None, reason=REASON or "")


def pytest_report_header() -> str | None:
    return f"no cluster is tested: {REASON}" if REASON else None


def sibyl(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    return run_command(*words, cwd=cwd, timeout=60)


def start(*words: object) -> subprocess.Popen[str]:
    """Start the command and leave it running."""
    return subprocess.Popen(
        [*COMMAND, *map(str, words)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


def wait_until(what: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    """Whether it comes true in time."""
    deadline = time.monotonic() + seconds
    while not what():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def namespaces_of(name: str) -> list[str]:
    """Namespaces that exist and belong to a cluster of that name, known or not."""
    return sorted(path.name for path in NETNS.glob(f"sibyl-{name}-*"))


def assert_nothing_left(name: str) -> None:
    """No namespace, no state and no lock of a cluster."""
    assert wait_until(lambda: not namespaces_of(name)), namespaces_of(name)
    assert wait_until(lambda: not list(state.directory().glob(f"*{name}*")))


def assert_idle(name: str) -> None:
    """The cluster is whole, free, and nothing runs in it."""
    cluster = state.existing(name)
    assert wait_until(lambda: not processes_in(cluster.namespaces))
    assert wait_until(lambda: state.holder(name) is None)


def assert_usage_error(result: subprocess.CompletedProcess[str], *parts: str) -> None:
    """Bad input: exit code 2 and exactly one line on stderr, which holds all of `parts`."""
    assert result.returncode == 2, result
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    for part in parts:
        assert part in lines[0]


@dataclass(frozen=True)
class Job:
    """programs/host.c, compiled for an MPI."""

    launcher: Launcher
    program: Path

    @property
    def mpi(self) -> str:
        """What `--mpi` takes to mean this MPI."""
        if self.launcher.path.suffix in (".openmpi", ".mpich"):
            return self.launcher.path.suffix[1:]
        return str(self.launcher.path.parent.parent)


MPIS = [each for each in with_compilers() if each[0].family != "intel"]


@pytest.fixture(
    scope="session",
    params=MPIS or [pytest.param(None, marks=pytest.mark.skip("no MPI with a compiler in PATH"))],
    ids=lambda mpi: f"{mpi[0].family}-{mpi[0].version}" if mpi else "none",
)
def job(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Job:
    """The program, under each MPI of this machine in turn."""
    launcher, wrapper = request.param
    program = tmp_path_factory.mktemp("job") / "host"
    library = library_of_launcher(launcher)
    assert library is not None
    words = [wrapper, PROGRAMS / "host.c", "-o", program, f"-Wl,-rpath,{library.parent}"]
    subprocess.run(words, check=True, env={**os.environ, "OMPI_MCA_btl": "self"})
    return Job(launcher, program)


@pytest.fixture(scope="session")
def three_hosts() -> Iterator[str]:
    """The name of a cluster of three hosts at 100 Mbit/s."""
    name = f"test-{os.getpid()}"
    result = sibyl("cluster", "up", "--hosts", 3, "--name", name)
    assert result.returncode == 0, result
    yield name
    sibyl("cluster", "down", "--name", name, "--force")
    assert_nothing_left(name)


@pytest.fixture
def name() -> Iterator[str]:
    """A name for a cluster that the test makes; removed afterwards."""
    chosen = f"own-{os.getpid()}"
    yield chosen
    sibyl("cluster", "down", "--name", chosen, "--force")
    assert_nothing_left(chosen)
