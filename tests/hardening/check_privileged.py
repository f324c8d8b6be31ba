#!/usr/bin/env python3
"""Starts a set-group-ID program that has Sibyl, as another user, with settings that name files.

    check_privileged.py --mpicc PATH --flavour FLAVOUR --libraries DIRECTORY

The program is linked to the shim and the recorder, since the loader ignores LD_PRELOAD there. It
must write nothing and load nothing that the environment names. The same program without the mode
bit, run by the same user, shows that the settings are good for files. Needs root, to become
somebody else; without it, or where file systems ignore the bit, the test is left out (exit 77).
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
NOBODY = 65534
LEFT_OUT = 77


def build(options, place):
    libraries = place / "lib"
    libraries.mkdir()
    [implementation] = options.libraries.glob(f"libsibyl-{options.flavour}.so.*")
    for library in ("libsibyl-preload.so", "libsibyl-profile.so", implementation.name):
        shutil.copy2(options.libraries / library, libraries)
    program = place / "program"
    command = [options.mpicc, HERE / "privileged.c", "-o", program, "-Wl,--no-as-needed"]
    # The recorder comes first: what it records is what it then hands on to the shim.
    command += [f"-L{libraries}", "-lsibyl-profile", "-lsibyl-preload", f"-Wl,-rpath,{libraries}"]
    subprocess.run(command, check=True, timeout=120)
    # What a hostile SIBYL_LIBRARY_DIR would have loaded: it marks that it was.
    rogue = place / "rogue"
    rogue.mkdir()
    source = rogue / "rogue.c"
    source.write_text(
        "#include <fcntl.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
        "__attribute__((constructor)) static void mark(void) {\n"
        '  close(open(getenv("ROGUE_MARK"), O_CREAT | O_WRONLY, 0600));\n}\n',
        encoding="ascii",
    )
    library = rogue / implementation.name
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library], check=True, timeout=120)
    return program, rogue


def run(program, home, settings):
    """What the program says when nobody starts it, and which files there are then."""
    for name in ("report", "record", "profile"):
        (home / name).mkdir(parents=True)
    for path in (home, *home.iterdir()):
        os.chown(path, NOBODY, NOBODY)
        path.chmod(0o777)
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(home)}
    environment |= {"ROGUE_MARK": str(home / "rogue-was-here")}
    environment |= {
        "SIBYL_REPORT": str(home / "report"),
        "SIBYL_RECORD": str(home / "record"),
        "SIBYL_PROFILE": str(home / "profile"),
        **settings,
    }
    done = subprocess.run(
        [program],
        env=environment,
        cwd=home,
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"{program}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    written = {name for name in ("report", "record", "profile") if any((home / name).iterdir())}
    if (home / "rogue-was-here").exists():
        written.add("rogue")
    return "privileged: 1" in done.stdout, written


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpicc", required=True)
    parser.add_argument("--flavour", required=True)
    parser.add_argument("--libraries", type=Path, required=True)
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("left out: needs root, to become somebody else")
        sys.exit(LEFT_OUT)
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        place.chmod(0o755)
        program, rogue = build(options, place)
        hostile = {"SIBYL_LIBRARY_DIR": str(rogue)}
        plain = {
            "settings": run(program, place / "plain", {})[1],
            "library": run(program, place / "plain-rogue", hostile)[1],
        }
        os.chown(program, 0, 0)
        program.chmod(0o2755)
        is_privileged, written = run(program, place / "privileged", {})
        loaded = run(program, place / "privileged-rogue", hostile)[1]
    if not is_privileged:
        print("left out: the file system ignores the set-group-ID bit")
        sys.exit(LEFT_OUT)
    expected = [{"report", "record", "profile"}, {"profile", "rogue"}]
    if list(plain.values()) != expected:
        sys.exit(f"without more rights: {plain}, not {expected}: this test would see nothing")
    if written or loaded:
        sys.exit(f"with more rights: written {sorted(written)}, loaded {sorted(loaded)}")
    print("a set-group-ID program wrote nothing and loaded nothing that its settings name")


if __name__ == "__main__":
    main()
