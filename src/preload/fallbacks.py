"""C code for `_c` functions that an MPI does not have, by those with int counts; see narrow.c."""

from tables import ARRAYS, BUFFERS, buffer_of


def fallback(function):
    """A `_c` function by the one with int counts. An array belongs to the buffer before it."""
    at = {argument.kind: f"a{i}" for i, argument in enumerate(function.arguments)}
    names = ", ".join(f"a{i}" for i in range(len(function.arguments)))
    parameters = ", ".join(f"word a{i}" for i in range(len(function.arguments)))
    out = [f"\nstatic word fallback_{function.name}_c({parameters}) {{"]
    out.append("  struct sibyl_preload_narrowed narrowed = {0};")
    buffer = ""
    for i, argument in enumerate(function.arguments):
        if argument.kind in BUFFERS:
            buffer = f"a{i}"
        entries = ""
        if argument.whose:
            whose = f"entries_of_{argument.whose}"
            entries = f"sibyl_preload_entries({whose}, {at.get('root', 0)}, {at['comm']})"
        if argument.kind == "count":
            own = buffer_of(function.arguments, argument)
            failed = [f"sibyl_preload_too_large(a{i})"]
            failed += [] if own is None else [f"!sibyl_preload_is_in_place(a{own})"]
            failed += [f"{entries} > 0"] if entries else []
            out.append(f"  if ({' && '.join(failed)}) narrowed.failed = 1;")
        if argument.kind in ARRAYS:
            out.append(f"  sibyl_preload_narrow_array(&narrowed, &a{i}, {buffer}, {entries});")
    out.append("  const int failed = narrowed.failed;")
    out.append(f"  const word result = failed ? error_count : {function.name}({names});")
    out.append("  sibyl_preload_release(&narrowed);")
    refused = f"sibyl_preload_refuse_count({at['comm']})" if "comm" in at else "error_count"
    out.append(f"  return failed ? {refused} : result;")
    out.append("}")
    return out


def fallbacks(functions, finder):
    """All of them, and the C function `finder`, which finds one by MPI_X_c or PMPI_X_c."""
    out = [line for function in functions for line in fallback(function)]
    out.append(f"\nvoid* {finder}(const char* symbol) {{")
    for function in functions:
        out.append(f"  if (strcmp(symbol + (symbol[0] == 'P'), \"{function.name}_c\") == 0) {{")
        out.append(f"    return (void*)fallback_{function.name}_c;\n  }}")
    out.append("  return NULL;\n}")
    return out
