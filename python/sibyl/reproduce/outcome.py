"""What an item gives: rows beside the published ones, a picture, and claims that are judged."""

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

VERDICTS = ("held", "partly held", "not held")


@dataclass(frozen=True)
class Claim:
    """What the paper says, and whether it was found again.

    Attributes:
        text: the claim, in our words.
        verdict: held, partly held or not held.
        reason: what it rests on, with figures.
    """

    text: str
    verdict: str
    reason: str


@dataclass(frozen=True)
class Outcome:
    """The result of an item.

    Attributes:
        setting: how ours was got, in one sentence.
        columns: of the table.
        rows: values for CSV, theirs beside ours.
        claims: judged.
        draw: fills a figure; gets matplotlib.pyplot and returns the figure.
    """

    setting: str
    columns: tuple[str, ...]
    rows: list[list[Any]]
    claims: list[Claim]
    draw: Callable[[Any], Any]


@dataclass(frozen=True)
class Where:
    """The cluster of namespaces that an item is measured on.

    Attributes:
        hosts: one rank on each.
        rate: of each host's link, as in 300mbit.
        mpi: openmpi, mpich or a prefix; None for the first in PATH.
    """

    hosts: int = 48
    rate: str = "300mbit"
    mpi: str | None = None


@dataclass(frozen=True)
class Item:
    """A published table or figure.

    Attributes:
        run: takes the number of iterations and a function to be called as work proceeds.
        how: simulated, or measured here.
        steps: how often `run` calls that function.
        place: of an item that is measured on a cluster, where unless told otherwise; `run` takes
            the place first.
    """

    name: str
    title: str
    source: str
    how: str
    run: Callable[..., Outcome] = field(repr=False)
    steps: int = 1
    place: Where | None = None


def judge(text: str, cells: Sequence[tuple[str, bool]], reason: str) -> Claim:
    """Held where it is so in every cell, partly where in some; the reason names the others."""
    failed = [name for name, holds in cells if not holds]
    verdict = VERDICTS[0] if not failed else VERDICTS[1 if len(failed) < len(cells) else 2]
    count = f"{len(cells) - len(failed)} of {len(cells)} cells"
    if failed:
        named = ", ".join(failed[:6]) + (", ..." if len(failed) > 6 else "")
        count += f" (not: {named})"
    return Claim(text, verdict, f"{count}. {reason}")


def published(name: str) -> list[dict[str, str]]:
    """The rows of a published table that the package carries."""
    text = resources.files("sibyl").joinpath(f"data/{name}.csv").read_text("utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
