#!/usr/bin/env python3
"""Starts set-user-ID and set-group-ID programs that have Sibyl, with settings that name files.

    check_privileged.py --mpicc PATH --flavour FLAVOUR --libraries DIRECTORY

Another user starts them. The program is linked to the shim and the recorder, since the loader
ignores LD_PRELOAD there. It must write nothing, read nothing and load nothing that the environment
names. The same program without the mode bits, run by the same user, shows that the settings are
good for files. Needs root, to become somebody else; without it, or where file systems ignore the
bits, the test is left out (exit 77).
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
OWNER = 65533
MODES = {"set-group-ID": 0o2755, "set-user-ID": 0o4755}
LEFT_OUT = 77
# What settings name to be read holds no such thing, which whoever reads it says.
READ = ("SIBYL_TABLE", "SIBYL_ARRIVALS")


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
    """Whether it has more rights when nobody starts it; what it has written, loaded and read."""
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
    written |= {name for name in READ if f"{name}:" in done.stderr}
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
        wrong = place / "wrong"
        wrong.write_text("no such thing\n", encoding="ascii")
        wrong.chmod(0o644)
        tried = {
            "settings": {},
            "library": {"SIBYL_LIBRARY_DIR": str(rogue)},
            **{name: {name: str(wrong)} for name in READ},
        }
        plain = {name: run(program, place / f"plain-{name}", of)[1] for name, of in tried.items()}
        found, ignored = {}, []
        for bits, mode in MODES.items():
            os.chown(program, OWNER, OWNER)
            program.chmod(mode)
            for name, of in tried.items():
                more_rights, did = run(program, place / f"{bits}-{name}", of)
                if not more_rights:
                    ignored.append(bits)
                elif did:
                    found[f"{bits}, {name}"] = sorted(did)
    expected = {"settings": {"report", "record", "profile"}, "library": {"profile", "rogue"}}
    strange = any(plain[name] != wanted for name, wanted in expected.items())
    if strange or any(name not in plain[name] for name in READ):
        sys.exit(f"without more rights: {plain}: this test would see nothing")
    if found:
        sys.exit(f"with more rights: {found}")
    if ignored:
        print(f"left out: the file system ignores the {' and '.join(dict.fromkeys(ignored))} bit")
        sys.exit(LEFT_OUT)
    print("privileged programs wrote, read and loaded nothing that their settings name")


if __name__ == "__main__":
    main()
