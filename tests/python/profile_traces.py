"""A writer of trace files: the reader is tested against patterns whose answers are known."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy

from sibyl.profile import trace as format_

MS = 1_000_000


@dataclass
class Writer:
    """The trace of one rank; times are in nanoseconds of its own clock."""

    rank: int
    size: int
    host: str = "here"
    begin: int = 1_000_000
    init: int = 0
    end: int | None = None
    header: dict[str, Any] = field(default_factory=dict)
    kinds: dict[str, int] = field(default_factory=dict)
    _strings: bytearray = field(default_factory=lambda: bytearray(b"\0"))
    _known: dict[str, int] = field(default_factory=dict)
    _tables: dict[str, list[tuple]] = field(
        default_factory=lambda: {name: [] for name in format_.TABLE_NAMES}
    )
    _numbers: dict[int, int] = field(default_factory=dict)

    def string(self, text: str) -> int:
        if not text:
            return 0
        if text not in self._known:
            self._known[text] = len(self._strings)
            self._strings += text.encode() + b"\0"
        return self._known[text]

    def _entry(self, table: str, key: tuple, new: tuple) -> int:
        entries = self._tables[table]
        for place, entry in enumerate(entries):
            if entry[: len(key)] == key:
                return place
        entries.append(new)
        return len(entries) - 1

    def function(self, name: str, kind: int = format_.COLLECTIVE) -> int:
        key = (self.string(name), kind)
        return self._entry("functions", key, (*key, b""))

    def site(
        self,
        file: str = "app.py",
        line: int = 1,
        function: str = "step",
        *,
        module: str = "",
        offset: int = 0,
    ) -> int:
        name = self.string(function)
        if module:
            own = (self.string(module), 0, 0, name, offset, 0)
        else:
            own = (0, self.string(file), line, name, 0, 0)
        return self._entry("sites", own, own)

    def communicator(
        self,
        members: str | None = None,
        size: int | None = None,
        name: int = 0,
        flags: int = 0,
    ) -> int:
        if members is None:
            members = f"0-{self.size - 1}" if self.size > 1 else "0"
        key = (name, self.string(members))
        return self._entry(
            "communicators", key, (*key, self.size if size is None else size, self.rank, flags, 0)
        )

    def row(self, site: int, communicator: int, function: int) -> int:
        key = (site, communicator, function, 0)
        return self._entry("rows", key, (*key, 0, 0, 0, 0, 0))

    def count(self, row: int, calls: int, size: int, ns: int, longest: int = 0) -> None:
        """Calls that have no record of their own."""
        entry = list(self._tables["rows"][row])
        for place, more in ((4, calls), (5, size), (6, ns)):
            entry[place] += more
        entry[7] = max(entry[7], longest or ns)
        self._tables["rows"][row] = tuple(entry)

    def call(
        self,
        enter: int,
        leave: int,
        function: str = "MPI_Allreduce",
        size: int = 8,
        *,
        root: int = -1,
        line: int = 1,
        site: int | None = None,
        communicator: int | None = None,
        number: int | None = None,
        kept: bool = True,
        signature: int = 7,
    ) -> None:
        """A collective call, counted and recorded."""
        comm = self.communicator() if communicator is None else communicator
        place = self.site(line=line) if site is None else site
        row = self.row(place, comm, self.function(function))
        number = self._numbers.get(comm, 0) if number is None else number
        self._numbers[comm] = number + 1
        self.count(row, 1, size, leave - enter)
        if kept:
            self._tables["records"].append((row, root, number, enter, leave, size, signature))

    def under_way(
        self,
        enter: int,
        function: str = "MPI_Allreduce",
        *,
        inside: bool = True,
        root: int = -1,
        size: int = 8,
        line: int = 1,
        signature: int = 7,
        communicator: int | None = None,
        kind: int = format_.COLLECTIVE,
    ) -> None:
        """What a thread is in, or was last in."""
        comm = self.communicator() if communicator is None else communicator
        row = self.row(self.site(line=line), comm, self.function(function, kind))
        number = self._numbers.get(comm, 0)
        self._tables["threads"].append(
            (self.rank + 1, row, root, int(inside), number, enter, size, signature, b"")
        )

    def wait(self, function: str, calls: int, ns: int, line: int = 1) -> None:
        """A row of a point-to-point function."""
        row = self.row(
            self.site(line=line), format_.NO_COMMUNICATOR, self.function(function, kind=2)
        )
        self.count(row, calls, 0, ns)

    def write(self, directory: Path, pid: int | None = None) -> Path:
        """Write the file; an end that nobody has set is a second behind the last record."""
        pid = 1000 + self.rank if pid is None else pid
        last = max((entry[4] for entry in self._tables["records"]), default=self.begin)
        head = numpy.zeros(1, format_.HEADER)
        head["magic"], head["version"] = format_.MAGIC, format_.VERSION
        head["header_bytes"] = format_.HEADER_BYTES
        values: dict[str, Any] = {
            "world_rank": self.rank,
            "world_size": self.size,
            "pid": pid,
            "init_ns": self.init,
            "begin_ns": self.begin,
            "end_ns": last if self.end is None else self.end,
            "last_ns": last,
            "host": self.host,
            "boot_id": self.host,
            "library": "Open MPI v0.0",
            "program": "/bin/app",
        }
        for name, value in (values | self.header).items():
            head[name] = value
        data = bytearray(head.tobytes())
        tables = numpy.zeros(len(format_.TABLE_NAMES), format_.TABLE)
        for place, name in enumerate(format_.TABLE_NAMES):
            kind = format_.ENTRIES[name]
            if name == "strings":
                entries = numpy.frombuffer(bytes(self._strings), "u1")
            else:
                entries = numpy.array(self._tables[name], kind)
            data += b"\0" * (-len(data) % 64)
            tables[place] = (len(data), len(entries), len(entries), kind.itemsize)
            data += entries.tobytes()
        at = format_.TABLES_AT
        data[at : at + tables.nbytes] = tables.tobytes()
        path = directory / f"{self.host}-{pid}.trace"
        path.write_bytes(bytes(data))
        return path


def write_pattern(
    directory: Path,
    arrivals: list[list[float]],
    exits: list[list[float]],
    function: str = "MPI_Allreduce",
    **options: Any,
) -> list[Writer]:
    """Traces of a run whose call c has rank r inside from arrivals[c][r] to exits[c][r], in ms."""
    ranks = len(arrivals[0])
    writers = [Writer(rank, ranks) for rank in range(ranks)]
    for entering, leaving in zip(arrivals, exits, strict=True):
        for writer, enter, leave in zip(writers, entering, leaving, strict=True):
            writer.call(round(enter * MS), round(leave * MS), function, **options)
    for writer in writers:
        writer.write(directory)
    return writers
