"""Buffers as mpi4py takes them, turned into the arguments of a C function.

    array                            all of it, with the datatype of its elements
    [array, datatype]                all of it, in elements of `datatype`
    [array, count, datatype]         so many elements
    [array, counts, datatype]        blocks of so many elements each, one after another
    [array, (counts, displacements), datatype]
                                     blocks that begin so many elements after the array's begin
    mpi4py.MPI.IN_PLACE              where MPI allows it
    None                             not significant at this rank

An array is what has Python's buffer interface (numpy, array.array, memoryview) and lies without
gaps. Importing this module imports mpi4py.
"""

import ctypes
from dataclasses import dataclass
from typing import Any

from mpi4py import MPI

from sibyl.mpi.bindings import handle

Spec = Any  # as in the preamble
MOST = 2**31 - 1  # that an int counts; ctypes would cut off what is above


@dataclass(frozen=True)
class Buffer:
    """What a specification says.

    Attributes:
        address: of the first byte, as a C function takes it.
        elements: how many elements of the datatype there are, gaps of displacements included.
        datatype: of mpi4py.
        counts: elements of each rank's block, where blocks were named.
        displacements: elements before each rank's block, likewise.
        keeps: what must live as long as the address is used.
    """

    address: ctypes.c_void_p
    elements: int
    datatype: MPI.Datatype
    counts: tuple[int, ...] = ()
    displacements: tuple[int, ...] = ()
    keeps: Any = None

    @property
    def type(self) -> Any:
        """The datatype's MPI handle."""
        return handle(self.datatype)

    def count(self, name: str) -> int:
        """All elements, as an argument of a C function."""
        return _as_int(self.elements, name)

    def share(self, ranks: int, name: str) -> int:
        """Elements of one of the equal blocks of `ranks` ranks."""
        if self.elements % ranks != 0:
            raise ValueError(
                f"{name}: {self.elements} elements are no equal blocks of {ranks} ranks"
            )
        return _as_int(self.elements // ranks, name)

    def blocks(self, ranks: int, name: str) -> tuple[Any, Any]:
        """Counts and displacements as C arrays."""
        if len(self.counts) != ranks:
            raise ValueError(
                f"{name}: name the block of each of the {ranks} ranks, as in "
                f"[array, (counts, displacements), datatype]"
            )
        for number in (*self.counts, *self.displacements):
            _as_int(number, name)
        array = ctypes.c_int * ranks
        return array(*self.counts), array(*self.displacements)


def _as_int(number: int, name: str) -> int:
    if number > MOST:
        raise ValueError(f"{name}: {number}, but an int counts to {MOST}; name a larger datatype")
    return number


def _datatype_of(array: Any, name: str) -> MPI.Datatype:
    code = memoryview(array).format
    found = MPI._typedict.get(code)
    if found is None:
        raise ValueError(f"{name}: no MPI datatype for elements {code!r}; say [array, datatype]")
    return found


def _blocks(shape: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Counts and displacements from (counts, displacements) or from counts alone."""
    pair = len(shape) == 2 and not isinstance(shape[0], int) and hasattr(shape[0], "__len__")
    counts = tuple(int(count) for count in (shape[0] if pair else shape))
    if pair and shape[1] is not None:
        displacements = tuple(int(place) for place in shape[1])
        if len(displacements) != len(counts):
            raise ValueError(f"{len(counts)} counts, but {len(displacements)} displacements")
        return counts, displacements
    places = [0]
    for count in counts:
        places.append(places[-1] + count)
    return counts, tuple(places[:-1])


def _extents(shape: Any) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """Elements in all, and counts and displacements of blocks where `shape` names them."""
    if not hasattr(shape, "__len__"):
        return int(shape), (), ()
    counts, displacements = _blocks(shape)
    ends = [place + count for place, count in zip(displacements, counts, strict=True) if count]
    return max(ends, default=0), counts, displacements


def read_buffer(spec: Spec, name: str, writable: bool = False) -> Buffer:
    """Read a specification.

    Args:
        spec: as in the preamble of this module.
        name: of the argument, for messages.
        writable: the array is written.

    Raises:
        ValueError: it is none, or reaches beyond the array.
        TypeError: the array has no buffer interface, or may not be written.
    """
    if spec is None:
        return Buffer(ctypes.c_void_p(), 0, MPI.BYTE)
    if spec is MPI.IN_PLACE:
        return Buffer(ctypes.c_void_p(int(MPI.IN_PLACE)), 0, MPI.BYTE)
    parts = list(spec) if isinstance(spec, (list, tuple)) else [spec]
    if not 1 <= len(parts) <= 3:
        raise ValueError(f"{name}: give an array or [array, count, datatype]")
    array = parts[0]
    if writable and memoryview(array).readonly:
        raise TypeError(f"{name}: the array may not be written")
    named = isinstance(parts[-1], MPI.Datatype)
    datatype = parts[-1] if named else _datatype_of(array, name)
    memory = MPI.memory.frombuffer(array, readonly=not writable)
    extent = datatype.Get_extent()[1]
    room = memory.nbytes // extent if extent > 0 else 0
    shape = parts[1] if len(parts) - named == 2 else None
    elements, counts, displacements = _extents(room if shape is None else shape)
    if elements > room or min((0, elements, *counts, *displacements)) < 0:
        raise ValueError(f"{name}: {elements} elements in an array of {room}")
    return Buffer(
        ctypes.c_void_p(memory.address),
        elements,
        datatype,
        counts,
        displacements,
        (array, memory, datatype),
    )
