"""Files are written whole, and where they cannot be is told before."""

import os
from pathlib import Path

import pytest

from sibyl.errors import CommandError
from sibyl.files import _encoded, check_writable, write_result, write_whole
from sibyl.streams import write_stdout


def test_a_file_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    write_whole(path, "old")

    def fail(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="no room"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_written_through_nothing_that_lies_there(tmp_path: Path) -> None:
    """Others who may write to the folder could lay links where parts of a file are written."""
    for name in ("file", "there"):
        (tmp_path / f".{name}.{os.getpid()}.part").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "there").write_text("old")
    (tmp_path / "there").chmod(0o640)
    before = os.umask(0o027)
    try:
        for name in ("file", "there"):
            write_whole(tmp_path / name, "new")
            assert (tmp_path / name).read_text() == "new"
            assert (tmp_path / name).stat().st_mode & 0o777 == 0o640
    finally:
        os.umask(before)
    assert not (tmp_path / "elsewhere").exists()


def test_a_file_that_a_link_leads_to_is_written_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("old")
    link, dangling = tmp_path / "link", tmp_path / "dangling"
    link.symlink_to("file")
    dangling.symlink_to("new")
    write_result(link, "new")
    write_result(dangling, "made")
    assert (tmp_path / "file").read_text() == "new" and (tmp_path / "new").read_text() == "made"
    assert link.is_symlink() and dangling.is_symlink()

    def fail(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(CommandError, match="no room"):
        write_result(link, "newer")
    assert (tmp_path / "file").read_text() == "new"


def test_an_open_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w+") as log:
        log.write("before\n")
        log.flush()
        link = tmp_path / "link"
        link.symlink_to(f"/proc/self/fd/{log.fileno()}")
        write_result(link, "after\n")
        assert (tmp_path / "log").stat().st_ino == os.fstat(log.fileno()).st_ino


@pytest.mark.skipif(os.geteuid() != 0, reason="files of somebody else's are root's to make")
def test_a_link_that_others_have_laid_is_not_written_through(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    target = tmp_path / "target"
    target.write_text("theirs")
    for name, owner in (("own", 0), ("foreign", 65534)):
        (tmp_path / name).symlink_to(target)
        os.chown(tmp_path / name, owner, owner, follow_symlinks=False)
    (tmp_path / "chain").symlink_to("foreign")
    write_result(tmp_path / "own", "ours")
    for name in ("foreign", "chain"):
        with pytest.raises(CommandError, match="foreign is a link of somebody else"):
            check_writable("--csv", tmp_path / name)
        with pytest.raises(CommandError, match="foreign is a link of somebody else"):
            write_result(tmp_path / name, "text")
    assert target.read_text() == "ours"


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("folder", "it is a directory"),
        ("no/such/file", "there is no directory"),
    ],
)
def test_what_cannot_be_written_is_told_beforehand(tmp_path: Path, name: str, part: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(CommandError, match=f"--csv .*{name}: cannot be written, since {part}"):
        check_writable("--csv", tmp_path / name)
    with pytest.raises(CommandError, match=r"cannot be written, since .*choose another place"):
        write_result(tmp_path / name, "text")
    check_writable("--csv", tmp_path / "folder" / "file")


def forbid(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if nobody might write to a folder: permissions do not bind root."""
    asked = os.access

    def allowed(path: Path, mode: int) -> bool:
        return not (path == folder and mode & os.W_OK) and asked(path, mode)

    monkeypatch.setattr(os, "access", allowed)


def test_a_file_in_a_folder_where_none_can_be_made_is_told_beforehand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there").touch()
    forbid(tmp_path, monkeypatch)
    for name in ("there", "new"):
        with pytest.raises(CommandError, match=f"{name}: .*nothing can be made in {tmp_path}"):
            check_writable("--csv", tmp_path / name)


def test_what_is_written_in_its_place_needs_nothing_made_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shut, other = tmp_path / "shut", tmp_path / "other"
    shut.mkdir()
    other.mkdir()
    os.mkfifo(shut / "pipe")
    (shut / "link").symlink_to(other / "new")
    (other / "link").symlink_to(shut / "new")
    (other / "astray").symlink_to(tmp_path / "no" / "file")
    forbid(shut, monkeypatch)
    check_writable("--csv", shut / "pipe")
    check_writable("--csv", shut / "link")
    with pytest.raises(CommandError, match=f"nothing can be made in {shut}"):
        check_writable("--csv", other / "link")
    with pytest.raises(CommandError, match=f"there is no directory {tmp_path / 'no'}"):
        check_writable("--csv", other / "astray")


def test_a_result_goes_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_result(tmp_path / "link", "text")
    assert (tmp_path / "file").read_text() == "text"
    assert (tmp_path / "link").is_symlink()
    write_result(Path("/dev/null"), b"bytes")


def test_a_name_that_is_no_text_does_not_lose_what_is_written(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    text = f"program {os.fsdecode(b'caf' + bytes([0xE9]))} \ud800"
    (tmp_path / "link").symlink_to(tmp_path / "linked")
    for path in (tmp_path / "file", tmp_path / "link"):
        write_result(path, text)
        assert path.read_text() == "program caf\ufffd \ufffd"
    write_stdout(_encoded(text))
    assert capfdbinary.readouterr().out.decode() == "program caf\ufffd \ufffd"


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o640])
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(mode)
    write_result(path, "new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o7777 == mode


def test_a_file_that_is_replaced_keeps_its_owner_where_it_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    given: list[tuple[int, int]] = []

    def give(part: int, owner: int, group: int) -> None:
        assert os.fstat(part).st_mode & 0o777 == 0o600  # nobody else reads what is half there
        given.append((owner, group))
        if owner != -1:
            raise PermissionError

    monkeypatch.setattr(os, "fchown", give)
    write_result(path, "new")
    there = path.stat()
    assert given == [(there.st_uid, there.st_gid), (-1, there.st_gid)]
    assert path.read_text() == "new"
    write_result(tmp_path / "another", "new")
    assert len(given) == 2


def test_a_working_directory_that_is_gone_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    with pytest.raises(CommandError, match="the working directory is gone"):
        check_writable("--json", Path("file"))
