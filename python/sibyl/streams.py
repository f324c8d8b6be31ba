"""Standard output that is closed or full, or that nobody reads any more.

Whoever reads the first lines alone, as `head` does, is no error: what comes then goes nowhere.
Lines that cannot be written are: the command says so and ends with exit code 2.
"""

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

# What a write to an output that is closed, full, limited or broken says.
OF_WRITING = (errno.EPIPE, errno.EBADF, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def not_printed(error: OSError) -> str:
    """What is said of an error of standard output."""
    return f"standard output cannot be written: {error.strerror or error}"


def take_streams() -> None:
    """Have standard streams that take whatever is printed.

    Those that were closed are opened: the next files would get their numbers. What is written to a
    closed output is an error then, and for the errors it goes nowhere.
    """
    for number, (name, mode, flags) in enumerate(
        (("stdin", "r", os.O_RDONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY))
    ):
        if getattr(sys, name) is None:
            _put_nothing(number, flags)
            setattr(sys, name, os.fdopen(number, mode, closefd=False))
    _replace_what_is_no_text()


def _replace_what_is_no_text() -> None:
    """Have names that are not UTF-8 printed somehow, as on standard error."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def _put_nothing(number: int, flags: int) -> None:
    """Have a file descriptor lead to the null device."""
    nothing = os.open(os.devnull, flags)
    if nothing != number:
        os.dup2(nothing, number)
        os.close(nothing)


def silence_stdout() -> None:
    """Have all that is still to be written to standard output go nowhere."""
    with suppress(OSError, ValueError):  # a stream of a test's has no number
        _put_nothing(sys.stdout.fileno(), os.O_WRONLY)


def is_of_stdout(error: OSError) -> bool:
    """Whether an error is one of printing, which does not say so itself; silences it then."""
    if error.filename is not None or error.errno not in OF_WRITING:
        return False
    try:
        sys.stdout.flush()
        os.write(sys.stdout.fileno(), b"\n")  # what was printed is cut off anyway
    except OSError:
        silence_stdout()
        return True
    return False


def write_stdout(content: bytes) -> None:
    """Write to standard output; nothing happens where nobody reads it any more.

    Raises:
        OSError: it cannot be written.
    """
    with _silenced_by_errors():
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()


def flush_stdout() -> None:
    """Write out what was printed; nothing happens where nobody reads it any more.

    Raises:
        OSError: it cannot be written.
    """
    with _silenced_by_errors():
        sys.stdout.flush()


@contextmanager
def _silenced_by_errors() -> Iterator[None]:
    """What is left in buffers would be written, and fail, once more when the process ends."""
    try:
        yield
    except BrokenPipeError:
        silence_stdout()
    except OSError:
        silence_stdout()
        raise
