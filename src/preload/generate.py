#!/usr/bin/env python3
"""Writes the preload's sources from functions.txt and fortran.txt.

  generate.py shim OUTPUT.c              the entries of the shim: one per symbol, no types, no mpi.h
  generate.py implementation OUTPUT.cpp  the wrappers of one MPI, compiled with that MPI's mpi.h

Both come from the same two tables, so that an entry without a wrapper, or the reverse, cannot be
written. Standard library only: it runs in every build.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
KINDS = ("in", "out", "count", "datatype", "op", "root", "comm", "counts", "displs")
C_TYPES = {
    "in": "const void*",
    "out": "void*",
    "count": "int",
    "datatype": "MPI_Datatype",
    "op": "MPI_Op",
    "root": "int",
    "comm": "MPI_Comm",
    "counts": "const int*",
    "displs": "const int*",
}
LARGE_C_TYPES = {
    **C_TYPES,
    "count": "MPI_Count",
    "counts": "const MPI_Count*",
    "displs": "const MPI_Aint*",
}
# From a Fortran argument (an address in every case) to the C argument.
FROM_FORTRAN = {
    "in": "fortran_buffer({})",
    "out": "fortran_buffer({})",
    "count": "static_cast<int>(*{})",
    "datatype": "PMPI_Type_f2c(*{})",
    "op": "PMPI_Op_f2c(*{})",
    "root": "static_cast<int>(*{})",
    "comm": "PMPI_Comm_f2c(*{})",
    "counts": "fortran_array({})",
    "displs": "fortran_array({})",
}


@dataclass
class Function:
    name: str  # MPI_Exscan
    large: bool
    arguments: list  # of (name, kind)

    @property
    def short(self):
        return self.name.removeprefix("MPI_").lower()


@dataclass
class FortranSymbol:
    mpi: str
    first: int
    last: int
    pattern: str

    def of(self, function):
        return self.pattern.format(name=function.name.lower(), NAME=function.name.upper())


def rows(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split("#", 1)[0].split()
        if words:
            yield f"{path.name}:{number}", words


def read_functions(path):
    functions = []
    for where, words in rows(path):
        name, forms, *arguments = words
        pairs = []
        for argument in arguments:
            argument_name, _, kind = argument.partition(":")
            kind = kind or argument_name
            if kind not in KINDS:
                sys.exit(f"{where}: unknown kind {kind!r}, one of {', '.join(KINDS)}")
            pairs.append((argument_name, kind))
        if not name.startswith(("MPI_", "MPIX_")) or forms not in ("c", "c+large") or not pairs:
            sys.exit(f"{where}: expected NAME c|c+large ARGUMENT...")
        functions.append(Function(name, forms == "c+large", pairs))
    return functions


def read_fortran(path):
    symbols = []
    for where, words in rows(path):
        if len(words) != 5:
            sys.exit(f"{where}: expected MPI VERSIONS SYMBOL BUFFERS IERROR")
        mpi, versions, pattern, buffers, ierror = words
        # A Fortran wrapper takes addresses and tolerates a null ierror: nothing else is known here.
        if mpi != "openmpi" or buffers != "address" or ierror not in ("always", "optional"):
            sys.exit(f"{where}: no wrapper is known for {mpi} {buffers} {ierror}")
        first, _, last = versions.partition("-")
        symbols.append(FortranSymbol(mpi, int(first), int(last or first), pattern))
    return symbols


def preamble(what):
    return (
        f"// {what}\n// Written by generate.py from functions.txt and fortran.txt: change those.\n"
    )


def shim_source(functions, fortran):
    entries = []  # (symbol, number of arguments)
    fallbacks = []  # C code, by the symbol that has one
    for function in functions:
        count = len(function.arguments)
        entries.append((function.name, count))
        if function.large:
            entries.append((function.name + "_c", count))
            fallbacks.append(function)
        entries += [
            (symbol, count + 1) for symbol in dict.fromkeys(f.of(function) for f in fortran)
        ]
    out = [preamble("The entries of the shim: every symbol that it takes from the MPI library.")]
    out.append('#include "shim.h"\n\n#include <stdlib.h>\n#include <string.h>\n')
    out.append(f"_Atomic(void*) sibyl_preload_slots[{len(entries)}];")
    out.append("const char* const sibyl_preload_symbols[] = {")
    out += [f'    "{symbol}",' for symbol, _ in entries]
    out.append("};\n")
    out.append('#define ENTRY __attribute__((visibility("default")))')
    for index, (symbol, count) in enumerate(entries):
        names = ", ".join(f"a{i}" for i in range(count))
        parameters = ", ".join(f"word a{i}" for i in range(count))
        types = ", ".join(["word"] * count)
        out.append(f"\nENTRY word {symbol}({parameters});")
        out.append(f"word {symbol}({parameters}) {{")
        out.append(f"  void* target = sibyl_preload_target({index}, __builtin_return_address(0));")
        out.append(f"  return ((word(*)({types}))target)({names});")
        out.append("}")
    for function in fallbacks:
        names = ", ".join(f"a{i}" for i in range(len(function.arguments)))
        parameters = ", ".join(f"word a{i}" for i in range(len(function.arguments)))
        kinds = [kind for _, kind in function.arguments]
        large = " || ".join(f"too_large(a{i})" for i, kind in enumerate(kinds) if kind == "count")
        out.append(f"\nstatic word fallback_{function.name}_c({parameters}) {{")
        if "counts" not in kinds:
            out.append(f"  return {large} ? error_count : {function.name}({names});")
            out.append("}")
            continue
        at = {kind: f"a{kinds.index(kind)}" for kind in ("counts", "displs", "root", "comm")}
        out.append("  struct sibyl_preload_arrays narrow;")
        out.append(
            f"  if ({large} || !sibyl_preload_narrow({', '.join(at.values())}, &narrow)) "
            "return error_count;"
        )
        narrowed = {at["counts"]: "(word)narrow.counts", at["displs"]: "(word)narrow.displs"}
        handed = ", ".join(narrowed.get(f"a{i}", f"a{i}") for i in range(len(kinds)))
        out.append(f"  const word result = {function.name}({handed});")
        out.append("  free(narrow.counts);")
        out.append("  return result;")
        out.append("}")
    out.append("\nvoid* sibyl_preload_fallback(const char* symbol) {")
    for function in fallbacks:
        out.append(f'  if (strcmp(symbol, "{function.name}_c") == 0) {{')
        out.append(f"    return (void*)fallback_{function.name}_c;\n  }}")
    out.append("  return NULL;\n}")
    return "\n".join(out) + "\n"


def c_wrapper(function, large):
    suffix, name = ("_large", function.name + "_c") if large else ("", function.name)
    types = LARGE_C_TYPES if large else C_TYPES
    parameters = ", ".join(f"{types[kind]} {argument}" for argument, kind in function.arguments)
    names = ", ".join(argument for argument, _ in function.arguments)
    is_large = "has_large" if large else "false"
    out = [f"static int c_{function.short}{suffix}({parameters}) {{"]
    out.append("  const Entry entry;")
    if large:
        out.append("#if SIBYL_PRELOAD_LARGE")
    out.append(f"  if (entry.nested()) return P{name}({names});")
    if large:
        counts = [argument for argument, kind in function.arguments if kind == "count"]
        large_counts = " || ".join(f"too_large({count})" for count in counts)
        out.append("#else")
        out.append(f"  if ({large_counts}) return raise_count(comm);")
        out.append("#endif")
    out.append(
        f"  return serve_{function.short}(Caller{{.preload = true, .large = {is_large}}}, {names});"
    )
    out.append("}")
    return out


def fortran_wrapper(function):
    parameters = ", ".join(
        f"{'void' if kind in ('in', 'out') else 'const MPI_Fint'}* {argument}"
        for argument, kind in function.arguments
    )
    values = ", ".join(FROM_FORTRAN[kind].format(name) for name, kind in function.arguments)
    return [
        f"static void fortran_{function.short}({parameters}, MPI_Fint* ierror) {{",
        f"  const int status = c_{function.short}({values});",
        "  if (ierror != nullptr) *ierror = static_cast<MPI_Fint>(status);",
        "}",
    ]


def implementation_source(functions, fortran):
    out = [
        preamble("The wrappers of one MPI: from an intercepted symbol to the body that serves it.")
    ]
    out.append('#include "preload/implementation/support.hpp"\n')
    out.append('namespace sibyl::preload {\n\n// C linkage: the shim calls these.\nextern "C" {')
    table = []
    for function in functions:
        out += c_wrapper(function, False)
        table.append(f'    {{"{function.name}", address(c_{function.short}), 0, any_version}},')
        if function.large:
            out += c_wrapper(function, True)
            table.append(
                f'    {{"{function.name}_c", address(c_{function.short}_large), 0, any_version}},'
            )
    out.append("#if SIBYL_PRELOAD_OPENMPI")
    table.append("#if SIBYL_PRELOAD_OPENMPI")
    for function in functions:
        out += fortran_wrapper(function)
        table += [
            f'    {{"{symbol.of(function)}", address(fortran_{function.short}), '
            f"{symbol.first}, {symbol.last}}},"
            for symbol in fortran
        ]
    out.append('#endif\n}  // extern "C"\n')
    table.append("#endif")
    out.append("static const Wrapper table[] = {")
    out += table
    out.append("};\n")
    out.append("std::span<const Wrapper> wrappers() { return table; }\n")
    out.append("}  // namespace sibyl::preload")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("shim", "implementation"))
    parser.add_argument("output", type=Path)
    parser.add_argument("--functions", type=Path, default=HERE / "functions.txt")
    parser.add_argument("--fortran", type=Path, default=HERE / "fortran.txt")
    arguments = parser.parse_args()
    functions = read_functions(arguments.functions)
    fortran = read_fortran(arguments.fortran)
    source = {"shim": shim_source, "implementation": implementation_source}[arguments.what]
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(source(functions, fortran))


if __name__ == "__main__":
    main()
