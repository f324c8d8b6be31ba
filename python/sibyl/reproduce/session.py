"""Runs items, writes what each gives, and the page of all that are there."""

import csv
import datetime
import hashlib
import io
import json
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

import sibyl
from sibyl import __version__, _core
from sibyl.cluster.state import parse_rate
from sibyl.errors import CommandError
from sibyl.experiment.plots import plot_library
from sibyl.experiment.provenance import programs_hash
from sibyl.experiment.runner import choose_benchmark_launcher
from sibyl.experiment.simulated import platform_files
from sibyl.files import check_writable, console_beside, make_directory, write_result
from sibyl.pages import render
from sibyl.progress import progress_bar
from sibyl.reproduce.catalogue import ITEMS
from sibyl.reproduce.on_cluster import demand_root
from sibyl.reproduce.outcome import VERDICTS, Item, Outcome, Where
from sibyl.reproduce.page import markdown
from sibyl.terminal import say

PACKAGE = Path(sibyl.__file__).parent
# That decide what a result is; with the modules that lie in no room.
ROOMS = ("reproduce", "simulator", "experiment", "bench", "cluster", "mpi", "")
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


def _machine(where: Where | None) -> str:
    """What else a measurement depends on."""
    system = f"{platform.release()} {platform.machine()} {os.cpu_count()}"
    if where is None:
        return system
    try:
        return f"{system} {choose_benchmark_launcher(where.mpi)}"
    except CommandError:  # there is no MPI, and so no measurement
        return system


def fingerprint(item: Item, iterations: int, where: Where | None = None) -> str:
    """Equal as long as a result is still worth what it was.

    It changes with the bindings, which hold planners and simulator, with the rooms that lay out
    grids, run them and judge them, and for what is measured with the programs and libraries that
    run there, the MPI, the processor, and the machines that SMPI is told of.
    """
    pure = item.how == "simulated"
    place = "" if pure else f" {where} {programs_hash()} {_machine(where)}"
    digest = hashlib.sha256(f"{__version__} {item.name} {iterations}{place}".encode())
    digest.update(Path(_core.__file__).read_bytes())
    sources = [path for room in ROOMS for path in sorted((PACKAGE / room).glob("*.py"))]
    data = [*(PACKAGE / "data").glob("*.csv"), *(PACKAGE / "data/recordings").glob("*.json")]
    for path in (*sources, *sorted(data), *([] if pure else platform_files())):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def write_outcome(
    item: Item, outcome: Outcome, folder: Path, seconds: float, mark: str
) -> dict[str, Any]:
    """NAME.csv, NAME.png and, last, NAME.json, which says that the item is finished."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(outcome.columns)
    writer.writerows(outcome.rows)
    write_result(folder / f"{item.name}.csv", text.getvalue())
    plt = plot_library()
    figure = outcome.draw(plt)
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=130)
    plt.close(figure)
    write_result(folder / f"{item.name}.png", image.getvalue())
    document = {
        "item": item.name,
        "title": item.title,
        "source": item.source,
        "how": item.how,
        "date": _today(),
        "setting": outcome.setting,
        "error": outcome.error,
        "claims": [vars(claim) for claim in outcome.claims],
        "seconds": round(seconds, 1),
        "fingerprint": mark,
    }
    write_result(folder / f"{item.name}.json", json.dumps(document, indent=1) + "\n")
    return document


def _today() -> str:
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")


def finished(item: Item, folder: Path, mark: str | None = None) -> dict[str, Any] | None:
    """What an earlier run left of an item."""
    try:
        document = json.loads((folder / f"{item.name}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if mark is not None and document.get("fingerprint") != mark:
        return None
    return document


def print_outcome(document: dict[str, Any], console: Console) -> None:
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


def page(documents: Sequence[dict[str, Any]]) -> str:
    """The same as a web page beside the files."""
    return render("reproduction.html", title=TITLE, documents=documents, colours=COLOURS)


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
    if json_file is not None:
        check_writable("--json", json_file)
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
    plot_library()
    make_directory("--to", folder)
    code = 0
    shown = []
    try:
        for number, item in enumerate(items, 1):
            where = wishes.place(item)
            mark = fingerprint(item, iterations, where)
            document = finished(item, folder, mark) if everything else None
            if document is None:
                label = f"{number}/{len(items)} {item.name}"
                try:
                    document = _run_item(item, folder, iterations, mark, where, label)
                except CommandError as error:
                    if not everything:
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
    documents = [found for item in ITEMS if (found := finished(item, folder)) is not None]
    write_result(folder / "index.html", page(documents))
    write_result(folder / "reproduction.md", markdown(documents, ITEMS, _today()))
    console.print(f"{folder / 'index.html'}: {len(documents)} of {len(ITEMS)} items")
    _write_json(json_file, shown)
    return code


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
) -> dict[str, Any]:
    with progress_bar(label, item.steps) as advance:
        begin = time.monotonic()
        place = () if where is None else (where,)
        outcome = item.run(*place, iterations, lambda: advance(1))
        return write_outcome(item, outcome, folder, time.monotonic() - begin, mark)
