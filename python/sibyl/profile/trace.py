"""The trace file that the recorder (libsibyl-profile.so) leaves for each process.

Little-endian: a header, then tables that grow while the program runs. The recorder stores how much
of a table is used after it has written the entry, so a file is whole at any time, also one whose
process was killed. Nothing here trusts the file: what does not fit in it raises TraceError.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy

from sibyl.inputs import RANKS_MOST

MAGIC = b"SIBYLTRC"
VERSION = 2
HEADER_BYTES = 1024
TABLES_AT = 640
TABLE_NAMES = ("strings", "functions", "sites", "communicators", "rows", "records", "threads")
NO_COMMUNICATOR = 0xFFFFFFFF
COLLECTIVE = 1  # kind of a function
BY_SIBYL = numpy.uint64(1 << 63)  # in the bytes of a record: Sibyl has served the call
COPIED = numpy.uint64(1 << 63)  # in the name of a communicator: MPI_Comm_dup has made it
# Flags of the header: no MPI_Init, a table was too small, started by MPI_Comm_spawn, and hosts
# whose clocks could not be compared.
SESSIONS_ONLY, TABLE_OVERFLOWED, SPAWNED, CLOCK_UNKNOWN = 1, 2, 4, 8

HEADER = numpy.dtype(
    {
        "names": [
            *("magic", "version", "header_bytes", "world_rank", "world_size", "pid"),
            *("kept_every_log2", "init_ns", "begin_ns", "end_ns", "last_ns"),
            *("offset_begin_ns", "error_begin_ns", "offset_end_ns", "error_end_ns"),
            *("overhead_ns", "lost_records", "flavour", "flags"),
            *("host", "boot_id", "library", "program", "python_ns"),
            *("compared_begin_ns", "compared_end_ns", "job"),
        ],
        "formats": [
            *("S8", "<u4", "<u4", "<i4", "<i4", "<i4", "<u4"),
            *(["<i8"] * 9),
            *("<u8", "<u4", "<u4", "S72", "S64", "S128", "S256", *["<i8"] * 3, "<u8"),
        ],
        "offsets": [
            *(0, 8, 12, 16, 20, 24, 28),
            *(32, 40, 48, 56, 64, 72, 80, 88, 96),
            *(104, 112, 116, 120, 192, 256, 384, 864, 872, 880, 888),
        ],
        "itemsize": HEADER_BYTES,
    }
)
TABLE = numpy.dtype(
    [("offset", "<u8"), ("capacity", "<u8"), ("used", "<u8"), ("entry_bytes", "<u8")]
)
ENTRIES = {
    "strings": numpy.dtype("u1"),
    "functions": numpy.dtype([("name", "<u4"), ("kind", "<u4"), ("rest", "V24")]),
    "sites": numpy.dtype(
        [
            *(("module", "<u4"), ("file", "<u4"), ("line", "<u4"), ("function", "<u4")),
            *(("offset", "<u8"), ("rest", "<u8")),
        ]
    ),
    "communicators": numpy.dtype(
        [
            *(("name", "<u8"), ("members", "<u4"), ("size", "<i4")),
            *(("rank", "<i4"), ("flags", "<u4"), ("calls", "<u8")),
        ]
    ),
    "rows": numpy.dtype(
        [
            *(("site", "<u4"), ("communicator", "<u4"), ("function", "<u4"), ("rest", "<u4")),
            *(("calls", "<u8"), ("bytes", "<u8"), ("ns", "<i8"), ("max_ns", "<i8")),
            ("more", "<u8"),
        ]
    ),
    "records": numpy.dtype(
        [
            *(("row", "<u4"), ("root", "<i4"), ("number", "<u8")),
            *(("enter_ns", "<i8"), ("exit_ns", "<i8"), ("bytes", "<u8"), ("signature", "<u8")),
        ]
    ),
    "threads": numpy.dtype(
        [
            *(("tid", "<i4"), ("row", "<u4"), ("root", "<i4"), ("inside", "<u4")),
            *(("number", "<u8"), ("enter_ns", "<i8"), ("bytes", "<u8"), ("signature", "<u8")),
            ("rest", "V16"),
        ]
    ),
}


# What refers to strings.
STRINGS = {
    "functions": ("name",),
    "sites": ("module", "file", "function"),
    "communicators": ("members",),
}


class TraceError(ValueError):
    """A file that is no trace, or is damaged; one line says why."""


@dataclass(frozen=True)
class Trace:
    """What one process has recorded.

    Attributes:
        path: of the file.
        header: of HEADER.
        tables: by name, as far as they were used.
    """

    path: Path
    header: numpy.void
    tables: dict[str, numpy.ndarray]

    @property
    def overhead_ns(self) -> float:
        """What recording took: of each call, and of each from Python what finds its line."""
        rows, sites = self.tables["rows"], self.tables["sites"]
        calls = rows["calls"].astype(float)
        of_python = sites["file"][rows["site"]] != 0  # other sites have a module
        cost = self.header["overhead_ns"] + self.header["python_ns"] * of_python
        return float((cost * calls).sum())

    @property
    def rank(self) -> int:
        """In MPI_COMM_WORLD; -1 where it was never known."""
        return int(self.header["world_rank"])

    @property
    def host(self) -> str:
        """The name of the host."""
        return self._header_text("host")

    @property
    def library(self) -> str:
        """What the MPI library calls itself, its first line."""
        return (self._header_text("library").splitlines() or [""])[0].strip()

    @property
    def program(self) -> str:
        """The path of the program's file."""
        return self._header_text("program")

    @property
    def finished(self) -> bool:
        """It has reached MPI_Finalize."""
        return int(self.header["end_ns"]) != 0

    @property
    def end_ns(self) -> int:
        """MPI_Finalize, or the last time at which something was recorded."""
        header = self.header
        last = max(int(header["last_ns"]), int(header["begin_ns"]), int(header["init_ns"]))
        return int(header["end_ns"]) or last

    @cached_property
    def functions(self) -> list[str]:
        """The names of the MPI functions, by id."""
        return [self.text(entry["name"]) for entry in self.tables["functions"]]

    @cached_property
    def is_collective(self) -> numpy.ndarray:
        """Of each row, whether it is a collective's."""
        rows = self.tables["rows"]
        return self.tables["functions"]["kind"][rows["function"]] == COLLECTIVE

    def _header_text(self, field: str) -> str:
        return bytes(self.header[field]).decode(errors="replace")

    def text(self, offset: int) -> str:
        """A string of the table of strings."""
        strings = self.tables["strings"]
        offset = int(offset)
        if offset == 0:
            return ""
        if offset >= len(strings):
            raise TraceError(f"a string at {offset}, past the {len(strings)} that are there")
        found = b""  # a list of ranks can be long
        for begin in range(offset, len(strings), 65536):
            part, end, _ = strings[begin : begin + 65536].tobytes().partition(b"\0")
            found += part
            if end:
                break
        return found.decode(errors="replace")


def read_trace(path: Path) -> Trace:
    """Read one file; the records stay where they are and are mapped.

    Raises:
        TraceError: it is no trace, or damaged.
    """
    try:
        data = numpy.memmap(path, dtype="u1", mode="r")
    except (OSError, ValueError) as error:
        raise TraceError(getattr(error, "strerror", None) or "it is empty") from error
    if len(data) < HEADER_BYTES or data[:8].tobytes() != MAGIC:
        raise TraceError("it is no trace of sibyl profile")
    header = data[:HEADER_BYTES].view(HEADER)[0]
    if header["version"] != VERSION or header["header_bytes"] != HEADER_BYTES:
        raise TraceError(
            f"its version is {header['version']}, and this reader knows {VERSION}: the recorder "
            f"and the command are of different versions of Sibyl"
        )
    ranks = max(int(header["world_size"]), int(header["world_rank"]))
    if ranks > RANKS_MOST or int(header["kept_every_log2"]) > 63:
        raise TraceError("its header is damaged")
    end = TABLES_AT + len(TABLE_NAMES) * TABLE.itemsize
    tables = data[TABLES_AT:end].view(TABLE)
    read = {
        name: _entries(name, data, table) for name, table in zip(TABLE_NAMES, tables, strict=True)
    }
    trace = Trace(path, header, read)
    _check_references(trace)
    return trace


def _entries(name: str, data: numpy.ndarray, table: numpy.void) -> numpy.ndarray:
    kind = ENTRIES[name]
    offset, used = int(table["offset"]), min(int(table["used"]), int(table["capacity"]))
    if used == 0:
        return numpy.empty(0, kind)
    if int(table["entry_bytes"]) != kind.itemsize:
        raise TraceError(f"its {name} have {table['entry_bytes']} bytes, not {kind.itemsize}")
    if offset < HEADER_BYTES or offset + used * kind.itemsize > len(data):
        raise TraceError(f"its {name} end behind the file")
    return data[offset : offset + used * kind.itemsize].view(kind)


def _check_references(trace: Trace) -> None:
    """Entries name entries that are there."""
    rows, tables = trace.tables["rows"], trace.tables
    for table, fields in STRINGS.items():
        for field in fields:
            last = int(tables[table][field].max(initial=0))
            if last and last >= len(tables["strings"]):  # 0 is the empty string, always
                raise TraceError(f"the name of one of its {table} is not there")
    for field, table in (("site", "sites"), ("function", "functions")):
        if len(rows) and int(rows[field].max()) >= len(tables[table]):
            raise TraceError(f"a row names one of its {table} that is not there")
    named = rows["communicator"][rows["communicator"] != NO_COMMUNICATOR]
    if len(named) and int(named.max()) >= len(tables["communicators"]):
        raise TraceError("a row names a communicator that is not there")
    records = tables["records"]
    if len(records) and int(records["row"].max()) >= len(rows):
        raise TraceError("a record names a row that is not there")
