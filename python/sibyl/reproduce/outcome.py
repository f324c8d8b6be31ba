"""What an item gives: rows beside the published ones, a picture, and claims that are judged."""

import csv
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import Any, Literal

from sibyl.experiment.samples import CellResult

# What each means stands at the head of the page (page.py).
VERDICTS = ("held", "partly held", "not held", "not judged")
# Of items that are measured under each.
MPIS = ("openmpi", "mpich")
# Whose claim it is: the paper's; what is asked of an algorithm that knows who is late, beside
# itself told nothing; or Sibyl's own, of its algorithms and instruments.
Kind = Literal["paper", "control", "own"]


@dataclass(frozen=True)
class Claim:
    """What somebody says, and whether it was found again.

    Attributes:
        text: the claim, in our words.
        verdict: one of VERDICTS.
        reason: what it rests on, with figures.
        kind: whose claim it is.
        published: the figures that the paper prints of it, in a few words.
        ours: the same of ours.
        instrument: what it was judged by, where that is not what the item is got by.
        algorithm: of a control: what is told, with its collective.
        metric: of a control: which of its times.
        worth: of a control: told nothing over told the truth, the least and the most.
    """

    text: str
    verdict: str
    reason: str
    kind: Kind = "paper"
    published: str = ""
    ours: str = ""
    instrument: str = ""
    algorithm: str = ""
    metric: str = ""
    worth: tuple[float, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """The result of an item.

    Attributes:
        setting: how ours was got, in one sentence.
        columns: of the table.
        rows: values for CSV, theirs beside ours.
        claims: judged.
        draw: fills a figure; gets matplotlib.pyplot and returns the figure.
        error: how far ours is from what the paper prints, in words: what a verdict of a model
            rests on.
    """

    setting: str
    columns: tuple[str, ...]
    rows: list[list[Any]]
    claims: list[Claim]
    draw: Callable[[Any], Any]
    error: str = ""


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


# Is called as work proceeds.
Advance = Callable[[], None]
# What was measured: by the name of a part (an MPI, a collective) the results of its cells.
Parts = Mapping[str, Sequence[CellResult]]


@dataclass(frozen=True)
class Measured:
    """Samples that were just taken.

    Attributes:
        parts: all of them.
        forget: to be called when they are written: what an interrupted run would go on with.
    """

    parts: Parts
    forget: Callable[[], None]


@dataclass(frozen=True)
class Measurement:
    """How an item is measured on a cluster, and how its samples are judged, then or ever after.

    Attributes:
        asked: of the place and the iterations, all that says what is measured.
        measure: of the same, and of the fingerprint that the result will have: what an interrupted
            run has left under another one is not gone on with.
        judge: of the place and the samples.
    """

    asked: Callable[[Where, int], str]
    measure: Callable[[Where, int, str, Advance], Measured]
    judge: Callable[[Where, Parts], Outcome]


@dataclass(frozen=True)
class Item:
    """A published table or figure.

    Attributes:
        run: of what needs no cluster: takes the number of iterations and a function to be called as
            work proceeds. Else how it is measured and judged.
        how: simulated, or measured here.
        steps: how often that function is called.
        place: of an item that is measured on a cluster, where unless told otherwise.
        iterations: that it takes, whatever is asked for; None: as many as are asked for.
    """

    name: str
    title: str
    source: str
    how: str
    run: Callable[[int, Advance], Outcome] | Measurement = field(repr=False)
    steps: int = 1
    place: Where | None = None
    iterations: int | None = None


def judge(
    text: str,
    cells: Sequence[tuple[str, bool]],
    reason: str,
    *,
    kind: Kind = "paper",
    published: str = "",
    ours: str = "",
) -> Claim:
    """Held where it is so in every cell, partly where in some; the reason names the others.

    Args:
        text: the claim.
        cells: their names, and whether it is so there; without any nothing is judged.
        reason: what explains it.
        kind: whose claim it is.
        published: the paper's figures.
        ours: ours; how many cells it is so in, if nothing is said.
    """
    if not cells:
        return Claim(text, VERDICTS[3], reason, kind, published, ours)
    failed = [name for name, holds in cells if not holds]
    verdict = VERDICTS[0] if not failed else VERDICTS[1 if len(failed) < len(cells) else 2]
    count = f"{len(cells) - len(failed)} of {len(cells)} cells"
    named = ", ".join(failed[:6]) + (", ..." if len(failed) > 6 else "")
    why = f"{count} (not: {named}). {reason}" if failed else f"{count}. {reason}"
    return Claim(text, verdict, why, kind, published, ours or count)


def as_control(claim: Claim, algorithm: str, metric: str, ratios: Iterable[float]) -> Claim:
    """The same claim as one of what knowing is worth.

    Args:
        claim: judged.
        algorithm: what is told, with its collective.
        metric: run, elapsed, absorbed or total.
        ratios: told nothing over told the truth, of every cell.
    """
    found = [round(ratio, 4) for ratio in ratios]
    worth = (min(found), max(found)) if found else ()
    return replace(claim, kind="control", algorithm=algorithm, metric=metric, worth=worth)


def near(ours: float, published: float, tolerance: float) -> bool:
    """Whether a number is the published one, to so much of it upwards or downwards."""
    return abs(ours / published - 1) <= tolerance


def as_published(
    text: str,
    pairs: Sequence[tuple[str, float, float]],
    tolerance: float,
    reason: str = "",
) -> Claim:
    """Numbers that the paper prints, each beside ours.

    Args:
        text: what they are of.
        pairs: the name of each, ours, and the published one.
        tolerance: how far one may be from the other, as a part of the published one.
        reason: what explains it.
    """
    ratios = [own / given for _, own, given in pairs]
    return judge(
        f"{text} (each to {100 * tolerance:.0f} %, upwards and downwards)",
        [(name, near(own, given, tolerance)) for name, own, given in pairs],
        f"Ours over the published ones: {min(ratios):.2f} to {max(ratios):.2f}. {reason}".strip(),
        published=", ".join(f"{given:g}" for _, _, given in pairs[:6]),
        ours=", ".join(f"{own:.3g}" for _, own, _ in pairs[:6]),
    )


def deviation(pairs: Iterable[tuple[float, float]], fitted: str = "") -> str:
    """How far ours are from the published numbers, in words.

    Args:
        pairs: ours and theirs.
        fitted: to which of them ours were.
    """
    off = [abs(own / given - 1) for own, given in pairs]
    if not off:
        return ""
    return (
        f"{100 * statistics.median(off):.0f} % (median), {100 * max(off):.0f} % at most"
        f"{f', fitted to {fitted}' if fitted else ''}, from {len(off)} published numbers"
    )


def published(name: str) -> list[dict[str, str]]:
    """The rows of a published table that the package carries."""
    text = resources.files("sibyl").joinpath(f"data/{name}.csv").read_text("utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
