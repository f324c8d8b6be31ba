"""What `sibyl bench calls` has found: for people (table), spreadsheets (CSV), programs (JSON)."""

import csv
import io
import itertools
import json
from dataclasses import dataclass
from typing import Any

from sibyl.errors import counted
from sibyl.experiment.judge import MARGIN, MARGIN_SECONDS, SIGNIFICANCE
from sibyl.experiment.statistics import median_level

CSV_COLUMNS = (
    *("collective", "ranks", "mpi", "operator", "count", "bytes", "batch", "algorithm"),
    *("least_us", "quartile_1_us", "median_us", "quartile_3_us", "ratio", "ratio_low"),
    *(
        "ratio_high",
        "limit_us",
        "whole_vector_limit_us",
        "p_slower",
        "p_faster",
        "p_within",
        "verdict",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Line:
    """One contender in one cell and mode, compared with the reference of the same repetitions.

    Attributes:
        batch: calls between two barriers; 1: single calls.
        least, quarters, median: seconds a call.
        ratio: median of the paired ratios to the reference.
        ratio_interval: of that median, 95 % unless repetitions are few (median_level).
        limit: seconds that no algorithm of the model can beat.
        whole_vector_limit: the same for algorithms that send whole vectors in every round.
        p_slower: of "slower by more than the margins", corrected; p_faster: of "faster"; p_within:
            of "slower by less than the margins, if at all".
    """

    operator: str
    count: int
    bytes: int
    batch: int
    algorithm: str
    least: float
    quarters: tuple[float, float]
    median: float
    ratio: float
    ratio_interval: tuple[float, float]
    limit: float
    whole_vector_limit: float
    p_slower: float
    p_faster: float
    p_within: float
    verdict: str

    @property
    def mode(self) -> str:
        """How the calls were measured, in words."""
        return "single calls" if self.batch == 1 else f"batches of {self.batch} calls"


@dataclass(frozen=True)
class Run:
    """A run that has been judged.

    Attributes:
        begin: the line with which its samples begin.
        wrong: a line for each result that was wrong.
    """

    begin: dict[str, Any]
    lines: list[Line]
    wrong: list[str]

    @property
    def slower(self) -> list[Line]:
        """The held contenders that are slower than allowed."""
        return [line for line in self.lines if line.verdict == "SLOWER"]

    @property
    def held(self) -> list[Line]:
        """The contenders that must not be slower."""
        held = set(self.begin["held"]) - {self.begin["reference"]}
        return [line for line in self.lines if line.algorithm in held]

    @property
    def undecided(self) -> list[Line]:
        """Those of which neither is shown, that they are nor that they are not."""
        return [line for line in self.lines if line.verdict == "undecided"]

    @property
    def never_slower(self) -> bool | None:
        """Whether the held contenders never are; None: the run does not show it."""
        if self.slower or self.wrong:
            return False
        return None if self.undecided or not self.held else True


def _us(seconds: float) -> str:
    return f"{seconds * 1e6:.3f}"


def to_table(run: Run) -> str:
    """The lines cell by cell, and what is to be said of the whole run."""
    begin = run.begin
    level = f"{100 * median_level(begin['repetitions']):.0f} % of ratio"
    text = (
        f"{begin['collective']} on {begin['ranks']} ranks, {begin['mpi']}, Sibyl {begin['sibyl']}; "
        f"{begin['cores']} cores, {begin['cpu']}\n"
        f"half a round trip of one byte: {_us(begin['alpha_near_s'])} us (ranks 0 and 1), "
        f"{_us(begin['alpha_far_s'])} us (ranks 0 and {begin['ranks'] - 1})\n"
    )
    for _, cell in itertools.groupby(
        run.lines, lambda line: (line.operator, line.count, line.batch)
    ):
        lines = list(cell)
        first = lines[0]
        text += (
            f"\noperator {first.operator}, count {first.count} ({first.bytes} bytes), "
            f"{first.mode}; limit {_us(first.limit)} us, "
            f"whole vectors {_us(first.whole_vector_limit)} us\n"
            f"  {'':<20}{'least us':>12}{'median us':>12}{'ratio':>9}{level:>18}"
            f"{'x limit':>9}  verdict\n"
        )
        for line in lines:
            interval = f"{line.ratio_interval[0]:.3f}-{line.ratio_interval[1]:.3f}"
            bounded = line.limit > 0 and line.batch == 1
            to_limit = f"{line.median / line.limit:.2f}" if bounded else "-"
            text += (
                f"  {line.algorithm:<20}{_us(line.least):>12}{_us(line.median):>12}"
                f"{line.ratio:>9.3f}{interval:>18}{to_limit:>9}  {line.verdict}\n"
            )
    text += "\n"
    for wrong in run.wrong:
        text += f"WRONG RESULT: {wrong}\n"
    for line in run.slower:
        text += (
            f"slower than allowed: {line.algorithm}, operator {line.operator}, count {line.count}, "
            f"{'single calls' if line.batch == 1 else 'batches'}: ratio {line.ratio:.3f}, "
            f"p {line.p_slower:.2g}\n"
        )
    if run.held and run.never_slower is not False:
        undecided = f"undecided in {len(run.undecided)} of {counted(len(run.held), 'comparison')}"
        text += (
            f"never slower than {begin['reference']} by more than {MARGIN * 100:.0f} % or "
            f"{MARGIN_SECONDS * 1e9:.0f} ns: {'holds' if run.never_slower else undecided}\n"
        )
    return text


def to_csv(run: Run) -> str:
    """One line a contender, cell and mode."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    begin = run.begin
    for line in run.lines:
        times = [line.least, line.quarters[0], line.median, line.quarters[1]]
        writer.writerow(
            [
                *(begin["collective"], begin["ranks"], begin["mpi"]),
                *(line.operator, line.count, line.bytes, line.batch, line.algorithm),
                *(f"{time * 1e6:.4f}" for time in times),
                *(f"{ratio:.4f}" for ratio in (line.ratio, *line.ratio_interval)),
                *(f"{limit * 1e6:.4f}" for limit in (line.limit, line.whole_vector_limit)),
                *(f"{p:.3g}" for p in (line.p_slower, line.p_faster, line.p_within)),
                line.verdict,
            ]
        )
    return out.getvalue()


def to_json(run: Run) -> str:
    """Everything that was found, and where it comes from."""
    begin = run.begin
    origin = ("date", "mpi", "flavour", "sibyl", "cpu", "cores", "ranks", "simulated")
    document = {
        "format": "sibyl-bench",
        "version": 1,
        "provenance": {
            name: begin[name] for name in (*origin, "alpha_near_s", "alpha_far_s", "command")
        },
        **{name: begin[name] for name in ("collective", "reference", "held")},
        **{name: begin[name] for name in ("repetitions", "warm_up")},
        "confidence": median_level(begin["repetitions"]),  # of the intervals, whatever their name
        "margin": {"relative": MARGIN, "seconds": MARGIN_SECONDS},
        "significance": SIGNIFICANCE,
        "never_slower": run.never_slower,
        "wrong_results": run.wrong,
        "lines": [
            {
                "operator": line.operator,
                "count": line.count,
                "bytes": line.bytes,
                "batch": line.batch,
                "algorithm": line.algorithm,
                "least_s": line.least,
                "quartile_1_s": line.quarters[0],
                "median_s": line.median,
                "quartile_3_s": line.quarters[1],
                "ratio": line.ratio,
                "ratio_95_percent": line.ratio_interval,
                "limit_s": line.limit,
                "whole_vector_limit_s": line.whole_vector_limit,
                "p_slower": line.p_slower,
                "p_faster": line.p_faster,
                "p_within": line.p_within,
                "verdict": line.verdict,
            }
            for line in run.lines
        ],
    }
    return json.dumps(document, indent=1) + "\n"
