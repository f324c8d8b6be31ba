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
class Hook:
    name: str  # MPI_Init
    open: bool  # served calls may come from inside
    c_arguments: list  # names
    fortran_arguments: list  # names, without ierror
    before: str  # a function of collectives/hooks.hpp, or ""
    after: str

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


def read_hook(where, name, forms, words):
    hook = Hook(name, forms == "hook+calls", [], [], "", "")
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


@dataclass
class Spawn:
    name: str  # MPI_Comm_spawn
    arguments: list  # names

    @property
    def short(self):
        return self.name.removeprefix("MPI_").lower()


@dataclass
class CommunicatorCall:
    name: str  # MPI_Comm_dup
    creates: bool  # or frees
    arguments: list  # names


def read_functions(path):
    """The functions that are served, those that are hooked, those that start processes, those that
    make and free communicators."""
    functions = []
    hooks = []
    spawns = []
    communicators = []
    for where, words in rows(path):
        name, forms, *arguments = words
        if forms in ("hook", "hook+calls"):
            hooks.append(read_hook(where, name, forms, arguments))
            continue
        if forms == "spawn":
            spawns.append(Spawn(name, arguments))
            continue
        if forms in ("creates", "frees"):
            communicators.append(CommunicatorCall(name, forms == "creates", arguments))
            continue
        pairs = []
        for argument in arguments:
            argument_name, _, kind = argument.partition(":")
            kind = kind or argument_name
            if kind not in KINDS:
                sys.exit(f"{where}: unknown kind {kind!r}, one of {', '.join(KINDS)}")
            pairs.append((argument_name, kind))
        if not name.startswith(("MPI_", "MPIX_")) or forms not in ("c", "c+large") or not pairs:
            sys.exit(
                f"{where}: expected NAME c|c+large|hook|hook+calls|spawn|creates|frees ARGUMENT..."
            )
        functions.append(Function(name, forms == "c+large", pairs))
    return functions, hooks, spawns, communicators


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


def c_entries(name, count, role):
    """A C function and its profiling name."""
    return [(name, count, "c_function", role), ("P" + name, count, "profiling_function", role)]


def fortran_entries(function, fortran, count, role):
    symbols = dict.fromkeys(symbol.of(function) for symbol in fortran)
    return [(symbol, count, "fortran_function", role) for symbol in symbols]


def shim_source(functions, hooks, spawns, communicators, fortran):
    entries = []  # (symbol, number of arguments, kind, role)
    fallbacks = []  # C code, by the symbol that has one
    for function in functions:
        count = len(function.arguments)
        for name in [function.name] + ([function.name + "_c"] if function.large else []):
            entries += c_entries(name, count, "role_served")
        fallbacks += [function] if function.large else []
        entries += fortran_entries(function, fortran, count + 1, "role_served")
    for hook in hooks:
        entries += c_entries(hook.name, len(hook.c_arguments), "role_hook")
        entries += fortran_entries(hook, fortran, len(hook.fortran_arguments) + 1, "role_hook")
    for spawn in spawns:
        entries += c_entries(spawn.name, len(spawn.arguments), "role_spawn")
    for call in communicators:
        entries += c_entries(call.name, len(call.arguments), "role_hook")
    out = [preamble("The entries of the shim: every symbol that it takes from the MPI library.")]
    out.append('#include "shim.h"\n\n#include <stdlib.h>\n#include <string.h>\n')
    out.append(f"_Atomic(void*) sibyl_preload_slots[{len(entries)}];")
    out.append("const struct sibyl_preload_symbol sibyl_preload_symbols[] = {")
    out += [f'    {{"{symbol}", {kind}, {role}}},' for symbol, _, kind, role in entries]
    out.append("};\n")
    out.append('#define ENTRY __attribute__((visibility("default")))')
    for index, (symbol, count, kind, _) in enumerate(entries):
        find = "profiling_target" if kind == "profiling_function" else "target"
        names = ", ".join(f"a{i}" for i in range(count))
        parameters = ", ".join(f"word a{i}" for i in range(count))
        types = ", ".join(["word"] * count)
        out.append(f"\nENTRY word {symbol}({parameters});")
        out.append(f"word {symbol}({parameters}) {{")
        out.append(f"  void* target = sibyl_preload_{find}({index}, __builtin_return_address(0));")
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
        out.append(f"  if (strcmp(symbol + (symbol[0] == 'P'), \"{function.name}_c\") == 0) {{")
        out.append(f"    return (void*)fallback_{function.name}_c;\n  }}")
    out.append("  return NULL;\n}")
    return "\n".join(out) + "\n"


def c_wrapper(function, large):
    suffix = "_large" if large else ""
    types = LARGE_C_TYPES if large else C_TYPES
    parameters = ", ".join(f"{types[kind]} {argument}" for argument, kind in function.arguments)
    names = ", ".join(argument for argument, _ in function.arguments)
    is_large = "has_large" if large else "false"
    caller = f"Caller{{.preload = true, .large = {is_large}}}"
    out = [f"static int c_{function.short}{suffix}({parameters}) {{"]
    out.append("  const Entry entry;")
    if large:
        counts = [argument for argument, kind in function.arguments if kind == "count"]
        large_counts = " || ".join(f"too_large({count})" for count in counts)
        out.append("#if !SIBYL_PRELOAD_LARGE")
        out.append(f"  if ({large_counts}) return raise_count(comm);")
        out.append("#endif")
    out.append("  if (entry.nested() || !whole_world_may_be_served()) {")
    out.append(f"    return native_{function.short}({caller}, {names});")
    out.append("  }")
    out.append(f"  return serve_{function.short}({caller}, {names});")
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


def hook_wrappers(hook, fortran):
    """One wrapper a symbol, since each goes on to the native function of the same name."""
    hooks = ", ".join(f"hooks::{name}" if name else "nullptr" for name in (hook.before, hook.after))
    when = f"{{{hooks}, {'true' if hook.open else 'false'}}}"
    out = []
    rows = []
    symbols = [(hook.name, None)] + [(f.of(hook), f) for f in fortran]
    for symbol, of in symbols:
        arguments = hook.c_arguments if of is None else hook.fortran_arguments
        parameters = [f"word {argument}" for argument in arguments]
        code = [f"static std::atomic<void*> native_{symbol};"]
        if of is None:
            code.append(f"static word hook_{symbol}({', '.join(parameters)}) {{")
            values = ", ".join([f"native_{symbol}", when, *arguments])
            code.append(f"  return hooked({values});")
        else:
            code.append(
                f"static void hook_{symbol}({', '.join([*parameters, 'MPI_Fint* ierror'])}) {{"
            )
            values = ", ".join([f"native_{symbol}", when, "ierror", *arguments])
            code.append(f"  hooked_fortran({values});")
        code.append("}")
        versions = "0, any_version" if of is None else f"{of.first}, {of.last}"
        row = f'    {{"{symbol}", address(hook_{symbol}), {versions}, &native_{symbol}}},'
        out.append((of is not None, code))
        rows.append((of is not None, row))
    return out, rows


def communicator_wrapper(call):
    parameters = ", ".join(f"word {argument}" for argument in call.arguments)
    wrapper = "creating" if call.creates else "freeing"
    return [
        f"static std::atomic<void*> native_{call.name};",
        f"static word c_{call.name}({parameters}) {{",
        f"  return {wrapper}(native_{call.name}, {', '.join(call.arguments)});",
        "}",
    ]


def implementation_source(functions, hooks, spawns, communicators, fortran):
    out = [
        preamble("The wrappers of one MPI: from an intercepted symbol to the body that serves it.")
    ]
    out.append('#include "preload/implementation/served_world.hpp"')
    out.append('#include "preload/implementation/spawn.hpp"')
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
    hooked = [hook_wrappers(hook, fortran) for hook in hooks]
    for code, rows in hooked:
        out += [line for of_fortran, lines in code if not of_fortran for line in lines]
        table += [row for of_fortran, row in rows if not of_fortran]
    out.append("#if SIBYL_PRELOAD_OPENMPI")
    table.append("#if SIBYL_PRELOAD_OPENMPI")
    for spawn in spawns:
        table.append(
            f'    {{"{spawn.name}", address(c_{spawn.short}), 0, any_version, '
            f"&native_{spawn.short}, true}},"
        )
    for code, rows in hooked:
        out += [line for of_fortran, lines in code if of_fortran for line in lines]
        table += [row for of_fortran, row in rows if of_fortran]
    for function in functions:
        out += fortran_wrapper(function)
        table += [
            f'    {{"{symbol.of(function)}", address(fortran_{function.short}), '
            f"{symbol.first}, {symbol.last}}},"
            for symbol in fortran
        ]
    out.append("#else")
    table.append("#else")
    for call in communicators:
        out += communicator_wrapper(call)
        table.append(
            f'    {{"{call.name}", address(c_{call.name}), 0, any_version, &native_{call.name}}},'
        )
    out.append('#endif\n}  // extern "C"\n')
    table.append("#endif")
    out.append("static const Wrapper table[] = {")
    out += table
    out.append("};\n")
    out.append("std::span<const Wrapper> wrappers() { return table; }\n")
    out.append("static constexpr std::string_view names[] = {")
    for function in functions:
        out.append(f'    "{function.name}",')
        out += [f'    "{function.name}_c",'] if function.large else []
    out.append("};\n")
    out.append("std::span<const std::string_view> served() { return names; }\n")
    out.append("}  // namespace sibyl::preload")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("shim", "implementation"))
    parser.add_argument("output", type=Path)
    parser.add_argument("--functions", type=Path, default=HERE / "functions.txt")
    parser.add_argument("--fortran", type=Path, default=HERE / "fortran.txt")
    arguments = parser.parse_args()
    functions, hooks, spawns, communicators = read_functions(arguments.functions)
    fortran = read_fortran(arguments.fortran)
    source = {"shim": shim_source, "implementation": implementation_source}[arguments.what]
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(source(functions, hooks, spawns, communicators, fortran))


if __name__ == "__main__":
    main()
