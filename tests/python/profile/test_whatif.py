"""Bounds and gains of sites whose times come from the simulator itself, or from closed forms."""

from dataclasses import replace
from pathlib import Path

import numpy
import pytest
from profile_traces import MS, Writer, write_pattern

from sibyl import algorithms
from sibyl.errors import CommandError
from sibyl.profile.costs import Costs, find_costs
from sibyl.profile.judgement import BALANCE, NONE, SCHEDULE, Judgement, judge
from sibyl.profile.places import Places
from sibyl.profile.sites import Site, find_sites
from sibyl.profile.table import _rules
from sibyl.profile.timeline import timelines
from sibyl.profile.whatif import Gain, bound_of, find_gain, ranks_that_stay, simulate_call
from sibyl.profile.world import World, read_world
from sibyl.simulator.calibration import Calibration
from sibyl.simulator.contenders import Contender
from sibyl.simulator.model import Network
from sibyl.simulator.run import simulate

ALPHA, BETA = 1e-4, 1e-8
NETWORK = Network(alpha=ALPHA, beta=BETA)
COSTS = Costs(NETWORK, None, "made up")


def the_site(directory: Path) -> tuple[World, Site]:
    world = read_world(directory)
    (site,), _ = find_sites(world, Places())
    return world, site


def simulated_site(
    directory: Path,
    collective: str,
    algorithm: str,
    arrivals: list[float],
    size: int,
    slow: float = 1,
) -> tuple[World, Site]:
    """A site whose calls took what an algorithm takes; after the last arrival `slow` times that."""
    times = numpy.array(arrivals)
    result = simulate(
        collective, algorithm, len(times), size, arrivals=times, network=NETWORK, root=0
    )
    latest = times.max()
    leave = numpy.where(
        result.exits > latest, latest + slow * (result.exits - latest), result.exits
    )
    calls = [[1000 * (call + 1) + 1e3 * time for time in times] for call in range(6)]
    exits = [[1000 * (call + 1) + 1e3 * time for time in leave] for call in range(6)]
    write_pattern(directory, calls, exits, f"MPI_{collective.capitalize()}", size=size, root=0)
    return the_site(directory)


def test_the_bound_is_what_follows_the_last_arrival(tmp_path: Path) -> None:
    write_pattern(tmp_path, [[10.0, 20.0, 10.0, 10.0]] * 1, [[40.0] * 4], size=100_000)
    _, site = the_site(tmp_path)
    # The last rank's vector goes out and the result comes in: one message of its size.
    assert bound_of(site, NETWORK) == pytest.approx(4 * (ALPHA + 100_000 * BETA))


def test_who_need_not_stay_is_not_counted(tmp_path: Path) -> None:
    """In a reduce with one late rank that is all but this one and the root."""
    arrivals, exits = [[10.0, 20.0, 10.0, 10.0]], [[40.0] * 4]
    write_pattern(tmp_path, arrivals, exits, "MPI_Reduce", size=100_000, root=0)
    _, site = the_site(tmp_path)
    assert bound_of(site, NETWORK) == pytest.approx(2 * (ALPHA + 100_000 * BETA))
    late = numpy.array([0.0, 1.0, 0.0, 0.0])
    for collective, root, stay in (
        *(("barrier", -1, 4), ("allreduce", -1, 4), ("gather", 1, 1), ("scatter", 0, 1)),
        *(("scan", -1, 1), ("bcast", 1, 4), ("bcast", 0, 1), ("alltoall", -1, 1)),
    ):
        assert ranks_that_stay(collective, late, root, 1e-3) == stay, collective
    assert ranks_that_stay("alltoall", numpy.zeros(4), -1, 1e-3) == 4


def test_the_bound_is_no_more_than_was_moved(tmp_path: Path) -> None:
    write_pattern(tmp_path, [[10.0, 10.0]], [[10.001, 10.001]], size=100_000)
    _, site = the_site(tmp_path)
    assert bound_of(site, NETWORK) == pytest.approx(site.moving) == pytest.approx(2e-6)


def test_an_early_rank_that_need_not_wait_is_a_gain(tmp_path: Path) -> None:
    """All wait in a reduce for one rank; only the root must."""
    arrivals = [[100.0 * call + (30 if r == 5 else 0) for r in range(8)] for call in range(1, 9)]
    exits = [[100.0 * call + 31] * 8 for call in range(1, 9)]
    write_pattern(tmp_path, arrivals, exits, "MPI_Reduce", size=8192, root=0)
    world, site = the_site(tmp_path)
    gain = find_gain(site, NETWORK)
    assert gain is not None
    assert gain.waiting == pytest.approx(8 * 6 * 30e-3, rel=0.05)
    (judgement,) = judge(world, [site], COSTS)
    assert judgement.advice == SCHEDULE
    assert judgement.given_back <= site.seconds - judgement.bound


def test_where_all_must_wait_only_an_even_load_helps(tmp_path: Path) -> None:
    arrivals = [[100.0 * call + (30 if r == 5 else 0) for r in range(8)] for call in range(1, 9)]
    exits = [[100.0 * call + 30.3] * 8 for call in range(1, 9)]
    write_pattern(tmp_path, arrivals, exits, "MPI_Barrier", size=0)
    world, site = the_site(tmp_path)
    (judgement,) = judge(world, [site], COSTS)
    assert judgement.advice == BALANCE
    assert judgement.given_back < 0.05 * site.seconds


def test_what_sibyl_does_already_is_no_gain(tmp_path: Path) -> None:
    world, site = simulated_site(tmp_path, "allreduce", "recursive-doubling", [0.0] * 8, 8)
    (judgement,) = judge(world, [site], COSTS)
    assert judgement.advice == NONE
    assert judgement.given_back == pytest.approx(0, abs=1e-9)
    assert site.waiting == 0


def test_the_librarys_algorithm_is_known_by_its_times(tmp_path: Path) -> None:
    _, site = simulated_site(tmp_path, "bcast", "scatter-allgather", [0.0] * 12, 1 << 20)
    gain = find_gain(site, NETWORK)
    assert gain is not None
    assert gain.library == "scatter-allgather"
    assert gain.slowdown == pytest.approx(1)


def test_what_the_model_does_not_know_is_no_gain(tmp_path: Path) -> None:
    """Moving that takes a hundred times what the model says may come from anywhere."""
    _, site = simulated_site(tmp_path, "bcast", "binomial", [0.0] * 16, 1 << 20, slow=100.0)
    gain = find_gain(site, NETWORK)
    assert gain is not None
    assert 0 < gain.moving < 0.05 * site.moving
    assert gain.slowdown > 10


def test_collectives_without_algorithms_have_no_gain(tmp_path: Path) -> None:
    write_pattern(tmp_path, [[10.0, 90.0]], [[91.0, 91.0]], "MPI_Alltoallw", size=80)
    world, site = the_site(tmp_path)
    (judgement,) = judge(world, [site], COSTS)
    assert (judgement.bound, judgement.gain, judgement.advice) == (0.0, None, BALANCE)


def test_without_costs_there_is_advice_all_the_same(tmp_path: Path) -> None:
    write_pattern(tmp_path, [[10.0, 90.0]], [[91.0, 91.0]])
    world, site = the_site(tmp_path)
    (judgement,) = judge(world, [site], Costs(None, None, "no MPI"))
    assert (judgement.bound, judgement.gain, judgement.advice) == (0.0, None, BALANCE)


def test_costs_that_were_assumed_give_no_bound(tmp_path: Path) -> None:
    """A network that is faster than was assumed would leave nothing to gain."""
    write_pattern(tmp_path, [[10.0, 20.0, 10.0, 10.0]], [[40.0] * 4], size=100_000)
    world, site = the_site(tmp_path)
    (judgement,) = judge(world, [site], Costs(NETWORK, None, "guessed", assumed=True))
    assert judgement.bound == 0.0
    assert judgement.gain is not None


def test_what_costs_little_of_the_run_is_no_advice(tmp_path: Path) -> None:
    for rank in range(2):
        writer = Writer(rank, 2, end=100_000 * MS)
        writer.call((10 + 5 * rank) * MS, 16 * MS)
        writer.write(tmp_path)
    world, site = the_site(tmp_path)
    (judgement,) = judge(world, [site], COSTS)
    assert judgement.advice == NONE


def test_roots_that_change_are_simulated_as_they_were(tmp_path: Path) -> None:
    for rank in range(4):
        writer = Writer(rank, 4)
        for call in range(8):
            begin = 100 * (call + 1) * MS
            writer.call(begin, begin + MS, "MPI_Bcast", 1000, root=call % 4)
        writer.write(tmp_path)
    _, site = the_site(tmp_path)
    assert site.root.tolist() == [0, 1, 2, 3] * 2
    assert find_gain(site, NETWORK) is not None


def test_hosts_are_nodes_of_the_network(tmp_path: Path) -> None:
    costs = tmp_path / "costs.json"
    costs.write_text('{"alpha": 5e-5, "beta": 8e-9}')
    for rank in range(4):
        Writer(rank, 4, host=f"h{rank % 2}").write(tmp_path)
    world = read_world(tmp_path)
    found = find_costs(world, None, costs)
    if found.network is None:
        pytest.skip(f"nothing to measure costs within a host: {found.origin}")
    network = found.network_of(["h0", "h1", "h0", "h1"])
    assert (network.alpha, network.beta) == (5e-5, 8e-9)
    assert network.nodes is not None
    assert list(network.nodes.of) == [0, 1, 0, 1]
    assert 0 < network.nodes.alpha < 5e-5
    assert found.network_of(["h0", "h1"]).nodes is None
    assert not found.assumed
    assert find_costs(world, None, None).assumed


def test_costs_that_are_given_hold_where_none_can_be_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measure(_: str | None) -> Calibration:
        raise CommandError("there is no benchmark")

    monkeypatch.setattr("sibyl.profile.costs.measure", measure)
    costs = tmp_path / "costs.json"
    costs.write_text('{"alpha": 5e-5, "beta": 8e-9}')
    for rank in range(4):
        Writer(rank, 4, host=f"h{rank % 2}").write(tmp_path)
    found = find_costs(read_world(tmp_path), None, costs)
    assert "there is no benchmark" in found.origin
    network = found.network_of(["h0", "h1", "h0", "h1"])
    assert network.nodes is not None  # whose ranks share links
    assert list(network.nodes.of) == [0, 1, 0, 1]
    assert (network.alpha, network.nodes.alpha, found.assumed) == (5e-5, 5e-5, False)
    assert find_costs(read_world(tmp_path), None, None).network is None


def test_rules_of_a_table_stand_around_the_sizes_that_were_seen() -> None:
    rules = [(rule.bytes, rule.algorithm) for rule in _rules([(1000, "a"), (1500, "b")])]
    assert rules == [(0, None), (708, "a"), (1225, "b"), (2122, None)]
    assert [(r.bytes, r.algorithm) for r in _rules([(0, "a")])] == [(0, "a"), (1, None)]
    apart = [(rule.bytes, rule.algorithm) for rule in _rules([(100, "a"), (10_000, "b")])]
    assert apart == [(0, None), (71, "a"), (142, None), (7072, "b"), (14143, None)]


def test_a_call_that_no_schedule_takes_is_drawn_without_one(tmp_path: Path) -> None:
    """One rank of one call is hours late: more rounds of 8 bytes than a schedule may have."""
    arrivals = [[1000.0 * call, 1000.0 * call + 50, 1000.0 * call] for call in range(1, 40)]
    arrivals.append([50_000.0, 20_000_000.0, 50_000.0])
    exits = [[max(of_ranks) + 1.0] * 3 for of_ranks in arrivals]
    write_pattern(tmp_path, arrivals, exits, "MPI_Reduce", size=8, root=0)
    _, site = the_site(tmp_path)
    network = Network(alpha=1e-6, beta=1e-10)
    row = next(one for one in algorithms("reduce") if one.name == "clairvoyant")
    gain = Gain(Contender(row.name, row), row.name, 1.0, 1.0, 1.0)
    with pytest.raises(CommandError):
        simulate_call(site, 39, gain.contender, network)
    typical, worst = timelines(site, Judgement(SCHEDULE, 0.0, gain), network)
    assert len(typical.panels) == 2
    assert len(worst.panels) == 1


def test_a_call_counts_as_often_as_it_stands_for_others(tmp_path: Path) -> None:
    _, site = simulated_site(tmp_path, "reduce", "binomial", [0.0] * 8, 100_000)
    gain = find_gain(site, NETWORK)
    weight = numpy.full(site.enter.shape, 8.0)
    weight[0] = 1.0
    more = find_gain(replace(site, weight=weight), NETWORK)
    assert gain is not None and more is not None
    assert more.seconds == pytest.approx(gain.seconds * (1 + 5 * 8) / 6)
