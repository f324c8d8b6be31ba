"""Files that are read have an end."""

from pathlib import Path

import pytest
from conftest import Sibyl, assert_usage_error

from sibyl.arguments import read_sizes
from sibyl.errors import CommandError
from sibyl.inputs import read_text, whole_number
from sibyl.mpi.placement import read_hostfile


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


def test_digits_are_counted_without_the_zeros_before_them() -> None:
    assert whole_number("0" * 5000 + "17") == 17
    assert whole_number("0") == whole_number("000") == 0
    assert [whole_number(text) for text in ("", "-1", "1.0", "9" * 5000, str(2**63))] == [None] * 5


def test_sizes_and_slots_may_begin_with_zeros(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("0" * 5000 + "3\n4\n")
    assert read_sizes(str(file)) == [3, 4]
    file.write_text("a:003\nb slots=02\nc\n")
    assert read_hostfile(file) == [("a", 3), ("b", 2), ("c", 1)]
    for line in ("a:00", "a slots=0", "a:99999999999999999999", "a:2147483648"):
        file.write_text(f"{line}\n")
        with pytest.raises(CommandError, match="is no host"):
            read_hostfile(file)


def test_a_device_without_end_is_refused(sibyl: Sibyl) -> None:
    result = sibyl(
        "plan", "gather", "--algorithm", "linear", "--ranks", "4", "--order", "/dev/zero"
    )
    assert_usage_error(result, "it is larger than")
