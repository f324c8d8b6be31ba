"""What a cell takes of the machine's memory, told before anything is started.

All ranks of a benchmark are on this machine: as processes, in namespaces, or as SMPI's threads.
"""

import os
from collections.abc import Sequence

from sibyl.errors import CommandError
from sibyl.experiment.grid import MOST_ELEMENTS, ROOTED_BLOCKS, SIZES_IN_ALL, SPIKE, Cell
from sibyl.experiment.units import size_text

ELEMENT_BYTES = {"sum": 4, "int-sum": 4, "bxor": 8, "matrix": 32, "modular": 32}
# Of a rank: what it sends, what it gets, what it should get, and as much to work with.
VECTORS = 5
# In all: the root's, everybody's block, and the same to check them.
WHOLES = 4
SHARE = 0.8  # of the memory
# Blocks as the seed draws them over average ones, at most; twice those of other problems.
DRAWN = {"same": 1, "two-blocks": 1, "spikes": SPIKE}


def _average_elements(cell: Cell) -> int:
    """Of all blocks of a problem that says the average one."""
    return cell.block * (2 if cell.counts == "two-blocks" else cell.ranks)


def _most_elements(operator: str, cell: Cell) -> int:
    """Of a vector, whatever the seed draws."""
    if cell.block:
        return _average_elements(cell) * DRAWN.get(cell.counts, 2)
    return cell.size // ELEMENT_BYTES[operator]


def bytes_needed(collective: str, operator: str, cell: Cell) -> int:
    """Of all ranks together."""
    vector = cell.size or ELEMENT_BYTES[operator] * _average_elements(cell)
    if collective in ROOTED_BLOCKS:
        return WHOLES * vector
    return VECTORS * vector * cell.ranks


def check_memory(collective: str, operator: str, cells: Sequence[Cell]) -> None:
    """Refuse what does not fit.

    Raises:
        CommandError: with the figure.
    """
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    each = "in all" if collective in SIZES_IN_ALL else "a rank"
    for cell in cells:
        size = f"--blocks {cell.block}" if cell.block else f"--size {size_text(cell.size)} {each}"
        if _most_elements(operator, cell) > MOST_ELEMENTS:
            raise CommandError(
                f"{size} on {cell.ranks} ranks: a vector may have more than 2^31 - 1 elements of "
                f"{ELEMENT_BYTES[operator]} bytes; take less, or fewer ranks"
            )
        needed = bytes_needed(collective, operator, cell)
        if needed > SHARE * there:
            raise CommandError(
                f"{size} on {cell.ranks} ranks takes about {size_text(needed)} of memory, this "
                f"machine has {size_text(there)}; take less, or fewer ranks"
            )
