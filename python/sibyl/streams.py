"""Standard streams that are closed or full, or that nobody reads any more.

Whoever reads the first lines of the output alone, as `head` does, is no error: what comes then goes
nowhere. Lines that cannot be written are: the command says so and ends with exit code 2. What is
said on standard error is worth less than what a command is for: where it cannot be written, it goes
nowhere.
"""

import io
import os
import sys
from contextlib import suppress


class NotPrinted(Exception):
    """Standard output cannot be written; the message says why.

    No OSError, which would not say whose it is, and for some of which typer and Rich have exit
    codes of their own.
    """


class _Output(io.TextIOWrapper):
    """Standard output that raises NotPrinted."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError as error:
            _give_up(error)
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            _give_up(error)


class _Errors(io.TextIOWrapper):
    """Standard error that never fails: a full disk behind it loses no result and no exit code."""

    def write(self, text: str) -> int:
        with suppress(OSError):
            return super().write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            super().flush()


def take_streams() -> None:
    """Have standard streams that take whatever is printed.

    Those that were closed are opened: the next files would get their numbers. What is written to a
    closed output is an error then, and for the errors it goes nowhere. Names that are not UTF-8 are
    printed somehow.
    """
    for number, (name, mode, flags) in enumerate(
        (("stdin", "r", os.O_RDONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY))
    ):
        if getattr(sys, name) is None:
            _put_nothing(number, flags)
            setattr(sys, name, os.fdopen(number, mode, closefd=False))
    for name, kind in (("stdout", _Output), ("stderr", _Errors)):
        stream = getattr(sys, name)
        if type(stream) is io.TextIOWrapper:  # not what a test has put there
            how = {
                "encoding": stream.encoding,
                "errors": stream.errors if stream.errors != "strict" else "backslashreplace",
                "line_buffering": stream.line_buffering,
                "write_through": stream.write_through,
            }
            taken = kind(stream.detach(), **how)
            setattr(sys, name, taken)
            setattr(sys, f"__{name}__", taken)


def _put_nothing(number: int, flags: int) -> None:
    """Have a file descriptor lead to the null device."""
    nothing = os.open(os.devnull, flags)
    if nothing != number:
        os.dup2(nothing, number)
        os.close(nothing)


def _give_up(error: OSError) -> None:
    """Have all that is still to be written to standard output go nowhere.

    What is left in buffers would be written, and fail, once more when the process ends.

    Raises:
        NotPrinted: unless nobody reads it any more.
    """
    with suppress(OSError, ValueError):  # a stream of a test's has no number
        _put_nothing(sys.stdout.fileno(), os.O_WRONLY)
    if not isinstance(error, BrokenPipeError):
        message = f"standard output cannot be written: {error.strerror or error}"
        raise NotPrinted(message) from error


def write_stdout(content: bytes) -> None:
    """Write to standard output; nothing happens where nobody reads it any more.

    Raises:
        NotPrinted: it cannot be written.
    """
    sys.stdout.flush()
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except OSError as error:
        _give_up(error)
