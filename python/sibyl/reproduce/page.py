"""The page of all items in Markdown: one table of all claims, and what explains the verdicts."""

from collections.abc import Sequence
from typing import Any

from sibyl.reproduce.outcome import VERDICTS, Item

# What is not held stands first.
ORDER = ("not held", "partly held", "not judged", "held")
MEANINGS = (
    ("held", "so in every cell"),
    ("partly held", "so in some cells, not in others, which are named"),
    ("not held", "so in no cell"),
    (
        "not judged",
        "measured too seldom, or not for what the claim says: neither for it nor against it",
    ),
)
HEAD = (
    "A cell is a point of a figure or a place in a table. *Within N %* says that ours is at "
    "most N % above or below; it does not say that one is not slower than the other. *Not "
    "slower by more than N %* says that measurements show it (rank-sum test, Holm's correction "
    "over the item): a cell where they show neither that nor the contrary does not count for "
    "the claim. The instrument is the *model* (`sibyl simulate`, with how far its numbers are "
    "from the published ones of the same item, where the paper prints any), *SMPI* (the library on "
    "SimGrid's simulated network), a *cluster* of "
    "namespaces on one machine, a *recording* of real programs, or a *processor*."
)
TITLES = {
    "paper": "What the papers say",
    "control": "What knowing who is late is worth: the same algorithm, told nothing",
    "own": "What Sibyl says of itself",
}

# What the tables below a title say together.
INTRODUCTIONS = {
    "control": (
        "A background variant beside the plain one, as the papers have it, mixes what knowing "
        "gains with concurrency and early receipt, which give nearly all of it in scatter and in "
        "a gather with all transfers under way. So each algorithm stands beside itself, with as "
        "many transfers under way and as much in the background, told nothing. Ratios are of "
        "medians, with the interval of 95 % that the rank-sum test leaves open; each item's CSV "
        "has them for every cell, with p corrected over the item, and told the times of others."
    )
}


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def instrument(document: dict[str, Any]) -> str:
    """What measured an item, in a few words, with a model's error."""
    if document["how"].startswith("simulated"):
        name = "SMPI" if "SMPI" in document["how"] else "model"
        error = document.get("error", "")
        return f"{name}, off by {error.split(', from')[0]}" if error else f"{name}, error unknown"
    if "recorded" in document["how"]:
        return "recording"
    return "cluster" if "cluster" in document["how"] else "processor"


def _anchor(title: str) -> str:
    kept = "".join(c for c in title.lower() if c.isalnum() or c in " -")
    return kept.replace(" ", "-")


def _rows(documents: Sequence[dict[str, Any]], kind: str) -> list[str]:
    found = []
    for document in documents:
        for claim in document["claims"]:
            if claim.get("kind", "paper") != kind:
                continue
            item = f"[{document['item']}](#{_anchor(document['title'])})"
            cells = [
                f"{_cell(claim['text'])} ({item})",
                _cell(claim.get("published", "")),
                _cell(claim.get("ours", "")),
                instrument(document),
                f"**{claim['verdict']}**",
            ]
            found.append((ORDER.index(claim["verdict"]), f"| {' | '.join(cells)} |"))
    return [row for _, row in sorted(found, key=lambda pair: pair[0])]


def _count(documents: Sequence[dict[str, Any]]) -> str:
    verdicts = [
        claim["verdict"]
        for document in documents
        for claim in document["claims"]
        if claim.get("kind", "paper") == "paper"
    ]
    return ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in VERDICTS)


def markdown(documents: Sequence[dict[str, Any]], items: Sequence[Item], date: str) -> str:
    """The page.

    Args:
        documents: of the items that there are results of.
        items: all.
        date: of today.
    """
    lines = [
        "<!-- Written by sibyl reproduce. -->",
        "# What becomes of the published claims",
        "",
        f"Written on {date}; {len(documents)} of the {len(items)} items of `sibyl reproduce`, each "
        "with a table (CSV) of ours beside the published numbers and a picture. Of the papers' "
        f"claims {_count(documents)}.",
        "",
        HEAD,
        "",
    ]
    lines += [f"- **{verdict}**: {meaning}." for verdict, meaning in MEANINGS]
    for kind, title in TITLES.items():
        rows = _rows(documents, kind)
        if rows:
            lines += ["", f"## {title}", ""]
            if kind in INTRODUCTIONS:
                lines += [INTRODUCTIONS[kind], ""]
            lines += [
                "| claim | published | ours | instrument | verdict |",
                "|---|---|---|---|---|",
            ]
            lines += rows
    there = {document["item"] for document in documents}
    absent = [f"`{item.name}` ({item.how})" for item in items if item.name not in there]
    if absent:
        lines += [
            "",
            f"Not run for this page: {', '.join(absent)}. `sibyl reproduce --all --clusters` runs "
            "them all, in hours on a machine that does nothing else, and goes on where it stopped.",
        ]
    if documents:
        lines += ["", "## How each was got, and why claims are not held"]
    for document in documents:
        lines += _section(document)
    return "\n".join(lines) + "\n"


def _section(document: dict[str, Any]) -> list[str]:
    """How an item was got, and what explains the verdicts of claims that are not held."""
    setting = document["setting"][0].upper() + document["setting"][1:]
    date = f", {document['date']}" if "date" in document else ""
    error = document.get("error", "")
    off = f" The model is off by {error}." if error else ""
    lines = ["", f"### {document['title']}", ""]
    lines += [f"`sibyl reproduce {document['item']}`; {document['source']}{date}. {setting}.{off}"]
    open_ones = [claim for claim in document["claims"] if claim["verdict"] != "held"]
    if open_ones:
        lines.append("")
    lines += [
        f"- {claim['text']}: **{claim['verdict']}**. {claim['reason']}"
        for claim in sorted(open_ones, key=lambda claim: ORDER.index(claim["verdict"]))
    ]
    return lines
