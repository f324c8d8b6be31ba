"""What the tests of the command share: starting it, and the MPIs of this machine."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from browser import find_browser
from forked_command import run_command
from installed_mpis import with_compilers

from sibyl.errors import CommandError
from sibyl.experiment.simulated import find_launcher
from sibyl.mpi.installation import Launcher, library_of_program

PROGRAMS = Path(__file__).parent / "programs"
ROOT = Path(__file__).parents[2]
OF_THE_PRELOAD = ROOT / "tests" / "preload" / "programs"
YIELD_WHEN_IDLE = Path(__file__).parents[1] / "support" / "yield_when_idle.c"

# A shell that starts the suite in the background has it ignore interrupts, and so all its children.
signal.signal(signal.SIGINT, signal.default_int_handler)


# Libfabric looks for networks in every MPI_Init of Open MPI, half of what a short program takes, to
# be left out where all ranks share a machine.
for layer in ("btl", "mtl"):
    os.environ.setdefault(f"OMPI_MCA_{layer}", "^ofi")

# Programs of two ranks are to be served, which would be the MPI library's on one node.
os.environ.setdefault("SIBYL_TEST_SERVE", "1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One process of several (`pytest -n 2 --dist loadgroup`) runs all that starts programs of an
    MPI, another all of the next; the rest, most of it plain Python, goes on beside them.
    """
    for item in items:
        if {"mpi", "python"} & set(getattr(item, "fixturenames", ())):
            parameters = getattr(item, "callspec", None)
            chosen = parameters.params.get("mpi") if parameters else None
            family = chosen.launcher.family if chosen else "any"
            item.add_marker(pytest.mark.xdist_group(f"mpi-{family}"))


@pytest.fixture(scope="session", autouse=True)
def yield_when_idle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """MPICH's waiting ranks yield, as Open MPI's do when it is told to."""
    compiler = shutil.which("cc")
    if compiler is None:
        yield
        return
    library = tmp_path_factory.mktemp("support") / "libyield-when-idle.so"
    words = [compiler, "-shared", "-fPIC", "-O2", "-o", library, YIELD_WHEN_IDLE, "-ldl"]
    subprocess.run(words, check=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(
            "LD_PRELOAD", str(library), prepend=":" if "LD_PRELOAD" in os.environ else None
        )
        yield


@pytest.fixture(scope="session", autouse=True)
def own_sessions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Open MPI 5's launchers start clear of what others have left; see preload/launching.py."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRTE_MCA_prte_tmpdir_base", str(tmp_path_factory.mktemp("sessions")))
        yield


@pytest.fixture(scope="session")
def browser() -> str:
    """The program of a browser that pages are opened in."""
    found = find_browser()
    if found is None:
        pytest.skip("no Chromium: install chromium-headless-shell, or set SIBYL_CHROMIUM")
    return found


@dataclass
class Sibyl:
    """Starts the command in a directory of its own."""

    directory: Path

    def __call__(self, *words: object, **options: object) -> subprocess.CompletedProcess[str]:
        return run_command(*words, cwd=self.directory, **options)


@pytest.fixture
def sibyl(tmp_path: Path) -> Sibyl:
    """The command, run in an empty directory."""
    return Sibyl(tmp_path)


@pytest.fixture
def simulated(sibyl: Sibyl, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Sibyl:
    """The command, with a journal of its own, where there is a simulated cluster."""
    try:
        find_launcher()
    except CommandError as error:
        pytest.skip(str(error))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return sibyl


def assert_usage_error(result: subprocess.CompletedProcess[str], *parts: str) -> None:
    """Bad input: exit code 2 and exactly one line on stderr, which holds all of `parts`."""
    assert result.returncode == 2, result
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("sibyl: ")
    for part in parts:
        assert part in lines[0]
    assert result.stdout == ""


@dataclass(frozen=True)
class Mpi:
    """An MPI of this machine that can compile."""

    launcher: Launcher
    wrapper: Path

    @property
    def option(self) -> str:
        """What `--mpi` takes to mean this MPI."""
        if self.launcher.path.name.endswith((".openmpi", ".mpich")):
            return self.launcher.path.suffix[1:]
        return str(self.launcher.path.parent.parent)


MPIS = [Mpi(launcher, wrapper) for launcher, wrapper in with_compilers()]


@pytest.fixture(
    scope="session",
    params=MPIS or [pytest.param(None, marks=pytest.mark.skip("no MPI with a compiler in PATH"))],
    ids=lambda mpi: f"{mpi.launcher.family}-{mpi.launcher.version}" if mpi else "none",
)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    """Each MPI of this machine in turn."""
    return request.param


def compiled(
    name: str, mpi: Mpi, directory: Path, *options: str, programs: Path = PROGRAMS
) -> Path:
    """programs/NAME.c, compiled for `mpi`."""
    program = directory / name
    source = programs / f"{name}.c"
    words = [mpi.wrapper, *options, source, "-o", program, f"-Wl,-rpath,{mpi_library_dir(mpi)}"]
    subprocess.run(words, check=True, env={**os.environ, "OMPI_MCA_btl": "self"})
    linked = library_of_program(program)
    assert linked is not None and linked[0] == mpi.launcher.flavour
    return program


@pytest.fixture(params=["openmpi", "mpich"])
def python(request: pytest.FixtureRequest) -> Path:
    """A Python with mpi4py of each MPI, as scripts/setup makes it for the tests."""
    path = ROOT / ".venv" / f"mpi4py-{request.param}" / "bin" / "python"
    if not path.is_file():
        pytest.skip(f"no mpi4py for {request.param}")
    return path


@pytest.fixture(scope="session")
def job(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """programs/job.c, compiled for `mpi`."""
    return compiled("job", mpi, tmp_path_factory.mktemp("job"))


@pytest.fixture(scope="session")
def reduction_order(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """programs/reduction_order.c, compiled for `mpi`."""
    return compiled("reduction_order", mpi, tmp_path_factory.mktemp("reduction_order"))


@pytest.fixture(scope="session")
def to_all(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """programs/to_all.c, compiled for `mpi`."""
    return compiled("to_all", mpi, tmp_path_factory.mktemp("to_all"))


def mpi_library_dir(mpi: Mpi) -> Path:
    """Where the MPI's libraries lie; MPIs from pip do not tell the loader."""
    from sibyl.mpi.installation import library_of_launcher

    library = library_of_launcher(mpi.launcher)
    assert library is not None, mpi
    return library.parent
