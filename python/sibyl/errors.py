"""The errors that the command turns into one line on stderr and an exit code."""


class CommandError(Exception):
    """What was asked cannot be done; the message is one line that says why and how to mend it.

    Attributes:
        exit_code: 2 for bad input, 1 for a check that failed.
    """

    exit_code = 2


def one_line(text: str) -> str:
    """Return `text` with every run of white space, line ends included, as one space."""
    return " ".join(text.split())
