"""Where in the source a call site is: file, line and function.

Python sites carry theirs. Others are a return address in a module, which debug information turns
into a line (by the package symbolic, which reads what gcc, clang and Fortran compilers write);
without it, module and offset stand for the line, and the nearest symbol for the function.
"""

import ctypes
import functools
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sibyl.paths import is_file
from sibyl.profile.tail_calls import TailCalls, tail_calls_of
from sibyl.profile.trace import Trace

DEBUG_DIRECTORY = Path("/usr/lib/debug")
# What a Fortran main program, and procedures of modules, are called in symbol tables.
_FORTRAN = (
    (re.compile(r"__(\w+)_MOD_(\w+)$"), r"\1::\2"),
    (re.compile(r"(\w+)_mp_(\w+)_$"), r"\1::\2"),
    (re.compile(r"MAIN__$"), "main program"),
)
_FORTRAN_FILES = (".f", ".for", ".ftn", ".f77", ".f90", ".f95", ".f03", ".f08")
# What compilers append to the name of a part or a copy of a function.
_PARTS = re.compile(r"(\.(cold|constprop|isra|part|lto_priv|llvm)(\.\d+)*)+$")


@dataclass(frozen=True, order=True)
class Place:
    """A place in the source.

    Attributes:
        path: of the source file; of the module where the line is not known.
        line: 0 where it is not known.
        function: "" where it is not known.
        offset: of the return address in the module; 0 where the line is known.
    """

    path: str
    line: int
    function: str
    offset: int = 0


class Places:
    """Finds places, and keeps what it has found."""

    def __init__(self) -> None:
        self._modules: dict[str, Any] = {}
        self._tail_calls: dict[str, TailCalls | None] = {}
        self._found: dict[tuple[str, int], Place] = {}

    def of_site(self, trace: Trace, site: int) -> Place:
        """The place of a site of a trace."""
        entry = trace.tables["sites"][site]
        module, offset = trace.text(entry["module"]), int(entry["offset"])
        symbol = trace.text(entry["function"])
        if int(entry["file"]) or not module:
            return Place(trace.text(entry["file"]), int(entry["line"]), symbol)
        if (module, offset) not in self._found:
            self._found[module, offset] = self._look_up(module, offset, symbol)
        return self._found[module, offset]

    def _look_up(self, module: str, offset: int, symbol: str) -> Place:
        if module not in self._modules:
            self._modules[module] = _symbols_of(module)
        symbols = self._modules[module]
        # A call returns behind itself: to the next line, perhaps.
        lines = symbols.lookup(offset - 1) if symbols is not None and offset > 0 else []
        if lines and lines[0].line:
            jump = self._jump_of(module, offset)
            lines = lines if jump is None else symbols.lookup(jump) or lines
        for line in lines:  # what was inlined comes first: the call stands there
            if line.full_path and line.line:
                function = demangled(line.symbol or symbol)
                if line.full_path.lower().endswith(_FORTRAN_FILES):
                    function = function.removesuffix("_")  # of procedures outside of modules
                return Place(line.full_path, line.line, function)
        nearest = lines[0].symbol if lines else ""
        return Place(module, 0, demangled(nearest or symbol), offset)

    def _jump_of(self, module: str, offset: int) -> int | None:
        """Where the call is that returns to this offset, if it is a jump from another function."""
        if module not in self._tail_calls:
            self._tail_calls[module] = tail_calls_of(Path(module))
        found = self._tail_calls[module]
        return found.offset_of_jump(offset) if found is not None else None


def _symbols_of(module: str) -> Any:
    """What looks addresses of a module up; None where nothing can."""
    # The package sets this for itself; programs that are started later must not see it.
    before = os.environ.get("RUST_BACKTRACE")
    try:
        import symbolic
        from symbolic.debuginfo import Archive
    except ImportError:
        return None
    finally:
        os.environ.pop("RUST_BACKTRACE", None)
        if before is not None:
            os.environ["RUST_BACKTRACE"] = before
    best = None
    for path in (module, _separate(module, Archive, symbolic.SymbolicError)):
        if path is None:
            continue
        try:
            for part in Archive.open(str(path)).iter_objects():
                if best is None or "debug" in part.features:
                    best = part.make_symcache()
                if "debug" in part.features:
                    return best
        except symbolic.SymbolicError:
            continue
    return best


def _separate(module: str, archive: Any, error: type[Exception]) -> Path | None:
    """Debug information that a distribution keeps apart, found by build id."""
    try:
        part = next(archive.open(module).iter_objects())
    except (error, StopIteration):
        return None
    build_id = part.code_id
    if "debug" in part.features or not build_id or len(build_id) < 3:
        return None
    path = DEBUG_DIRECTORY / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug"
    return path if is_file(path) else None


@functools.cache
def demangled(symbol: str) -> str:
    """A name as it stands in the source."""
    symbol = _PARTS.sub("", symbol)
    for pattern, name in _FORTRAN:
        if pattern.match(symbol):
            return pattern.sub(name, symbol)
    if not symbol.startswith("_Z"):
        return symbol
    try:
        library = ctypes.CDLL("libstdc++.so.6")
        c_library = ctypes.CDLL(None)
    except OSError:
        return symbol
    demangle = library.__cxa_demangle
    demangle.restype = ctypes.c_void_p
    status = ctypes.c_int()
    text = demangle(symbol.encode(), None, None, ctypes.byref(status))
    if not text:
        return symbol
    name = ctypes.string_at(text).decode(errors="replace")
    c_library.free(ctypes.c_void_p(text))
    return name


def short_names(places: Iterable[Place]) -> dict[Place, str]:
    """The file of each place: its name, with as many folders as tell it from others."""
    paths = {place: Path(place.path).parts for place in places}
    by_name: dict[str, set[tuple[str, ...]]] = {}
    for parts in paths.values():
        by_name.setdefault(parts[-1] if parts else "?", set()).add(parts)
    found = {}
    for place, parts in paths.items():
        others = [other for other in by_name[parts[-1] if parts else "?"] if other != parts]
        taken = 1
        while taken < len(parts) and any(other[-taken:] == parts[-taken:] for other in others):
            taken += 1
        name = "/".join(parts[-taken:]).replace("//", "/") if parts else "?"
        found[place] = f"{name}+{place.offset:#x}" if not place.line and place.offset else name
    return found
