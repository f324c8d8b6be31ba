"""The pages of all items in Markdown: a short one of the papers' claims, and one of the details.

The short one has what the papers are about (headlines.py) and what some instrument does not hold.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sibyl.reproduce.cross_validation import agreements
from sibyl.reproduce.headlines import MAIN, headline
from sibyl.reproduce.outcome import VERDICTS, Item
from sibyl.reproduce.rack import LINKS_SHARED

DETAILS = "reproduction-details.md"
# What has made a result that programs of today would make anew.
MADE_EARLIER = "made by an earlier version of these programs, or on another machine"
MEASURED_EARLIER = (
    "measured by an earlier version of these programs, or on another machine, and judged as today"
)
# What is not held stands first.
ORDER = ("not held", "partly held", "not judged", "held")
MEANINGS = (
    ("held", "so in every cell, a point of a figure or a place in a table"),
    (
        "partly held",
        "so in some cells; in others it is open, or the instrument decides, or the contrary is "
        "shown: the details say where",
    ),
    ("not held", "so in none, and of something measured the contrary is shown in one at least"),
    (
        "not judged",
        "measured too seldom, or not for what the claim says: neither for it nor against it",
    ),
)
READING = (
    "*Within N %*: ours is at most N % above or below; of something measured: the measurements "
    "show both. It does not say that one is not slower than the other. *Not slower by more than "
    "N %* of something measured: the measurements show it (rank-sum test; a signed-rank test of "
    "what knowing is worth, iteration by iteration; a sign test of printed times and of the "
    "transform's windows; Holm's correction over the claim). Instruments: the *model* "
    "(`sibyl simulate`, with how far its numbers are from the published ones of the same item, or "
    "else in how many cells of `cross-validation` a model with such links agrees with others), "
    "*SMPI* (the library on SimGrid's simulated network), a *cluster* of namespaces "
    "on one machine, this *processor*, a *recording* of real programs."
)
READING_OF_WORTH = (
    "What knowing is worth is the time of an algorithm told nothing over that of the same told "
    "the truth in the same iteration, in which all ranks come alike: the middle by the signed-"
    "rank test, with the interval of 95 % that the test leaves open. In the model a root has one "
    "transfer under way, as published, and so it has on a cluster, but for NAME@K, which has up "
    "to K and passes over who does not answer. Told nothing is told, at one time for all ranks, "
    "that all come at once, or serves in the order of the ranks with as many transfers under "
    "way. Every cell is in the item's CSV, with p corrected over the item's cells, and told the "
    "times of others. What is simulated under one pattern alone repeats to the last digit, and "
    "has neither interval nor p."
)
HEAD = (
    "Words in italics are what an item adds to the claim, or its words for a part of it. "
    "[How to read the rest]({}): tests, margins, instruments."
)
OTHERS = (
    " Here stand the claims that the papers are about, and what some instrument does not hold; "
    "[the others]({}) there."
)
WORTH = (
    "A background variant beside the plain one, as the papers have it, mixes what knowing gains "
    "with concurrency and early receipt, which give nearly all of it in scatter and in a gather "
    "with all transfers under way. So each algorithm stands beside itself, with as many transfers "
    "under way and as much in the background, told nothing: its time over that of the same told "
    "the truth, the least and the most of all cells under imbalance. 1 is worth nothing. The "
    "[verdicts]({}) have their intervals."
)
TITLES = {
    "reading": "How to read it",
    "paper": "What else the papers say",
    "control": "What knowing who is late is worth: the same algorithm, told nothing",
    "own": "What Sibyl says of itself",
}
METRICS = ("run", "elapsed", "absorbed", "total")
TABLE = ["| claim | published | ours | instrument | verdict |", "|---|---|---|---|---|"]
Documents = Sequence[dict[str, Any]]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def instrument(document: dict[str, Any], documents: Documents = ()) -> str:
    """What measured an item, in a few words, with a model's error.

    Args:
        document: the item.
        documents: of all, which may tell of a model's error elsewhere.
    """
    if document["how"].startswith("simulated"):
        name = "SMPI" if "SMPI" in document["how"] else "model"
        error = document.get("error", "")
        if error:
            return f"{name}, off by {error.split(', from')[0]}"
        return f"{name}, {_elsewhere(document, documents) or 'error unknown'}"
    if "recorded" in document["how"]:
        return "recording"
    return "cluster" if "cluster" in document["how"] else "processor"


def _elsewhere(document: dict[str, Any], documents: Documents) -> str:
    """How often a model whose messages share links agrees with others, in cases not the paper's."""
    if LINKS_SHARED not in document["setting"]:
        return ""
    found = [
        f"of {other} in {count}" for of in documents for other, count in agreements(of).items()
    ]
    return f"no printed times; within 10 % {' and '.join(found)} other cells" if found else ""


def _anchor(title: str) -> str:
    kept = "".join(c for c in title.lower() if c.isalnum() or c in " -")
    return kept.replace(" ", "-")


def _part(of: str) -> str:
    """The address of a part of the other page."""
    return f"{DETAILS}#{_anchor(TITLES[of])}"


def _claims(documents: Documents, kind: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for document in documents:
        for claim in document["claims"]:
            if claim.get("kind", "paper") == kind:
                yield document, claim


def _links(documents: Documents, text: Sequence[str], page: str = "") -> list[str]:
    """Where the names of items in brackets lead to, of those that stand in a text."""
    found = [
        f"[{of['item']}]: {page}#{_anchor(of['title'])}"
        for of in documents
        if any(f"[{of['item']}]" in line for line in text)
    ]
    return ["", *found] if found else []


def _table(documents: Documents, kind: str) -> list[str]:
    """All claims of a kind."""
    found = []
    for document, claim in _claims(documents, kind):
        cells = [
            f"{_cell(claim['text'])} ([{document['item']}])",
            _cell(claim.get("published", "")),
            _cell(claim.get("ours", "")),
            claim.get("instrument") or instrument(document, documents),
            f"**{claim['verdict']}**",
        ]
        found.append((ORDER.index(claim["verdict"]), f"| {' | '.join(cells)} |"))
    return TABLE + [row for _, row in sorted(found, key=lambda pair: pair[0])] if found else []


@dataclass
class _Line:
    """What one instrument says of a paper's claim, in all items in which it says the same."""

    published: list[str] = field(default_factory=list)
    ours: dict[str, list[str]] = field(default_factory=dict)  # by the items' own words
    items: dict[str, list[str]] = field(default_factory=dict)  # by how far a model is off

    def told(self) -> str:
        """Ours, after the words that are no headline's."""
        found = ((words, ", ".join(figures)) for words, figures in self.ours.items())
        return "; ".join(": ".join(each for each in pair if each) for pair in found)

    def got_by(self) -> str:
        """The items, and how far they are off."""
        found = ((", ".join(names), off) for off, names in self.items.items())
        return ", ".join(f"{names} ({off})" if off else names for names, off in found)


def _own_words(text: str, about: str) -> str:
    more = text.removeprefix(about).strip(" ,:")
    return f"*{more}*" if more else ""


def _papers(documents: Documents, short: bool) -> list[str]:
    """The papers' claims, each once, with its verdict on every instrument.

    An item's own words stand before its figures where they are not the headline's: what they add to
    it, as a margin, or all of them.

    Args:
        documents: of the items that there are results of.
        short: those of the short page; else the others.
    """
    found: dict[str, dict[tuple[int, str], _Line]] = {}
    for document, claim in _claims(documents, "paper"):
        name, _, off = (claim.get("instrument") or instrument(document, documents)).partition(", ")
        about = headline(claim["text"], document["item"])
        lines = found.setdefault(about, {})
        line = lines.setdefault((ORDER.index(claim["verdict"]), name), _Line())
        words = _own_words(claim["text"], about)
        for texts, text in (
            (line.published, claim.get("published", "")),
            (line.ours.setdefault(words, []), claim.get("ours", "")),
            (line.items.setdefault(off, []), f"[{document['item']}]"),
        ):
            if text and text not in texts:
                texts.append(text)
    rows = []
    # What is held nowhere stands first, then what is held in the fewest places.
    for about, lines in sorted(
        found.items(), key=lambda pair: sorted(verdict for verdict, _ in pair[1])
    ):
        if short != (about in MAIN or any(ORDER[verdict] == "not held" for verdict, _ in lines)):
            continue
        for number, ((verdict, name), line) in enumerate(sorted(lines.items())):
            cells = (
                _cell(about) if number == 0 else "",
                _cell("; ".join(line.published)),
                _cell(line.told()),
                f"{name}: {line.got_by()}",
                f"**{ORDER[verdict]}**",
            )
            rows.append(f"| {' | '.join(cells)} |")
    return TABLE + rows if rows else []


def _count(documents: Documents, kind: str) -> str:
    verdicts = [claim["verdict"] for _, claim in _claims(documents, kind)]
    return ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in VERDICTS)


def _worth(documents: Documents) -> list[str]:
    """A line for each algorithm, what knowing is worth least first, by instrument and metric."""
    found: dict[str, dict[str, dict[str, list[dict[str, Any]]]]] = {}
    for document, claim in _claims(documents, "control"):
        if not claim.get("worth"):
            continue
        how = (claim.get("instrument") or instrument(document)).split(",")[0]
        by = found.setdefault(claim["algorithm"], {}).setdefault(how, {})
        by.setdefault(claim["metric"], []).append(claim)
    if not found:
        return []

    def most(by_how: Mapping[str, Mapping[str, Sequence[dict[str, Any]]]]) -> float:
        claims = (claim for by in by_how.values() for of in by.values() for claim in of)
        return float(max(ratio for claim in claims for ratio in claim["worth"]))

    instruments = list(dict.fromkeys(how for by_how in found.values() for how in by_how))
    lines = []
    for algorithm, by_how in sorted(found.items(), key=lambda pair: most(pair[1])):
        cells = [
            "; ".join(f"{metric} {_span(by[metric])}" for metric in METRICS if metric in by)
            for by in (by_how.get(how, {}) for how in instruments)
        ]
        lines.append(f"| {_cell(algorithm)} | {' | '.join(cells)} |")
    return [
        f"| algorithm | {' | '.join(instruments)} |",
        f"|---|{'---|' * len(instruments)}",
        *lines,
        *_nearness(documents),
    ]


def _nearness(documents: Documents) -> list[str]:
    """How far the model is off in the items of that table; those without printed times as one."""
    line = _Line()
    printed_first = sorted(documents, key=lambda of: not of.get("error"))
    for document, claim in _claims(printed_first, "control"):
        how = claim.get("instrument") or instrument(document, documents)
        name, _, off = how.partition(", ")
        if name == "model" and claim.get("worth"):
            named = document.get("error") or claim.get("instrument")
            item = f"[{document['item']}]" if named else "other items"
            items = line.items.setdefault(off, [])
            if item not in items:
                items.append(item)
    return ["", f"How near the model is: {line.got_by()}."] if line.items else []


def _span(claims: Sequence[dict[str, Any]]) -> str:
    ratios = [ratio for claim in claims for ratio in claim["worth"]]
    ends = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
    undecided = all(claim["verdict"] == "not judged" for claim in claims)
    return " to ".join(dict.fromkeys(ends)) + (" (undecided)" if undecided else "")


def markdown(
    documents: Documents,
    items: Sequence[Item],
    date: str,
    older: Mapping[str, str] | None = None,
) -> str:
    """The short page.

    Args:
        documents: of the items that there are results of.
        items: all.
        date: of today.
        older: the items whose results programs of today would make anew, and what has made them.
    """
    lines = [
        "<!-- Written by sibyl reproduce. -->",
        "# What becomes of the published claims",
        "",
        f"Written on {date}; {len(documents)} of the {len(items)} items of `sibyl reproduce`, "
        "which judge the papers' claims one by one, some on several instruments: "
        f"{_count(documents, 'paper')}. How each was got, and why a claim is "
        f"not held, is among the [details]({DETAILS}); each item has a table (CSV) of ours beside "
        "the published numbers, and draws a picture. What LIN, BSLS@K, alpha and *under way* are "
        "says the glossary (`docs/reference/glossary.md`)."
        + (OTHERS.format(_part("paper")) if _papers(documents, short=False) else ""),
    ]
    papers = _papers(documents, short=True)
    if papers:
        lines += ["", *papers]
    lines += ["", *(f"- **{verdict}**: {meaning}." for verdict, meaning in MEANINGS)]
    lines += ["", HEAD.format(_part("reading"))]
    worth = _worth(documents)
    if worth:
        lines += ["", f"## {TITLES['control']}", "", WORTH.format(_part("control")), "", *worth]
    if any(_claims(documents, "own")):
        lines += [
            "", f"## {TITLES['own']}", "",
            f"Of its algorithms and instruments: {_count(documents, 'own')} "
            f"([one by one]({_part('own')})).",
        ]  # fmt: skip
    lines += _missing(documents, items, older or {})
    return "\n".join([*lines, *_links(documents, lines, DETAILS)]) + "\n"


def _missing(documents: Documents, items: Sequence[Item], older: Mapping[str, str]) -> list[str]:
    """What is not there, and what is no longer what today's programs give."""
    lines = []
    dates = {document["item"]: document.get("date", "") for document in documents}
    for made in (MADE_EARLIER, MEASURED_EARLIER):
        names = [name for name, why in older.items() if why == made]
        dated = [f"`{name}` ({dates[name]})" if dates[name] else f"`{name}`" for name in names]
        if dated:
            lines += ["", f"{made.capitalize()}: {', '.join(dated)}."]
    absent = [f"`{item.name}`" for item in items if item.name not in dates]
    if absent:
        lines += [
            "",
            f"Not run for this page: {', '.join(absent)}. `sibyl reproduce --all --clusters` runs "
            "them all, in hours on a machine that does nothing else, and goes on where it stopped.",
        ]
    return lines


def details(documents: Documents, date: str, tables: str = "") -> str:
    """The other page: the other claims, controls, Sibyl's own, and how each item was got.

    Args:
        documents: of the items that there are results of.
        date: of today.
        tables: what stands before the name of a CSV in a link from the page.
    """
    lines = [
        "<!-- Written by sibyl reproduce. -->",
        "# The published claims in detail",
        "",
        f"Written on {date} by `sibyl reproduce`. What the papers say is on the page of "
        "[the published claims](reproduction.md).",
        "",
        f"## {TITLES['reading']}",
        "",
        f"{READING} {READING_OF_WORTH}",
    ]
    for kind, rows in (
        ("paper", _papers(documents, short=False)),
        *((kind, _table(documents, kind)) for kind in ("control", "own")),
    ):
        if rows:
            lines += ["", f"## {TITLES[kind]}", "", *rows]
    if documents:
        lines += ["", "## How each was got, and why claims are not held"]
    for document in documents:
        lines += _section(document, tables)
    return "\n".join([*lines, *_links(documents, lines)]) + "\n"


def _section(document: dict[str, Any], tables: str) -> list[str]:
    """How an item was got, and what explains the verdicts of claims that are not held."""
    setting = document["setting"][0].upper() + document["setting"][1:]
    date = f", {document['date']}" if document.get("date") else ""
    error = document.get("error", "")
    off = f" The model is off by {error}." if error else ""
    lines = ["", f"### {document['title']}", ""]
    item = document["item"]
    table = f"[table]({tables}{item}.csv)"
    lines += [f"`sibyl reproduce {item}`; {document['source']}{date}; {table}. {setting}.{off}"]
    open_ones = [claim for claim in document["claims"] if claim["verdict"] != "held"]
    if open_ones:
        lines.append("")
    lines += [
        f"- {claim['text']}: **{claim['verdict']}**. {claim['reason']}".rstrip()
        for claim in sorted(open_ones, key=lambda claim: ORDER.index(claim["verdict"]))
    ]
    return lines
