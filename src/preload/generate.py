#!/usr/bin/env python3
"""Writes the preload's sources from functions.txt and fortran.txt.

  generate.py shim OUTPUT.c              the entries of the shim: one per symbol, no types, no mpi.h
  generate.py implementation OUTPUT.cpp  the wrappers of one MPI, compiled with that MPI's mpi.h

Both come from the same two tables, so that an entry without a wrapper, or the reverse, cannot be
written. Standard library only: it runs in every build.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

from fallbacks import fallbacks
from tables import (
    ARRAYS,
    BUFFERS,
    C_TYPES,
    LEAST_FORTRAN_WORDS,
    FortranSymbol,
    buffer_of,
    read_fortran,
    read_functions,
)

HERE = Path(__file__).resolve().parent
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
    "inout": "fortran_buffer({})",
    "count": "static_cast<int>(*{})",
    "datatype": "PMPI_Type_f2c(*{})",
    "op": "PMPI_Op_f2c(*{})",
    "root": "static_cast<int>(*{})",
    "comm": "PMPI_Comm_f2c(*{})",
    "counts": "fortran_array({})",
    "displs": "fortran_array({})",
}


def preamble(what):
    return (
        f"// {what}\n// Written by generate.py from functions.txt and fortran.txt: change those.\n"
    )


def c_entries(name, count, role):
    """A C function and its profiling name."""
    return [(name, count, "c_function", role), ("P" + name, count, "profiling_function", role)]


def fortran_entries(function, fortran, count, role):
    symbols = dict.fromkeys(symbol.of(function) for symbol in fortran)
    words = max(count, LEAST_FORTRAN_WORDS)
    return [(symbol, words, "fortran_function", role) for symbol in symbols]


# Blocks of sizes that all ranks know, which are looked at (known_calls.h).
OF_KNOWN_SIZES = ("allgatherv", "reduce_scatter")


def places_of(function, names):
    """The names of a function's arguments by what they are."""
    kinds = {**dict.fromkeys(BUFFERS, "buffer"), **dict.fromkeys(ARRAYS, "array")}
    places = {kind: [] for kind in ("buffer", "array", "count", "datatype", "op", "root", "comm")}
    for argument, name in zip(function.arguments, names, strict=True):
        places[kinds.get(argument.kind, argument.kind)].append(name)
    return places


def known_words(function, names, pair):
    """The words by which the shim knows a call (known_calls.h), of arguments of these names."""
    places = places_of(function, names)
    buffers, arrays = places["buffer"], places["array"]
    types = [*places["datatype"], *places["op"], "0", "0"][:2]
    counts = pair(*[*places["count"], "0", "0"][:2])
    if arrays:
        types, counts = ["0", "0"], bits_of(arrays, "!=")
    if arrays and places["root"]:  # the block of its own is where the count is
        own = buffers[0 if function.short == "gatherv" else 1]
        types[0] = f"({own} == 0 ? (uint64_t)(uint32_t){places['count'][0]} + 1 : 0)"
    root = (places["root"] or ["0"])[0]
    return [places["comm"][0], *types, counts, root, bits_of(buffers, "==")]


def known_sizes(function, names):
    """The same of blocks of known sizes: with these in the place of counts and root."""
    places = places_of(function, names)
    types = [*places["datatype"], *places["op"]][:2]
    return [places["comm"][0], *types, places["array"][0], bits_of(places["buffer"], "==")]


def is_known_by_words(function):
    return not function.counted and function.short not in ("mpix_comm_revoke", *OF_KNOWN_SIZES)


def known_call(function, names, index, call_of):
    """Makes a call that is known, at the shim's entry."""
    if function.short in OF_KNOWN_SIZES:
        find, words = "sibyl_preload_known_sizes", known_sizes(function, names)
    elif is_known_by_words(function):
        pair = "sibyl_preload_pair({}, {})".format
        find, words = "sibyl_preload_known", known_words(function, names, pair)
    else:
        return []
    buffers = places_of(function, names)["buffer"]
    conditions = [f"sibyl_preload_is_ordinary({buffer})" for buffer in buffers]
    conditions += [f"sibyl_preload_are_apart({', '.join(buffers)})"] if len(buffers) == 2 else []
    conditions.append(f"(known = {find}({index}, {', '.join(words)})) != 0")
    return [
        "  void* known;",
        f"  if ({' && '.join(conditions)}) {{",
        f"    return {call_of('known')};",
        "  }",
    ]


def bits_of(arguments, relation):
    bits = [f"(uint32_t)({name} {relation} 0) << {bit}" for bit, name in enumerate(arguments)]
    return " | ".join(bits) if bits else "0"


def all_entries(functions, hooks, spawns, communicators, fortran):
    """Of the shim, in their order: symbol, number of arguments, kind, role."""
    entries = []
    for function in functions:
        count = len(function.arguments)
        role = "role_hook" if function.counted else "role_served"
        for name in [function.name] + ([function.name + "_c"] if function.large else []):
            entries += c_entries(name, count, role)
        entries += fortran_entries(function, fortran, count + 1, role)
    for hook in hooks:
        entries += c_entries(hook.name, len(hook.c_arguments), "role_hook")
        entries += fortran_entries(hook, fortran, len(hook.fortran_arguments) + 1, "role_hook")
    for spawn in spawns:
        entries += c_entries(spawn.name, len(spawn.arguments), "role_below")
    for call in communicators:
        entries += c_entries(call.name, len(call.arguments), "role_below")
    return entries


def shim_source(functions, hooks, spawns, communicators, fortran):
    entries = all_entries(functions, hooks, spawns, communicators, fortran)
    served = {function.name: function for function in functions if not function.counted}
    with_fallback = [function for function in functions if function.large]
    out = [preamble("The entries of the shim: every symbol that it takes from the MPI library.")]
    out.append('#include "known_calls.h"\n#include "shim.h"\n\n#include <string.h>\n')
    out.append(f"_Atomic(void*) sibyl_preload_slots[{len(entries)}];")
    out.append("const struct sibyl_preload_symbol sibyl_preload_symbols[] = {")
    out += [f'    {{"{symbol}", {kind}, {role}}},' for symbol, _, kind, role in entries]
    out.append("};\n")
    out.append(f"const unsigned sibyl_preload_symbol_count = {len(entries)};\n")
    out.append('#define ENTRY __attribute__((visibility("default")))')
    for index, (symbol, count, kind, _) in enumerate(entries):
        find = "profiling_target" if kind == "profiling_function" else "target"
        names = ", ".join(f"a{i}" for i in range(count))
        parameters = ", ".join(f"word a{i}" for i in range(count))
        types = ", ".join(["word"] * count)
        out.append(f"\nENTRY word {symbol}({parameters});")
        out.append(f"word {symbol}({parameters}) {{")

        def call_of(target, types=types, names=names):
            return f"((word(*)({types})){target})({names})"

        if symbol in served:
            out += known_call(served[symbol], names.split(", "), index, call_of)
        out.append(f"  void* target = sibyl_preload_{find}({index}, __builtin_return_address(0));")
        out.append(f"  return {call_of('target')};")
        out.append("}")
    out += fallbacks(with_fallback, "sibyl_preload_fallback")
    return "\n".join(out) + "\n"


def too_large(function, count):
    """Whether a count is read here and does not fit into an int."""
    own = buffer_of(function.arguments, count)
    conditions = [f"too_large({count.name})"]
    conditions += [] if own is None else [f"{function.arguments[own].name} != MPI_IN_PLACE"]
    if count.whose:
        conditions.append(f"significant_entries(Collective::{function.short}, root, comm) != 0")
    return " && ".join(conditions)


def c_wrapper(function, large):
    suffix = "_large" if large else ""
    types = LARGE_C_TYPES if large else C_TYPES
    parameters = ", ".join(f"{types[a.kind]} {a.name}" for a in function.arguments)
    names = ", ".join(a.name for a in function.arguments)
    is_large = "has_large" if large else "false"
    # Nobody asks from where a barrier is called.
    place = "" if function.short == "barrier" else ", .place = place_of_call()"
    caller = f"Caller{{.preload = true, .large = {is_large}{place}}}"
    out = [f"[[gnu::hot]] static int c_{function.short}{suffix}({parameters}) {{"]
    out.append("  const Entry entry;")
    if large:
        counts = [a for a in function.arguments if a.kind == "count"]
        if counts:
            out.append("#if !SIBYL_PRELOAD_LARGE")
            out += [f"  if ({too_large(function, a)}) return raise_count(comm);" for a in counts]
            out.append("#endif")
    # That one is local and sends no collective: it holds in an error handler, within a call, too.
    nested = "" if function.short == "mpix_comm_revoke" else "entry.nested() || "
    out.append(f"  if ({nested}!whole_world_may_be_served()) {{")
    out.append(f"    return native_{function.short}({caller}, {names});")
    out.append("  }")
    out.append(f"  return serve_{function.short}({caller}, {names});")
    out.append("}")
    return out


def fortran_wrapper(function, index):
    """`index`: of the shim's entry of the C function, where a call may be known."""
    parameters = ", ".join(
        f"{'void' if a.kind in BUFFERS else 'const MPI_Fint'}* {a.name}" for a in function.arguments
    )
    names = [f"c_{argument.name}" for argument in function.arguments]
    out = [f"static void fortran_{function.short}({parameters}, MPI_Fint* ierror) {{"]
    for argument, name in zip(function.arguments, names, strict=True):
        out.append(f"  const auto {name} = {FROM_FORTRAN[argument.kind].format(argument.name)};")
    values = ", ".join(names)
    if is_known_by_words(function):
        words = known_words(function, names, "pair_of({}, {})".format)
        buffers = places_of(function, names)["buffer"]
        values_of_known = ", ".join([str(index), *words, *buffers])
        known = f"known_call<decltype(c_{function.short})>({values_of_known})"
        out.append(f"  auto* const known = {known};")
        out.append(f"  auto* const way = known != nullptr ? known : &c_{function.short};")
        out.append(f"  const int status = way({values});")
    else:
        out.append(f"  const int status = c_{function.short}({values});")
    out.append("  if (ierror != nullptr) *ierror = static_cast<MPI_Fint>(status);")
    return [*out, "}"]


@dataclass
class Forwarding:
    """The wrapper of one symbol, which goes on to the native function of the same name."""

    symbol: str
    fortran: FortranSymbol | None  # None: a C function
    way: str  # the function of support.hpp that goes there
    what: str  # its second argument
    parameters: list  # with their types
    arguments: list

    def code(self):
        native = f"native_{self.symbol}"
        parameters = self.parameters + (["MPI_Fint* ierror"] if self.fortran else [])
        values = [native, self.what, *(["ierror"] if self.fortran else []), *self.arguments]
        result, way = ("void", f"{self.way}_fortran") if self.fortran else ("word", self.way)
        return [
            f"static std::atomic<void*> {native};",
            f"static {result} to_{self.symbol}({', '.join(parameters)}) {{",
            f"  {'' if self.fortran else 'return '}{way}({', '.join(values)});",
            "}",
        ]

    def row(self):
        of = self.fortran
        versions = f"{of.first}, {of.last}" if of else "0, any_version"
        counted = ", false, true" if self.way == "counted" else ""
        return (
            f'    {{"{self.symbol}", address(to_{self.symbol}), {versions}, '
            f"&native_{self.symbol}{counted}}},"
        )


def forwarded_hook(hook, fortran):
    hooks = ", ".join(f"hooks::{name}" if name else "nullptr" for name in (hook.before, hook.after))
    when = f"{{{hooks}, {str(hook.open).lower()}, {str(hook.nested).lower()}}}"
    for symbol, of in [(hook.name, None)] + [(f.of(hook), f) for f in fortran]:
        arguments = hook.fortran_arguments if of else hook.c_arguments
        parameters = [f"word {argument}" for argument in arguments]
        yield Forwarding(symbol, of, "hooked", when, parameters, arguments)


def forwarded_and_counted(function, fortran):
    c = [(function.name, None), (function.name + "_c", None)]
    for symbol, of in c + [(f.of(function), f) for f in fortran if f.fits(function)]:
        types = {"comm": "const MPI_Fint*" if of else "MPI_Comm"}
        parameters = [f"{types.get(a.kind, 'word')} {a.name}" for a in function.arguments]
        names = [a.name for a in function.arguments]
        yield Forwarding(symbol, of, "counted", f'{{"{function.short}", comm}}', parameters, names)


def communicator_wrapper(call):
    parameters = ", ".join(f"word {argument}" for argument in call.arguments)
    wrapper = "creating" if call.creates else "freeing"
    return [
        f"static std::atomic<void*> native_{call.name};",
        f"static word c_{call.name}({parameters}) {{",
        f"  return {wrapper}(native_{call.name}, {', '.join(call.arguments)});",
        "}",
    ]


def row(name, wrapper, versions="0, any_version", rest=""):
    """A line of the table of wrappers."""
    return f'    {{"{name}", address({wrapper}), {versions}{rest}}},'


def served_by_c(function):
    """Wrappers of a served function for C, and their rows."""
    code = c_wrapper(function, False)
    rows = [row(function.name, f"c_{function.short}")]
    if function.large:
        code += c_wrapper(function, True)
        rows.append(row(f"{function.name}_c", f"c_{function.short}_large"))
    return code, rows


def served_by_fortran(function, mpi, fortran, index):
    """The wrapper of a served function for this MPI's Fortran, and its rows, one a symbol."""
    symbols = [of for of in fortran if of.mpi == mpi and of.fits(function)]
    wrapper = f"fortran_{function.short}"
    rows = [row(of.of(function), wrapper, f"{of.first}, {of.last}") for of in symbols]
    return fortran_wrapper(function, index) if symbols else [], rows


def of_one_mpi(mpi, served, forwarded, spawns, communicators, fortran, indices):
    """What only this MPI has: wrappers, and their rows."""
    code, rows = [], []
    for wrapper in forwarded:
        if wrapper.fortran and wrapper.fortran.mpi == mpi:
            code += wrapper.code()
            rows.append(wrapper.row())
    for function in served:
        more_code, more_rows = served_by_fortran(function, mpi, fortran, indices[function.name])
        code += more_code
        rows += more_rows
    for spawn in spawns if mpi == "openmpi" else ():
        rest = f", &native_{spawn.short}, true"
        rows.append(row(spawn.name, f"c_{spawn.short}", rest=rest))
    for call in communicators:
        if mpi == "openmpi" and call.creates:
            continue
        code += communicator_wrapper(call)
        rows.append(row(call.name, f"c_{call.name}", rest=f", &native_{call.name}, true"))
    return code, rows


def names_of(served):
    """The served symbols of C, large counts included."""
    for function in served:
        yield function.name
        if function.large:
            yield f"{function.name}_c"


def implementation_source(functions, hooks, spawns, communicators, fortran):
    out = [
        preamble("The wrappers of one MPI: from an intercepted symbol to the body that serves it.")
    ]
    entries = all_entries(functions, hooks, spawns, communicators, fortran)
    indices = {symbol: index for index, (symbol, *_) in enumerate(entries)}
    out.append('#include "preload/implementation/counted.hpp"')
    out.append('#include "preload/implementation/known_calls.hpp"')
    out.append('#include "preload/implementation/served_world.hpp"')
    out.append('#include "preload/implementation/spawn.hpp"')
    out.append('#include "preload/implementation/support.hpp"\n')
    out.append('namespace sibyl::preload {\n\n// C linkage: the shim calls these.\nextern "C" {')
    table = []
    served = [function for function in functions if not function.counted]
    for function in served:
        code, rows = served_by_c(function)
        out += code
        table += rows
    forwarded = [wrapper for hook in hooks for wrapper in forwarded_hook(hook, fortran)]
    for function in functions:
        forwarded += forwarded_and_counted(function, fortran) if function.counted else []
    for wrapper in forwarded:
        if not wrapper.fortran:
            out += wrapper.code()
            table.append(wrapper.row())
    conditions = {
        "openmpi": "#if SIBYL_PRELOAD_OPENMPI",
        "abi": "#elif SIBYL_STANDARD_ABI",
        "mpich": "#else",
    }
    for mpi, condition in conditions.items():
        code, rows = of_one_mpi(mpi, served, forwarded, spawns, communicators, fortran, indices)
        out += [condition, *code]
        table += [condition, *rows]
    out.append('#endif\n}  // extern "C"\n')
    table.append("#endif")
    out += ["static const Wrapper table[] = {", *table, "};\n"]
    out.append("std::span<const Wrapper> wrappers() { return table; }\n")
    out.append("static constexpr std::string_view names[] = {")
    out += [f'    "{name}",' for name in names_of(served)]
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
