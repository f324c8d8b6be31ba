"""mpi4py's own tests of collectives, without and with the preload: the same outcome on every rank.

The tests come from mpi4py's source distribution, which pip fetches; nothing of it is kept in this
repository. Every rank's verdict on every test (ok, skipped, failed) must be the same in both runs,
and the reports that the library writes must show that Sibyl served calls.

    run_mpi4py_tests.py --python VENV/bin/python --mpiexec PATH --flavour openmpi|mpich
                        --library-dir DIR --work DIR [--ranks 1,2,3,5]

Closes with `mpi4py: N passed, N failed`, one for each test, rank and rank count; exit status 1 when
any failed, 2 when the tests could not be run. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VERSION = "4.1.2"
# What calls collectives, on communicators of all kinds, and what watches their errors.
MODULES = "test_cco_|test_comm$|test_comm_|test_op$|test_msgzero|test_errhandler|test_attributes"
VERDICT = re.compile(
    r"^(\w+) \(([\w.]+)\)(?:\n.*)?"
    r" \.\.\. (ok|skipped|FAIL|ERROR|expected failure)",
    re.MULTILINE,
)
ROOT = Path(__file__).resolve().parents[2]


class CannotRun(Exception):
    """The tests could not be run; the message says why."""


def fetch(python: Path, work: Path) -> Path:
    """The folder of mpi4py's tests, from its source distribution."""
    tests = work / f"mpi4py-{VERSION}" / "test"
    if tests.is_dir():
        return tests
    work.mkdir(parents=True, exist_ok=True)
    command = [
        python,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--no-binary",
        "mpi4py",
        f"mpi4py=={VERSION}",
        "-d",
        work,
    ]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if result.returncode != 0:
        raise CannotRun(f"pip could not download mpi4py's source:\n{result.stderr}")
    with tarfile.open(work / f"mpi4py-{VERSION}.tar.gz") as archive:
        archive.extractall(work, filter="data")
    return tests


def yielding(work: Path) -> Path:
    """A library that makes MPICH's waiting ranks yield (see its source)."""
    library = work / "libyield-when-idle.so"
    source = ROOT / "tests" / "support" / "yield_when_idle.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"], check=True)
    return library


def environment(args: argparse.Namespace, preload: list[Path], reports: Path | None) -> dict:
    env = dict(os.environ)
    for family in ("OMPI", "PRTE"):
        env[f"{family}_ALLOW_RUN_AS_ROOT"] = env[f"{family}_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    env["OMPI_MCA_rmaps_base_oversubscribe"] = "1"
    env["PRTE_MCA_rmaps_default_mapping_policy"] = ":oversubscribe"
    # Not beside what killed launchers have left; see tests/preload/launching.py.
    env["PRTE_MCA_prte_tmpdir_base"] = tempfile.mkdtemp(dir=args.work)
    env["OMPI_MCA_hwloc_base_binding_policy"] = env["PRTE_MCA_hwloc_default_binding_policy"] = (
        "none"
    )
    env["OMPI_MCA_mpi_yield_when_idle"] = "1"
    env["OMPI_MCA_btl_vader_single_copy_mechanism"] = "none"
    env["SIBYL_TEST_PRELOAD"] = " ".join(map(str, preload))
    if reports is not None:
        env["SIBYL_REPORT"] = str(reports)
    return env


def run(
    args: argparse.Namespace, tests: Path, ranks: int, preload: list[Path], reports: Path | None
) -> list[dict[str, str]]:
    """Verdicts per rank: test name to verdict."""
    logs = args.work / "logs"
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    # Every rank writes a log of its own; launchers would mix them. Only the rank has the preload.
    script = (
        "rank=${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-${PMI_RANK:-0}}}; "
        'exec env LD_PRELOAD="$SIBYL_TEST_PRELOAD" "$0" "$@" > "$SIBYL_TEST_LOGS/$rank" 2>&1'
    )
    command = [
        args.mpiexec,
        "-n",
        str(ranks),
        "bash",
        "-c",
        script,
        args.python,
        tests / "main.py",
        "-v",
        "-i",
        MODULES,
        "-e",
        "spawn|dynproc",
    ]
    env = environment(args, preload, reports) | {"SIBYL_TEST_LOGS": str(logs)}
    try:
        subprocess.run(
            command,
            env=env,
            timeout=args.timeout,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=args.work,
        )
    except subprocess.TimeoutExpired:
        print(f"mpi4py: no end after {args.timeout} s on {ranks} rank(s)")
    texts = [
        (logs / str(rank)).read_text() if (logs / str(rank)).exists() else ""
        for rank in range(ranks)
    ]
    return [{f"{m[2]}.{m[1]}": m[3] for m in VERDICT.finditer(text)} for text in texts]


def served_calls(reports: Path) -> int:
    entries = [
        entry
        for file in reports.glob("rank-*.json")
        for entry in json.loads(file.read_text())["entries"]
    ]
    return sum(entry["calls"] for entry in entries if entry["algorithm"] != "native")


def compare(args: argparse.Namespace, tests: Path, ranks: int) -> tuple[int, int]:
    """(passed, failed) of one rank count."""
    extra = [yielding(args.work)] if args.flavour == "mpich" else []
    reports = args.work / "reports"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir(parents=True)
    native = run(args, tests, ranks, extra, None)
    shim = args.library_dir / "libsibyl-preload.so"
    sibyl = run(args, tests, ranks, [shim, *extra], reports)
    passed = failed = 0
    for rank, (before, after) in enumerate(zip(native, sibyl, strict=True)):
        if len(before) < 100:
            raise CannotRun(f"rank {rank} of {ranks} ran only {len(before)} tests without Sibyl")
        for test, verdict in before.items():
            if after.get(test) == verdict:
                passed += 1
                continue
            failed += 1
            print(
                f"{ranks} rank(s), rank {rank}: {test}: {verdict} without Sibyl, "
                f"{after.get(test, 'no verdict')} with it"
            )
    calls = served_calls(reports)
    if calls == 0:
        print(f"{ranks} rank(s): Sibyl served no call")
        failed += 1
    print(
        f"{args.flavour}, {ranks} rank(s): {passed} verdicts equal, {failed} not; "
        f"{calls} calls served by Sibyl",
        flush=True,
    )
    return passed, failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", required=True)
    parser.add_argument("--mpiexec", required=True)
    parser.add_argument("--flavour", required=True, choices=("openmpi", "mpich"))
    parser.add_argument("--library-dir", required=True, type=lambda p: Path(p).resolve())
    parser.add_argument("--work", required=True, type=lambda p: Path(p).resolve())
    parser.add_argument("--ranks", default="1,2,3,5")
    parser.add_argument("--timeout", type=int, default=600)
    args = parser.parse_args()
    try:
        tests = fetch(args.python, args.work)
        counts = [compare(args, tests, int(n)) for n in args.ranks.split(",")]
    except CannotRun as error:
        print(f"mpi4py: {error}")
        return 2
    passed, failed = (sum(column) for column in zip(*counts, strict=True))
    print(f"mpi4py: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
