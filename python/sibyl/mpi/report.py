"""Merge the reports that the ranks of a run have written, and print them as a table.

The library writes one file per process at MPI_Finalize, rank-<world rank>-<pid>.json:

    {"version": 1, "mpi": "...", "rank": 0, "world_size": 4, "thread": "runs", "entries": [
      {"collective": "exscan", "communicator_size": 4, "algorithm": "123-doubling",
       "calls": 12, "bytes": 96, "seconds": 0.000123}]}

An entry of the MPI library's own has "reasons" too, where Sibyl has algorithms for the collective:
how many of its calls were left to the library by choice, since the communicator is not served (or
not yet), since no algorithm takes their arguments, or since the governor found the library faster,
tried it, or had no room for another call site. "governed" has the governor's call sites
(governed_report.py), "governing_seconds" what its agreements have taken, "costs" what messages and
operators were found to cost where choices rest on that, per number of ranks and nodes.

A rank may write several files (a script that starts MPI programs one after the other).
"""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from sibyl.errors import counted
from sibyl.inputs import RANKS_MOST, read_text
from sibyl.mpi.governed_report import Site, merge_sites, print_sites, read_sites
from sibyl.terminal import seconds_text

Key = tuple[str, int, str]  # collective, communicator size, algorithm
NATIVE = "native"
SHOWN = 4
COSTS = ("latency_seconds", "overhead_seconds", "byte_seconds", "combined_byte_seconds")
CHOICES = ("choice", "governor")  # of the reasons: by the model, or by measurement


@dataclass
class Report:
    """What a run's ranks have reported.

    Attributes:
        mpi: version lines of the MPI libraries, each once.
        world_size: ranks of the run, 0 if no rank has reported.
        present: ranks that have reported.
        damaged: names of files that could not be read.
        threads: per rank, whether it had a thread in the background ("runs"), or why not.
        ranks: per entry, per rank: calls, bytes, seconds.
        reasons: per entry, per rank: calls that were left to the MPI library, by the reason.
        governed: per file of a rank, the call sites that the governor looked at.
        governing: per rank, what the governor's agreements have taken, in seconds.
        costs: by ranks of a communicator and their nodes, what was measured, in seconds; all
            ranks say the same.
    """

    mpi: list[str] = field(default_factory=list)
    world_size: int = 0
    present: set[int] = field(default_factory=set)
    damaged: list[str] = field(default_factory=list)
    threads: dict[int, str] = field(default_factory=dict)
    ranks: dict[Key, dict[int, list[float]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(lambda: [0, 0, 0.0]))
    )

    reasons: dict[Key, dict[int, Counter[str]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(Counter))
    )
    governed: list[list[Site]] = field(default_factory=list)
    governing: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    costs: dict[tuple[int, int], dict[str, Any]] = field(default_factory=dict)

    def sites(self) -> list[Site]:
        """The governed call sites of all ranks, each once."""
        return merge_sites(self.governed)

    @property
    def missing(self) -> list[int]:
        """Ranks without a report, in order."""
        return [rank for rank in range(self.world_size) if rank not in self.present]

    def entries(self) -> list[dict[str, Any]]:
        """The merged entries, by collective, communicator size, algorithm.

        `calls` is the maximum over ranks (all ranks of a communicator make the same calls), that
        of each of the `reasons` too,
        `bytes` the sum over ranks, seconds are the mean and the maximum over the ranks that took
        part.
        """
        merged: list[dict[str, Any]] = []
        for (collective, size, algorithm), of_rank in sorted(self.ranks.items()):
            seconds = [values[2] for values in of_rank.values()]
            merged.append(
                {
                    "collective": collective,
                    "communicator_size": size,
                    "algorithm": algorithm,
                    "calls": max(values[0] for values in of_rank.values()),
                    "bytes": sum(values[1] for values in of_rank.values()),
                    "seconds_mean": sum(seconds) / len(seconds),
                    "seconds_max": max(seconds),
                    "ranks": len(of_rank),
                }
            )
            why: Counter[str] = Counter()
            for counts in self.reasons.get((collective, size, algorithm), {}).values():
                why |= counts
            if why:
                merged[-1]["reasons"] = dict(why.most_common())
        return merged

    def governing_costs(self) -> tuple[float, float]:
        """Seconds a rank: of agreements, and what calls of slower arms took longer."""
        ranks = max(len(self.present), 1)
        lost = sum(site["lost_seconds"] for sites in self.governed for site in sites)
        return sum(self.governing.values()) / ranks, lost / ranks

    def governing_line(self) -> str:
        """What the governor has cost; empty where it has judged nothing."""
        if all(site["verdict"] == "undecided" for site in self.sites()):
            return ""
        agreeing, lost = self.governing_costs()
        in_all = sum(entry["seconds_mean"] for entry in self.entries())
        share = f": {(agreeing + lost) / in_all:.1%} of the time in collectives" if in_all else ""
        return (
            f"the governor's agreements took {seconds_text(agreeing)} a rank, and calls by what "
            f"was found slower {seconds_text(lost)} more than by the other{share}"
        )

    def choice_line(self) -> str:
        """How many calls were served or left to the MPI library by choice; empty without calls.

        Those of collectives that Sibyl has no algorithms for are not counted.
        """
        entries = [e for e in self.entries() if e["algorithm"] != NATIVE or "reasons" in e]
        calls = sum(e["calls"] for e in entries)
        left = sum(e["calls"] for e in entries if e["algorithm"] == NATIVE)
        chosen = sum(e.get("reasons", {}).get(why, 0) for e in entries for why in CHOICES)
        if not calls or not left:
            return ""
        share = (calls - left + chosen) / calls
        return (
            f"{calls - left} of {calls} calls were served and {chosen} left to the MPI library by "
            f"choice, {share:.0%} together"
        )

    def thread_line(self) -> str:
        """What the ranks had of a thread in the background; empty where nobody asked for one."""
        states = {rank: state for rank, state in self.threads.items() if state != "not asked for"}
        lacking = {rank: state for rank, state in sorted(states.items()) if state != "runs"}
        if not states:
            return ""
        if not lacking:
            return (
                "MPI gave MPI_THREAD_MULTIPLE, and a thread of each rank worked in the background"
            )
        rank, state = next(iter(lacking.items()))
        return (
            f"no thread in the background on {len(lacking)} of {self.world_size} ranks; on rank "
            f"{rank}: {state}; what it would have done was done in the program's calls"
        )

    def cost_lines(self) -> list[str]:
        """What messages were found to cost, a line for each of a few kinds of communicators."""
        lines = [
            f"messages between {counted(size, 'rank')} on {counted(nodes, 'node')}: latency "
            f"{seconds_text(of['latency_seconds'])}, {seconds_text(of['overhead_seconds'])} for "
            f"each of several, {1e-6 / of['byte_seconds']:.4g} MB/s"
            + (", one after the other on a link" if of["in_turn"] else "")
            for (size, nodes), of in sorted(self.costs.items(), reverse=True)
        ]
        more = len(lines) - SHOWN
        return lines if more <= 0 else [*lines[:SHOWN], f"{more} more such lines are in --report"]

    def as_json(self, program: Sequence[str], exit_code: int) -> dict[str, Any]:
        """The merged report in the form of `--report`."""
        return {
            "version": 1,
            "program": list(program),
            "exit_code": exit_code,
            "mpi": "; ".join(self.mpi),
            "world_size": self.world_size,
            "ranks_reported": len(self.present),
            "missing_ranks": self.missing,
            "threads": {str(rank): state for rank, state in sorted(self.threads.items())},
            "entries": self.entries(),
            "governed": self.sites(),
            "governing": dict(
                zip(("agreements_seconds", "lost_seconds"), self.governing_costs(), strict=True)
            ),
            "costs": [
                {"communicator_size": size, "nodes": nodes, **of}
                for (size, nodes), of in sorted(self.costs.items())
            ],
        }


def _reasons_in(entry: Mapping[str, Any]) -> dict[str, int]:
    reasons = entry.get("reasons", {})
    if not isinstance(reasons, dict):
        raise TypeError("reasons are no object")
    return {str(why): int(calls) for why, calls in reasons.items()}


def _costs_in(data: Mapping[str, Any]) -> dict[tuple[int, int], dict[str, Any]]:
    costs = {}
    for one in data.get("costs", []):
        found: dict[str, Any] = {name: float(one[name]) for name in COSTS}
        if not found["byte_seconds"] > 0:
            raise ValueError("a byte takes no time")
        costs[int(one["communicator_size"]), int(one["nodes"])] = {
            **found,
            "in_turn": bool(one["in_turn"]),
        }
    return costs


def merge_reports(directory: Path) -> Report:
    """Read all reports of a directory; a file that is no report is noted, not an error."""
    report = Report()
    for path in sorted(directory.glob("rank-*.json")):
        try:
            data = json.loads(read_text(path))
            rank, size = int(data["rank"]), int(data["world_size"])
            if not 0 <= rank < size <= RANKS_MOST:
                raise ValueError("there is no such rank")
            entries = [
                (
                    (str(e["collective"]), int(e["communicator_size"]), str(e["algorithm"])),
                    (int(e["calls"]), int(e["bytes"]), float(e["seconds"])),
                    _reasons_in(e),
                )
                for e in data["entries"]
            ]
            mpi = str(data["mpi"])
            thread = str(data["thread"])
            sites = read_sites(data)
            governing = float(data.get("governing_seconds", 0))
            costs = _costs_in(data)
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            report.damaged.append(path.name)
            continue
        if mpi not in report.mpi:
            report.mpi.append(mpi)
        report.world_size = max(report.world_size, size)
        report.present.add(rank)
        report.threads[rank] = thread
        report.governed.append(sites)
        report.governing[rank] += governing
        report.costs |= costs
        for key, values, reasons in entries:
            report.reasons[key][rank].update(reasons)
            total = report.ranks[key][rank]
            for i, value in enumerate(values):
                total[i] += value
    return report


def _bytes_text(count: int) -> str:
    if count < 10_000:
        return f"{count} B"
    value = float(count)
    for unit in ("KiB", "MiB", "GiB"):
        value /= 1024
        if value < 1024:
            return f"{value:.1f} {unit}"
    return f"{value / 1024:.1f} TiB"


def print_report(report: Report, console: Console) -> None:
    """Print the table of a run, and what is missing from it."""
    if not report.present and not report.damaged:
        console.print(
            "sibyl: no rank has reported: the program made no MPI call, or did not reach "
            "MPI_Finalize",
            highlight=False,
            soft_wrap=True,
        )
        return
    entries = report.entries()
    if entries:
        ranks = counted(report.world_size, "rank")
        table = Table(title=f"Sibyl, {ranks}", title_justify="left")
        table.add_column("collective")
        table.add_column("ranks", justify="right")
        table.add_column("algorithm")
        table.add_column("calls", justify="right")
        table.add_column("bytes", justify="right")
        table.add_column("mean time", justify="right")
        table.add_column("max time", justify="right")
        for entry in entries:
            reasons = [f"  {why} {calls}" for why, calls in entry.get("reasons", {}).items()]
            table.add_row(
                entry["collective"],
                str(entry["communicator_size"]),
                "\n".join([entry["algorithm"], *reasons]),
                str(entry["calls"]),
                _bytes_text(entry["bytes"]),
                seconds_text(entry["seconds_mean"]),
                seconds_text(entry["seconds_max"]),
            )
        console.print(table)
        print_sites(report.sites(), console)
    elif report.present:
        console.print("sibyl: the program called no collective that Sibyl serves", highlight=False)
    lines = (report.choice_line(), report.governing_line(), report.thread_line())
    notes = [line for line in lines if line]
    notes += report.cost_lines()
    if report.missing:
        shown = ", ".join(str(rank) for rank in report.missing[:8])
        more = len(report.missing) - 8
        shown += f" and {more} more" if more > 0 else ""
        notes.append(
            f"the reports of {len(report.missing)} of {counted(report.world_size, 'rank')} are "
            f"missing ({shown}): they did not reach MPI_Finalize, or ran on a host that "
            "does not share the working directory"
        )
    if report.damaged:
        notes.append(f"unreadable reports: {', '.join(report.damaged)}")
    for note in notes:
        console.print(f"sibyl: {note}", highlight=False, soft_wrap=True)
