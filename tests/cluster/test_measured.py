"""`sibyl bench --on cluster`: checked before it measures, and gone afterwards, killed or not."""

import json
import os
import signal
from pathlib import Path

import pytest
from conftest import Job, needs_namespaces, sibyl, start, wait_until
from installed_mpis import benchmark_of

from sibyl.cluster.state import NETNS

pytestmark = needs_namespaces
GATHER = ["bench", "gather", "--on", "cluster", "-n", 3, "--algorithms", "native", "--size", "64K"]


def namespaces() -> set[str]:
    """Of all benchmarks' clusters."""
    return {path.name for path in NETNS.glob("sibyl-bench-*")}


@pytest.fixture
def bench(job: Job, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[object]:
    """The words of a measurement under each MPI that there is a benchmark for."""
    benchmark_of(job.launcher)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return [*GATHER, "--mpi", job.mpi]


def test_a_measurement_is_checked_before_and_leaves_nothing(
    bench: list[object], tmp_path: Path
) -> None:
    before = namespaces()
    path = tmp_path / "a.json"
    result = sibyl(*bench, "--iterations", 2, "--warm-up", 0, "--json", path)
    assert result.returncode == 0, result
    (cell,) = json.loads(path.read_text())["cells"]
    assert cell["job"]["cluster_check"]["hosts"] == 3
    assert cell["job"]["ranks"] == 3
    assert cell["job"]["beta_s_per_byte"] == pytest.approx(8e-8)
    assert namespaces() <= before


@pytest.mark.suite
def test_hosts_of_several_ranks(bench: list[object], tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    words = ["-n", 4, "--ranks-per-node", 2, "--iterations", 2, "--warm-up", 0, "--json", path]
    result = sibyl(*bench, *words, "--algorithms", "auto", "--pattern", "flat")
    assert result.returncode == 0, result
    (cell,) = json.loads(path.read_text())["cells"]
    assert cell["job"]["cluster_check"]["hosts"] == 2
    assert cell["job"]["ranks"] == 4
    assert cell["job"]["ranks_per_host"] == 2
    crossing = 64 * 1024 / 2 * 8e-8 + cell["job"]["alpha_s"]
    samples = cell["samples"]["auto"]
    for bound, spread in zip(samples["bound_s"], samples["spread_s"], strict=True):
        assert crossing - 1e-9 <= bound <= crossing + spread + 1e-9


@pytest.mark.suite
def test_open_mpi_s_components_for_nodes_are_rivals(
    bench: list[object], job: Job, tmp_path: Path
) -> None:
    if job.launcher.family != "openmpi":
        pytest.skip("components are Open MPI's")
    path = tmp_path / "a.json"
    words = ["-n", 4, "--ranks-per-node", 2, "--iterations", 2, "--warm-up", 0, "--json", path]
    result = sibyl(*bench, *words, "--algorithms", "native,native:han")
    assert result.returncode == 0, result
    (cell,) = json.loads(path.read_text())["cells"]
    assert sorted(cell["samples"]) == ["native", "native:han"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_measurement_leaves_nothing(
    bench: list[object], number: signal.Signals, tmp_path: Path
) -> None:
    before = namespaces()
    process = start(*bench, "--iterations", 1000, "--json", tmp_path / "a.json")
    try:
        assert wait_until(lambda: len(namespaces() - before) >= 3)
    finally:
        os.kill(process.pid, number)
    process.wait(timeout=60)
    assert wait_until(lambda: namespaces() <= before, 40), namespaces()
    assert not (tmp_path / "a.json").exists()
