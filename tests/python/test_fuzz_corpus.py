"""Readers of files take or refuse whatever they are given: the corpus, and changes to it."""

import random
from pathlib import Path

import pytest
from fuzz_readers import READERS, feed

pytestmark = pytest.mark.suite

CORPUS = Path(__file__).parents[1] / "fuzz" / "corpus"
CHANGES = 40  # of each file
BYTES = b'\0\n-9\x7f\xff{}[]",:e'


def changed(data: bytes, draw: random.Random) -> bytes:
    """One of a file's many neighbours."""
    at = draw.randrange(len(data) + 1)
    match draw.randrange(5):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + data[at + draw.randrange(9) :]
        case 2:
            return data[:at] + bytes(draw.choices(BYTES, k=draw.randrange(1, 9))) + data[at:]
        case 3:
            return data[:at] + bytes(draw.choices(BYTES, k=4)) + data[at + 4 :]
        case _:
            return data[:at] + draw.randbytes(8) + data[at + 8 :]


@pytest.mark.parametrize("name", READERS)
def test_a_reader_takes_or_refuses_what_it_is_given(name: str) -> None:
    files = sorted((CORPUS / name).iterdir())
    assert files
    for file in files:
        data = file.read_bytes()
        feed(name, data)
        draw = random.Random(file.name)
        for number in range(CHANGES):
            other = changed(data, draw)
            try:
                feed(name, other)
            except Exception as error:
                raise AssertionError(f"{file}, change {number}: {other!r}") from error


def test_samples_of_the_corpus_are_judged(tmp_path: Path) -> None:
    """Else changes to them would be refused for what they lack from the first."""
    reader, name = READERS["samples"]
    for file in (CORPUS / "samples").iterdir():
        (tmp_path / name).write_bytes(file.read_bytes())
        reader(tmp_path / name)
