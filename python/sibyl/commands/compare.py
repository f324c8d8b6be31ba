"""`sibyl run --compare K`: a program's wall time with and without Sibyl, in turns.

Both sides take turns, and who begins changes from turn to turn, so that what else the machine does
meets both alike. Of each turn the ratio counts; its median has an interval free of assumptions.
"""

import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile

from rich.table import Table

from sibyl.errors import CommandError, counted
from sibyl.experiment.statistics import median, median_interval, median_level
from sibyl.files import check_all_writable, console_beside, write_result
from sibyl.mpi.programs import program_of
from sibyl.mpi.run import run_program
from sibyl.mpi.run_options import RunOptions
from sibyl.terminal import seconds_text

SIDES = ("without Sibyl", "with Sibyl")
# Of an interval; of less no difference is said to be there.
LEVEL = 0.95


@dataclass(frozen=True)
class Comparison:
    """What the turns took, in seconds, by side.

    Attributes:
        same_output: None where nobody asked.
        difference: why outputs are not the same; empty if they are.
    """

    program: Sequence[str]
    ranks: int | None
    seconds: tuple[list[float], list[float]]
    same_output: bool | None
    difference: str

    @property
    def ratios(self) -> list[float]:
        """Of each turn, with over without Sibyl."""
        return [own / native for native, own in zip(*self.seconds, strict=True)]

    def as_json(self) -> dict[str, object]:
        """The contents of --json."""
        return {
            "format": "sibyl-compare",
            "version": 1,
            "program": list(self.program),
            "ranks": self.ranks,
            "turns": len(self.ratios),
            "native_seconds": self.seconds[0],
            "sibyl_seconds": self.seconds[1],
            "native_median": median(self.seconds[0]),
            "sibyl_median": median(self.seconds[1]),
            "ratio": median(self.ratios),
            "interval": list(median_interval(self.ratios)),
            "confidence": median_level(len(self.ratios)),
            "same_output": self.same_output,
        }


def compare(
    words: Sequence[str],
    options: RunOptions,
    hostfile: Path | None,
    turns: int,
    same_output: bool,
    json_file: Path | None,
) -> int:
    """Run a program in turns, and print what Sibyl makes of its wall time.

    Args:
        words: the program and its arguments.
        options: of the runs with Sibyl.
        hostfile: names the hosts.
        turns: how many.
        same_output: compare what the runs print.
        json_file: where the result goes as well.

    Returns:
        0; the program's exit code if it is another one; 1 where outputs are not the same.
    """
    if turns < 1:
        raise CommandError(f"--compare {turns}: at least 1 turn; 6 and more have a 95 % interval")
    if options.report is not None or options.record is not None or options.learn is not None:
        raise CommandError("--compare writes --json alone; leave out --report, --record, --learn")
    check_all_writable({"--json": json_file}, [("--hostfile", hostfile), program_of(words)])
    options.check()
    own = replace(options, quiet=True)
    native = replace(own, native=True, settings=None, predict=None, reproducible=False, govern=None)
    seconds: tuple[list[float], list[float]] = ([], [])
    outputs: tuple[list[bytes], list[bytes]] = ([], [])
    code = 0
    for turn in range(turns):
        for side in (0, 1) if turn % 2 == 0 else (1, 0):
            asked = replace((native, own)[side], durations=seconds[side])
            code, output = _run_captured(words, asked, hostfile, same_output)
            # Of equal outputs one is kept.
            output = next((one for one in (*outputs[0], *outputs[1]) if one == output), output)
            if code != 0:
                sys.stderr.buffer.write(output)
                place = f"{SIDES[side]}, in turn {turn + 1} of {turns}"
                print(f"sibyl: the program ended with exit code {code} {place}", file=sys.stderr)
                break
            outputs[side].append(output)
        if code != 0:  # the turns before this one count
            for kept in (*seconds, *outputs):
                del kept[turn:]
            break
    if not outputs[0]:
        return code
    difference = _difference(*outputs) if same_output else ""
    same = not difference if same_output else None
    found = Comparison(words, options.ranks, seconds, same, difference)
    _print(found, json_file)
    if json_file is not None:
        write_result(json_file, json.dumps(found.as_json(), indent=2) + "\n")
    return code or (1 if difference else 0)


def _run_captured(
    words: Sequence[str], options: RunOptions, hostfile: Path | None, keeps: bool
) -> tuple[int, bytes]:
    """Run with empty standard input, in every run alike.

    Returns:
        The exit code, and what was printed; nothing where that is not kept and the code is 0.
    """
    sys.stdout.flush()
    kept = os.dup(0), os.dup(1)
    with Path(os.devnull).open("rb") as nothing, TemporaryFile() as output:
        try:
            os.dup2(nothing.fileno(), 0)
            os.dup2(output.fileno(), 1)
            code = run_program(words, options, hostfile)
        finally:
            for number, stream in enumerate(kept):
                os.dup2(stream, number)
                os.close(stream)
        output.seek(0)
        return code, output.read() if keeps or code != 0 else b""


def _difference(native: Sequence[bytes], own: Sequence[bytes]) -> str:
    """In what the outputs differ, but for the order of lines, which is the launcher's."""
    lines = [Counter(output.splitlines()) for output in (*native, *own)]
    first, *others = lines[: len(native)]
    if any(other != first for other in others):
        return "the program's output differs from run to run without Sibyl, too"
    for number, found in enumerate(lines[len(native) :], start=1):
        for what, rest in (("lacks", first - found), ("has besides", found - first)):
            if rest:
                line = next(iter(rest)).decode("utf-8", "replace")[:60]
                return f"the output of run {number} with Sibyl {what} the line '{line}'"
    return ""


def _print(found: Comparison, json_file: Path | None) -> None:
    console = console_beside(json_file)
    turns = len(found.ratios)
    table = Table(title=f"wall time, {counted(turns, 'turn')}", title_justify="left")
    table.add_column("")
    for heading in ("median", "least", "most"):
        table.add_column(heading, justify="right")
    for side, times in zip(SIDES, found.seconds, strict=True):
        table.add_row(
            side, *(seconds_text(time) for time in (median(times), min(times), max(times)))
        )
    console.print(table)
    low, high = median_interval(found.ratios)
    ratio, level = median(found.ratios), median_level(turns)
    interval = f"{level:.0%} interval {low:.3f} to {high:.3f}" if turns > 1 else "one turn alone"
    said = f"with Sibyl {ratio:.3f} times the wall time without, {interval}"
    if level < LEVEL:
        said += ": too few turns to show a difference"
    elif low <= 1 <= high:
        said += ": no difference is shown"
    else:
        said += f": {abs(1 - ratio):.1%} {'faster' if ratio < 1 else 'SLOWER'}"
    console.print(said, highlight=False, soft_wrap=True)
    if found.same_output is not None:
        line = found.difference or "all runs printed the same lines"
        console.print(line, highlight=False, markup=False, soft_wrap=True)
