#!/usr/bin/env python3
"""Holds the built libraries and programs against what cmake/SibylHardening.cmake promises.

    check_hardening.py FILE... [--flag=FLAG]... [--object=FILE]... [--compiler=COMPILER]

FLAG is a compiler option that the build has found to exist; what the others would do is not looked
for. OBJECT is one of the files that the libraries were linked from. Needs readelf.

Prints a line for each promise that is broken and exits 1 if there is any.

Control-flow enforcement (-fcf-protection) is noted in each object file (IBT, SHSTK). The linker
keeps the note where all that goes into a file has it, also what is not Sibyl's: start-up files of
the compiler and the C library, a static C++ library. Which have it depends on the system (Debian
12's start-up files have not), so what COMPILER makes of an empty library is asked of ours.
"""

import argparse
import re
import subprocess
import sys
import tempfile
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
BOUND_WHEN_USED = re.compile(r"libsibyl-(openmpi|mpich|abi|smpi)\.so\.\d+|sibyl-bench-\w+")
OF_C_ALONE = ("libsibyl-preload.so", "libsibyl-profile.so", "libsibyl-cluster-idle.so")
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


def enforced(file):
    """What the file's note says that the processor may enforce: of IBT and SHSTK."""
    found = re.search(r"x86 feature: (.*)", readelf(file, "--notes"))
    return set(re.findall(r"IBT|SHSTK", found[1])) if found else set()


def enforced_in_an_empty_library(compiler):
    with tempfile.TemporaryDirectory() as directory:
        source, library = Path(directory) / "empty.c", Path(directory) / "empty.so"
        source.write_text("int sibyl_nothing(void) { return 0; }\n")
        flags = ["-fcf-protection", "-shared", "-fPIC"]
        subprocess.run([compiler, *flags, source, "-o", library], check=True)
        return enforced(library)


def problems_of_enforcement(arguments):
    """The notes on object files, and on what is linked from C alone."""
    if "-fcf-protection" not in arguments.flag:
        return
    # What a target is made of has headers that are compiled beforehand as well.
    for file in [file for file in arguments.object if file.suffix == ".o"]:
        lacking = {"IBT", "SHSTK"} - enforced(file)
        if lacking:
            yield f"{file.name}: its note lacks {' and '.join(sorted(lacking))}"
    if arguments.compiler is None:
        return
    kept = enforced_in_an_empty_library(arguments.compiler)
    with_note = [file.name for file in arguments.libraries if enforced(file)]
    print(
        f"hardening: the linker keeps {sorted(kept) or 'no note'} in an empty library of C; "
        f"of ours {', '.join(with_note) or 'no file'} has one"
    )
    for file in arguments.libraries:
        if file.name in OF_C_ALONE and not kept <= enforced(file):
            yield f"{file.name}: the linker has kept no note of IBT and SHSTK"


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
    parser.add_argument("--object", type=Path, action="append", default=[])
    parser.add_argument("--compiler")
    arguments = parser.parse_args()
    broken = [
        f"{library.name}: {text}"
        for library in arguments.libraries
        for text in problems(library, arguments.flag)
    ]
    broken += problems_of_enforcement(arguments)
    for line in broken:
        print(line)
    print(f"hardening: {len(arguments.libraries)} files, {len(broken)} broken promise(s)")
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
