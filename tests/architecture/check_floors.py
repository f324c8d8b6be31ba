#!/usr/bin/env python3
"""Holds the sources against the floors of the house.

A file includes only from its own floor or below, and mpi.h appears in no file below the line
(floors F0 to F3) nor in the C++ headers of the public interface. A Python module imports from its
own room or a lower floor. The rooms and their floors are listed here and nowhere else in code; a
room or a public header that is not listed is an error, so that nobody can forget to say where it
belongs.

    check_floors.py [ROOT]

Prints one line per violation and exits 1 if there is any. Files of src/planners that outgrow the
limit of a file that holds an algorithm are reported, but are no error.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

# Floors of the rooms under src/; the line is between F3 and F4.
ROOMS = {
    "base": 0,
    "schedule": 1,
    "arrival": 1,
    "device": 1,
    "planners": 2,
    "simulator": 2,
    "selection": 3,
    "governor": 3,
    "executor": 4,
    "cost": 4,
    "telemetry": 4,
    "arrival_service": 5,
    "programs": 5,
    "communicator": 6,
    "collectives": 7,
    "preload": 8,
    "profile": 8,
    "fortran": 8,
    "openmpi_component": 8,
}
LINE = 4

# Floors of the public headers include/sibyl/<name>.
PUBLIC_HEADERS = {
    "version.h": 0,
    "schedule.hpp": 1,
    "arrival.hpp": 1,
    "predictors.hpp": 1,
    "planners.hpp": 2,
    "clairvoyant.hpp": 2,
    "simulator.hpp": 2,
    "sibyl.h": 7,
    "pat.h": 7,
}

# What lies on the same floor or below and yet must not be seen: (from, to, why).
FORBIDDEN = {("simulator", "planners"): "the simulator reads programs and never sees planners"}

# Floors of the rooms of python/sibyl and of the modules that lie in it beside them. A module
# imports from its own room or from a lower floor, never from another room of its floor. The package
# itself stands for the bindings (`from sibyl import _core`) and is below them all.
PYTHON_ROOMS = {
    "_core": 0,
    "errors": 1,
    "inputs": 1,
    "paths": 1,
    "placement": 1,
    "schedules": 1,
    "streams": 1,
    "terminal": 1,
    "arguments": 2,
    "files": 2,
    "memory": 2,
    "node_options": 2,
    "option_classes": 2,
    "pages": 2,
    "processes": 2,
    "progress": 2,
    "tables": 2,
    "mpi": 3,
    "cluster": 4,
    "persistent": 4,
    "experiment": 5,
    "bench": 6,
    "guidelines": 6,
    "prediction": 6,
    "simulator": 6,
    "profile": 7,
    "reproduce": 7,
    "commands": 8,
    "cli": 9,
    "__main__": 10,
    "__init__": 10,  # the face of the package
}

ALGORITHM_FILE_LINES = 350
SUFFIXES = {".c", ".h", ".cpp", ".hpp", ".in", ".inc"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def source_files(folder):
    """Return the source files under a folder, in a fixed order."""
    return sorted(p for p in folder.rglob("*") if p.suffix in SUFFIXES and p.is_file())


def includes_of(path):
    """Return (line number, name) of every include of a file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    found = []
    for number, line in enumerate(lines, start=1):
        if match := INCLUDE.match(line):
            found.append((number, match.group(2)))
    return found


def target_of(name, path, root):
    """Return (room or None, floor or None, problem or None) of what an include names."""
    parts = name.split("/")
    if parts[0] == "sibyl" and len(parts) > 1:
        header = "/".join(parts[1:])
        if header in PUBLIC_HEADERS:
            return None, PUBLIC_HEADERS[header], None
        return None, None, f"public header {name} has no floor in check_floors.py"
    if parts[0] in ROOMS and len(parts) > 1:
        return parts[0], ROOMS[parts[0]], None
    # Relative to the including file.
    local = (path.parent / name).resolve()
    source = (root / "src").resolve()
    if local.is_file() and source in local.parents:
        room = local.relative_to(source).parts[0]
        return room, ROOMS.get(room), None
    return None, None, None


def check_file(path, room, floor, root):
    """Return the violations of one file."""
    found = []
    for number, name in includes_of(path):
        place = f"{path.relative_to(root)}:{number}"
        if name.split("/")[-1] in ("mpi.h", "mpi-ext.h") and floor < LINE:
            found.append(f"{place}: mpi.h below the line (floor F{floor})")
            continue
        to_room, to_floor, problem = target_of(name, path, root)
        if problem:
            found.append(f"{place}: {problem}")
        elif to_floor is not None and to_floor > floor:
            found.append(f"{place}: floor F{floor} includes {name} of floor F{to_floor}")
        elif (room, to_room) in FORBIDDEN:
            found.append(f"{place}: {FORBIDDEN[room, to_room]}")
    return found


def python_imports(path: Path, package: str) -> Iterator[tuple[int, str]]:
    """Give (line number, room) of every import from the package, those inside functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level > 0:
            yield node.lineno, "."  # which room it is depends on where the file lies
            continue
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == package and len(parts) > 1:
                yield node.lineno, parts[1]


def check_python(root):
    """Return (violations, number of files) of the Python package."""
    violations = []
    folder = root / "python" / "sibyl"
    paths = sorted(folder.rglob("*.py")) if folder.is_dir() else []
    rooms = {entry.stem if entry.suffix == ".py" else entry.name for entry in folder.glob("*")}
    for path in paths:
        room = path.relative_to(folder).parts[0].removesuffix(".py")
        if room not in PYTHON_ROOMS:
            violations.append(
                f"{path.relative_to(root)}: this room has no floor in check_floors.py"
            )
            continue
        floor = PYTHON_ROOMS[room]
        for number, other in python_imports(path, "sibyl"):
            place = f"{path.relative_to(root)}:{number}"
            if other == ".":
                violations.append(f"{place}: name the room, not the way to it")
            elif other in PYTHON_ROOMS and other != room and PYTHON_ROOMS[other] >= floor:
                to = PYTHON_ROOMS[other]
                violations.append(f"{place}: {room} (P{floor}) imports from {other} (P{to})")
            elif other in rooms and other not in PYTHON_ROOMS:
                violations.append(f"{place}: {other} has no floor in check_floors.py")
    # Tests of the package lie as it does.
    for path in sorted((root / "tests" / "python").glob("*/*.py")):
        if path.parent.name not in ("programs", *PYTHON_ROOMS):
            violations.append(f"{path.relative_to(root)}: there is no such room in python/sibyl")
    return violations, len(paths)


def check(root):
    """Return (violations, remarks, number of files) of a source tree."""
    violations, files = check_python(root)
    remarks = []
    for folder in sorted((root / "src").iterdir()):
        if not folder.is_dir():
            continue
        if folder.name not in ROOMS:
            violations.append(f"src/{folder.name}: this room has no floor in check_floors.py")
            continue
        for path in source_files(folder):
            files += 1
            violations += check_file(path, folder.name, ROOMS[folder.name], root)
            length = len(path.read_text(encoding="utf-8").splitlines())
            if folder.name == "planners" and length > ALGORITHM_FILE_LINES:
                remarks.append(
                    f"{path.relative_to(root)}: {length} lines, "
                    f"a file that holds an algorithm has up to {ALGORITHM_FILE_LINES}"
                )
    for path in source_files(root / "include" / "sibyl"):
        files += 1
        name = path.relative_to(root / "include" / "sibyl").as_posix()
        if name not in PUBLIC_HEADERS:
            violations.append(f"include/sibyl/{name}: this header has no floor in check_floors.py")
            continue
        floor = PUBLIC_HEADERS[name]
        if path.suffix == ".hpp":
            floor = min(floor, LINE - 1)  # the C++ interface needs no MPI
        violations += check_file(path, None, floor, root)
    # Tests may look at any room, but those of the rooms below the line are serial programs.
    for room, floor in ROOMS.items():
        folder = root / "tests" / room
        if floor >= LINE or not folder.is_dir():
            continue
        for path in source_files(folder):
            files += 1
            for number, name in includes_of(path):
                if name == "mpi.h" or name in ("sibyl/sibyl.h", "sibyl/pat.h"):
                    violations.append(
                        f"{path.relative_to(root)}:{number}: mpi.h in a test below the line"
                    )
    return violations, remarks, files


def main(arguments):
    """Check a tree and print what was found."""
    root = Path(arguments[0] if arguments else Path(__file__).parents[2]).resolve()
    violations, remarks, files = check(root)
    for line in remarks:
        print(f"remark: {line}")
    for line in violations:
        print(line)
    print(f"floors: {files} files, {len(violations)} violation(s)")
    return 1 if violations or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
