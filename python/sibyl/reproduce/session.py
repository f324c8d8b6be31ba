"""Runs items, writes what each gives, and the page of all that are there."""

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sibyl.cluster.state import parse_rate
from sibyl.errors import CommandError
from sibyl.experiment.plots import plot_library
from sibyl.files import check_writable, console_beside, make_directory, write_result
from sibyl.pages import render
from sibyl.progress import progress_bar
from sibyl.reproduce.catalogue import ITEMS
from sibyl.reproduce.on_cluster import demand_root
from sibyl.reproduce.outcome import VERDICTS, Item, Measurement, Where
from sibyl.reproduce.page import DETAILS, MADE_EARLIER, MEASURED_EARLIER, details, markdown
from sibyl.reproduce.results import (
    Document,
    Made,
    fingerprint,
    finished,
    is_current,
    is_judged_today,
    read_result,
    today,
    write_outcome,
)
from sibyl.reproduce.samples import Kept, asked_of, compressor, judged, read_samples, write_samples
from sibyl.terminal import say

STYLES = dict(zip(VERDICTS, ("green", "yellow", "bold red", "dim"), strict=True))
COLOURS = dict(zip(VERDICTS, ("#2e7d32", "#b26a00", "#c62828", "#616161"), strict=True))
TITLE = "What becomes of the published claims"


def chosen(names: Sequence[str], everything: bool, clusters: bool = False) -> list[Item]:
    """The items of these names, or all.

    Args:
        names: of items.
        everything: all of them.
        clusters: those on a cluster too: what occupies the machine for hours is asked for.
    """
    if everything:
        if names:
            raise CommandError("--all takes no names of items")
        return [item for item in ITEMS if clusters or item.place is None]
    if clusters:
        raise CommandError("--clusters goes with --all; an item on a cluster can be named as well")
    by_name = {item.name: item for item in ITEMS}
    for name in names:
        if name not in by_name:
            raise CommandError(f"unknown item '{name}'; there are {', '.join(by_name)}")
    return [by_name[name] for name in dict.fromkeys(names)]


def list_items(console: Console) -> None:
    """What can be reproduced."""
    table = Table(title="published tables and figures", title_justify="left")
    for heading in ("item", "what", "how"):
        table.add_column(heading, no_wrap=heading == "item")
    for item in ITEMS:
        table.add_row(item.name, f"{item.title} ({item.source})", item.how)
    console.print(table)


def print_outcome(document: Document, console: Console) -> None:
    """The claims."""
    table = Table(title=f"{document['item']}: {document['title']}", title_justify="left")
    table.add_column("claim")
    table.add_column("verdict", no_wrap=True)
    table.add_column("why")
    for claim in document["claims"]:
        style = STYLES.get(claim["verdict"], "")
        table.add_row(claim["text"], Text(claim["verdict"], style=style), claim["reason"])
    console.print(table)
    console.print(document["setting"], highlight=False, soft_wrap=True)


def page(documents: Sequence[Document], older: Mapping[str, str] | None = None) -> str:
    """The same as a web page beside the files.

    Args:
        documents: what became of the claims.
        older: the items whose results programs of today would make anew, and what has made them.
    """
    return render(
        "reproduction.html", title=TITLE, documents=documents, colours=COLOURS, older=older or {}
    )


@dataclass(frozen=True)
class Wishes:
    """What the command line says of clusters; None: what suits the item."""

    hosts: int | None = None
    rate: str | None = None
    mpi: str | None = None

    def place(self, item: Item) -> Where | None:
        """Where an item is measured, if it is measured on a cluster."""
        if item.place is None:
            return None
        said = {name: value for name, value in vars(self).items() if value is not None}
        return replace(item.place, **said)


def run(
    names: Sequence[str],
    everything: bool,
    folder: Path,
    iterations: int,
    wishes: Wishes | None = None,
    clusters: bool = False,
    json_file: Path | None = None,
) -> int:
    """Run items; with --all those that are not finished yet. Returns the exit code."""
    wishes = wishes or Wishes()
    _check_json(json_file, folder)
    console = console_beside(json_file)
    items = chosen(names, everything, clusters)
    if not items:
        list_items(console)
        fields = ("title", "source", "how")
        listed = [{"item": i.name, **{name: getattr(i, name) for name in fields}} for i in ITEMS]
        _write_json(json_file, listed)
        return 0
    if iterations < 2:
        raise CommandError(f"--iterations {iterations}: at least 2")
    if any(item.place for item in items):
        check_cluster_wishes(wishes)
    elif wishes != Wishes():
        raise CommandError(
            "--hosts, --rate and --mpi are for items that are measured on a cluster, and none is "
            "among these"
        )
    plot_library()
    make_directory("--to", folder)
    code = 0
    shown: list[Document] = []
    try:
        for number, item in enumerate(items, 1):
            where = wishes.place(item)
            label = f"{number}/{len(items)} {item.name}"
            taken = item.iterations or iterations
            try:
                mark = fingerprint(item, taken, where)
                document = _there(item, folder, mark) if everything else None
                if document is None:
                    document = _run_item(item, folder, taken, mark, where, label)
            except CommandError as error:
                if not everything:
                    if shown:
                        write_pages(folder, console)
                        _write_json(json_file, shown)
                    raise
                # What this machine lacks for one item is no reason to leave out the others.
                say(f"{item.name}: {error}")
                code = 1
                continue
            print_outcome(document, console)
            shown.append(document)
    except KeyboardInterrupt:
        print(
            f"sibyl: interrupted; finished items are in {folder}, --all goes on with the others",
            file=sys.stderr,
        )
        code = 130
    write_pages(folder, console)
    _write_json(json_file, shown)
    return code


def _check_json(json_file: Path | None, folder: Path) -> None:
    if json_file is None:
        return
    check_writable("--json", json_file)
    of_items = {Path(os.path.realpath(folder / f"{item.name}.json")) for item in ITEMS}
    if Path(os.path.realpath(json_file)) in of_items:
        raise CommandError(
            f"--json {json_file}: is where an item's own result goes; choose another"
        )


def _there(item: Item, folder: Path, mark: str) -> Document | None:
    """What need not be made again; what was measured alike is judged by today's claims."""
    kept = read_samples(item, folder) if isinstance(item.run, Measurement) else None
    if kept is not None and kept.made.mark == mark:
        try:
            return _judged(item, kept, folder)
        except CommandError as error:
            say(str(error))
            return None
    return finished(item, folder, mark)


def _judged(item: Item, kept: Kept, folder: Path) -> Document:
    return write_outcome(item, judged(item, kept), folder, kept.made)


def judge_kept(names: Sequence[str], folder: Path) -> list[Document]:
    """Judge samples that are kept; nothing is measured.

    Args:
        names: of items; all that have samples if there is none.
        folder: where results are.

    Raises:
        CommandError: an item that is named has no samples there, or they cannot be judged; one that
            is not is said, and left out.
    """
    found = []
    for item in chosen(names, False) or ITEMS:
        kept = read_samples(item, folder) if isinstance(item.run, Measurement) else None
        if kept is not None:
            try:
                found.append(_judged(item, kept, folder))
            except CommandError as error:
                if names:
                    raise
                say(str(error))
        elif names:
            raise CommandError(
                f"--judge {item.name}: {folder} holds no samples of it; only items that are "
                "measured on a cluster have some, since they were measured"
            )
    return found


def judge_again(names: Sequence[str], folder: Path, json_file: Path | None = None) -> int:
    """The same, told like what has just been measured. Returns the exit code."""
    _check_json(json_file, folder)
    console = console_beside(json_file)
    plot_library()
    found = judge_kept(names, folder)
    if not found:
        raise CommandError(f"--judge: {folder} holds no samples; --to names another directory")
    for document in found:
        print_outcome(document, console)
    write_pages(folder, console)
    _write_json(json_file, found)
    return 0


def write_pages(folder: Path, console: Console) -> None:
    """Pages of all results that are in a folder, whichever run has made them."""
    documents, older = results_in(folder)
    write_result(folder / "index.html", page(documents, older))
    for name, text in pages_in_markdown(documents, older, "").items():
        write_result(folder / name, text)
    some = f", {len(older)} of an earlier version or machine" if older else ""
    console.print(f"{folder / 'index.html'}: {len(documents)} of {len(ITEMS)} items{some}")


def results_in(folder: Path) -> tuple[list[Document], dict[str, str]]:
    """All results in a folder, and by item what has made those that are not of today's programs."""
    found = [(item, read_result(item, folder)) for item in ITEMS]
    there = [(item, document) for item, document in found if document is not None]
    older = {
        item.name: MEASURED_EARLIER if is_judged_today(document) else MADE_EARLIER
        for item, document in there
        if not is_current(item, document)
    }
    return [document for _, document in there], older


def pages_in_markdown(
    documents: Sequence[Document], older: Mapping[str, str], tables: str
) -> dict[str, str]:
    """By name; `tables`: what stands before the name of a CSV in links from there."""
    return {
        "reproduction.md": markdown(documents, ITEMS, today(), older),
        DETAILS: details(documents, today(), tables),
    }


def _write_json(path: Path | None, items: Sequence[Mapping[str, Any]]) -> None:
    if path is None:
        return
    document = {"format": "sibyl-reproduce", "version": 1, "items": items}
    write_result(path, json.dumps(document, indent=1) + "\n")


def check_cluster_wishes(wishes: Wishes) -> None:
    """Notice before the first item what would stop one on a cluster."""
    if wishes.hosts is not None and wishes.hosts < 4:
        raise CommandError(f"--hosts {wishes.hosts}: the papers' measurements take 4 or more")
    if wishes.rate is not None:
        parse_rate(wishes.rate)
    demand_root()


def _run_item(
    item: Item, folder: Path, iterations: int, mark: str, where: Where | None, label: str
) -> Document:
    with progress_bar(label, item.steps) as advance:
        begin = time.monotonic()

        def made() -> Made:
            return Made(iterations, where, mark, today(), time.monotonic() - begin)

        if not isinstance(item.run, Measurement):
            outcome = item.run(iterations, lambda: advance(1))
            return write_outcome(item, outcome, folder, made())
        assert where is not None
        compressor()  # while nothing has been measured yet
        taken = item.run.measure(where, iterations, mark, lambda: advance(1))
        kept = Kept(made(), asked_of(item, where, iterations), taken.parts)
        write_samples(item, kept, folder)
        document = write_outcome(item, item.run.judge(where, kept.parts), folder, kept.made)
        taken.forget()
        return document
