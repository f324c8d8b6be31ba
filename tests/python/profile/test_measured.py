"""What calls that Sibyl and the MPI library served by turns say of what was given back."""

from dataclasses import replace

import numpy
import pytest

from sibyl.profile.measured import measured_gain
from sibyl.profile.places import Place
from sibyl.profile.sites import Site


def site_of(costs: list[float], by_sibyl: list[bool], weight: float = 1.0) -> Site:
    """Two ranks, the first of which takes all of a call's seconds."""
    calls = len(costs)
    enter = numpy.zeros((calls, 2))
    leave = enter.copy()
    leave[:, 0] = costs
    served = numpy.repeat(numpy.array(by_sibyl)[:, None], 2, axis=1)
    return Site(
        *("reduce", Place("app.c", 3, "step"), (), (0, 1), 2, calls, 0, sum(costs), 0.0, 8),
        *((8, 8), enter, leave, enter, numpy.zeros(calls, int)),
        *(numpy.full(enter.shape, weight), served),
    )


def test_all_calls_by_sibyl_are_held_against_all_by_the_library() -> None:
    costs = [3.0, 1.0] * 6
    assert measured_gain(site_of(costs, [False, True] * 6)) == pytest.approx(12 * 2.0)
    assert measured_gain(site_of(costs, [True, False] * 6)) == pytest.approx(-12 * 2.0)
    # Where half of the calls have no record, each that has one stands for two.
    assert measured_gain(site_of(costs, [False, True] * 6, 2.0)) == pytest.approx(24 * 2.0)


def test_single_calls_that_took_long_are_no_cost_of_either() -> None:
    costs = [3.0, 1.0] * 6
    costs[1] = 500.0  # planning, in Sibyl's first call
    assert measured_gain(site_of(costs, [False, True] * 6)) == pytest.approx(12 * 2.0)


def test_nothing_is_said_of_few_calls_of_a_kind() -> None:
    assert measured_gain(site_of([3.0, 1.0] * 3, [False, True] * 3)) is None
    assert measured_gain(site_of([1.0] * 20, [True] * 20)) is None


def test_calls_in_which_ranks_differ_belong_to_neither() -> None:
    site = site_of([3.0, 1.0] * 6 + [900.0] * 6, [False, True] * 6 + [True] * 6)
    mixed = site.by_sibyl.copy()
    mixed[12:, 1] = False
    assert measured_gain(replace(site, by_sibyl=mixed)) == pytest.approx(18 * 2.0)
