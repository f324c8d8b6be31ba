"""Other programs asked for something: their version, what they offer."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

SECONDS = 20.0


def answer_of(
    command: Sequence[str | Path], seconds: float = SECONDS, preloaded: bool = True
) -> subprocess.CompletedProcess[str] | None:
    """What a program prints; None where there is none, or none that answers in time.

    Args:
        command: the words.
        seconds: that it may take.
        preloaded: with LD_PRELOAD, as this process has it.
    """
    kept = (name for name in os.environ if preloaded or name != "LD_PRELOAD")
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            env={name: os.environ[name] for name in kept},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
