"""Clairvoyant: table 1 and figures 7 and 8, the generators of schedules, measured here."""

from collections.abc import Callable
from typing import Any

from sibyl.bench.clairvoyant_times import CASES, GENERATORS, PAPER, measure, published, ratio
from sibyl.reproduce.outcome import Claim, Outcome, judge
from sibyl.terminal import Terminal

SECONDS_A_CELL = 2.0
SIZES = [size for size, _ in PAPER]

Numbers = dict[tuple[str, int, str], float]  # of a case, a size and a generator


def table_1(iterations: int, advance: Callable[[], None]) -> Outcome:
    """Times of the generators over that of the segment tree."""
    theirs = published()
    log = Terminal(quiet=True)
    rows: list[list[Any]] = []
    found: Numbers = {}
    seconds: Numbers = {}
    for size, segments in PAPER:
        cells = measure([(size, segments)], GENERATORS, iterations, SECONDS_A_CELL, 1, log)
        by = {(cell.case, cell.generator): cell for cell in cells}
        for case in CASES:
            for name in GENERATORS:
                cell = by.get((case, name))
                if cell is None:
                    continue
                key = case, size, name
                found[key], seconds[key] = ratio(cell, by[case, "segment-tree"]), cell.median
                given = 1.0 if name == "segment-tree" else theirs.get(key, "")
                rows.append([*key, given, round(found[key], 3), round(1e6 * cell.median, 1)])
        advance()
    columns = ("case", "size", "generator", "published_ratio", "measured_ratio", "measured_us")
    return Outcome(
        "measured on this machine: processor time of one thread, medians; ratios to segment-tree",
        columns,
        rows,
        _claims(found, theirs),
        lambda plt: _draw(plt, seconds),
    )


def _claims(found: Numbers, theirs: Numbers) -> list[Claim]:
    def cells_of(case: str, chosen: list[int], name: str, slower: bool) -> list[tuple[str, bool]]:
        return [(f"{s} {case}", (found[case, s, name] > 1) == slower) for s in chosen]

    def linear(numbers: Numbers, case: str) -> str:
        return ", ".join(f"{numbers[case, s, 'linear']:.2f}" for s in SIZES)

    def linear_by_size(case: str) -> str:
        return ", ".join(f"{s}: {found[case, s, 'linear']:.2f}" for s in SIZES)

    heap = [found[case, 512, "pairing-heap"] for case in ("uniform", "skewed")]
    return [
        judge(
            "uniform arrivals: the segment tree overtakes linear search from 64 processes on",
            cells_of("uniform", [s for s in SIZES if s >= 64], "linear", True)
            + cells_of("uniform", [s for s in SIZES if s <= 32], "linear", False),
            f"{linear_by_size('uniform')} (published {linear(theirs, 'uniform')}).",
        ),
        judge(
            "one late rank: linear search stays ahead up to 256 processes",
            cells_of("skewed", [s for s in SIZES if s <= 256], "linear", False),
            f"{linear_by_size('skewed')}. The segment tree here uses the widest registers of the "
            "processor.",
        ),
        judge(
            "the pairing heap is slower than the segment tree everywhere",
            [c for case in CASES for c in cells_of(case, SIZES, "pairing-heap", True)],
            f"{heap[0]:.0f} and {heap[1]:.0f} times at 512 (published 44 and 83).",
        ),
    ]


def _draw(plt: Any, seconds: Numbers) -> Any:
    figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.2), sharey=True)
    for place, case in zip(axes, CASES, strict=True):
        for number, name in enumerate(GENERATORS):
            own = [s for s in SIZES if (case, s, name) in seconds]
            times = [1e3 * seconds[case, s, name] for s in own]
            place.plot(own, times, "o-", color=f"C{number}", label=name)
        place.set(xscale="log", yscale="log", xlabel="processes and segments", title=case)
        place.grid(alpha=0.3)
    axes[0].set_ylabel("processor time [ms]")
    axes[0].legend(fontsize=8)
    figure.tight_layout()
    return figure
