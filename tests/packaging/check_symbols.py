#!/usr/bin/env python3
"""Holds what the built libraries export against cmake/libsibyl.map, and that against its sources.

    check_symbols.py [--readelf PATH] [--recorder FILE] [--mpicc FLAVOUR=WRAPPER]... FLAVOUR=FILE...

FILE of a flavour is its libsibyl-<flavour>.so.<N>, whose name carries the major version. The map
must have what the headers declare and what the Fortran modules call, and each library what the
map has, with the version of its node; functions with MPI_Count counts may all be missing, but not
where the MPI that a wrapper compiles for has them, which is of the standard's version 4. None may
want such a function of MPI's when it is loaded, since libraries of version 3 have the same name. Of
the recorder: each function of its tables, and nothing else. (What the shim takes is held by
tests/preload, which know it under each MPI.) Prints what differs, and exits 1 if anything does.
Standard library only.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src" / "preload"))

from tables import rows  # noqa: E402 - beside the shim, whose table it reads

PRIVATE = "SIBYL_PRIVATE"
OF_THE_RECORDER = {"sibyl_profile_place", "sibyl_profile_served"}


def read_map(text):
    """The nodes of a version script: {name: symbols}. Comments go, and `local: *`."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    nodes = {}
    for name, body in re.findall(r"([\w.]+)\s*\{(.*?)\}", text, flags=re.DOTALL):
        shown = body.split("local:")[0].replace("global:", "")
        nodes[name] = {symbol.strip() for symbol in shown.split(";") if symbol.strip()}
    return nodes


def declared():
    """Every function that the headers and the Fortran modules give to programs."""
    names = set()
    for header in ("sibyl.h", "pat.h"):
        text = (ROOT / "include" / "sibyl" / header).read_text()
        names |= set(re.findall(r"^SIBYL_EXPORT int (\w+)\(", text, flags=re.MULTILINE))
        names |= set(re.findall(r"^SIBYL_PAT_\w+\((\w+)\);", text, flags=re.MULTILINE))
    for _, words in rows(ROOT / "src" / "fortran" / "functions.txt"):
        names.add("SIBYL_F_" + words[0].removeprefix("SIBYL_"))
    return names


def exported(readelf, library):
    """{(symbol, version)} of the dynamic table; the names of the nodes themselves are left out."""
    command = [readelf, "--wide", "--dyn-syms", library]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = set()
    for line in text.splitlines():
        words = line.split()
        if len(words) < 8 or not words[0].rstrip(":").isdigit() or words[6] in ("UND", "ABS"):
            continue
        if words[3] == "SECTION":  # which nobody can ask for
            continue
        symbol, _, version = words[7].replace("@@", "@").partition("@")
        found.add((symbol, version))
    return found


def soname(readelf, library):
    command = [readelf, "--wide", "--dynamic", library]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"\(SONAME\).*\[(.*)\]", text)
    return found[1] if found else ""


def differences(title, found, expected):
    """Lines that say what one set has and the other has not."""
    for what, names in (("lacks", expected - found), ("has also", found - expected)):
        if names:
            yield f"{title} {what} {', '.join(sorted(map(str, names)))}"


def has_large_counts(wrapper):
    """Whether the MPI that a wrapper compiles for has functions with MPI_Count counts."""
    probe = "#include <mpi.h>\nPROBE MPI_VERSION\n"
    command = [wrapper, "-E", "-x", "c", "-"]
    text = subprocess.run(command, input=probe, capture_output=True, text=True, check=True).stdout
    version = re.search(r"^PROBE (\d+)$", text, flags=re.MULTILINE)  # SimGrid's says none
    return version is not None and int(version[1]) >= 4


def wanted_at_load(readelf, library):
    """The large-count functions of MPI without which it cannot even be loaded.

    Calls of functions are bound when they are made; what an address is taken of is bound at once,
    and may lack only where the reference is weak.
    """

    def read(what):
        command = [readelf, "--wide", what, library]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    taken = set(re.findall(r"_GLOB_DAT\s+\w+\s+(PMPI_\w+_c)\b", read("--relocs")))
    weak = set(re.findall(r"\sWEAK\s.*\sUND\s+(\w+)", read("--dyn-syms")))
    return taken - weak


def problems_of_library(readelf, flavour, library, nodes, wrapper):
    major = re.search(
        r"VERSION_MAJOR (\d+)", (ROOT / "include" / "sibyl" / "version.h").read_text()
    )[1]
    name = f"libsibyl-{flavour}.so.{major}"
    if soname(readelf, library) != name:
        yield f"{library.name} calls itself '{soname(readelf, library)}', not {name}"
    if names := wanted_at_load(readelf, library):
        yield f"{library.name} cannot be loaded by an MPI of version 3: {', '.join(sorted(names))}"
    found = exported(readelf, library)
    expected = {(symbol, node) for node, symbols in nodes.items() for symbol in symbols}
    if flavour not in ("openmpi", "mpich"):  # Fortran programs are of these
        expected = {e for e in expected if not e[0].startswith("SIBYL_F_")}
    if flavour == "smpi":  # nor is it for the preload
        expected = {e for e in expected if e[1] != PRIVATE}
    large = {e for e in expected if e[0].endswith("_c")}
    if not large & found and not (wrapper and has_large_counts(wrapper)):
        expected -= large
    yield from differences(
        library.name,
        {f"{s}@{v}" for s, v in found},
        {f"{s}@{v}" for s, v in expected},
    )


def function_of(symbol):
    """The MPI function, in small letters, that a symbol of C or Fortran is a form of."""
    return re.sub(r"(_c|_f08(ts(_large)?)?_|__?)$", "", symbol).lower()


def problems_of_recorder(readelf, library):
    listed = {words[0].lower() for _, words in rows(ROOT / "src" / "profile" / "functions.txt")}
    found = exported(readelf, library)
    versions = {version for _, version in found} - {""}
    if versions:
        yield f"{library.name} has versions, {versions}, and may not take the place of MPI's own"
    names = {symbol for symbol, _ in found}
    forms = names - OF_THE_RECORDER
    yield from differences(library.name, names - forms, OF_THE_RECORDER)
    yield from differences(library.name, {function_of(symbol) for symbol in forms}, listed)
    # Each in C, and in Fortran by the commonest of its names.
    for name in listed:
        if (
            not any(s.lower() == name and s.startswith("MPI_") for s in forms)
            or name + "_" not in forms
        ):
            yield f"{library.name} lacks a form of {name}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--readelf", default="readelf")
    parser.add_argument("--recorder", type=Path)
    parser.add_argument("--map", type=Path, default=ROOT / "cmake" / "libsibyl.map")
    parser.add_argument("--mpicc", action="append", default=[], metavar="FLAVOUR=WRAPPER")
    parser.add_argument("libraries", nargs="+", metavar="FLAVOUR=FILE")
    arguments = parser.parse_args()
    nodes = read_map(arguments.map.read_text())
    public = set().union(*(symbols for name, symbols in nodes.items() if name != PRIVATE))
    wrappers = dict(each.split("=", 1) for each in arguments.mpicc)
    problems = list(differences(arguments.map.name, public, declared()))
    for each in arguments.libraries:
        flavour, _, file = each.partition("=")
        problems += problems_of_library(
            arguments.readelf, flavour, Path(file), nodes, wrappers.get(flavour)
        )
    if arguments.recorder:
        problems += problems_of_recorder(arguments.readelf, arguments.recorder)
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"symbols: {len(arguments.libraries)} flavours, {len(problems)} difference(s)")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
