#!/usr/bin/env python3
"""Runs clang-tidy over src/ in parallel and remembers what it found clean.

    clang_tidy.py --tidy CLANG_TIDY --build BUILD_DIRECTORY [--jobs N] [--stamps DIRECTORY]
                  [--changed-since COMMIT] [--fewer-paths]

A file is looked at again when it, a header of this checkout that it includes, .clang-tidy or the
version of clang-tidy has changed. A file that is compiled for several MPIs is looked at once.
With --changed-since only files that differ from that commit, or include one that does, are looked
at; all of them where .clang-tidy does. With --fewer-paths the static analyzer, which takes two
thirds of the time, gives a function up sooner: it finds a part of what it would; and of the files
that include one that differs only so many are looked at as show each of these once. In the build
directory each source is to be compiled by itself, without precompiled headers, so that a file that
includes less than it uses is found.
Standard library only. Exit status 1 when anything was found.
"""

import argparse
import concurrent.futures
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FEWER_NODES = 50000  # of the analyzer's, which takes up to 225000 for a function
INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def closure(path, seen):
    """Add to `seen` the file and all files of this checkout that it includes."""
    if path in seen:
        return
    seen.add(path)
    for name in INCLUDE.findall(path.read_bytes()):
        for folder in (path.parent, ROOT / "include", ROOT / "src"):
            header = (folder / name.decode()).resolve()
            if header.is_file():
                closure(header, seen)
                break


def fingerprint(path, common):
    """Return a hash of all that clang-tidy's findings in this file depend on."""
    files = set()
    closure(path, files)
    digest = hashlib.sha256(common)
    for file in sorted(files):
        digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def changed_since(commit):
    """Return the files of this checkout that differ from a commit, new ones included."""
    names = []
    for command in (
        ["diff", "--name-only", "-z", commit, "--"],
        ["ls-files", "--others", "--exclude-standard", "-z"],
    ):
        done = subprocess.run(
            ["git", *command], cwd=ROOT, capture_output=True, text=True, check=True
        )
        names += done.stdout.split("\0")
    return {ROOT / name for name in names if name}


def of_changed(commands, changed, once):
    """Return the commands of the files that are among the changed ones or include one of them.

    With `once`, of those that only include some, as many as include each of these at least once.
    """
    if ROOT / ".clang-tidy" in changed:
        return commands
    chosen, seen = {}, set()
    for path in sorted(commands, key=lambda path: (path not in changed, path)):
        files = set()
        closure(path, files)
        shown = files & changed
        if shown and not (once and path not in changed and shown <= seen):
            chosen[path] = commands[path]
            seen |= shown
    return chosen


def first_commands(build):
    """Return the compile command of each file of src/; the first one where it has several."""
    commands = {}
    for command in json.loads((build / "compile_commands.json").read_text()):
        path = Path(command["directory"], command["file"]).resolve()
        if (ROOT / "src") in path.parents and path.is_file():
            commands.setdefault(path, command)
    return commands


def main():
    """Look at every file that has changed and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tidy", required=True)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--stamps", type=Path, default=ROOT / "build/lint/stamps")
    parser.add_argument("--changed-since", metavar="COMMIT")
    parser.add_argument("--fewer-paths", action="store_true")
    options = parser.parse_args()

    version = subprocess.run([options.tidy, "--version"], capture_output=True, check=True).stdout
    analyzer = ["-analyzer-config", f"max-nodes={FEWER_NODES}"] if options.fewer_paths else []
    # The commands are GCC's, and name warnings that clang does not know.
    words = ["-Wno-unknown-warning-option", *(w for word in analyzer for w in ("-Xclang", word))]
    extra = [f"--extra-arg={word}" for word in words]
    common = version + (ROOT / ".clang-tidy").read_bytes() + " ".join(extra).encode()
    commands = first_commands(options.build)
    if not commands:
        print(f"clang-tidy: {options.build} has no compile command for src/")
        return 1
    if options.changed_since:
        commands = of_changed(commands, changed_since(options.changed_since), options.fewer_paths)
    # A data base with one command per file: else each file is looked at once per MPI.
    options.stamps.mkdir(parents=True, exist_ok=True)
    (options.stamps / "compile_commands.json").write_text(json.dumps(list(commands.values())))

    def look_at(path):
        mark = fingerprint(path, common + json.dumps(commands[path]).encode())
        stamp = options.stamps / (str(path.relative_to(ROOT)).replace("/", "_") + ".clean")
        if stamp.exists() and stamp.read_text() == mark:
            return path, 0, ""
        command = [options.tidy, "-p", str(options.stamps), "--quiet", "--warnings-as-errors=*"]
        command += extra
        if path.suffix == ".c":  # the naming rules are those of C++
            command.append("--checks=-readability-identifier-naming")
        done = subprocess.run([*command, str(path)], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            stamp.write_text(mark)
        return path, done.returncode, done.stdout + done.stderr

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for path, status, output in pool.map(look_at, sorted(commands)):
            if status != 0:
                failed += 1
                print(f"--- {path.relative_to(ROOT)}\n{output}", flush=True)
    print(f"clang-tidy: {len(commands)} files, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
