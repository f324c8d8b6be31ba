"""Programs run on the hosts of a cluster over its links, and nothing of them stays."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from conftest import (
    PROGRAMS,
    Job,
    assert_idle,
    assert_usage_error,
    needs_namespaces,
    sibyl,
    start,
    wait_until,
)

from sibyl.cluster import state
from sibyl.cluster.processes import processes_in
from sibyl.cluster.state import NETNS

pytestmark = needs_namespaces


def hosts(name: str, *numbers: int) -> list[str]:
    return [f"sibyl-{name}-{number}" for number in numbers]


def run_words(name: str, job: Job, *more: object) -> list[object]:
    return ["cluster", "run", "--name", name, "--mpi", job.mpi, *more]


def test_each_rank_has_a_host_of_its_own(three_hosts: str, job: Job) -> None:
    result = sibyl(*run_words(three_hosts, job, "--native"), "--", job.program, "where")
    assert result.returncode == 0, result
    assert result.stdout.split() == hosts(three_hosts, 0, 1, 2)
    assert_idle(three_hosts)


def test_a_rank_cannot_change_the_machine(three_hosts: str, job: Job) -> None:
    """It has lost root's rights over networks, namespaces, devices and the kernel, for good."""
    status = ["grep", "-E", "^(CapEff|CapPrm|CapInh|CapBnd|NoNewPrivs)", "/proc/self/status"]
    result = sibyl(*run_words(three_hosts, job, "--native", "-n", 1), "--", *status)
    assert result.returncode == 0, result
    found = dict(line.split() for line in result.stdout.splitlines())
    net_admin, sys_module, sys_rawio, sys_admin, sys_time, mknod = 12, 16, 17, 21, 25, 27
    for which in ("CapEff:", "CapPrm:", "CapInh:", "CapBnd:"):
        rights = int(found[which], 16)
        for right in (net_admin, sys_module, sys_rawio, sys_admin, sys_time, mknod):
            assert not rights >> right & 1, (which, right, found)
    assert found["NoNewPrivs:"] == "1"


def test_temporary_files_from_which_no_daemon_starts_are_told(
    three_hosts: str, job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a b", "a:b"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv("TMPDIR", str(tmp_path / name))
        result = sibyl(*run_words(three_hosts, job, "--native"), "--", job.program, "where")
        assert_usage_error(result, "set TMPDIR to a directory without blanks and colons")
        assert not [*(tmp_path / name).iterdir()]
    assert_idle(three_hosts)


@pytest.mark.suite
def test_ranks_that_wait_sleep_unless_they_are_to_spin(three_hosts: str, job: Job) -> None:
    words = run_words(three_hosts, job, "--native", "-n", 1)
    shown = ["--", "sh", "-c", 'echo "${LD_PRELOAD:-nothing}" "${CLUSTER_IDLE:-nothing}"']
    asleep = sibyl(*words, *shown)
    assert asleep.returncode == 0, asleep
    assert "libsibyl-cluster-idle.so" in asleep.stdout
    assert asleep.stdout.split()[-1] == "sleep"
    spinning = sibyl(*words, "--waiting", "spin", *shown)
    assert spinning.returncode == 0, spinning
    assert "libsibyl-cluster-idle.so" not in spinning.stdout
    assert spinning.stdout.split()[-1] == "nothing"
    assert_usage_error(sibyl(*words, "--waiting", "doze", *shown), "--waiting")


@pytest.mark.parametrize(
    ("prefix", "address"),
    [
        ("../../root", "10.64.0.1"),
        ("other-x", "10.64.0.1"),
        ("sibyl-$(touch x)", "10.64.0.1"),
        ("sibyl-x", "10.64.0.1;touch x"),
        ("sibyl-x", "$(touch x)"),
        ("sibyl-x", "localhost"),
        ("", ""),
    ],
)
def test_the_agent_enters_no_namespace_but_a_cluster_s(
    tmp_path: Path, prefix: str, address: str
) -> None:
    agent = Path(state.__file__).parent / "agent.sh"
    words = ["sh", agent, prefix, address, "touch", "entered"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done
    assert list(tmp_path.iterdir()) == []


def test_without_setpriv_nothing_runs_with_root_s_rights(three_hosts: str, tmp_path: Path) -> None:
    agent = Path(state.__file__).parent / "agent.sh"
    words = ["sh", agent, f"sibyl-{three_hosts}", "10.64.0.1", "touch", tmp_path / "ran"]
    for name in ("nsenter", "unshare", "sh", "touch", "true"):
        (tmp_path / name).symlink_to(shutil.which(name) or "")
    path = {"PATH": str(tmp_path)}
    refused = subprocess.run(words, env=path, capture_output=True, text=True, check=False)
    assert_usage_error(refused, "apt install util-linux")
    assert not (tmp_path / "ran").exists()
    (tmp_path / "setpriv").symlink_to(shutil.which("setpriv") or "")
    allowed = subprocess.run(words, env=path, capture_output=True, text=True, check=False)
    assert allowed.returncode == 0, allowed
    assert (tmp_path / "ran").exists()


def test_hosts_are_filled_one_after_the_other(three_hosts: str, job: Job) -> None:
    words = run_words(three_hosts, job, "--native", "--ranks-per-host", 2, "-n", 5)
    result = sibyl(*words, "--", job.program, "where")
    assert result.stdout.split() == hosts(three_hosts, 0, 0, 1, 1, 2), result


def test_sibyl_serves_all_ranks(three_hosts: str, job: Job, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    words = run_words(three_hosts, job, "--set", "exscan=123-doubling", "--report", report)
    result = sibyl(*words, "--", job.program, "where")
    assert result.returncode == 0, result
    written = json.loads(report.read_text())
    assert written["ranks_reported"] == 3
    assert "123-doubling" in {entry["algorithm"] for entry in written["entries"]}
    assert "123-doubling" in result.stderr


@pytest.mark.parametrize("flavour", ["openmpi", "mpich"])
def test_sibyl_serves_all_ranks_of_the_newest_mpis(
    three_hosts: str, flavour: str, tmp_path: Path
) -> None:
    """Open MPI 5 leaves on each host what its ranks have published, the preload's mark too."""
    mpi = Path(sys.prefix) / f"newest-{flavour}"
    if not (mpi / "bin" / "mpicc").exists():
        pytest.skip("the newest MPIs are not set up; make test-all does that")
    program, report = tmp_path / "host", tmp_path / "report.json"
    source = PROGRAMS / "host.c"
    subprocess.run([mpi / "bin" / "mpicc", "-o", program, source], check=True, timeout=60)
    words = ("cluster", "run", "--name", three_hosts, "--mpi", mpi, "--report", report)
    result = sibyl(*words, "--set", "exscan=123-doubling", "--", program, "where")
    assert result.returncode == 0, result
    written = json.loads(report.read_text())
    assert written["ranks_reported"] == 3
    assert "123-doubling" in {entry["algorithm"] for entry in written["entries"]}


@pytest.mark.parametrize("flavour", ["openmpi", "mpich"])
def test_python_runs_there_without_sibyl(three_hosts: str, flavour: str) -> None:
    """It loads MPI for a module alone, and what is preloaded for MPICH's end must find it."""
    python = Path(sys.prefix) / f"mpi4py-{flavour}" / "bin" / "python"
    if not python.exists():
        pytest.skip(f"no mpi4py for {flavour}")
    text = "from mpi4py import MPI; print(MPI.COMM_WORLD.allreduce(2))"
    words = ("cluster", "run", "--name", three_hosts, "--mpi", flavour, "--native")
    result = sibyl(*words, "--", python, "-c", text)
    assert result.returncode == 0, result
    # Lines of several ranks may come mixed.
    assert "".join(result.stdout.split()) == "6" * 3


def test_the_exit_code_is_the_program_s(three_hosts: str, job: Job) -> None:
    words = run_words(three_hosts, job, "--native", "-n", 2)
    assert sibyl(*words, "--", job.program, "exit", 7).returncode == 7


def test_messages_take_the_shaped_link(name: str, job: Job) -> None:
    sibyl("cluster", "up", "--hosts", 2, "--rate", "20mbit", "--name", name)
    words = run_words(name, job, "--native")
    result = sibyl(*words, "--", job.program, "time", 1_000_000)
    assert result.returncode == 0, result
    # 0.4 s on the wire, and the links' buckets hold 16 kB; a busy machine may take longer.
    assert float(result.stdout) > 0.38


@pytest.mark.suite
def test_two_clusters_run_side_by_side(three_hosts: str, name: str, job: Job) -> None:
    sibyl("cluster", "up", "--hosts", 2, "--name", name)
    first, second = state.existing(three_hosts), state.existing(name)
    assert first.network != second.network
    processes = [
        start(*run_words(cluster, job, "--native"), "--", job.program, "where")
        for cluster in (three_hosts, name)
    ]
    outputs = [process.communicate(timeout=60)[0].split() for process in processes]
    assert outputs == [hosts(three_hosts, 0, 1, 2), hosts(name, 0, 1)]
    assert sibyl("cluster", "down", "--name", name).returncode == 0
    assert_idle(three_hosts)


@pytest.mark.parametrize(
    "victim", ["interrupt", "terminate", "kill", "kill group", "kill rank", "kill launcher"]
)
def test_nothing_of_an_ended_run_stays(
    three_hosts: str, job: Job, tmp_path: Path, victim: str
) -> None:
    process = start(*run_words(three_hosts, job, "--native"), "--", job.program, "sleep", tmp_path)
    try:
        assert wait_until(lambda: len(list(tmp_path.iterdir())) == 3)
        cluster = state.existing(three_hosts)
        if victim == "interrupt":
            os.kill(process.pid, signal.SIGINT)
        elif victim == "terminate":
            os.kill(process.pid, signal.SIGTERM)
        elif victim == "kill":
            os.kill(process.pid, signal.SIGKILL)
        elif victim == "kill group":
            os.killpg(process.pid, signal.SIGKILL)
        elif victim == "kill rank":
            rank = next(path.name for path in tmp_path.iterdir() if path.name.startswith("1-"))
            os.kill(int(rank.partition("-")[2]), signal.SIGKILL)
        else:
            launchers = processes_in([cluster.switch])
            assert launchers
            for launcher in launchers:
                os.kill(launcher, signal.SIGKILL)
        process.communicate(timeout=20)
        assert process.returncode != 0
        assert_idle(three_hosts)
        agents = Path(tempfile.gettempdir()).glob("sibyl-cluster-*/agent")
        assert not [path for path in agents if cluster.prefix in path.read_text()]
    finally:
        if process.poll() is None:
            process.kill()


@pytest.mark.suite
def test_one_run_at_a_time_and_down_waits_for_force(
    three_hosts: str, name: str, job: Job, tmp_path: Path
) -> None:
    sibyl("cluster", "up", "--hosts", 2, "--name", name)
    process = start(*run_words(name, job, "--native"), "--", job.program, "sleep", tmp_path)
    assert wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
    busy = f"in use by process {process.pid}"
    for words in (["run", "--", job.program], ["down"], ["up", "--hosts", 3]):
        verb, *rest = words
        assert_usage_error(sibyl("cluster", verb, "--name", name, *rest), busy)
    assert busy in sibyl("cluster", "status").stdout
    status = json.loads(sibyl("cluster", "status", "--json").stdout)
    mine = next(each for each in status if each["name"] == name)
    assert (mine["condition"], mine["process"], mine["hosts"]) == ("in use", process.pid, 2)
    assert sibyl("cluster", "down", "--name", name, "--force").returncode == 0
    process.communicate(timeout=20)


def test_too_many_ranks_are_refused(three_hosts: str, job: Job) -> None:
    result = sibyl(*run_words(three_hosts, job, "-n", 4), "--", job.program)
    assert_usage_error(result, "room for 3 ranks", "--ranks-per-host")


def test_processes_that_entered_by_hand_do_not_disturb_a_run(three_hosts: str, job: Job) -> None:
    path = NETNS / f"sibyl-{three_hosts}-1"
    sleeper = subprocess.Popen(["nsenter", f"--net={path}", "sleep", "60"])
    result = sibyl(*run_words(three_hosts, job, "--native"), "--", job.program, "where")
    assert result.returncode == 0
    assert sleeper.wait(5) != 0


def test_clocks_of_hosts_on_one_machine_do_not_differ(three_hosts: str, job: Job) -> None:
    """The hosts read one clock without knowing it: what the library finds between them must be 0
    within the error that it states."""
    build = Path(os.environ.get("SIBYL_LIBRARY_DIR", ".")).parent
    program = build / "bin" / f"test_communicator-{job.launcher.flavour}"
    built_for = build / "sibyl-mpis.txt"
    words = built_for.read_text().split() if built_for.exists() else []
    if not program.exists() or str(job.launcher.path) not in words:
        pytest.skip("the library's own tests were not built for this MPI")
    result = sibyl(
        *run_words(three_hosts, job, "--native"), "--", program, "--gtest_filter=CommonClock.*"
    )
    assert result.returncode == 0, result
    assert "[  PASSED  ]" in result.stdout
