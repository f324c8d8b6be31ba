"""How the tests of packages run the commands that they try."""

import os
import subprocess


def run(*command, cwd=None, limit=300, **settings):
    """Run a command with further environment variables, fail with the end of what it printed.

    Returns what it printed, standard error included; `limit` is in seconds.
    """
    done = subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=cwd,
        timeout=limit,
        check=False,
        env={**os.environ, **settings},
    )
    if done.returncode != 0:
        said = done.stdout[-6000:]
        raise AssertionError(f"{' '.join(map(str, command))}: {done.returncode}\n{said}")
    return done.stdout
