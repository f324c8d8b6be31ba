"""Options of `sibyl bench`: what would be ignored, or fail in the end, is refused at once."""

import pytest
from conftest import Sibyl, assert_usage_error

from sibyl.bench.all_collectives import make_grids
from sibyl.bench.options import Wishes


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("clairvoyant-schedule --csv no/a.csv", "--csv no/a.csv"),
        ("clairvoyant-schedule --plot a.bmp", "--plot a.bmp"),
        ("thread --json no/a.json", "--json no/a.json"),
    ],
)
def test_files_that_cannot_be_written_are_told_before_anything_is_measured(
    sibyl: Sibyl, words: str, part: str
) -> None:
    assert_usage_error(sibyl("bench", *words.split()), part)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("thread --on cluster", "--on: bench thread takes --ranks, --mpi, --iterations"),
        ("thread --size 4K", "--size"),
        ("thread --csv a.csv", "--csv"),
        ("thread --plot a.png", "--plot"),
        ("clairvoyant-schedule --json a.json", "--json"),
        ("clairvoyant-schedule --ranks 4", "--ranks"),
        ("calls --warm-up 4", "--warm-up: bench calls takes --csv, --json only"),
        ("gather --prediction none", "--prediction is for reduce, allreduce, bcast; gather is"),
        ("alltoall --prediction shuffled", "--prediction is for reduce, allreduce, bcast"),
    ],
)
def test_options_that_would_be_ignored_are_refused(sibyl: Sibyl, words: str, part: str) -> None:
    assert_usage_error(sibyl("bench", *words.split()), part)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("clairvoyant-schedule --iterations 0", "--iterations 0"),
        ("thread --iterations 0", "--iterations 0"),
        ("thread --iterations -1", "--iterations -1"),
        ("thread --ranks 2,4", "--ranks 2,4"),
        ("thread --compute 0", "--compute 0"),
        ("gather --seed 4294967296", "--seed to 4294967295"),
        ("gather --iterations 1000000001", "go to 1000000000"),
        ("gather --algorithms BLIN@2147483648", "--algorithms BLIN@2147483648"),
        ("gather --algorithms BLIN@\u0664", "--algorithms BLIN@"),
        ("allreduce --prediction false-late --compute 0s", "late by --compute, which is 0"),
        ("bcast --algorithms false-late:auto --compute 0s", "late by --compute, which is 0"),
    ],
)
def test_what_cannot_be_measured_is_refused(sibyl: Sibyl, words: str, part: str) -> None:
    assert_usage_error(sibyl("bench", *words.split()), part)


def test_what_some_collectives_hear_is_taken_with_all_of_them() -> None:
    grids = make_grids(Wishes(prediction="none"))
    assert {grid.prediction for grid in grids} == {"none"}
