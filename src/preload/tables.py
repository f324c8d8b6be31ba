"""Reads functions.txt and fortran.txt, which say what their columns mean."""

import sys
from dataclasses import dataclass

# The parameters of the C functions by their kind.
C_TYPES = {
    "in": "const void*",
    "out": "void*",
    "inout": "void*",
    "count": "int",
    "datatype": "MPI_Datatype",
    "op": "MPI_Op",
    "root": "int",
    "comm": "MPI_Comm",
    "counts": "const int*",
    "displs": "const int*",
}
# That entries of Fortran's names forward, all that travel in registers: a function of this name
# that is not MPI's may have more arguments.
LEAST_FORTRAN_WORDS = 8
BUFFERS = ("in", "out", "inout")
ARRAYS = ("counts", "displs")
PLAIN = (*BUFFERS, "count", "datatype", "op", "root", "comm")
WHOSE = ("all", "root", "own")
NEIGHBOURS = ("sources", "destinations")
# The kinds of arguments, of functions that are served and of those that are counted.
SERVED_KINDS = (
    *PLAIN,
    "count@root",
    *(f"{array}@{whose}" for array in ARRAYS for whose in WHOSE),
)
COUNTED_KINDS = (
    *SERVED_KINDS,
    "address",
    *(f"{array}@{whose}" for array in ARRAYS for whose in NEIGHBOURS),
)


def short_name(name):
    """MPI_Reduce_scatter is reduce_scatter in functions of ours and in reports."""
    return name.removeprefix("MPI_").lower()


@dataclass
class Argument:
    name: str
    kind: str  # without WHOSE
    whose: str  # of an array, or of a count that is not significant at all ranks, else ""


@dataclass
class Function:
    name: str  # MPI_Exscan
    counted: bool  # and not served
    large: bool
    arguments: list

    @property
    def short(self):
        return short_name(self.name)


@dataclass
class Hook:
    name: str  # MPI_Init
    open: bool  # served calls may come from inside
    nested: bool  # it is called in a call within another, too
    c_arguments: list  # names
    fortran_arguments: list  # names, without ierror
    before: str  # a function of collectives/hooks.hpp, or ""
    after: str


@dataclass
class Spawn:
    name: str  # MPI_Comm_spawn
    arguments: list  # names

    @property
    def short(self):
        return short_name(self.name)


@dataclass
class CommunicatorCall:
    name: str  # MPI_Comm_dup
    creates: bool  # or frees
    arguments: list  # names


@dataclass
class FortranSymbol:
    mpi: str
    first: int
    last: int
    pattern: str
    takes_buffers: bool

    def fits(self, function):
        return self.takes_buffers or not any(a.kind in BUFFERS for a in function.arguments)

    def of(self, function):
        return self.pattern.format(name=function.name.lower(), NAME=function.name.upper())


def buffer_of(arguments, count):
    """The place of the buffer that is this count's alone: where that is MPI_IN_PLACE, nobody reads
    the count. None where the count is that of several buffers."""
    name = count.name.replace("count", "buf")
    return next((i for i, argument in enumerate(arguments) if argument.name == name), None)


def rows(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split("#", 1)[0].split()
        if words:
            yield f"{path.name}:{number}", words


def read_hook(where, name, forms, words):
    hook = Hook(name, forms == "hook+calls", forms == "hook+nested", [], [], "", "")
    for word in words:
        argument, _, kind = word.partition(":")
        if argument in ("before", "after") and kind:
            setattr(hook, argument, kind)
        elif kind in ("", "c"):
            hook.c_arguments.append(argument)
            hook.fortran_arguments += [] if kind else [argument]
        else:
            sys.exit(f"{where}: {word!r} is neither NAME, NAME:c, before:HOOK nor after:HOOK")
    if not name.startswith("MPI_") or not (hook.before or hook.after):
        sys.exit(f"{where}: expected NAME {forms} [ARGUMENT...] [before:HOOK] [after:HOOK]")
    return hook


def read_function(where, name, forms, words):
    kinds = COUNTED_KINDS if forms == "counted" else SERVED_KINDS
    arguments = []
    for word in words:
        argument, _, kind = word.partition(":")
        kind = kind or argument
        if kind not in kinds:
            sys.exit(f"{where}: unknown kind {kind!r}, one of {', '.join(kinds)}")
        kind, _, whose = kind.partition("@")
        arguments.append(Argument(argument, kind, whose))
    named = name.startswith(("MPI_", "MPIX_"))
    if not named or forms not in ("c", "c+large", "counted") or not arguments:
        sys.exit(
            f"{where}: expected "
            "NAME c|c+large|counted|hook|hook+calls|hook+nested|spawn|creates|frees ARGUMENT..."
        )
    return Function(name, forms == "counted", forms != "c", arguments)


def read_functions(path):
    """The functions that are served or counted, those that are hooked, those that start processes,
    those that make and free communicators."""
    functions = []
    hooks = []
    spawns = []
    communicators = []
    for where, words in rows(path):
        name, forms, *arguments = words
        if forms in ("hook", "hook+calls", "hook+nested"):
            hooks.append(read_hook(where, name, forms, arguments))
        elif forms == "spawn":
            spawns.append(Spawn(name, arguments))
        elif forms in ("creates", "frees"):
            communicators.append(CommunicatorCall(name, forms == "creates", arguments))
        else:
            functions.append(read_function(where, name, forms, arguments))
    return functions, hooks, spawns, communicators


def read_fortran(path):
    symbols = []
    for where, words in rows(path):
        if len(words) != 5:
            sys.exit(f"{where}: expected MPI VERSIONS SYMBOL BUFFERS IERROR")
        mpi, versions, pattern, buffers, ierror = words
        # A Fortran wrapper takes addresses and tolerates a null ierror: nothing else is known here.
        known = mpi in ("openmpi", "mpich") and buffers in ("address", "none")
        if not known or ierror not in ("always", "optional"):
            sys.exit(f"{where}: no wrapper is known for {mpi} {buffers} {ierror}")
        first, _, last = versions.partition("-")
        last = int(last or first)
        symbols.append(FortranSymbol(mpi, int(first), last, pattern, buffers == "address"))
    return symbols
