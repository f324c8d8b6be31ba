"""Waiting, moving and who caused it, of calls whose answers can be worked out by hand."""

import numpy
import pytest

from sibyl.profile import attribution
from sibyl.profile.attribution import attribute


def test_all_wait_for_the_last_and_the_rest_is_moving() -> None:
    found = attribute(numpy.array([[0.0, 1.0, 4.0]]), numpy.array([[5.0, 5.0, 5.0]]))
    assert found.waiting.tolist() == [[4.0, 3.0, 0.0]]
    assert found.moving.tolist() == [[1.0, 1.0, 1.0]]
    assert found.last.tolist() == [2]


def test_waiting_is_put_down_to_those_who_are_missing() -> None:
    found = attribute(numpy.array([[0.0, 1.0, 4.0]]), numpy.array([[5.0, 5.0, 5.0]]))
    # From 0 to 1 one waits for two; from 1 to 4 two wait for the last.
    assert found.caused.tolist() == [[0.0, 0.5, 6.5]]


def test_who_leaves_early_waits_no_longer() -> None:
    found = attribute(numpy.array([[0.0, 0.0, 10.0]]), numpy.array([[1.0, 12.0, 12.0]]))
    assert found.waiting.tolist() == [[1.0, 10.0, 0.0]]
    assert found.moving.tolist() == [[0.0, 2.0, 2.0]]
    assert found.caused.tolist() == [[0.0, 0.0, 11.0]]


def test_lateness_is_held_against_the_median_of_the_others() -> None:
    enter = numpy.array([[0.0, 1.0, 2.0, 9.0], [5.0, 0.0, 0.0, 0.0]])
    found = attribute(enter, enter + 1)
    assert found.lateness.tolist() == [[-2.0, -1.0, 1.0, 8.0], [5.0, 0.0, 0.0, 0.0]]
    assert attribute(enter[:, :2], enter[:, :2]).lateness.tolist() == [[-1.0, 1.0], [5.0, -5.0]]


@pytest.mark.parametrize("ranks", [1, 2, 3, 7, 16])
def test_what_ranks_cause_adds_up_to_what_others_wait(ranks: int, monkeypatch) -> None:
    random = numpy.random.default_rng(ranks)
    enter = random.uniform(0, 1, (200, ranks))
    leave = enter + random.uniform(0, 1, (200, ranks))
    found = attribute(enter, leave)
    assert numpy.allclose(found.caused.sum(axis=1), found.waiting.sum(axis=1))
    assert numpy.allclose(found.waiting + found.moving, leave - enter)
    assert (found.caused >= 0).all() and (found.waiting >= 0).all() and (found.moving >= 0).all()
    for rank in range(ranks):
        others = numpy.delete(enter, rank, axis=1)
        median = numpy.median(others, axis=1) if ranks > 1 else enter[:, rank]
        assert numpy.allclose(found.lateness[:, rank], enter[:, rank] - median)
    # In pieces it is the same.
    monkeypatch.setattr(attribution, "CHUNK", 3 * ranks)
    assert numpy.array_equal(attribute(enter, leave).caused, found.caused)
