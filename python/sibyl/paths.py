"""What a path leads to, as far as that may be seen.

Path.is_file() and its like raise PermissionError below a directory that may not be searched, in
some versions of Python; who looks for a file in several places wants to look in the next one.
"""

import os
import re
from pathlib import Path


def is_file(path: Path) -> bool:
    """Whether there is such a regular file, as far as may be seen."""
    return os.path.isfile(path)  # noqa: PTH113 (never raises)


def is_directory(path: Path) -> bool:
    """Whether there is such a directory, as far as may be seen."""
    return os.path.isdir(path)  # noqa: PTH112 (never raises)


def is_link(path: Path) -> bool:
    """Whether it is a symbolic link, as far as may be seen."""
    return os.path.islink(path)  # noqa: PTH114 (never raises)


def is_there(path: Path) -> bool:
    """Whether there is anything of that name, as far as may be seen."""
    return os.path.exists(path)  # noqa: PTH110 (never raises)


def is_cut(path: Path) -> bool:
    """Whether what takes lists of paths cuts it, at a blank or a colon."""
    return re.search(r"[\s:]", str(path)) is not None


def closed_directory(path: Path) -> Path | None:
    """The directory on the way to `path`, or to where a link leads, that may not be entered."""
    for way in (path.absolute(), Path(os.path.realpath(path))):
        for directory in reversed(way.parents):
            if is_directory(directory) and not os.access(directory, os.X_OK):
                return directory
    return None


def why_absent(path: Path, otherwise: str) -> str:
    """Why nothing is seen at `path`: a directory that may not be entered, or what holds else."""
    closed = closed_directory(path)
    return f"no permission to enter {closed}" if closed is not None else otherwise
