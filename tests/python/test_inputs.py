"""Files that are read have an end."""

from pathlib import Path

import pytest
from conftest import Sibyl, assert_usage_error

from sibyl.inputs import read_text


def test_a_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("12345")
    assert read_text(path, 5) == "12345"
    with pytest.raises(OSError, match="it is larger than 4 bytes"):
        read_text(path, 4)
    with pytest.raises(OSError, match="it is larger than 1000 bytes"):
        read_text(Path("/dev/zero"), 1000)
    path.write_bytes(b"\xff")
    with pytest.raises(UnicodeDecodeError):
        read_text(path)


def test_a_device_without_end_is_refused(sibyl: Sibyl) -> None:
    result = sibyl(
        "plan", "gather", "--algorithm", "linear", "--ranks", "4", "--order", "/dev/zero"
    )
    assert_usage_error(result, "it is larger than")
