"""`sibyl verify` proves plans, says what it has proven, and can be interrupted."""

import json
import os
import re
import resource
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import Sibyl
from forked_command import COMMAND

import sibyl as package


@pytest.mark.parametrize("collective", package.collectives())
def test_every_algorithm_of_a_collective_is_proven(sibyl: Sibyl, collective: str) -> None:
    result = sibyl("verify", collective, "--ranks", "1..20")
    assert result.returncode == 0, result
    lines = result.stdout.splitlines()
    names = [row.name for row in package.algorithms(collective)]
    assert len(lines) == len(names)
    for line, name in zip(lines, names, strict=True):
        assert re.match(
            rf"{collective} {re.escape(name)}: \d+ plans proven \(1\.\.20 ranks\), \d+ steps", line
        ), line
    assert result.stderr == ""


def test_all_roots_are_more_plans_than_a_sample(sibyl: Sibyl) -> None:
    def plans(roots: str) -> int:
        words = ["verify", "gather", "--algorithm", "binomial", "--ranks", 40, "--roots", roots]
        match = re.search(r"(\d+) plans proven", sibyl(*words).stdout)
        assert match
        return int(match.group(1))

    assert plans("all") == 5 * plans("sample")


def test_one_algorithm_can_be_chosen(sibyl: Sibyl) -> None:
    result = sibyl("verify", "exscan", "--algorithm", "hybrid", "--ranks", "5..9")
    assert result.stdout.startswith("exscan hybrid: 10 plans proven (5..9 ranks)")
    assert len(result.stdout.splitlines()) == 1


def test_nodes_of_every_placement_and_several_lanes_are_proven(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from sibyl.commands.verify import verify_plans

    seen: dict[int, set[tuple[object, ...]]] = {}
    real = package.prove

    def prove(collective: str, algorithm: str, ranks: int, **request: Any) -> int:
        nodes = request.get("nodes")
        lies = "anyhow"
        if nodes is None:
            lies = f"{request.get('ranks_per_node', 1)} a node"
        elif nodes == [rank % (max(nodes) + 1) for rank in range(ranks)]:
            lies = "cyclic"
        seen.setdefault(ranks, set()).add((lies, request["lanes"]))
        return real(collective, algorithm, ranks, **request)

    monkeypatch.setattr(package, "prove", prove)
    assert verify_plans("allreduce", "two-level", "13..19", "sample") == 0
    ways = ("4 a node", "cyclic", "anyhow")
    several = {(lies, lanes) for lies in ways for lanes in (1, 2, 3)}
    assert seen[13] == several | {("1 a node", 1)}
    assert seen[17] | seen[18] | seen[19] == seen[13]
    seen.clear()
    assert verify_plans("gather", "two-level", "9", "sample") == 0
    assert seen[9] == {(lies, 1) for lies in (*ways, "1 a node")}
    seen.clear()
    assert verify_plans("exscan", "two-level", "9", "sample") == 0
    assert seen[9] == {("1 a node", 1), ("4 a node", 1), ("anyhow", 1)}


def test_a_plan_that_fails_ends_in_exit_code_1_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from sibyl.commands.verify import verify_plans

    real = package.prove

    def prove(collective: str, algorithm: str, ranks: int, **request: object) -> int:
        if ranks == 4:
            raise package.VerificationError("rank 3, step 5: reads what nobody wrote")
        return real(collective, algorithm, ranks, **request)

    monkeypatch.setattr(package, "prove", prove)
    assert verify_plans("exscan", "hybrid", "1..6", "sample") == 1
    output = capsys.readouterr().out
    assert "exscan hybrid: FAILED for 4 ranks" in output
    assert "rank 3, step 5: reads what nobody wrote" in output


def test_steps_counted_are_the_steps_of_the_plan() -> None:
    for row in package.algorithms():
        plan = package.make_plan(row.collective, row.name, 9)
        plan.verify()
        steps = sum(len(program) for program in json.loads(plan.to_json())["programs"])
        assert package.prove(row.collective, row.name, 9) == plan.steps == steps


def processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_an_interrupt_ends_a_long_proof_soon() -> None:
    # By processor time, of which a machine that others use too gives little a second.
    command = [*COMMAND, "verify", "gather", "--ranks", "1500..2000", "--roots", "all"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
        while started.poll() is None and processor_seconds(started.pid) < 2:
            time.sleep(0.05)
        assert started.poll() is None, started.communicate()
        at_signal = processor_seconds(started.pid)
        started.send_signal(signal.SIGINT)
        try:
            started.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            started.kill()
            raise
        assert started.returncode == 130
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert used - at_signal < 5
