"""`examples/demo`: what a newcomer sees, on a cluster and where none can be made."""

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Job, needs_namespaces

from sibyl.errors import CommandError
from sibyl.mpi.library import find_benchmark

ROOT = Path(__file__).resolve().parents[2]
# Stands for the command, and has no clusters.
WITHOUT_CLUSTERS = """#!/bin/sh
[ "$1" = cluster ] && { echo 'sibyl: no namespaces here' >&2; exit 2; }
exec %s -m sibyl "$@"
"""


def run_demo(job: Job, out: Path, *lines: str) -> str:
    """What it prints of three steps of this MPI's C program."""
    try:
        build = find_benchmark(job.launcher.flavour).parents[1]
    except CommandError as error:
        pytest.skip(str(error))
    code = [
        "import sys",
        f"sys.path.insert(0, {str(ROOT / 'examples' / 'demo')!r})",
        "import demo",
        "all_programs = demo.programs",
        f"demo.programs = lambda build, _: [p for p in all_programs(build, demo.Path({str(out)!r}))"
        f" if (p.name, p.mpi) == ('C', {job.launcher.flavour!r})]",
        *lines,
        f"sys.argv[1:] = ['--build', {str(build)!r}, '--steps', '3']",
        "sys.exit(demo.main())",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(code)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def check(said: str, job: Job, where: str) -> str:
    """The table, the headline of the profile, its page and what was not helped with; the page."""
    assert where in said
    (row,) = (line for line in said.splitlines() if f"C, {job.launcher.flavour}" in line)
    _, _, native, ours, ratio, bound, results, _ = (cell.strip() for cell in row.split("│"))
    seconds = [float(text.removesuffix(" s")) for text in (native, ours, bound)]
    assert seconds[2] > 3 * 0.18 or "this machine" in where
    assert min(seconds[:2]) > seconds[2] - 0.05
    assert float(ratio) == pytest.approx(seconds[1] / seconds[0], abs=0.1)
    assert results == "equal"
    assert "Late ranks cost " in said
    assert "; rank 3 alone " in said
    assert "\nNot helped: the 0.5 s by which rank 3 comes late are still waited for" in said
    (page,) = (line for line in said.splitlines() if line.startswith("Its page: "))
    return Path(page.removeprefix("Its page: ")).read_text()


@pytest.mark.suite
@needs_namespaces
def test_on_a_cluster_its_profile_is_of_the_cluster(job: Job, tmp_path: Path) -> None:
    page = check(run_demo(job, tmp_path), job, "On 8 hosts, 100 Mbit/s:")
    assert "imbalanced.c:" in page
    assert "8 ranks on 8 hosts" in page


@pytest.mark.suite
def test_on_this_machine_where_there_can_be_no_cluster(job: Job, tmp_path: Path) -> None:
    if job.launcher.flavour != "openmpi":
        pytest.skip("alike under each MPI")
    command = tmp_path / "sibyl"
    command.write_text(WITHOUT_CLUSTERS % sys.executable)
    command.chmod(0o755)
    said = run_demo(job, tmp_path, f"demo.SIBYL = {str(command)!r}")
    assert "demo: no cluster: sibyl: no namespaces here" in said
    assert "imbalanced.c:" in check(said, job, "On this machine:")
