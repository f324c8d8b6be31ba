"""No algorithm takes less than the lower bound of its run time, wherever the ranks lie."""

import json
from pathlib import Path

import numpy
import pytest
from conftest import Sibyl

import sibyl as package
from sibyl.errors import CommandError
from sibyl.simulator.bounds import run_time_bound
from sibyl.simulator.contenders import contenders
from sibyl.simulator.model import LogGP, Network, Nodes
from sibyl.simulator.run import run_prepared
from sibyl.simulator.session import Problem, Settings, simulation_of

RANKS = 8
INSIDE = (0.5e-6, 0.2e-9)
PLACES = {
    "a rank a node": None,
    "four a node": Nodes(4, *INSIDE),
    "all in one": Nodes(RANKS, *INSIDE),
    "uneven and cyclic": Nodes(1, *INSIDE, of=(0, 1, 2, 0, 2, 0, 2, 2)),
    "links of their own": Nodes(4, *INSIDE, shared_link=False),
    "a faster link": Nodes(4, *INSIDE, link_beta=2e-9),
}
NETWORKS = {
    "Hockney": {},
    "LogGP": {"loggp": LogGP(20e-6, 2.5e-6, 5e-6, 8e-9)},
    "shared": {"sharing": True},
}
LATE = 5e-3
ARRIVALS = [
    numpy.zeros(RANKS),
    LATE * numpy.eye(RANKS)[-1],
    LATE * (1 - numpy.eye(RANKS)[3]),
    LATE / RANKS * numpy.arange(RANKS),
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", NETWORKS)
def test_no_algorithm_beats_the_bound_and_some_come_near(place: str, kind: str) -> None:
    network = Network(nodes=PLACES[place], **NETWORKS[kind])
    for collective in package.collectives():
        found = ratios_to_bound(collective, network)
        assert min(found) >= 1 - 1e-9, collective
        assert min(found) < 3, collective


def ratios_to_bound(collective: str, network: Network) -> list[float]:
    """Of every algorithm that can plan for this, short and long."""
    found = []
    for size in (0,) if collective == "barrier" else (RANKS, 1 << 20):
        problem = Problem(RANKS, size, "flat", 0.0)
        for contender in contenders(collective, None):
            for arrivals in ARRIVALS:
                settings = Settings(collective, network, outstanding=0)
                try:
                    prepared = simulation_of(problem, contender, settings, arrivals)
                except CommandError:
                    continue
                bound = run_time_bound(collective, network, arrivals, 0, size)
                found.append(run_prepared(prepared, network, arrivals).run_time / bound)
    return found


def test_the_command_counts_what_ranks_of_one_node_move_inside(
    sibyl: Sibyl, tmp_path: Path
) -> None:
    words = ("simulate", "gather", "--algorithms", "ordered-tree", "-n", 8, "--ranks-per-node", 8)
    result = sibyl(*words, "--json", "a.json")
    assert result.returncode == 0, result
    (entry,) = json.loads((tmp_path / "a.json").read_text())["entries"]
    assert entry["bound_s"] == pytest.approx(0.5e-6 + 0.2e-9 * 7 * 2**17)
    assert entry["bound_s"] <= entry["run_s"] < 1.1 * entry["bound_s"]
