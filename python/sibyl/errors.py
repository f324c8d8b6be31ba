"""The errors that the command turns into one line on stderr and an exit code; words for lines."""


class CommandError(Exception):
    """What was asked cannot be done; the message is one line that says why and how to mend it.

    Attributes:
        exit_code: 2 for bad input, 1 for a check that failed.
    """

    exit_code = 2


def counted(number: int, noun: str, plural: str = "") -> str:
    """`number` and its noun: 1 rank, 2 ranks."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def one_line(text: str) -> str:
    """Return `text` with every run of white space, line ends included, as one space."""
    return " ".join(text.split())
