"""Samples that were measured on a cluster, in NAME.samples.xz beside the item's result.

Measuring takes up to an hour and a half, judging a second: so what is kept is judged again when the
claims, the tests or their margins are other ones, and nothing is measured for it. The file is
compressed JSON: of each cell all that the benchmark printed.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any

from sibyl.errors import CommandError
from sibyl.experiment.samples import CellResult
from sibyl.files import write_result
from sibyl.inputs import read_compressed
from sibyl.reproduce.outcome import Item, Measurement, Outcome, Parts, Where
from sibyl.reproduce.results import Made, is_place, read_document

FORMAT, VERSION = "sibyl-samples", 1


@dataclass(frozen=True)
class Kept:
    """Samples of an item.

    Attributes:
        made: how they came about.
        asked: a hash of what was asked for; that they can be judged by what is asked today.
        parts: the samples.
    """

    made: Made
    asked: str
    parts: Parts


def _path(item: Item, folder: Path) -> Path:
    return folder / f"{item.name}.samples.xz"


def asked_of(item: Item, where: Where, iterations: int) -> str:
    """A hash of what an item measures."""
    assert isinstance(item.run, Measurement)
    return sha256(item.run.asked(where, iterations).encode()).hexdigest()[:16]


def compressor() -> Callable[[bytes], bytes]:
    """Of what samples are written by; to be asked for before they are measured.

    Raises:
        CommandError: this Python has none.
    """
    try:
        from lzma import compress
    except ImportError as error:
        raise CommandError(
            "samples are kept compressed by xz, and this Python was built without the module lzma; "
            "take another one"
        ) from error
    return compress


def write_samples(item: Item, kept: Kept, folder: Path) -> None:
    """NAME.samples.xz."""
    made = kept.made
    document = {
        "format": FORMAT,
        "version": VERSION,
        "item": item.name,
        "asked": kept.asked,
        **{name: value for name, value in vars(made).items() if name != "where"},
        "place": vars(made.where),
        "parts": {name: [one.as_json() for one in of] for name, of in kept.parts.items()},
    }
    write_result(_path(item, folder), compressor()(json.dumps(document).encode()))


def read_samples(item: Item, folder: Path) -> Kept | None:
    """What was kept of an item; a file that is none of its samples is left out, and said so."""
    path, what = _path(item, folder), f"file of samples of sibyl reproduce {item.name}"
    document = read_document(path, read_compressed, lambda found: _is_kept(item, found), what)
    if document is None:
        return None
    made = Made(
        document["iterations"],
        Where(**document["place"]),
        document["mark"],
        document["date"],
        document["seconds"],
    )
    parts = {
        name: [CellResult.from_json(one) for one in of] for name, of in document["parts"].items()
    }
    return Kept(made, document["asked"], parts)


def _is_kept(item: Item, document: Any) -> bool:
    if not isinstance(document, dict):
        return False
    told = [document.get(name) for name in ("format", "version", "item")]
    parts = document.get("parts")
    return (
        told == [FORMAT, VERSION, item.name]
        and all(isinstance(document.get(name), str) for name in ("asked", "mark", "date"))
        and isinstance(document.get("iterations"), int)
        and isinstance(document.get("seconds"), (int, float))
        and document.get("place") is not None
        and is_place(document["place"])
        and isinstance(parts, dict)
        and all(isinstance(of, list) and all(map(_is_cell, of)) for of in parts.values())
    )


def _is_cell(data: Any) -> bool:
    try:
        result = CellResult.from_json(data)
        return bool(result.samples) and all(
            bool(times) and all(isinstance(time, (int, float)) and isfinite(time) for time in times)
            for of in result.samples.values()
            for times in of.values()
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        return False


def judged(item: Item, kept: Kept) -> Outcome:
    """What becomes of the claims by what is asked of them today.

    Raises:
        CommandError: the samples are of other cells or contenders, or damaged.
    """
    made, how = kept.made, item.run
    assert isinstance(how, Measurement) and made.where is not None
    if kept.asked != asked_of(item, made.where, made.iterations):
        raise CommandError(
            f"{item.name}: its samples are of other cells or contenders than it has today; "
            f"measure it anew: sibyl reproduce {item.name}"
        )
    try:
        return how.judge(made.where, kept.parts)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # A file may hold anything; what was just measured is not judged by way of here.
        raise CommandError(
            f"{item.name}: its samples cannot be judged ({type(error).__name__}: {error}): they "
            f"are damaged, or this is a defect of Sibyl; measure it anew: sibyl "
            f"reproduce {item.name}"
        ) from error
