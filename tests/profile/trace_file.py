"""Reads a trace of libsibyl-profile.so, with the standard library alone.

src/profile/trace.h has the layout. Whatever does not fit together is an error.
"""

import struct
from dataclasses import dataclass
from pathlib import Path

TABLES = ("strings", "functions", "sites", "communicators", "rows", "records", "threads")
ENTRIES = {
    "functions": "<II24x",
    "sites": "<IIIIQ8x",
    "communicators": "<QIiiIQ",
    "rows": "<IIIIQQqq8x",
    "records": "<IiQqqQQ",
    "threads": "<iIiIQqQQ16x",
}
NO_COMMUNICATOR = 0xFFFFFFFF
SESSIONS_ONLY, OVERFLOWED, SPAWNED, CLOCK_UNKNOWN = 1, 2, 4, 8


@dataclass(frozen=True)
class Site:
    module: str
    file: str
    line: int
    function: str
    offset: int


@dataclass(frozen=True)
class Communicator:
    name: int
    members: str
    size: int
    rank: int
    flags: int
    calls: int


@dataclass(frozen=True)
class Row:
    site: Site
    communicator: Communicator | None
    function: str
    calls: int
    bytes: int
    ns: int
    max_ns: int


@dataclass(frozen=True)
class Record:
    row: int
    root: int
    number: int
    enter: int
    exit: int
    bytes: int
    signature: int
    by_sibyl: bool


class Trace:
    """One process's trace; attributes are named as in the header."""

    def __init__(self, path: Path):
        self.path = path
        self.data = path.read_bytes()
        magic, version, header = struct.unpack_from("<8sII", self.data)
        assert (magic, version, header) == (b"SIBYLTRC", 2, 1024), path
        self.rank, self.size, self.pid, self.kept_every_log2 = struct.unpack_from(
            "<iiiI", self.data, 16
        )
        (self.init, self.begin, self.end, self.last) = struct.unpack_from("<4q", self.data, 32)
        self.offsets = struct.unpack_from("<4q", self.data, 64)
        self.overhead, self.lost, self.flavour, self.flags = struct.unpack_from(
            "<qQII", self.data, 96
        )
        self.python_ns, *compared, self.job = struct.unpack_from("<3qQ", self.data, 864)
        self.compared = tuple(compared)
        self.host, self.boot_id, self.mpi, self.program = (
            self._text(at, at + size) for at, size in ((120, 72), (192, 64), (256, 128), (384, 256))
        )
        self.tables = {
            name: struct.unpack_from("<4Q", self.data, 640 + 32 * i)
            for i, name in enumerate(TABLES)
        }
        self.functions = [(self._string(name), kind) for name, kind in self._entries("functions")]
        self.sites = [
            Site(self._string(module), self._string(file), line, self._string(function), offset)
            for module, file, line, function, offset in self._entries("sites")
        ]
        self.communicators = [
            Communicator(name, self._string(members), *rest)
            for name, members, *rest in self._entries("communicators")
        ]
        self.rows = [self._row(*words) for words in self._entries("rows")]
        self.records = [self._record(*words) for words in self._entries("records")]
        self.threads = list(self._entries("threads"))
        self._check()

    def _text(self, begin, end):
        return self.data[begin:end].split(b"\0", 1)[0].decode()

    def _string(self, at):
        offset, _, used, _ = self.tables["strings"]
        assert at < used, f"{self.path}: string {at} of {used}"
        return self._text(offset + at, offset + used)

    def _entries(self, name):
        offset, capacity, used, size = self.tables[name]
        assert size == struct.calcsize(ENTRIES[name]) and used <= capacity, (self.path, name)
        return struct.iter_unpack(ENTRIES[name], self.data[offset : offset + used * size])

    def _record(self, row, root, number, enter, leave, count, signature):
        by_sibyl = count >= 1 << 63  # the highest bit
        return Record(row, root, number, enter, leave, count % (1 << 63), signature, by_sibyl)

    def _row(self, site, communicator, function, zero, calls, count, ns, max_ns):
        assert zero == 0
        there = communicator != NO_COMMUNICATOR
        found = self.communicators[communicator] if there else None
        name, _ = self.functions[function]
        return Row(self.sites[site], found, name, calls, count, ns, max_ns)

    def _check(self):
        """What must hold of every trace."""
        assert self.init <= self.begin <= self.last, self.path
        assert self.end == 0 or self.begin <= self.end, self.path
        kinds = dict(self.functions)
        for record in self.records:
            row = self.rows[record.row]
            assert self.begin <= record.enter <= record.exit, self.path
            assert record.number < row.communicator.calls, self.path
            assert row.communicator.members and kinds[row.function] == 1, self.path
        for row in self.rows:
            # A call that has not ended is no call yet.
            assert row.max_ns <= row.ns and (row.calls > 0 or row.ns == 0), (self.path, row)

    def calls_of(self, function):
        return [row for row in self.rows if row.function == function]

    def records_of(self, row):
        return [record for record in self.records if self.rows[record.row] == row]


def read_traces(directory):
    """By rank; of one world."""
    traces = [Trace(path) for path in sorted(Path(directory).glob("*.trace"))]
    return {trace.rank: trace for trace in traces}
