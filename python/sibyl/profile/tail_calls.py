"""Calls that stand at the end of a function, which compilers make by a jump.

From -O2 on, gcc and clang let `void step(...) { ...; MPI_Barrier(comm); }` jump to MPI_Barrier,
which then returns to where step was called. The machine code says so: what stands before the return
address calls a function of the module, and not MPI's. Where that function, or one that it jumps to
in the same way, holds one jump to MPI and no other, the call stands there.

Only x86-64 with the symbols of functions; elsewhere the line stays that of the return address.
"""

import mmap
import struct
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy

_SECTION = struct.Struct("<IIQQQQIIQQ")
_PLACED = struct.Struct("<IIQQQQQQ")
_SYMBOL = numpy.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("at", "<u8"),
     ("size", "<u8")]
)  # fmt: skip
_RELOCATION = numpy.dtype([("at", "<u8"), ("kind", "<u4"), ("symbol", "<u4"), ("add", "<i8")])
_IDENTITY = b"\x7fELF\x02\x01"  # of 64 bits, the low ones first
_X86_64, _FUNCTION, _LOADED = 62, 2, 1
_SYMBOLS, _RELOCATIONS, _DYNAMIC_SYMBOLS = 2, 4, 11
_MOST_SECTIONS = 1 << 16
_MOST_CODE = 1 << 20  # of a function
_MOST_FUNCTIONS = 64  # that end in each other


@dataclass(frozen=True)
class _Section:
    kind: int
    at: int
    offset: int
    size: int
    link: int


class TailCalls:
    """The jumps of a module that stand for calls.

    Thread safety: none.
    """

    def __init__(self, data: bytes | mmap.mmap) -> None:
        """Read what is needed of a module's file; ValueError and its like where it is none."""
        if data[:6] != _IDENTITY or struct.unpack_from("<H", data, 18)[0] != _X86_64:
            raise ValueError("no module of x86-64")
        self._data = data
        placed, sections = struct.unpack_from("<QQ", data, 32)
        placed_count, section_count = (struct.unpack_from("<H", data, at)[0] for at in (56, 60))
        # Where in memory which part of the file goes.
        self._placed = [
            (at, offset, size)
            for kind, _, offset, at, _, size, _, _ in (
                _PLACED.unpack_from(data, placed + number * _PLACED.size)
                for number in range(placed_count)
            )
            if kind == _LOADED
        ]
        self._base = min(at for at, _, _ in self._placed) & ~0xFFF
        self._sections = []
        for number in range(min(section_count, _MOST_SECTIONS)):
            entry = _SECTION.unpack_from(data, sections + number * _SECTION.size)
            self._sections.append(_Section(entry[1], *entry[3:7]))
        self._slots = self._read_slots()
        self._functions: dict[int, int] = {}  # the size by the address
        for section in self._sections:
            if section.kind in (_SYMBOLS, _DYNAMIC_SYMBOLS):
                symbols = self._table(section, _SYMBOL)
                own = (symbols["info"] & 15 == _FUNCTION) & (symbols["section"] != 0)
                found = symbols[own & (symbols["size"] > 0)]
                self._functions |= zip(found["at"].tolist(), found["size"].tolist(), strict=True)

    def offset_of_jump(self, returns_to: int) -> int | None:
        """Where the jump stands that is the call which returns to this offset.

        Returns:
            None where the call itself stands before the return address, or nothing is known.
        """
        callee = self._called(returns_to + self._base)
        ways = [callee] if callee in self._functions else []
        jumps = set()
        for function in ways:  # which grows
            for at, to in self._jumps(function):
                if isinstance(to, str):
                    jumps |= {at} if to.lower().startswith(("mpi_", "pmpi_")) else set()
                elif to in self._functions and to not in ways and len(ways) < _MOST_FUNCTIONS:
                    ways.append(to)
        return jumps.pop() - self._base if len(jumps) == 1 else None

    # ---- Code ----

    def _called(self, after: int) -> int | str | None:
        """What the call before this address calls: an address in the module, or a name."""
        code = self._bytes(after - 6, 6)
        if len(code) < 6:
            return None
        to = after + struct.unpack_from("<i", code, 2)[0]
        if code[1] == 0xE8:
            return self._target(to)
        return self._slots.get(to) if code[:2] == b"\xff\x15" else None

    def _target(self, address: int) -> int | str | None:
        """What is at an address that is called or jumped to."""
        if address in self._functions:
            return address
        stub = self._bytes(address, 11)
        for prefix in (b"\xf3\x0f\x1e\xfa", b""):  # endbr64
            for jump in (b"\xff\x25", b"\xf2\xff\x25"):
                start = prefix + jump
                if stub.startswith(start) and len(stub) >= len(start) + 4:
                    (to,) = struct.unpack_from("<i", stub, len(start))
                    return self._slots.get(address + len(start) + 4 + to)
        return None

    def _jumps(self, function: int) -> Iterable[tuple[int, int | str | None]]:
        """Jumps out of a function: where they stand, and to what."""
        code = self._bytes(function, min(self._functions[function], _MOST_CODE))
        # Every place that looks like one: that it leads to the start of something says that it is.
        end = function + len(code)
        for opcode, distance in ((b"\xe9", "<i"), (b"\xeb", "<b"), (b"\xff\x25", "<i")):
            length = len(opcode) + struct.calcsize(distance)
            place = code.find(opcode)
            while 0 <= place <= len(code) - length:
                at = function + place
                to = at + length + struct.unpack_from(distance, code, place + len(opcode))[0]
                if len(opcode) == 2:
                    yield at, self._slots.get(to)
                elif not function <= to < end:
                    yield at, self._target(to)
                place = code.find(opcode, place + 1)

    # ---- File ----

    def _read_slots(self) -> Mapping[int, int | str]:
        """By address, what the linker writes there: a function of this module, or a name."""
        slots: dict[int, int | str] = {}
        for section in self._sections:
            if section.kind != _RELOCATIONS or section.link >= len(self._sections):
                continue
            symbols = self._table(self._sections[section.link], _SYMBOL)
            names = self._sections[section.link].link
            relocations = self._table(section, _RELOCATION)
            for relocation in relocations[relocations["symbol"] > 0]:
                number = int(relocation["symbol"])
                if number < len(symbols) and names < len(self._sections):
                    symbol = symbols[number]
                    slots[int(relocation["at"])] = (
                        int(symbol["at"])
                        if symbol["section"]
                        else self._name(names, int(symbol["name"]))
                    )
        return slots

    def _table(self, section: _Section, entry: numpy.dtype) -> numpy.ndarray:
        data = self._data[section.offset : section.offset + section.size]
        count = len(data) // entry.itemsize
        return numpy.frombuffer(data, entry, count) if count else numpy.empty(0, entry)

    def _name(self, section: int, at: int) -> str:
        start = self._sections[section].offset + at
        return bytes(self._data[start : start + 256]).partition(b"\0")[0].decode("latin-1")

    def _bytes(self, address: int, size: int) -> bytes:
        for at, offset, length in self._placed:
            if at <= address and address + 1 <= at + length:
                start = offset + address - at
                return bytes(self._data[start : start + min(size, at + length - address)])
        return b""


def tail_calls_of(module: Path) -> TailCalls | None:
    """Those of a module; None where its file cannot be read as one."""
    errors = (OSError, ValueError, OverflowError, MemoryError, struct.error)
    with suppress(*errors), module.open("rb") as file:
        return TailCalls(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    return None
