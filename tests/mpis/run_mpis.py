#!/usr/bin/env python3
"""Runs the preload's tests with every MPI that is here, and makes one table of what they show.

  run_mpis.py --library-dir DIR [--venv DIR] [--mpis FILE] [--page FILE] [--logs DIR] [-k TEXT]
              [--column TEXT]

A row is an MPI library, its interface and the network layer beneath it; a column some tests of
tests/preload, of real processes on this machine. --mpis names the MPIs of the build tree, one
"FLAVOUR MPICC MPIEXEC" a line (build/release/sibyl-mpis.txt), --venv holds the environments of
scripts/setup with PyPI's MPIs. With --page the table of the page is replaced. Closes with a line of
how many tests passed, failed and were skipped; exit status 1 where one failed or nothing ran.
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent / "preload" / "run_preload_tests.py"

# What a column shows: its title, and the tests that show it.
COLUMNS = {
    "C, served from the first call": ["EveryCollective.test_is_served_from_the_first_call"],
    "C, default settings": [
        "EveryCollective.test_is_counted_by_default",
        "CPrograms.test_results_are_the_same_and_all_are_served",
        "EveryonesResults.test_c",
    ],
    "Fortran: mpif.h, mpi, mpi_f08": [
        "FortranPrograms.test_mpifh",
        "FortranPrograms.test_use_mpi",
        "FortranPrograms.test_use_mpi_f08",
        "EveryonesResults.test_mpifh",
        "EveryonesResults.test_use_mpi",
        "EveryonesResults.test_use_mpi_f08",
    ],
    "mpi4py": ["PythonPrograms.test_mpi4py", "EveryonesResults.test_mpi4py"],
    "random calls": ["ReferenceFuzz.test_every_collective_under_the_preload_equals_the_reference"],
    "refused calls, sessions, end": [
        "AsWithoutSibyl.test_calls_that_one_rank_is_refused",
        "AsWithoutSibyl.test_sessions",
        "AsWithoutSibyl.test_collectives_in_callbacks_of_finalize",
    ],
    "no library that fits": ["Misfits.test_only_the_other_mpis_implementation_is_there"],
}
SKIPPED = "skipped: "
WRONG_ITSELF = "no: wrong without Sibyl"


@dataclass
class Mpi:
    """An MPI to run with.

    Attributes:
        flavour: as --mpi of the tests takes it.
        network: what carries the messages, also between ranks of one machine; "" where nothing is
            chosen, and memory that they share does.
        variables: of the environment.
        without: columns that are left out, since this MPI itself fails there.
    """

    flavour: str
    mpicc: Path
    mpiexec: Path
    network: str = ""
    mpifort: Path | None = None
    python: Path | None = None
    variables: dict[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()

    def environment(self) -> dict[str, str]:
        return {**os.environ, **self.variables}

    def version(self) -> str:
        """What a program of one process is told, up to a comma: "MPICH 5.0.2"."""
        source = (
            "#include <mpi.h>\n#include <stdio.h>\n"
            "int main(void) { char text[MPI_MAX_LIBRARY_VERSION_STRING]; int length;"
            " MPI_Get_library_version(text, &length); puts(text); return 0; }\n"
        )
        with tempfile.TemporaryDirectory() as place:
            program = Path(place) / "version"
            program.with_suffix(".c").write_text(source)
            command = [self.mpicc, program.with_suffix(".c"), "-o", program]
            subprocess.run(command, check=True, capture_output=True, env=self.environment())
            done = subprocess.run([program], capture_output=True, text=True, env=self.environment())
        text = re.split(r"[,\n]", done.stdout, maxsplit=1)[0]
        text = re.sub(r"Version:|\(R\)|Library| for Linux.*|(?<= )v(?=\d)", "", text)
        return re.sub(r"\s+", " ", text).strip() or "unknown"

    def title(self) -> str:
        interface = ", the standard's ABI" if self.flavour == "abi" else ""
        return self.version() + interface + (f", over {self.network}" if self.network else "")


def existing(path: Path) -> Path | None:
    return path if path.exists() else None


def of_build_tree(mpis: Path, venv: Path) -> list[Mpi]:
    found = []
    for line in mpis.read_text().splitlines() if mpis.exists() else ():
        flavour, mpicc, mpiexec = line.split()
        if flavour == "smpi":
            continue
        mpifort = existing(Path(mpicc.replace("mpicc", "mpifort")))
        python = existing(venv / f"mpi4py-{flavour}" / "bin" / "python")
        found.append(Mpi(flavour, Path(mpicc), Path(mpiexec), mpifort=mpifort, python=python))
    return found


def of_pypi(venv: Path, library_dir: Path) -> list[Mpi]:
    found = []

    def add(place: str, flavour: str, mpicc: str, **more) -> None:
        """An MPI in an environment, which may have mpi4py."""
        bin_directory = (venv / place / "bin").absolute()
        fits = (library_dir / f"libsibyl-{flavour}.so").exists()
        if fits and (bin_directory / mpicc).exists():
            mpi = Mpi(flavour, bin_directory / mpicc, bin_directory / "mpiexec", **more)
            if mpi.python is None and list((venv / place).glob("lib/*/site-packages/mpi4py")):
                mpi.python = bin_directory / "python"
            found.append(mpi)

    # Ranks of one machine would talk through memory that they share, so they are told apart.
    apart = {"MPIR_CVAR_NOLOCAL": "1"}
    over_ucx = {"network": "UCX", "variables": {"MPIR_CVAR_CH4_NETMOD": "ucx", **apart}}
    over_libfabric = {"network": "libfabric", "variables": {"MPIR_CVAR_CH4_NETMOD": "ofi", **apart}}
    abi_python = existing(venv / "mpi4py-abi" / "bin" / "python")
    add("newest-openmpi", "openmpi", "mpicc")
    for flavour, mpicc, python in (("mpich", "mpicc", None), ("abi", "mpicc_abi", abi_python)):
        add("newest-mpich", flavour, mpicc, network="shared memory", python=python)
        for over in (over_ucx, over_libfabric):
            # Most runs of 250 random calls end with a signal or an error there, without Sibyl too.
            add("newest-mpich", flavour, mpicc, python=python, without=("random calls",), **over)
    intel = venv / "newest-intel"
    # Neither its Fortran library nor the mpi4py of the standard's interface, which was built with
    # MPICH, says where the C library lies.
    library = str(intel.absolute() / "lib")
    variables = {"I_MPI_ROOT": str(intel.absolute()), "LD_LIBRARY_PATH": library}
    mpifort = existing(intel.absolute() / "bin" / "mpifc")
    for network, fabrics in (("shared memory", "shm"), ("libfabric", "ofi")):
        over = {"network": network, "variables": {**variables, "I_MPI_FABRICS": fabrics}}
        add("newest-intel", "mpich", "mpicc", mpifort=mpifort, **over)
        add("newest-intel", "abi", "mpicc_abi", python=abi_python, **over)
    return found


def complete_intel(venv: Path) -> None:
    """What PyPI's Intel MPI lacks.

    Its compiler wrapper takes the standard's interface by an option, where tests want a program of
    their own; and it looks for gfortran's modules a folder higher than where they are.
    """
    include = venv / "newest-intel" / "include"
    if (include / "mpi" / "gfortran").exists() and not (include / "gfortran").exists():
        (include / "gfortran").symlink_to("mpi/gfortran")
    directory = venv / "newest-intel" / "bin"
    for name in ("mpicc", "mpicxx"):
        wrapper = directory / f"{name}_abi"
        if (directory / name).exists():
            wrapper.write_text(f'#!/bin/sh\nexec "{directory.absolute()}/{name}" -mpi_abi "$@"\n')
            wrapper.chmod(0o755)


def run(mpi: Mpi, arguments: argparse.Namespace, log: Path) -> dict[str, str]:
    """What became of each test, by name."""
    with tempfile.TemporaryDirectory() as place:
        results = Path(place) / "results.json"
        command = [sys.executable, TESTS, "--mpi", mpi.flavour]
        command += ["--library-dir", arguments.library_dir, "--mpiexec", mpi.mpiexec]
        command += ["--mpicc", mpi.mpicc, "--results", results]
        for option, value in (("--mpifort", mpi.mpifort), ("--python", mpi.python)):
            command += [option, value] if value else []
        for column, tests in COLUMNS.items():
            if column not in mpi.without:
                command += [word for test in tests for word in ("-k", test)]
        with log.open("w") as file:
            environment = mpi.environment()
            subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, env=environment)
        outcomes = json.loads(results.read_text()) if results.exists() else {}
    found = {}
    for column, tests in COLUMNS.items():
        missing = f"{SKIPPED}{WRONG_ITSELF}" if column in mpi.without else "failed"
        found |= {test: outcomes.get(test, missing) for test in tests}
    return found


def cell(outcomes: list[str]) -> str:
    """ "yes", who failed, or why nothing ran."""
    failed = outcomes.count("failed")
    passed = outcomes.count("passed")
    if failed:
        return f"**{failed} of {len(outcomes)} failed**"
    if passed:
        return "yes" if passed == len(outcomes) else f"yes ({passed} of {len(outcomes)} tests)"
    why = outcomes[0].removeprefix(SKIPPED)
    return "no wrapper for Fortran" if why == "no --mpifort" else why


def table(rows: dict[str, dict[str, str]]) -> list[str]:
    lines = [
        "| MPI | " + " | ".join(COLUMNS) + " |",
        "|---" * (len(COLUMNS) + 1) + "|",
    ]
    for title, outcomes in rows.items():
        cells = [cell([outcomes[test] for test in tests]) for tests in COLUMNS.values()]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return lines


def write_page(page: Path, lines: list[str]) -> None:
    """Replaces what lies between two marks."""
    begin, end = "<!-- made by make test-mpis -->", "<!-- end of what it made -->"
    before, _, rest = page.read_text().partition(begin)
    _, _, after = rest.partition(end)
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    made = f"{today}, {os.cpu_count()} processors, {platform.system()} {platform.machine()}."
    page.write_text("\n".join([before + begin, "", made, "", *lines, "", end + after]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library-dir", type=Path, required=True)
    parser.add_argument("--venv", type=Path, default=Path(".venv"))
    parser.add_argument("--mpis", type=Path, default=Path("build/release/sibyl-mpis.txt"))
    parser.add_argument("--page", type=Path)
    parser.add_argument("--logs", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--jobs", type=int, default=2, help="MPIs at the same time")
    parser.add_argument("-k", action="append", help="only MPIs whose title contains this")
    parser.add_argument("--column", action="append", help="only columns whose title contains this")
    arguments = parser.parse_args()
    for title in list(COLUMNS) if arguments.column else ():
        if not any(text in title for text in arguments.column):
            del COLUMNS[title]
    complete_intel(arguments.venv)
    found = of_build_tree(arguments.mpis, arguments.venv)
    found += of_pypi(arguments.venv, arguments.library_dir)
    titled = {mpi.title(): mpi for mpi in found}
    if arguments.k:
        titled = {t: mpi for t, mpi in titled.items() if any(text in t for text in arguments.k)}
    arguments.logs.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        logs = [arguments.logs / f"mpis-{number}.log" for number in range(len(titled))]
        runs = pool.map(lambda mpi, log: run(mpi, arguments, log), titled.values(), logs)
        rows = dict(zip(titled, runs, strict=True))
    lines = table(rows)
    print("\n".join(lines))
    for (title, outcomes), log in zip(rows.items(), logs, strict=True):
        for test, outcome in outcomes.items():
            if outcome == "failed":
                print(f"{title}: {test} failed; see {log}")
    if arguments.page and not arguments.k:
        write_page(arguments.page, lines)
    every = [outcome for outcomes in rows.values() for outcome in outcomes.values()]
    passed, failed = every.count("passed"), every.count("failed")
    print(f"mpis: {passed} passed, {failed} failed, {len(every) - passed - failed} skipped")
    sys.exit(failed > 0 or passed == 0)


if __name__ == "__main__":
    main()
