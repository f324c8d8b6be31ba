"""Files are written whole, and where they cannot be is told before."""

from pathlib import Path

import pytest

from sibyl.errors import CommandError
from sibyl.files import check_writable, write_result, write_whole


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "new \ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


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


def test_a_result_goes_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_result(tmp_path / "link", "text")
    assert (tmp_path / "file").read_text() == "text"
    assert (tmp_path / "link").is_symlink()
    write_result(Path("/dev/null"), b"bytes")
