"""What does not fit is told before anything is started."""

import os

import pytest

from sibyl.bench.memory import check_memory
from sibyl.errors import CommandError
from sibyl.experiment.grid import IRREGULAR, Cell

GIB = 1 << 30


@pytest.fixture(autouse=True)
def memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """16 GiB."""
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 16 * GIB // 4096}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)


def blocks(ranks: int, block: int, counts: str = "same") -> list[Cell]:
    return [Cell(ranks, 0, counts, "flat", 0.0, block)]


@pytest.mark.parametrize("collective", IRREGULAR)
def test_blocks_are_held_against_the_memory(collective: str) -> None:
    with pytest.raises(CommandError, match=r"--blocks 150000000 on 8 ranks takes .* of memory"):
        check_memory(collective, "sum", blocks(8, 150_000_000))
    check_memory(collective, "sum", blocks(8, 1_000_000))


@pytest.mark.parametrize("collective", IRREGULAR)
def test_elements_are_as_large_as_the_operator_has_them(collective: str) -> None:
    cells = blocks(8, 15_000_000 if collective in ("gatherv", "scatterv") else 2_000_000)
    check_memory(collective, "sum", cells)
    with pytest.raises(CommandError, match="of memory"):
        check_memory(collective, "matrix", cells)


def test_blocks_that_mpi_cannot_count_together_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "sysconf", lambda _: 1 << 30)
    refused = pytest.raises(CommandError, match=r"--blocks 100000000 on .* 2\^31 - 1 elements of 4")
    check_memory("allgatherv", "sum", blocks(21, 100_000_000))
    for ranks, counts in ((22, "same"), (11, "random"), (5, "spikes")):
        with refused:
            check_memory("allgatherv", "sum", blocks(ranks, 100_000_000, counts))
    check_memory("allgatherv", "sum", blocks(48, 100_000_000, "two-blocks"))


def test_sizes_are_held_against_both() -> None:
    whole = [Cell(8, 5 * GIB, "same", "flat", 0.0)]
    with pytest.raises(CommandError, match=r"--size 5 GiB in all on 8 ranks takes about 20 GiB of"):
        check_memory("gatherv", "sum", whole)
    with pytest.raises(CommandError, match=r"--size 5 GiB a rank on 8 ranks takes about 200 GiB"):
        check_memory("alltoallv", "sum", whole)
    with pytest.raises(CommandError, match=r"--size 9 GiB .* 2\^31 - 1 elements of 4 bytes"):
        check_memory("gatherv", "sum", [Cell(8, 9 * GIB, "same", "flat", 0.0)])
