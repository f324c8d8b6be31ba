"""What a cell takes of the machine's memory, told before anything is started.

All ranks of a benchmark are on this machine: as processes, in namespaces, or as SMPI's threads.
"""

import os
from collections.abc import Sequence

from sibyl.errors import CommandError
from sibyl.experiment.grid import ROOTED_BLOCKS, SIZES_IN_ALL, Cell
from sibyl.experiment.units import size_text

ELEMENT_BYTES = {"sum": 4, "int-sum": 4, "bxor": 8, "matrix": 32, "modular": 32}
MOST_ELEMENTS = 2**31 - 1  # MPI counts in ints
# Of a rank: what it sends, what it gets, what it should get, and as much to work with.
VECTORS = 5
# In all: the root's, everybody's block, and the same to check them.
WHOLES = 4
SHARE = 0.8  # of the memory


def bytes_needed(collective: str, cell: Cell) -> int:
    """Of all ranks together."""
    if collective in ROOTED_BLOCKS:
        whole = cell.size or 4 * cell.block * cell.ranks
        return WHOLES * whole
    return VECTORS * cell.size * cell.ranks


def check_memory(collective: str, operator: str, cells: Sequence[Cell]) -> None:
    """Refuse what does not fit.

    Raises:
        CommandError: with the figure.
    """
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for cell in cells:
        if cell.size // ELEMENT_BYTES[operator] > MOST_ELEMENTS:
            raise CommandError(
                f"--size {size_text(cell.size)}: more than 2^31 - 1 elements of "
                f"{ELEMENT_BYTES[operator]} bytes"
            )
        needed = bytes_needed(collective, cell)
        if needed > SHARE * there:
            each = "in all" if collective in SIZES_IN_ALL else "a rank"
            size = f"--blocks {cell.block}" if cell.block else f"--size {size_text(cell.size)}"
            raise CommandError(
                f"{size} {each} on {cell.ranks} ranks takes about {size_text(needed)} of memory, "
                f"this machine has {size_text(there)}; take less, or fewer ranks"
            )
