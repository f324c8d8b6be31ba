"""What scripts/setup asks for where there is no Python that will do, as one who is not root."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).parents[2] / "scripts"
# Of the version that is put in, and without what makes virtual environments.
PYTHON = f"""#!{sys.executable}
import sys
sys.version_info = VERSION
if "-c" not in sys.argv:
    sys.exit(1)
exec(sys.argv[sys.argv.index("-c") + 1])
"""


def asked_for(python: str | None) -> str:
    """The line of a set-up that finds this version in PATH, and none in /usr/bin."""
    with tempfile.TemporaryDirectory() as folder:
        programs = Path(folder) / "bin"
        programs.mkdir()
        for name in ("bash", "dirname", "nproc", "sed"):
            (programs / name).symlink_to(shutil.which(name) or "/")
        fakes = {"id": "#!/bin/sh\necho 1000\n", "apt-get": "#!/bin/sh\nexit 1\n"}
        if python is not None:
            fakes["python3"] = PYTHON.replace("VERSION", python)
        for name, text in fakes.items():
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        script = Path(folder) / "scripts" / "setup"
        script.parent.mkdir()
        shutil.copy(SCRIPTS / "common.sh", script.parent)
        system = f"{folder}/none/python3"
        script.write_text((SCRIPTS / "setup").read_text().replace("/usr/bin/python3", system))
        command = [str(programs / "bash"), str(script), "lint"]
        done = subprocess.run(
            command, env={"PATH": str(programs)}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 2, done
        return done.stderr


class Setup(unittest.TestCase):
    def test_an_older_python_is_told_which_one_to_install(self) -> None:
        said = asked_for("(3, 10, 12)")
        self.assertIn("Python 3.11 or later", said)
        self.assertIn("sudo apt-get install python3.11-venv python3.11-dev\n", said)

    def test_where_there_is_none_or_it_lacks_parts_the_systems_own_is_asked_for(self) -> None:
        for python in (None, "(3, 12, 1)"):
            with self.subTest(python=python):
                said = asked_for(python)
                self.assertIn("sudo apt-get install python3-venv python3-dev\n", said)


if __name__ == "__main__":
    unittest.main()
