#!/usr/bin/env python3
"""Writes the recorder's entries from functions.txt and from the shim's preload/functions.txt.

generate.py entries OUTPUT.c: one entry per symbol, no types, no mpi.h, and the table that says what
of a call's arguments the recorder looks at. Standard library only: it runs in every build.
"""

import argparse
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "preload"))

from fallbacks import fallbacks  # noqa: E402 - a folder beside this one
from tables import (  # noqa: E402
    BUFFERS,
    LEAST_FORTRAN_WORDS,
    Argument,
    read_functions,
    rows,
)

# The symbols of Fortran, and their forms. In all but mpi_f08ts buffers are addresses; MPICH's
# mpi_f08 hands over descriptors, and has names of its own for 64-bit counts. What a program of one
# MPI does not refer to is never called.
FORTRAN = {
    "{name}_": "form_fortran",
    "{name}__": "form_fortran",
    "{name}": "form_fortran",
    "{NAME}": "form_fortran",
    "{name}_f08_": "form_fortran",
    "{name}_f08ts_": "form_fortran | form_descriptors",
    "{name}_f08ts_large_": "form_fortran | form_descriptors | form_large",
}
ENDS = ("begins", "ends", "session_begins", "session_ends")
AMOUNTS = ("none", "one", "ranks", "destinations")
SIDES = ("send", "receive")
EQUAL = {(): "equal_nothing", ("equal",): "equal_bytes", ("equal_blocks",): "equal_blocks"}
NO_SIDE = "{-1, -1, -1, 0, 0}"


@dataclass
class Profiled:
    """A function whose calls are recorded.

    Attributes:
        kind: of recorder.h.
        arguments: those of C.
        fortran: how many the Fortran function has, without ierror.
        large: there is NAME_c.
        description: the rest of its struct profile_function.
    """

    name: str
    kind: str
    arguments: list
    fortran: int
    large: bool
    description: str = ""
    symbols: list = field(default_factory=list)

    def __post_init__(self):
        if not self.description:
            comm = next((i for i, a in enumerate(self.arguments) if a.name == "comm"), -1)
            sides = f"{{{NO_SIDE}, {NO_SIDE}}}"
            self.description = f"amount_none, 0, equal_nothing, {comm}, -1, -1, {sides}"


def place(arguments, kind):
    return next((i for i, argument in enumerate(arguments) if argument.kind == kind), -1)


def sides(function, own):
    """Where buffers, counts and types are. The one count of a reduction is the own side's."""
    found = [{"buffer": -1, "count": -1, "type": -1, "array": 0, "types": 0} for _ in SIDES]
    counts = sum(argument.kind in ("count", "counts") for argument in function.arguments)
    buffers = -1
    for i, argument in enumerate(function.arguments):
        if argument.kind in BUFFERS:
            buffers += 1
            found[buffers]["buffer"] = i
        side = found[own if counts == 1 else buffers]
        if argument.kind in ("count", "counts"):
            side["count"], side["array"] = i, int(argument.kind == "counts")
        if argument.kind == "datatype":
            side["type"], side["types"] = i, int(argument.name.endswith("types"))
    return ", ".join(
        f"{{{side['buffer']}, {side['count']}, {side['type']}, {side['array']}, {side['types']}}}"
        for side in found
    )


def collective(where, function, words):
    amount, side, *equal = words
    if amount not in AMOUNTS or side not in SIDES or tuple(equal) not in EQUAL:
        amounts, names = "|".join(AMOUNTS), "|".join(SIDES)
        sys.exit(f"{where}: expected NAME collective {amounts} {names} [equal|equal_blocks]")
    own = SIDES.index(side)
    same = EQUAL[tuple(equal)]
    places = ", ".join(str(place(function.arguments, kind)) for kind in ("comm", "root", "op"))
    description = f"amount_{amount}, {own}, {same}, {places}, {{{sides(function, own)}}}"
    count = len(function.arguments)
    return Profiled(
        function.name, "collective", function.arguments, count, function.large, description
    )


def waits(name, form, words):
    arguments = [Argument(word, "count" if word == "count" else "word", "") for word in words]
    return Profiled(name, "waits", arguments, len(words), form == "waits+large")


def read(path, shim_path):
    functions, hooks, _, _ = read_functions(shim_path)
    known = {function.name: function for function in functions if function.name.startswith("MPI_")}
    hooked = {hook.name: hook for hook in hooks}
    found = []
    for where, (name, form, *words) in rows(path):
        if form == "collective" and name in known:
            found.append(collective(where, known.pop(name), words))
        elif form in ("waits", "waits+large"):
            found.append(waits(name, form, words))
        elif form in ENDS and name in hooked and not words:
            hook = hooked[name]
            arguments = [Argument(argument, "word", "") for argument in hook.c_arguments]
            found.append(Profiled(name, form, arguments, len(hook.fortran_arguments), False))
        else:
            sys.exit(
                f"{where}: {name} {form}: no such function in {shim_path.name}, or no such form"
            )
    if known:
        sys.exit(f"{path.name} lacks collectives of {shim_path.name}: {', '.join(known)}")
    return found


def symbols_of(function):
    """(symbol, number of arguments, form), of C and of Fortran."""
    count = len(function.arguments)
    yield function.name, count, "0"
    if function.large:
        yield f"{function.name}_c", count, "form_large"
    for pattern, form in FORTRAN.items():
        symbol = pattern.format(name=function.name.lower(), NAME=function.name.upper())
        yield symbol, function.fortran + 1, form


def entry(index, symbol, count, function, form):
    # Of Fortran it lies where the last argument points, which mpi_f08 may leave out.
    last = f"a{count - 1}"
    error = f"{last} != 0 ? *(const int*){last} : 0" if "fortran" in form else "(int)result"
    # What only has a name of Fortran's may have more arguments.
    words = max(count, LEAST_FORTRAN_WORDS) if "fortran" in form else count
    names = ", ".join(f"a{i}" for i in range(words))
    parameters = ", ".join(f"word a{i}" for i in range(words)) or "void"
    types = ", ".join(["word"] * words) or "void"
    out = [f"\nENTRY word {symbol}({parameters});"]
    out.append(f"word {symbol}({parameters}) {{")
    out.append("  const void* const caller = __builtin_return_address(0);")
    out.append(f"  word (*const target)({types}) =")
    out.append(f"      (word(*)({types}))recorder_target({index}, caller);")
    if "fortran" in form:
        out.append(
            f"  if (__builtin_expect(recorder_is_foreign({index}), 0)) return target({names});"
        )
    if function.kind == "begins":
        out.append("  recorder_before_init(caller);")
        out.append(f"  const word result = target({names});")
        out.append("  recorder_after_init();")
        out.append("  return result;")
    elif function.kind == "ends":
        out.append("  recorder_before_finalize();")
        out.append(f"  return target({names});")
    elif function.kind == "session_begins":
        out.append(f"  const word result = target({names});")
        out.append(f"  if (({error}) == 0) recorder_after_session_init({index}, a2);")
        out.append("  return result;")
    elif function.kind == "session_ends":
        out.append("  recorder_before_session_finalize();")
        out.append(f"  return target({names});")
    else:
        out.append(f"  if (recorder_is_off()) return target({names});")
        out.append(f"  const word arguments[] = {{{names}}};")
        out.append("  CALL call;")
        out.append(f"  recorder_begin(&call, {index}, arguments, caller);")
        out.append(f"  const word result = target({names});")
        out.append(f"  call.error = {error};")
        out.append("  return result;")
    out.append("}")
    return out


def source(functions):
    out = ["/* The recorder's entries: every symbol that it takes from the MPI library."]
    out.append(" * Written by generate.py from functions.txt: change that. */")
    out.append('#include <string.h>\n\n#include "recorder.h"\n')
    symbols = [
        (*symbol, i) for i, function in enumerate(functions) for symbol in symbols_of(function)
    ]
    out.append(f"const unsigned profile_function_count = {len(functions)};")
    out.append("const struct profile_function profile_functions[] = {")
    out += [f'    {{"{f.name}", kind_{f.kind}, {f.description}}},' for f in functions]
    out.append("};\nconst struct profile_symbol profile_symbols[] = {")
    out += [f'    {{"{name}", {function}, {form}}},' for name, _, form, function in symbols]
    out.append("};")
    out.append(f"_Atomic(void*) recorder_slots[{len(symbols)}];\n")
    out.append('#define ENTRY __attribute__((visibility("default")))')
    out.append("#define CALL __attribute__((cleanup(recorder_leave))) struct recorded_call")
    for index, (name, count, form, function) in enumerate(symbols):
        out += entry(index, name, count, functions[function], form)
    large = [function for function in functions if function.large]
    out += fallbacks(large, "recorder_fallback")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("entries",))
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    functions = read(HERE / "functions.txt", HERE.parent / "preload" / "functions.txt")
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(source(functions))


if __name__ == "__main__":
    main()
