"""What sibyl-bench measures of a network before anything else (tools/bench/network.hpp)."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import PROGRAMS, Mpi, Sibyl
from installed_mpis import benchmark_of

from sibyl.mpi.command_line import launcher_command, launcher_environment
from sibyl.mpi.library import find_benchmark

PLATFORM = Path(__file__).parents[3] / "platforms/tryton.xml"
BETA = 8e-9  # of its nodes' links


@pytest.mark.parametrize("hosts", [(0, 1), (0, 0, 1, 1), (0, 0, 1), (0, 0, 0, 1), (0, 0, 0, 1, 1)])
def test_ranks_share_a_link_also_where_the_second_node_is_not_full(
    simulated: Sibyl, hosts: tuple[int, ...]
) -> None:
    file = simulated.directory / "hosts"
    file.write_text("".join(f"node-{node}\n" for node in hosts))
    words = ["smpirun", "-no-privatize", "-np", str(len(hosts)), "-platform", PLATFORM]
    words += ["-hostfile", file, find_benchmark("smpi"), "--log=root.thres:critical", "arrivals"]
    words += ["--cell", "bytes=8,delay=0,counts=same,pattern=none", "--iterations", "1"]
    words += ["--algorithms", "native", "--ranks-per-node", str(hosts.count(0))]
    result = subprocess.run(
        words, cwd=simulated.directory, env=os.environ, capture_output=True, text=True, check=True
    )
    begin = next(line for line in result.stdout.splitlines() if line.startswith('{"type":"begin"'))
    assert json.loads(begin)["beta_s_per_byte"] == pytest.approx(BETA, rel=0.05)


def test_the_clocks_of_several_machines_are_looked_at_while_a_cell_is_measured(
    mpi: Mpi, tmp_path: Path
) -> None:
    program = benchmark_of(mpi.launcher)
    library = tmp_path / "libslow_clock.so"
    slow_clock = ["cc", "-shared", "-fPIC", PROGRAMS / "slow_clock.c", "-o", library, "-ldl"]
    subprocess.run(slow_clock, check=True)
    words = [str(program), "arrivals", "--cell", "bytes=8,delay=0,counts=same,pattern=flat"]
    words += ["--iterations", "20", "--warm-up", "0", "--compute", "0.02", "--algorithms", "native"]
    result = subprocess.run(
        launcher_command(mpi.launcher, 2, {"LD_PRELOAD": str(library)}, words),
        env=launcher_environment(mpi.launcher),
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    lines = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    assert not lines[0]["clocks"]["common"]
    kinds = [line["type"] for line in lines if line["type"] != "begin"]
    samples = ["sample"] * 7
    eight = [*samples, "clocks", "sample"]
    assert kinds == ["cell", *eight, *eight, *samples[:3], "clocks", "sample", "end"]
    *_, last = (line for line in lines if line["type"] == "clocks")
    # A hundredth of at least eight times 20 ms; slow, that is behind.
    assert 0.0016 < last["drift_s"] < last["worst_offset_s"]
