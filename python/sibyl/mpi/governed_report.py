"""What the governor found in a run: per call site whether Sibyl or the MPI library serves it.

The ranks' reports have the sites in "governed" (docs/explanation/governor.md); all ranks of a
communicator say the same of them. They are printed as a table, and written as a selection table
that SIBYL_TABLE reads (src/selection/table.cpp).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from sibyl._core import algorithms
from sibyl.terminal import seconds_text

HEADING = "sibyl-selection 1"
LARGEST_TABLE = 1 << 20  # bytes that the library reads
SIZELESS = ("gatherv", "scatterv", "alltoallv", "barrier")
MOST_RULES = 64  # that the reader takes

ROOTED = {row.collective for row in algorithms() if row.rooted}

Site = dict[str, Any]
_ABSENT = {"root": -1, "challenger": ""}  # where they are sorted
_KEY = (
    "collective",
    "communicator_size",
    "persistent",
    "root",
    "least_bytes",
    "most_bytes",
    "algorithm",
    "challenger",
    "line",
)
_COUNTS = ("calls", "native_calls", "challenger_calls")
_SECONDS = ("own_seconds", "native_seconds", "challenger_seconds")


def read_sites(data: Mapping[str, Any]) -> list[Site]:
    """The sites of one rank's report.

    Raises:
        ValueError, KeyError, TypeError: they are not what a rank writes.
    """
    sites = []
    for one in data.get("governed", []):
        site: Site = {
            "collective": str(one["collective"]),
            "communicator_size": int(one["communicator_size"]),
            "persistent": bool(one.get("persistent", False)),
            "root": None if one["root"] is None else int(one["root"]),
            "least_bytes": int(one["least_bytes"]),
            "most_bytes": int(one["most_bytes"]),
            "algorithm": str(one["algorithm"]),
            "challenger": None if one["challenger"] is None else str(one["challenger"]),
            "line": int(one["line"]),
            "verdict": str(one["verdict"]),
        }
        site |= {name: int(one[name]) for name in _COUNTS}
        site |= {name: float(one[name]) for name in _SECONDS}
        site["lost_seconds"] = float(one.get("lost_seconds", 0))
        sites.append(site)
    return sites


def merge_sites(of_ranks: Iterable[list[Site]]) -> list[Site]:
    """One line per site: that of the rank with most calls, which speaks for all."""
    merged: dict[tuple[Any, ...], Site] = {}
    for sites in of_ranks:
        for site in sites:
            key = tuple(site[name] for name in _KEY)
            if key not in merged or merged[key]["calls"] < site["calls"]:
                merged[key] = site
    return sorted(
        merged.values(),
        key=lambda site: tuple(
            _ABSENT.get(name) if site[name] is None else site[name] for name in _KEY
        ),
    )


def _size(count: int) -> str:
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count} {unit}"
        count //= 1024
    return f"{count} GiB"


def served_by(site: Site) -> str:
    """What serves the site: an algorithm, or "native"."""
    by = {"own": site["algorithm"], "challenger": site["challenger"]}
    return str(by.get(site["verdict"], "native"))


def print_sites(sites: list[Site], console: Console) -> None:
    """Print the sites on which there is a verdict; nothing where there is none."""
    judged = [site for site in sites if site["verdict"] != "undecided"]
    if not judged:
        return
    table = Table(title="Governed call sites", title_justify="left")
    table.add_column("call site")
    challenged = any(site["challenger_seconds"] for site in judged)
    for heading in ("calls", "Sibyl", "library", *(["challenger"] if challenged else [])):
        table.add_column(heading, justify="right")
    table.add_column("served by")
    for site in judged:
        form = "persistent " if site["persistent"] else ""
        where = f"{form}{site['collective']}, {site['communicator_size']} ranks"
        if site["root"] is not None:
            where += f", root {site['root']}"
        elif site["collective"] in ROOTED:
            where += ", further roots"
        if site["most_bytes"]:
            where += f", from {_size(site['least_bytes'])}"
        if site["line"]:
            where += f", line {site['line']} of several"
        library = "" if site["persistent"] else seconds_text(site["native_seconds"])
        times = [seconds_text(site["own_seconds"]), library]
        if challenged:
            seconds = site["challenger_seconds"]
            times.append(seconds_text(seconds) if seconds else "")
        table.add_row(
            where,
            str(site["calls"]),
            *times,
            "the MPI library" if site["verdict"] == "native" else served_by(site),
        )
    console.print(table)


def rules_of(table: str) -> list[str]:
    """The lines of a selection table that hold rules."""
    heading, *lines = table.splitlines() or [""]
    if heading != HEADING:
        return []
    return [line for line in lines if line.strip() and not line.startswith("#")]


def to_table(sites: list[Site], in_force: str = "") -> str:
    """The verdicts as a selection table.

    A table knows no roots, no operators and no lines: where sites that differ in these alone were
    judged differently, what most calls had holds. Nor is it for persistent requests.

    Args:
        sites: of the run's report.
        in_force: the table of the run, whose rules have decided where there are no verdicts.
    """
    votes: dict[tuple[str, int, str], Counter[str]] = defaultdict(Counter)
    times: dict[tuple[str, int, str, str], str] = {}
    for site in sites:
        if site["verdict"] == "undecided" or site["persistent"]:
            continue
        sized = site["collective"] not in SIZELESS
        sizes = f"{site['least_bytes']}-{site['most_bytes']}" if sized else "*"
        rule = (site["collective"], site["communicator_size"], sizes)
        votes[rule][served_by(site)] += site["calls"]
        found = {
            site["algorithm"]: site["own_seconds"],
            "native": site["native_seconds"],
            site["challenger"]: site["challenger_seconds"],
        }
        times[(*rule, served_by(site))] = ", ".join(
            f"{name} {seconds_text(seconds)}" for name, seconds in found.items() if name and seconds
        )
    lines = [HEADING, "# learned from a run by the governor: sibyl run --learn"]
    most = sorted(votes, key=lambda rule: -votes[rule].total())[:MOST_RULES]
    if len(votes) > MOST_RULES:
        lines.append(f"# {len(votes) - MOST_RULES} more sites, with fewer calls, are left out")
    for rule in votes:
        if rule in most:
            server = votes[rule].most_common(1)[0][0]
            collective, ranks, sizes = rule
            lines.append(f"{collective} {ranks} {sizes} {server}  # {times[(*rule, server)]}")
    kept = rules_of(in_force)
    room = MOST_RULES - len(most)
    if kept[:room]:
        lines += ["# of the table in force", *kept[:room]]
    if kept[room:]:
        lines.append(f"# {len(kept) - room} more of its rules are left out")
    return "\n".join(lines) + "\n"
