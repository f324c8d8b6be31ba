#!/usr/bin/env python3
"""Writes the Fortran forms of Sibyl's C API from functions.txt.

  generate.py bindings OUTPUT.cpp   their C side, compiled once per MPI
  generate.py sibyl OUTPUT.f90      the module for programs that `use mpi` or include mpif.h
  generate.py sibyl_f08 OUTPUT.f90  the module for programs that `use mpi_f08`

Modules are installed as sources, since a compiled one fits only the compiler and the MPI that it
was made with. They hand over the addresses of their MPI_IN_PLACE and MPI_BOTTOM, so that the C side
knows these without a look into any MPI library. Standard library only: it runs in every build.
"""

import argparse
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Kind:
    """How an argument is declared in the module and in C, and how it becomes that of C."""

    declared: str  # in the module's procedure; {} is the handle's type
    bound: str  # in the interface to the C side
    c: str  # there; an address in every case
    to_c: str
    handle: str = ""  # the name of the handle's type in mpi_f08


NUMBER_IN = "integer(c_int), intent(in)"


def handle(name, conversion):
    """Return the kind of an MPI handle."""
    return Kind("{}, intent(in)", NUMBER_IN, "const MPI_Fint*", f"{conversion}(*{{}})", name)


BUFFER = "type(*), dimension(*)"
ARRAY = "integer, intent(in), dimension(*)"
KINDS = {
    "in": Kind(BUFFER, BUFFER, "const void*", "fixed.buffer({})"),
    "out": Kind(BUFFER, BUFFER, "void*", "fixed.buffer({})"),
    "inout": Kind(BUFFER, BUFFER, "void*", "fixed.buffer({})"),
    "count": Kind("integer, intent(in)", NUMBER_IN, "const MPI_Fint*", "*{}"),
    "root": Kind("integer, intent(in)", NUMBER_IN, "const MPI_Fint*", "*{}"),
    "counts": Kind(ARRAY, f"{NUMBER_IN}, dimension(*)", "const MPI_Fint*", "{}"),
    "displs": Kind(ARRAY, f"{NUMBER_IN}, dimension(*)", "const MPI_Fint*", "{}"),
    "datatype": handle("MPI_Datatype", "PMPI_Type_f2c"),
    "op": handle("MPI_Op", "PMPI_Op_f2c"),
    "comm": handle("MPI_Comm", "PMPI_Comm_f2c"),
    "info": handle("MPI_Info", "PMPI_Info_f2c"),
    "request": Kind(
        "type(SIBYL_Request), intent(inout)", "type(c_ptr), intent(inout)", "SIBYL_Request*", "{}"
    ),
    "fraction": Kind(
        "double precision, intent(in)", "real(c_double), intent(in)", "const double*", "*{}"
    ),
    "times": Kind(
        "double precision, intent(in), dimension(*)",
        "real(c_double), intent(in), dimension(*)",
        "const double*",
        "{}",
    ),
    "number": Kind("integer, intent(out)", "integer(c_int), intent(out)", "MPI_Fint*", "{}"),
    "flag": Kind("logical, intent(out)", "integer(c_int), intent(out)", "MPI_Fint*", "{}"),
    "function": Kind("external", NUMBER_IN, "const MPI_Fint*", "function_of(*{})"),
}
BUFFERS = ("in", "out", "inout")


@dataclass
class Function:
    """A line of the table."""

    name: str
    arguments: list  # of (name, kind)

    @property
    def symbol(self):
        """Return the name of the C side."""
        return "SIBYL_F_" + self.name.removeprefix("SIBYL_")

    @property
    def body(self):
        """Return what is behind a blocking collective in the C API, which is told where it was
        called; empty for all other functions."""
        if not self.name.startswith("SIBYL_") or self.name.endswith("_init") or not self.buffers:
            return ""
        return "serve_" + self.name.removeprefix("SIBYL_").lower()

    @property
    def buffers(self):
        """Return the names of the buffers."""
        return [name for name, kind in self.arguments if kind in BUFFERS]


def read_functions(path):
    """Return the table."""
    functions = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        arguments = []
        for word in words[1:]:
            name, _, kind = word.partition(":")
            kind = kind or name
            if kind not in KINDS:
                sys.exit(f"{path.name}:{number}: unknown kind {kind!r}, one of {', '.join(KINDS)}")
            arguments.append((name, kind))
        functions.append(Function(words[0], arguments))
    return functions


def selectable(functions):
    """Return the functions that PAT_UseAlg takes; it knows them by their place."""
    return [f for f in functions if f.name.startswith("PAT_") and f.buffers]


def bindings_source(functions):
    """Return the C side: everything arrives as an address."""
    out = [
        "// The C side of the Fortran modules sibyl and sibyl_f08.",
        "// Written by generate.py from functions.txt: change those.",
        '#include "fortran/support.hpp"\n',
        "namespace sibyl::fortran {\nnamespace {\n",
        "PAT_Function function_of(MPI_Fint number) {",
        "  static const std::array functions{",
    ]
    out += [f"      reinterpret_cast<PAT_Function>({f.name})," for f in selectable(functions)]
    out += [
        "  };",
        "  const auto at = static_cast<std::size_t>(number);",
        "  return at < functions.size() ? functions[at] : nullptr;",
        '}\n\n}  // namespace\n\nextern "C" {\n',
    ]
    for function in functions:
        parameters = ["const void* in_place, const void* bottom"] if function.buffers else []
        parameters += [f"{KINDS[kind].c} {name}" for name, kind in function.arguments]
        values = ", ".join(KINDS[kind].to_c.format(name) for name, kind in function.arguments)
        out.append(f"SIBYL_EXPORT MPI_Fint {function.symbol}({', '.join(parameters)}) {{")
        if function.buffers:
            out.append("  const Constants fixed{in_place, bottom};")
        if function.body:
            here = "in_module(__builtin_return_address(0))"
            out.append(f"  return {function.body}({here}, {values});\n}}")
            continue
        # A macro of pat.h stands before the function of this name.
        out.append(f"  return ({function.name})({values});\n}}")
    out.append('}  // extern "C"\n}  // namespace sibyl::fortran')
    return "\n".join(out) + "\n"


def wrapped(text, indent):
    """Break one statement of Fortran into lines."""
    lines = textwrap.wrap(
        text,
        92,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 4),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line + " &" for line in lines[:-1]] + lines[-1:]


def any_type(names, indent):
    """Return the directives with which compilers take buffers of any type and rank."""
    listed = ", ".join(names)
    return [
        " " * indent + f"!GCC$ ATTRIBUTES NO_ARG_CHECK :: {listed}",
        " " * indent + f"!DEC$ ATTRIBUTES NO_ARG_CHECK :: {listed}",
        " " * indent + f"!DIR$ IGNORE_TKR {listed}",
    ]


def interface(function):
    """Return the interface to the C side of a function."""
    names = [name for name, _ in function.arguments]
    buffers = function.buffers
    if buffers:
        names = ["in_place", "bottom", *names]
        buffers = ["in_place", "bottom", *buffers]
    out = wrapped(
        f'function c_{function.name}({", ".join(names)}) bind(C, name="{function.symbol}")', 4
    )
    out.append("      import :: c_int, c_double, c_ptr")
    out.append(f"      integer(c_int) :: c_{function.name}")
    if buffers:
        out += any_type(buffers, 6)
        out.append(f"      {BUFFER} :: {', '.join(buffers)}")
    for name, kind in function.arguments:
        if kind not in BUFFERS:
            out.append(f"      {KINDS[kind].bound} :: {name}")
    out.append(f"    end function c_{function.name}")
    return out


def declared(kind, f08):
    """Return the type of an argument as the program sees it."""
    row = KINDS[kind]
    return row.declared.format(f"type({row.handle})" if f08 else "integer")


def passed(name, kind, f08):
    """Return what the C side is given of an argument."""
    if kind == "flag":
        return "done"
    if kind == "function":
        return "number"
    if kind == "request":
        return f"{name}%handle"
    return f"{name}%MPI_VAL" if f08 and KINDS[kind].handle else name


def procedure(function, functions, f08):
    """Return the procedure that the program calls."""
    names = [name for name, _ in function.arguments]
    kinds = [kind for _, kind in function.arguments]
    out = wrapped(f"subroutine {function.name}({', '.join([*names, 'ierror'])})", 2)
    if function.buffers:
        out += any_type(function.buffers, 4)
    for name, kind in function.arguments:
        out.append(f"    {declared(kind, f08)} :: {name}")
    out.append("    integer, intent(out), optional :: ierror")
    out.append("    integer(c_int) :: status")
    if "flag" in kinds:
        out.append("    integer(c_int) :: done")
    if "function" in kinds:
        out += ["    integer(c_int) :: number", "    type(c_funptr) :: asked"]
        out += [f"    asked = c_funloc({names[0]})", "    number = -1"]
        for number, known in enumerate(selectable(functions)):
            out.append(f"    if (c_associated(asked, c_funloc({known.name}))) number = {number}")
    values = ["MPI_IN_PLACE", "MPI_BOTTOM"] if function.buffers else []
    values += [passed(name, kind, f08) for name, kind in function.arguments]
    out += wrapped(f"status = c_{function.name}({', '.join(values)})", 4)
    if "flag" in kinds:
        out.append("    flag = done /= 0")
    out.append("    if (present(ierror)) ierror = status")
    out.append(f"  end subroutine {function.name}")
    return out


def module_source(functions, module):
    """Return a module."""
    f08 = module == "sibyl_f08"
    mpi = "mpi_f08" if f08 else "mpi"
    sees = ["MPI_IN_PLACE", "MPI_BOTTOM"]
    if f08:
        sees += sorted({row.handle for row in KINDS.values() if row.handle})
    out = [
        f"! Sibyl for Fortran programs that use {mpi}{'' if f08 else ' or include mpif.h'}.",
        "!",
        "! The functions of sibyl/sibyl.h and sibyl/pat.h, which have the contract, with ierror as",
        "! an optional last argument. Compile it with the MPI's own wrapper, once for a program:",
        f"!   mpifort -c {module}.f90",
        "! Buffers of SIBYL_..._init are kept by address: contiguous arrays with the attribute",
        "! asynchronous, as for MPI's own nonblocking calls.",
        "! Written by generate.py from functions.txt: change those.",
        f"module {module}",
        "  use, intrinsic :: iso_c_binding, only: c_int, c_double, c_ptr, c_null_ptr, &",
        "      c_associated, c_funptr, c_funloc",
        *wrapped(f"use {mpi}, only: {', '.join(sees)}", 2),
        "  implicit none",
        "  private",
        "  public :: SIBYL_Request, SIBYL_REQUEST_NULL, operator(==), operator(/=)",
    ]
    for function in functions:
        out.append(f"  public :: {function.name}")
    out += [
        "",
        "  type, bind(C) :: SIBYL_Request",
        "    type(c_ptr) :: handle = c_null_ptr",
        "  end type SIBYL_Request",
        "  type(SIBYL_Request), parameter :: SIBYL_REQUEST_NULL = SIBYL_Request(c_null_ptr)",
        "",
        "  interface operator(==)",
        "    module procedure same_request",
        "  end interface",
        "  interface operator(/=)",
        "    module procedure other_request",
        "  end interface",
        "",
        "  interface",
    ]
    for function in functions:
        out += interface(function)
    out += [
        "  end interface",
        "",
        "contains",
        "",
        "  logical function same_request(a, b)",
        "    type(SIBYL_Request), intent(in) :: a, b",
        "    same_request = c_associated(a%handle, b%handle) .or. &",
        "        .not. (c_associated(a%handle) .or. c_associated(b%handle))",
        "  end function same_request",
        "",
        "  logical function other_request(a, b)",
        "    type(SIBYL_Request), intent(in) :: a, b",
        "    other_request = .not. same_request(a, b)",
        "  end function other_request",
    ]
    for function in functions:
        out += ["", *procedure(function, functions, f08)]
    out.append(f"end module {module}")
    return "\n".join(out) + "\n"


def main():
    """Write one of the three sources."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("bindings", "sibyl", "sibyl_f08"))
    parser.add_argument("output", type=Path)
    parser.add_argument("--functions", type=Path, default=HERE / "functions.txt")
    arguments = parser.parse_args()
    functions = read_functions(arguments.functions)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    if arguments.what == "bindings":
        arguments.output.write_text(bindings_source(functions))
    else:
        arguments.output.write_text(module_source(functions, arguments.what))


if __name__ == "__main__":
    main()
