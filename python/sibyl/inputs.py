"""Files that a command reads: none that is larger than it can be, and so no device without end."""

import errno
from pathlib import Path

# What people write by hand, or a command has written for itself.
SMALL = 64 << 20
# Recordings: a million calls of 48 ranks are half of it.
LARGE = 1 << 30
# Of a job: a file that names more is damaged, since reports name each rank that is missing.
RANKS_MOST = 1 << 18


def whole_number(text: str) -> int | None:
    """What digits alone say; None where there is something else, or 2^63 and more."""
    if not (text.isascii() and text.isdigit() and len(text.lstrip("0")) <= 19):
        return None
    number = int(text.lstrip("0") or "0")  # int() refuses thousands of digits
    return number if number < 2**63 else None


def is_int(text: str, least: int = 0) -> bool:
    """Whether it is a whole number from `least` on that a C program can count to."""
    number = whole_number(text)
    return number is not None and least <= number < 2**31


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


def read_compressed(path: Path, most_bytes: int = SMALL) -> bytes:
    """What an .xz file holds, at most so many bytes.

    Raises:
        OSError: it cannot be read, or holds more.
        ValueError: it is damaged, or none.
    """
    try:
        import lzma
    except ImportError as error:  # some builds of Python lack it
        why = "this Python was built without the module lzma"
        raise OSError(errno.ENOSYS, why, str(path)) from error
    try:
        with lzma.open(path) as file:
            data = file.read(most_bytes + 1)
    except (EOFError, lzma.LZMAError) as error:
        raise ValueError(str(error)) from error
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, f"it holds more than {most_bytes} bytes", str(path))
    return data
