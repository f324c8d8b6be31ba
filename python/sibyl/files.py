"""The files that commands write: noticed beforehand where one cannot be, and never half written.

In the place of a file `-` is standard output; what is said to people goes to standard error then.
"""

import os
import re
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from rich.console import Console

from sibyl.errors import CommandError
from sibyl.paths import closed_directory, is_directory, is_file, is_link, is_there
from sibyl.streams import NotPrinted, write_stdout
from sibyl.terminal import Terminal, is_width_unknown

STDOUT = Path("-")
# An option, or a word for an argument, and the file that is read by it.
Read = tuple[str, Path | None]


def console_beside(*outputs: Path | None, width: int | None = None) -> Console:
    """Where people read results: standard output, unless one of these outputs takes that.

    Args:
        outputs: that options name.
        width: where it is no terminal and COLUMNS says no number; 80 if None.
    """
    stream = sys.stderr if STDOUT in outputs else sys.stdout
    columns = os.environ.get("COLUMNS", "")
    if is_width_unknown():
        return Terminal(file=stream, width=width or 80)
    if stream.isatty() or columns.isdecimal():
        return Terminal(file=stream)
    # With a height, too, what the terminal can do (TERM=dumb) makes no difference. Rich would take
    # the width of a terminal that only the errors go to.
    return Terminal(file=stream, width=width or 80, height=25)


@contextmanager
def stdout_beside(*outputs: Path | None) -> Iterator[None]:
    """Have programs that start meanwhile print to standard error where an output takes the other.

    Args:
        outputs: that options name.
    """
    if STDOUT not in outputs:
        yield
        return
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        os.dup2(2, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that it is never seen half written.

    One that is there already keeps its mode and, where that is allowed, its owner.

    Raises:
        OSError: it cannot be written; nothing is left behind.
    """
    # A name that nobody can have been first to take, with a link or a file of theirs.
    part = path.with_name(f".{_shortened(path.name)}.{secrets.token_hex(8)}.part")
    before = path.stat() if is_file(path) else None
    mode = 0o666 if before is None else 0o600  # until it belongs to whom it should
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(_encoded(content))
            if before is not None:
                _take_after(file.fileno(), before)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def _shortened(name: str) -> str:
    """So that a name of 255 bytes has room for more around it."""
    return os.fsdecode(os.fsencode(name)[:200])


def _take_after(part: int, before: os.stat_result) -> None:
    """Give a new file, which is open, the owner and the mode of the one whose place it takes."""
    try:
        os.fchown(part, before.st_uid, before.st_gid)
    except OSError:  # only root may give files away; the group may be one of ours
        with suppress(OSError):
            os.fchown(part, -1, before.st_gid)
    os.fchmod(part, before.st_mode & 0o777)


def write_result(path: Path, content: str | bytes) -> None:
    """Write what the user asked for: whole, where a link leads too, or straight into a device.

    Raises:
        CommandError: it cannot be written; with one line that says why.
    """
    if path == STDOUT:
        try:
            write_stdout(_encoded(content))
        except NotPrinted as error:
            raise CommandError(str(error)) from error
        return
    _check_links(str(path), path)
    try:
        if _keeps_its_place(path):
            path.write_bytes(_encoded(content))
        else:
            write_whole(Path(os.path.realpath(path)) if is_link(path) else path, content)
    except OSError as error:
        raise _not_writable(str(path), f"since {error.strerror or error}") from error


def _encoded(content: str | bytes) -> bytes:
    """As UTF-8. What is no text in a name, of a file or a program, becomes a replacement character.

    A name that cannot be written is no reason to lose all that was measured under it.
    """
    if isinstance(content, bytes):
        return content
    try:
        return content.encode()
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", content).encode()


def _keeps_its_place(path: Path) -> bool:
    """Whether no file made beside it can take its place: of a device, a pipe, an open file.

    Nor that of a file which a link leads to where none can be made.
    """
    if is_link(path) and is_file(path):
        closed = not os.access(Path(os.path.realpath(path)).parent, os.W_OK)
        return closed or any(map(_is_of_descriptors, _links(path)))
    return is_there(path) and not is_file(path)


def _links(path: Path) -> Iterator[Path]:
    """The links that `path` leads along, as far as its last name is one."""
    for _ in range(40):  # as many as the kernel follows
        if not is_link(path):
            return
        yield path
        path = path.parent / path.readlink()


def _is_of_descriptors(link: Path) -> bool:
    """Whether a link stands for a file that is open, as /dev/stdout: what is in it stays."""
    folder = os.path.realpath(link.parent)
    return folder == "/dev" or folder.startswith("/proc/")


def _check_links(what: str, path: Path) -> None:
    """Refuse a link that somebody has laid for others to write through, as the kernel may do.

    Raises:
        CommandError: it lies where all may lay some, and belongs to neither us nor the directory's
            owner.
    """
    for link in _links(path):
        folder, owner = link.parent.stat(), link.lstat().st_uid
        laid_by_others = owner not in (os.geteuid(), folder.st_uid)
        if laid_by_others and folder.st_mode & stat.S_IWOTH and folder.st_mode & stat.S_ISVTX:
            raise _not_writable(what, f"since {link} is a link of somebody else")


def check_writable(option: str, path: Path) -> None:
    """Notice before a long run, not after it, that a file has no place to go.

    Raises:
        CommandError: it cannot be written; with one line that says why.
    """
    if path == STDOUT:
        return
    what = f"{option} {path}"
    try:
        closed = closed_directory(path)
    except OSError as error:
        raise _not_writable(what, "since the working directory is gone", "enter another") from error
    if closed is not None:
        raise _not_writable(what, f"since there is no permission to enter {closed}")
    _check_links(what, path)
    folder = Path(os.path.realpath(path) if is_link(path) else path.absolute()).parent
    if is_directory(path):
        raise _not_writable(what, "since it is a directory", "name a file in it")
    if not is_directory(folder):
        raise _not_writable(what, f"since there is no directory {folder}", "make it first")
    if is_there(path) and not os.access(path, os.W_OK):
        raise _not_writable(what)
    made = not (is_there(path) and _keeps_its_place(path))
    if made and not os.access(folder, os.W_OK):
        raise _not_writable(what, f"since nothing can be made in {folder}")


def check_json_file(command: str, wanted: bool, file: Path) -> None:
    """The same for a command whose `--json` takes no value: a file may follow as its argument."""
    if wanted:
        check_writable("--json", file)
    elif file != STDOUT:
        raise CommandError(f"{file}: what is to be written there? say: {command} --json {file}")


def check_all_writable(paths: Mapping[str, Path | None], read: Iterable[Read] = ()) -> None:
    """The same for those of several options, by name, that were given; one of them may be `-`.

    No two of them may be the same file, and none a file that is read.

    Args:
        paths: where results go.
        read: by which options files are read, if they are any.

    Raises:
        CommandError: one cannot be written, or what another one holds would be lost.
    """
    to_stdout = [option for option, path in paths.items() if path == STDOUT]
    if len(to_stdout) > 1:
        raise CommandError(f"{' and '.join(to_stdout)}: only one can be written to '-'")
    given = {option: path for option, path in paths.items() if path is not None}
    for option, path in given.items():
        check_writable(option, path)
    _check_apart({option: path for option, path in given.items() if path != STDOUT}, read)


def _check_apart(paths: Mapping[str, Path], read: Iterable[Read]) -> None:
    """Refuse one file for two; devices, such as /dev/null, take what they are given."""
    sources = {os.path.realpath(path): option for option, path in read if path and is_file(path)}
    targets: dict[str, str] = {}
    for option, path in paths.items():
        place = os.path.realpath(path)
        if is_there(path) and not is_file(path):
            continue
        if place in sources:
            raise CommandError(
                f"{option} {path}: would take the place of what {sources[place]} names; choose "
                "another place"
            )
        if place in targets:
            raise CommandError(f"{targets[place]} and {option} both name {path}; say two files")
        targets[place] = option


def make_directory(option: str, path: Path) -> None:
    """Make the directory that an option names, if it is not there.

    Raises:
        CommandError: it cannot be made, or not written to.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = f"since it cannot be made: {error.strerror or error}"
        raise _not_writable(f"{option} {path}", why) from error
    if not os.access(path, os.W_OK):
        raise _not_writable(f"{option} {path}")


def _not_writable(what: str, why: str = "", mend: str = "choose another place") -> CommandError:
    return CommandError(f"{what}: cannot be written{', ' if why else ''}{why}; {mend}")
