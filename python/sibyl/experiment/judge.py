"""From samples to statements: medians, ratios, and what may be said about them.

"Never slower" is a claim about all cells at once, so the p-values of all comparisons of a run are
corrected together. Where the instrument is the bottleneck nothing is said at all. Simulated times
have no noise: medians decide.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sibyl.experiment.grid import ROOTED_BLOCKS
from sibyl.experiment.samples import CellResult
from sibyl.experiment.statistics import holm, median, quartiles, rank_sum_greater

MARGIN = 0.05  # of the reference's median
MARGIN_SECONDS = 200e-9
SIGNIFICANCE = 0.05  # of the whole run
# Ranks that come later than they were told to by more than this part of the time that is measured
# make another pattern than the one that was asked for.
LATENESS = 0.10
# On a cluster whose processors are busy, calls below so many latencies measure the processors.
SMALL_CALL = 10
TIMES = ("run", "elapsed", "absorbed")


@dataclass(frozen=True)
class Row:
    """One contender in one cell. Times in seconds.

    Attributes:
        time: median of the time that is judged.
        quarters: its first and third quartile.
        run: median run time; elapsed, absorbed, spread, bound, late alike.
        ratio: time over that of the reference.
        to_bound: run time over its lower bound.
        p_slower: of "slower by more than the margin", corrected for the whole run.
        p_faster: of "faster", corrected together with these.
        p_within: of "slower by less than the margin, if at all", corrected for the whole run.
        verdict: reference, faster, no difference, SLOWER, WRONG or none.
        limit: why the cell tells of the instrument; empty if it does not.
    """

    result: CellResult
    algorithm: str
    time: float
    quarters: tuple[float, float]
    run: float
    elapsed: float
    absorbed: float
    spread: float
    bound: float
    late: float
    ratio: float
    to_bound: float
    p_slower: float
    p_faster: float
    p_within: float
    verdict: str
    limit: str = ""

    @property
    def is_within(self) -> bool:
        """Whether it is shown to be no slower than the margin allows.

        That nothing is shown against a contender says little where there are few samples.
        """
        shown = self.verdict == "no difference" and self.p_within < SIGNIFICANCE
        return shown or self.verdict == "faster"


def instrument_limit(
    result: CellResult, reference: str, crowded: bool = False, metric: str = "run"
) -> str:
    """Why this cell tells of the instrument rather than of collectives; empty if it does not.

    Args:
        result: the cell.
        reference: a contender.
        crowded: that ranks share processors is what is to be measured: those that look all the time
            too, and those that wake up late where they do so alike whoever serves them.
        metric: run, elapsed or absorbed: the time that is judged.
    """
    job = result.job
    if job.get("simulated"):
        return ""
    check = job.get("cluster_check")
    if check is not None:
        absorbed = median(result.samples[reference]["absorbed_s"])
        limit = cluster_limit(check, job["collective"], absorbed)
        if limit:
            return limit
    # Ranks of a cluster sleep while they wait where each has a host of its own; else they spin.
    spin = check is None or job.get("ranks_per_host", 1) > 1 or job.get("waiting") == "spin"
    share = spin and job["ranks_per_machine"] > job["cores"]
    if share and not crowded:
        return (
            f"{job['ranks_per_machine']} ranks share {job['cores']} cores: the scheduler of the "
            f"operating system decides; take fewer ranks, or --on cluster with one rank a host"
        )
    clocks = job["clocks"]
    time = median(result.samples[reference][f"{metric}_s"])
    # They run off from each other between two looks at them.
    known = clocks["worst_error_s"] + job.get("clocks_after", {}).get("drift_s", 0.0)
    if not clocks["common"] and known > LATENESS * time:
        return (
            f"the clocks of the hosts are known to {known * 1e6:.0f} us only, the operation takes "
            f"{time * 1e6:.0f} us"
        )
    late = max(median(of["late_s"]) for of in result.samples.values())
    # Who looks all the time keeps others from waking up, whichever contender's turn it is.
    if late <= LATENESS * time or share:
        return ""
    later = f"ranks arrived {late * 1e6:.0f} us later than they were told to"
    if not crowded:
        return f"{later}, the operation takes {time * 1e6:.0f} us"
    apart = _arrive_apart(result, reference)
    return f"{later}, and not alike with {apart} and {reference}" if apart else ""


def _arrive_apart(result: CellResult, reference: str) -> str:
    """A contender whose ranks are shown to have come earlier or later than the reference's."""
    base = result.samples[reference]["late_s"]
    others = [name for name in result.samples if name != reference]
    allowed = SIGNIFICANCE / max(2 * len(others), 1)
    for name in others:
        own = result.samples[name]["late_s"]
        if min(rank_sum_greater(own, base), rank_sum_greater(base, own)) < allowed:
            return name
    return ""


def cluster_limit(check: dict[str, Any], collective: str, absorbed: float) -> str:
    """What `sibyl cluster check` has found against a measurement on the cluster.

    Args:
        check: its figures.
        collective: what is measured.
        absorbed: what it takes from the last arrival on, in seconds.
    """
    one_busy_link = collective in ROOTED_BLOCKS
    true = check["gather_true"] if one_busy_link else check["shift_true"]
    if not true and not check.get("queue"):  # what a queue loses is what is measured
        ratio = check["gather_ratio"] if one_busy_link else check["shift_ratio"]
        what = "all hosts sending to one" if one_busy_link else "all hosts sending at once"
        why = (
            "the processors are the bottleneck" if check["cpu_bound"] else "the links are not true"
        )
        return f"{why}: {what} take {ratio:.2f} times what the wire needs; lower the rate"
    if not check["latency_true"] and absorbed < SMALL_CALL * check["alpha_busy_s"]:
        return (
            f"a message takes {check['alpha_busy_s'] * 1e6:.0f} us while the other ranks wait, and "
            f"{check['alpha_s'] * 1e6:.0f} us while they sleep: small calls measure the scheduler"
        )
    return ""


@dataclass(frozen=True)
class Chances:
    """The p-values of one comparison; as in Row."""

    slower: float
    faster: float
    within: float


def chances(own: Sequence[float], base: Sequence[float], simulated: bool) -> Chances:
    """That such times of a contender are chance; before any correction."""
    margin = max(MARGIN * median(base), MARGIN_SECONDS)
    if simulated:
        slower, faster = median(own) > median(base) + margin, median(own) < median(base)
        return Chances(float(not slower), float(not faster), float(slower))
    allowed = [time + margin for time in base]
    return Chances(
        rank_sum_greater(own, allowed), rank_sum_greater(base, own), rank_sum_greater(allowed, own)
    )


def corrected(found: Sequence[Chances]) -> list[Chances]:
    """The same for many comparisons.

    What a contender is accused of, or praised for, is one family of statements, that it is within
    the margin another: so that the one is not weaker for the other's sake.
    """
    both = holm([p for each in found for p in (each.slower, each.faster)])
    within = holm([each.within for each in found])
    return [Chances(*p) for p in zip(both[::2], both[1::2], within, strict=True)]


def _verdict(p: Chances, limited: bool) -> str:
    if limited:
        return "none"
    if p.slower < SIGNIFICANCE:
        return "SLOWER"
    return "faster" if p.faster < SIGNIFICANCE else "no difference"


def _row(
    result: CellResult, name: str, base: float, metric: str, p: Chances, verdict: str, limit: str
) -> Row:
    """The medians of one contender in one cell."""
    of = result.samples[name]
    times = of[f"{metric}_s"]
    bounds = [r / b for r, b in zip(of["run_s"], of["bound_s"], strict=True) if b > 0]
    return Row(
        result,
        name,
        median(times),
        quartiles(times),
        **{m: median(of[f"{m}_s"]) for m in (*TIMES, "spread", "bound", "late")},
        ratio=median(times) / base if base > 0 else 1.0,
        to_bound=median(bounds) if bounds else 1.0,
        p_slower=p.slower,
        p_faster=p.faster,
        p_within=p.within,
        verdict="WRONG" if result.wrong.get(name) else verdict,
        limit=limit,
    )


def judge(
    results: Sequence[CellResult], reference: str, metric: str = "run", crowded: bool = False
) -> list[Row]:
    """All rows of a run, cell by cell, with p-values corrected over the whole run.

    Args:
        results: every cell holds samples of `reference`.
        reference: what the others are compared with.
        metric: run, elapsed or absorbed.
        crowded: as in instrument_limit().
    """
    found = []
    for result in results:
        base = result.samples[reference][f"{metric}_s"]
        simulated = bool(result.job.get("simulated"))
        for name, of in result.samples.items():
            if name != reference:
                found.append(chances(of[f"{metric}_s"], base, simulated))
    by_chance = iter(corrected(found))

    rows = []
    for result in results:
        base = median(result.samples[reference][f"{metric}_s"])
        limit = instrument_limit(result, reference, crowded, metric)
        for name in result.samples:
            p, verdict = Chances(1.0, 1.0, 1.0), "reference"
            if name != reference:
                p = next(by_chance)
                verdict = _verdict(p, bool(limit))
            rows.append(_row(result, name, base, metric, p, verdict, limit))
    return rows
