"""The governor on links that become slower while a program runs."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Job, needs_namespaces, sibyl, start, wait_until

from sibyl.cluster import network, state

pytestmark = needs_namespaces
BYTES = 65536
CALLS = 600  # long enough for a watch in the second half, however slow the machine
FAST, SLOW = 100_000_000, 20_000_000  # bit/s


def seconds_on_the_wire(rate: int) -> float:
    """Of one vector."""
    return BYTES * 8 / rate


@pytest.mark.suite
def test_arms_are_compared_again_on_slower_links(name: str, job: Job, tmp_path: Path) -> None:
    """What a trial found on the old links is not what serves on the new ones.

    A chain beats both libraries' trees on three hosts whatever the links: the call that is watched.
    """
    words = ["cluster", "up", "--hosts", 3, "--name", name, "--rate", f"{FAST // 1_000_000}mbit"]
    assert sibyl(*words).returncode == 0
    half, report = tmp_path / "half", tmp_path / "report.json"
    words = ["cluster", "run", "--name", name, "--mpi", job.mpi, "--report", report]
    running = start(*words, "--", job.program, "halves", half, BYTES, CALLS)
    assert wait_until(half.exists, seconds=60)
    network.shape(replace(state.existing(name), rate=SLOW))
    half.unlink()
    assert running.wait(timeout=120) == 0  # all vectors came as they were sent
    sites = json.loads(report.read_text())["governed"]
    (site,) = [site for site in sites if site["collective"] == "bcast"]
    assert site["calls"] >= CALLS / 2
    # As the last trial has found them: on the old links two vectors take less than one does now.
    assert seconds_on_the_wire(SLOW) > 2 * seconds_on_the_wire(FAST)
    costs = {arm: site[f"{arm}_seconds"] for arm in ("own", "native", "challenger")}
    now = {arm: cost for arm, cost in costs.items() if cost > seconds_on_the_wire(SLOW)}
    assert {"native", site["verdict"]} <= now.keys(), site
    others = [arm for arm in now if arm != site["verdict"]]
    if site["verdict"] != "native":  # what the library was held against in the trial on these links
        others = ["native"]
    assert any(now[site["verdict"]] <= 1.1 * now[other] for other in others), site
