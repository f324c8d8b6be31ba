"""Find Sibyl's own libraries: the preload shim and the implementations for each flavour of MPI."""

import json
import os
import sys
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote, urlparse

from sibyl._core import __version__
from sibyl.errors import CommandError
from sibyl.paths import is_cut, is_file, why_absent

SHIM = "libsibyl-preload.so"
RECORDER = "libsibyl-profile.so"


def _checkout() -> Path | None:
    """The checkout that this package was installed from (`pip install .`), if it is still there."""
    try:
        text = metadata.distribution("sibyl-mpi").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return None
    url = urlparse(json.loads(text)["url"]) if text else None
    return Path(unquote(url.path)) if url and url.scheme == "file" else None


def library_directories() -> list[Path]:
    """Where the libraries may lie, in the order in which they are looked for.

    SIBYL_LIBRARY_DIR, the package itself, the build of the checkout, this Python's own prefix (as
    in a conda environment), the system's directories.
    """
    places = []
    chosen = os.environ.get("SIBYL_LIBRARY_DIR")
    if chosen:
        places.append(Path(chosen))
    places.append(Path(__file__).parent.parent / "lib")
    checkout = _checkout()
    if checkout is not None:
        places.append(checkout / "build" / "release" / "lib")
    places.append(Path(sys.prefix) / "lib")
    for prefix in ("/usr/local", "/usr"):
        places.append(Path(prefix) / "lib")
        places.append(Path(prefix) / "lib64")
        places += sorted(Path(prefix, "lib").glob("*-linux-gnu*"))
    return places


def find_shim() -> Path:
    """The preload shim.

    Raises:
        CommandError: it is in none of library_directories(), or SIBYL_LIBRARY_DIR lacks it.
    """
    return _find_library(SHIM)


def find_recorder() -> Path:
    """The library that records what `sibyl profile` reads; raises as find_shim does."""
    return _find_library(RECORDER)


def preload_list(*libraries: Path | str) -> str:
    """The value of LD_PRELOAD that loads these libraries, the first one first.

    Args:
        libraries: Sibyl's own as paths, others as the environment names them; empty ones are
            left out.

    Raises:
        CommandError: the loader would split the path of one of Sibyl's own, and load nothing.
    """
    for library in libraries:
        if isinstance(library, Path):
            check_preloadable(library)
    return ":".join(str(library) for library in libraries if str(library))


def check_preloadable(library: Path) -> Path:
    """Return `library` if LD_PRELOAD can name it.

    Raises:
        CommandError: the loader would split its path; with one line that says how to mend it.
    """
    if is_cut(library):
        raise CommandError(
            f"{library}: blanks and colons part the names in LD_PRELOAD, so that the loader would "
            f"not find it; move Sibyl, or link {library.parent} under a path without them and set "
            f"SIBYL_LIBRARY_DIR to the link"
        )
    return library


def _find_library(name: str) -> Path:
    chosen = os.environ.get("SIBYL_LIBRARY_DIR")
    if chosen and not is_file(Path(chosen) / name):
        why = why_absent(Path(chosen) / name, f"{name} is not there")
        raise CommandError(
            f"SIBYL_LIBRARY_DIR is {chosen}, but {why}; build it with: make, or unset "
            f"SIBYL_LIBRARY_DIR"
        )
    for directory in library_directories():
        if is_file(directory / name):
            return (directory / name).absolute()
    raise CommandError(
        f"{name} was not found; build it with: make, then set SIBYL_LIBRARY_DIR to build/release/"
        f"lib, or install Sibyl again where an MPI compiler (mpicc) is in PATH"
    )


def implementation_name(flavour: str) -> str:
    """The file of a flavour's implementation, by which the shim finds it."""
    return f"libsibyl-{flavour}.so.{__version__.split('.')[0]}"


def find_implementation(shim: Path, flavour: str) -> Path:
    """The implementation that the shim would load for a flavour of MPI.

    Raises:
        CommandError: it does not lie beside the shim.
    """
    directory = Path(os.environ.get("SIBYL_LIBRARY_DIR") or shim.parent)
    path = directory / implementation_name(flavour)
    if not is_file(path):
        how = {
            "openmpi": "apt install libopenmpi-dev",
            "mpich": "apt install libmpich-dev",
            "abi": "mpicc_abi, as with: pip install mpich",
        }[flavour]
        raise CommandError(
            f"{path} is missing: Sibyl was built without this MPI's compiler; install it ({how}), "
            f"then build again with: make"
        )
    return path


def find_own_program(name: str, flavour: str) -> Path:
    """A program that comes with Sibyl, once for each flavour of MPI: <name>-<flavour>.

    It lies in `bin` beside the `lib` of the libraries.

    Raises:
        CommandError: there is none.
    """
    file = f"{name}-{flavour}"
    for directory in library_directories():
        for place in (directory.parent / "bin", directory):
            if is_file(place / file):
                return (place / file).absolute()
    raise CommandError(
        f"{file} was not found; build it with: make, or install Sibyl again from its sources where "
        f"the compiler of this MPI (mpicc) is in PATH, with CLI11, fmt and nlohmann-json"
    )


def find_benchmark(flavour: str) -> Path:
    """The MPI program of `sibyl bench` for a flavour of MPI."""
    return find_own_program("sibyl-bench", flavour)
