"""Takes a cluster down when the process that brought it up has been killed.

Run as `python -m sibyl.experiment.guardian NAME` with a pipe as standard input: a line on it means
that the cluster is down, its end without a line that nobody is left to do it.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def guarded(name: str) -> Iterator[None]:
    """Within: the cluster of that name does not outlive this process."""
    guardian = subprocess.Popen(
        [sys.executable, "-m", "sibyl.experiment.guardian", name],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        with suppress(OSError):
            guardian.communicate(b"down\n")


def main() -> None:
    """Wait for the line, or for the end."""
    if sys.stdin.readline():
        return
    words = ["cluster", "down", "--force", "--name", sys.argv[1]]
    subprocess.run([sys.executable, "-m", "sibyl", *words], check=False)


if __name__ == "__main__":
    main()
