"""Files that a command reads: none that is larger than it can be, and so no device without end."""

import errno
from pathlib import Path
from typing import Any

from sibyl.errors import CommandError

# What people write by hand, or a command has written for itself.
SMALL = 64 << 20
# Recordings: a million calls of 48 ranks are half of it.
LARGE = 1 << 30
# Of a job: a file that names more is damaged, since reports name each rank that is missing.
RANKS_MOST = 1 << 18


def read_text(path: Path, most_bytes: int = SMALL) -> str:
    """The text of a file, at most so many bytes of UTF-8.

    Raises:
        OSError: it cannot be read, or is larger.
        UnicodeDecodeError: it is no text.
    """
    with path.open("rb") as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, f"it is larger than {most_bytes} bytes", str(path))
    return data.decode("utf-8")


def lzma_library() -> Any:
    """Python's module `lzma`, which some builds of Python lack.

    Raises:
        CommandError: it is one of them.
    """
    try:
        import lzma
    except ImportError as error:
        raise CommandError(
            "samples are compressed by xz, which this Python was built without; take one with the "
            "module lzma"
        ) from error
    return lzma


def read_compressed(path: Path, most_bytes: int = SMALL) -> bytes:
    """What an .xz file holds, at most so many bytes.

    Raises:
        OSError: it cannot be read, or holds more.
        ValueError: it is damaged, or none.
    """
    lzma = lzma_library()
    try:
        with lzma.open(path) as file:
            data: bytes = file.read(most_bytes + 1)
    except (EOFError, lzma.LZMAError) as error:
        raise ValueError(str(error)) from error
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, f"it holds more than {most_bytes} bytes", str(path))
    return data
