"""`sibyl bench calls`: what the samples of bare calls say (tools/bench/calls.hpp).

The MPI program measures under any launcher and prints samples; they are read from standard input.
The contenders that are held must not be slower than the reference, in no cell and in no batch of
calls: by more than the margins of experiment/judge.py, with p-values corrected over the whole run.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from sibyl.bench import calls_output
from sibyl.bench.calls_output import Line, Run
from sibyl.bench.options import Outputs
from sibyl.errors import CommandError
from sibyl.experiment.grid import ROOTED_BLOCKS, SCANS
from sibyl.experiment.judge import MARGIN, SIGNIFICANCE, Chances, chances, corrected
from sibyl.experiment.statistics import median, median_interval, quartiles
from sibyl.files import console_beside, write_result
from sibyl.inputs import LARGE

# What lines raise that are none of sibyl-bench's.
DAMAGED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
USAGE = "pipe in what it prints: mpiexec -n 2 sibyl-bench-openmpi | sibyl bench calls"


@dataclass(frozen=True)
class Compared:
    """The samples of one contender in one cell, alone or in batches, beside the reference's."""

    cell: dict[str, Any]
    batch: int
    algorithm: str
    own: list[float]
    reference: list[float]


def read_lines(file: BinaryIO, most_bytes: int = LARGE) -> Iterator[str]:
    """The lines of a run; what a launcher says besides need not be UTF-8.

    Raises:
        CommandError: there are more than so many bytes.
    """
    left = most_bytes
    while line := file.readline(left + 1):
        left -= len(line)
        if left < 0:
            raise CommandError(f"these are more than {most_bytes} bytes, and no run; {USAGE}")
        yield line.decode(errors="replace")


def read_run(texts: Iterable[str]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The line that begins a run, and its cells.

    Raises:
        CommandError: the run is none of bare calls, has not come to its end, or is not alone.
    """
    begin: dict[str, Any] = {}
    cells = []
    whole = False
    for text in texts:
        if not text.startswith('{"type":"'):  # of the launcher
            continue
        try:
            line = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise CommandError(f"a line of sibyl-bench is torn: {error}; run it again") from error
        if line["type"] == "begin" and "held" in line:
            if begin:
                raise CommandError("there are several runs of sibyl-bench; judge one at a time")
            begin = line
        elif line["type"] == "calls":
            cells.append(line)
        elif line["type"] == "end" and begin and cells:
            whole = True
    if whole:
        return begin, cells
    raise CommandError(f"no whole run of sibyl-bench-FLAVOUR calls; {USAGE}")


def compared(cells: Iterable[dict[str, Any]]) -> Iterator[Compared]:
    """Every contender in every cell, the reference first.

    Raises:
        ValueError: samples have no partners.
    """
    for cell in cells:
        for samples, batch in (("single_s", 1), ("batch_s", cell["batch"])):
            measured = [series for series in cell["series"] if samples in series]
            for series in measured:
                reference = measured[0][samples]
                if not 0 < len(series[samples]) == len(reference):
                    raise ValueError("samples of other lengths, or none")
                yield Compared(cell, batch, series["algorithm"], series[samples], reference)


def limits(begin: dict[str, Any], cell: dict[str, Any]) -> tuple[float, float]:
    """Seconds that no algorithm can beat, and none that sends whole vectors in every round."""
    alpha, ranks, collective = begin["alpha_near_s"], begin["ranks"], begin["collective"]
    beta_m = max(cell["message_s"] - alpha, 0.0)
    if ranks == 1:
        return 0.0, 0.0
    rounds = (ranks - 1).bit_length()  # until all have heard of one, or one of all
    if collective in SCANS:
        return rounds * alpha + beta_m, rounds * cell["message_s"]
    if collective == "reduce":  # segments of the vector follow each other up a tree
        return alpha + beta_m, cell["message_s"]
    if collective in ("allreduce", "bcast"):
        vectors = 2 * (ranks - 1) / ranks if collective == "allreduce" else 1
        return max(rounds * alpha, alpha + vectors * beta_m), rounds * cell["message_s"]
    # A link carries every other rank's block: the root's, or everybody's.
    limit = alpha + (ranks - 1) * beta_m
    if collective not in ROOTED_BLOCKS:
        limit = max(limit, rounds * alpha)
    return limit, limit


def verdict_of(held: bool, p: Chances, ratio_low: float) -> str:
    """What is said of a contender, in a few words.

    "not slower" is a statement about times, so it is not made where the ratio is known to lie above
    one and the relative margin: what has kept the contender from SLOWER there is the margin in
    seconds, by which calls of a fraction of a microsecond may differ.
    """
    if held and p.slower < SIGNIFICANCE:
        return "SLOWER"
    if p.faster < SIGNIFICANCE:
        return "faster"
    if not held:
        return ""
    if p.within >= SIGNIFICANCE:
        return "undecided"
    return "within the margin" if ratio_low > 1 + MARGIN else "not slower"


def _check_held(begin: dict[str, Any], cells: Iterable[dict[str, Any]]) -> None:
    """Nothing is shown of a contender that took no part."""
    there = {series["algorithm"] for cell in cells for series in cell["series"]}
    there |= {name for cell in cells for name in cell["wrong"]}
    for name in begin["held"]:
        if name not in there:
            raise CommandError(
                f"the run has no calls of {name}, which is to be held against "
                f"{begin['reference']}: run it again with {name} among --algorithms"
            )


def judge_calls(begin: dict[str, Any], cells: list[dict[str, Any]]) -> Run:
    """All lines of a run.

    Raises:
        CommandError: a contender that is to be held against the reference took no part.
    """
    _check_held(begin, cells)
    all_compared = list(compared(cells))
    by_chance = iter(
        corrected(
            [
                chances(each.own, each.reference, begin["simulated"])
                for each in all_compared
                if each.algorithm != begin["reference"]
            ]
        )
    )
    lines = []
    for each in all_compared:
        ratios = [a / b if b > 0 else 1.0 for a, b in zip(each.own, each.reference, strict=True)]
        interval = median_interval(ratios)
        p, verdict = Chances(1.0, 1.0, 1.0), "reference"
        if each.algorithm != begin["reference"]:
            p = next(by_chance)
            verdict = verdict_of(each.algorithm in begin["held"], p, interval[0])
        limit, whole_vectors = limits(begin, each.cell)
        lines.append(
            Line(
                operator=each.cell["operator"],
                count=each.cell["count"],
                bytes=each.cell["bytes"],
                batch=each.batch,
                algorithm=each.algorithm,
                least=min(each.own),
                quarters=quartiles(each.own),
                median=median(each.own),
                ratio=median(ratios),
                ratio_interval=interval,
                limit=limit,
                whole_vector_limit=whole_vectors,
                p_slower=p.slower,
                p_faster=p.faster,
                p_within=p.within,
                verdict=verdict,
            )
        )
    wrong = [
        f"{name}, operator {cell['operator']}, count {cell['count']}"
        for cell in cells
        for name in cell["wrong"]
    ]
    return Run(begin, lines, wrong)


def judge_input(outputs: Outputs) -> int:
    """Read, judge, print and write; see `sibyl bench --help`.

    Returns:
        0; 1 when a held contender is slower than allowed; 3 when a result was wrong.
    """
    if sys.stdin.isatty():
        raise CommandError(f"calls judges the samples of sibyl-bench-FLAVOUR; {USAGE}")
    try:
        run = judge_calls(*read_run(read_lines(sys.stdin.buffer)))
        table = calls_output.to_table(run)
        wanted = ((outputs.csv, calls_output.to_csv), (outputs.json, calls_output.to_json))
        texts = [(path, text_of(run)) for path, text_of in wanted if path is not None]
    except DAMAGED as error:
        raise CommandError(
            f"these are no lines of sibyl-bench: {error!r} in one; {USAGE}"
        ) from error
    console_beside(*outputs.files().values()).out(table, end="", highlight=False)
    for path, text in texts:
        write_result(path, text)
    if run.wrong:
        return 3
    return 1 if run.slower else 0
