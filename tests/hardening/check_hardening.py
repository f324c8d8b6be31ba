#!/usr/bin/env python3
"""Holds the built libraries and programs against what cmake/SibylHardening.cmake promises.

    check_hardening.py FILE... [--flag=FLAG]...

FLAG is a compiler option that the build has found to exist; what the others would do is not looked
for. Needs readelf. Prints a line for each promise that is broken and exits 1 if there is any.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ENDBR64 = bytes.fromhex("f30f1efa")


def readelf(library, *options):
    command = ["readelf", "--wide", *options, str(library)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def symbols(library):
    """Of the dynamic table: (name, address, type, whether it is defined here)."""
    for line in readelf(library, "--dyn-syms").splitlines():
        words = line.split()
        if len(words) >= 8 and words[0].rstrip(":").isdigit():
            name = words[7].split("@")[0]
            yield name, int(words[1], 16), words[3], words[6] != "UND"


def bytes_at(library, address, count):
    """What is loaded at an address."""
    for line in readelf(library, "--program-headers").splitlines():
        words = line.split()
        if words[:1] != ["LOAD"]:
            continue
        offset, virtual, size = int(words[1], 16), int(words[2], 16), int(words[4], 16)
        if virtual <= address < virtual + size:
            data = library.read_bytes()
            start = offset + address - virtual
            return data[start : start + count]
    return b""


# The MPI is not there when these are linked or loaded, and some MPIs lack some functions.
BOUND_WHEN_USED = re.compile(r"libsibyl-(openmpi|mpich|smpi)\.so|sibyl-bench-\w+")
# Of one function each, that neither keeps an array nor calls what can be fortified.
TOO_SMALL = ("libsibyl-cluster-idle.so", "libsibyl-cluster-old_mpich.so")


def search_paths(dynamic):
    """Where the file has its libraries looked for."""
    for text in re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", dynamic):
        yield from text.split(":")


def problems_of_loading(file):
    headers = readelf(file, "--program-headers")
    dynamic = readelf(file, "--dynamic")
    stack = re.search(r"GNU_STACK.*", headers)
    if stack is None or "E" in stack[0].split()[-2]:
        yield "its stack may hold code"
    if re.search(r"^ +LOAD.* RWE ", headers, re.MULTILINE):
        yield "memory may be both written and executed"
    if "GNU_RELRO" not in headers:
        yield "its tables are writable (no RELRO)"
    if "TEXTREL" in dynamic:
        yield "its code is written to when it is loaded"
    bound_now = "BIND_NOW" in dynamic or re.search(r"FLAGS_1.*NOW", dynamic) is not None
    when_used = BOUND_WHEN_USED.fullmatch(file.name) is not None
    if not when_used and not bound_now:
        yield "its functions are not bound when it is loaded"
    if when_used and bound_now:
        yield "its functions are bound when it is loaded, and some MPIs lack some"
    if "INTERP" in headers and not re.search(r"FLAGS_1.*PIE", dynamic):
        yield "it is no position-independent program"
    if "Build ID: " not in readelf(file, "--notes"):
        yield "it has no build ID"
    for path in search_paths(dynamic):
        if not path.startswith(("/", "$ORIGIN/")):
            yield f"it looks for libraries in '{path}', which whoever calls it chooses"


def problems(library, flags):
    yield from problems_of_loading(library)
    table = list(symbols(library))
    imported = {name for name, _, _, defined in table if not defined}
    if library.name in TOO_SMALL:
        return
    if "-fstack-protector-strong" in flags and "__stack_chk_fail" not in imported:
        yield "no stack protector"
    fortified = {name for name in imported if re.fullmatch(r"__\w+_chk", name)}
    if any(flag.startswith("-D_FORTIFY_SOURCE") for flag in flags) and not fortified:
        yield "no fortified function of the C library"
    if "-fcf-protection" in flags:
        for name, address, kind, defined in table:
            if not defined or kind != "FUNC" or not name.startswith(("MPI_", "SIBYL_", "sibyl_")):
                continue
            if bytes_at(library, address, 4) != ENDBR64:
                yield f"{name} does not begin with endbr64"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("libraries", type=Path, nargs="+")
    parser.add_argument("--flag", action="append", default=[])
    arguments = parser.parse_args()
    broken = [
        f"{library.name}: {text}"
        for library in arguments.libraries
        for text in problems(library, arguments.flag)
    ]
    for line in broken:
        print(line)
    print(f"hardening: {len(arguments.libraries)} files, {len(broken)} broken promise(s)")
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
