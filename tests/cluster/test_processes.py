"""Processes of clusters are found by their namespace; nobody else's are ever touched."""

import os
import subprocess
from pathlib import Path

import pytest
from conftest import needs_namespaces, sibyl

from sibyl.cluster import processes
from sibyl.cluster.processes import end_processes, processes_in


@pytest.mark.parametrize("whose", ["self", "1"])
def test_the_machine_s_own_namespace_is_never_a_cluster_s(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, whose: str
) -> None:
    monkeypatch.setattr(processes, "NETNS", tmp_path)
    (tmp_path / "sibyl-x-0").symlink_to(f"/proc/{whose}/ns/net")
    try:
        assert (tmp_path / "sibyl-x-0").stat().st_ino > 0
    except PermissionError:
        pytest.skip("the kernel does not say in which namespace process 1 is")
    assert processes_in(["sibyl-x-0"]) == []
    assert end_processes(["sibyl-x-0"]) == 0  # and we are still here


def test_a_name_that_leads_nowhere_finds_nobody(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(processes, "NETNS", tmp_path)
    assert processes_in(["sibyl-x-0"]) == []


@needs_namespaces
def test_a_process_in_a_cluster_is_found_and_ended(name: str) -> None:
    assert sibyl("cluster", "up", "--hosts", 1, "--name", name).returncode == 0
    host = f"sibyl-{name}-0"
    sleeper = subprocess.Popen(["nsenter", f"--net={processes.NETNS / host}", "sleep", "60"])
    try:
        while processes_in([host]) != [sleeper.pid]:
            assert sleeper.poll() is None
        assert os.getpid() not in processes_in([host])
        assert end_processes([host]) == 1
        assert sleeper.wait(5) != 0
    finally:
        sleeper.kill()
        sleeper.wait()
