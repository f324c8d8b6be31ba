"""Predicted arrivals of real programs: how far each predictor is off, and what it is worth there.

The recordings are those of `sibyl run --record` that the package carries
(examples/patterns/README.md says how they were made). Every call site of enough calls is replayed
through the predictors; what knowing would be worth there is simulated with the site's collective,
bytes and arrivals: an algorithm that listens, told what each predictor says, the truth, nothing,
and what the predictor says of other ranks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy

from sibyl import _core
from sibyl.experiment.units import size_text
from sibyl.prediction.replay import BEST, Replay, read_trace, replay
from sibyl.reproduce.control import nothing, wrong
from sibyl.reproduce.outcome import Claim, Outcome, as_control, judge
from sibyl.reproduce.rack import LINKS_SHARED, NETWORK
from sibyl.reproduce.worth import WORTH_COLUMNS, Told, span_of_worth, worth_columns
from sibyl.simulator.contenders import Contender, contenders
from sibyl.simulator.run import run_prepared
from sibyl.simulator.session import Problem, Settings, simulation_of

# The largest sites of a program, by what its calls wait for the last rank in all.
SITES = 3
LEAST_CALLS = 8
LISTENERS = {
    "gather": "SLS",
    "gatherv": "linear:sorted",
    "scatter": "SLIN",
    "scatterv": "linear:sorted",
    "reduce": "clairvoyant",
    "allreduce": "pre-reduced-ring",
    "bcast": "clairvoyant",
}
GOOD = 0.10  # of the delay
COLUMNS = (
    *("program", "collective", "bytes", "ranks", "calls", "delay_ms", "wire_ms", "predictor"),
    *("median_error_ms", "error_of_delay"),
    *("told_nothing_ms", "predicted_ms", "told_right_ms", *WORTH_COLUMNS),  # of the prediction
)


@dataclass(frozen=True)
class Worth:
    """Absorbed times of a site's calls in seconds.

    Attributes:
        told: the prediction, in the place of the truth.
        right: told the truth.
    """

    told: Told
    right: Sequence[float]

    @property
    def means(self) -> tuple[float, float, float]:
        """Told nothing, the prediction, and the truth."""
        return fmean(self.told.nothing), fmean(self.told.truth), fmean(self.right)


def recordings() -> list[tuple[str, Path]]:
    """The programs that the package carries recordings of."""
    folder = Path(str(resources.files("sibyl").joinpath("data/recordings")))
    return [(path.stem, path) for path in sorted(folder.glob("*.json"))]


def sites_of(path: Path) -> list[Replay]:
    """The sites whose calls wait most, replayed through all predictors."""
    names = [*_core.standard_predictors(), BEST]
    found = [replay(site, names) for site in read_trace(path) if len(site.calls) >= LEAST_CALLS]
    found.sort(key=lambda one: -one.delay * len(one.site.calls))
    return found[:SITES]


def worth_of(one: Replay) -> dict[str, Worth]:
    """What each predictor is worth at a site; nothing where no algorithm listens."""
    site = one.site
    listener = LISTENERS.get(site.collective)
    if listener is None or site.ranks < 2 or site.size < 1:
        return {}
    settings = Settings(site.collective, NETWORK, root=max(site.root, 0))
    problem = Problem(site.ranks, site.whole_size, "flat", 0.0)
    names = f"{listener},{nothing(listener)},{wrong(listener)}"
    knows, knows_nothing, knows_others = contenders(site.collective, names)

    def absorbed(contender: Contender, told: numpy.ndarray) -> list[float]:
        """Of all calls but the first, which has no prediction."""
        found = []
        for hears, true in zip(told[1:], one.times[1:], strict=True):
            prepared = simulation_of(problem, contender, settings, hears)
            found.append(run_prepared(prepared, NETWORK, true).absorbed)
        return found

    right, told_nothing = absorbed(knows, one.times), absorbed(knows_nothing, one.times)
    found = {}
    for predictor, times in one.predictions.items():
        says = numpy.maximum(times, 0.0)
        told = Told(absorbed(knows, says), told_nothing, absorbed(knows_others, says))
        found[predictor] = Worth(told, right)
    return found


def prediction(_iterations: int, advance: Callable[[], None]) -> Outcome:
    """All programs, sites and predictors."""
    rows: list[list[Any]] = []
    claims: list[Claim] = []
    bars: list[tuple[str, float, float]] = []
    errors: list[tuple[str, bool]] = []
    gains: list[tuple[str, Told]] = []
    told_of_rows: list[Told | None] = []
    programs = recordings()
    for program, path in programs:
        for one in sites_of(path):
            site, best = one.site, one.best
            worths = worth_of(one)
            name = f"{program}: {site.collective} of {size_text(site.size)}"
            wire = 1e3 * NETWORK.message(site.size)
            for score in one.scores:
                worth = worths.get(score.predictor)
                times = ("", "", "") if worth is None else worth.means
                told_of_rows.append(None if worth is None else worth.told)
                rows.append(
                    [program, site.collective, site.size, site.ranks, len(site.calls),
                     round(1e3 * one.delay, 4), round(wire, 4), score.predictor,
                     round(1e3 * score.median, 4),
                     "" if score.relative is None else round(score.relative, 3),
                     *(t if isinstance(t, str) else round(1e3 * t, 4) for t in times)]
                )  # fmt: skip
            bars.append((name, 1e3 * one.delay, 1e3 * best.median))
            if best.relative is not None:
                errors.append((f"{name} ({best.relative:.0%})", best.relative <= GOOD))
            if worths:
                gains.append((name, worths[best.predictor].told))
        advance()
    for row, more in zip(rows, worth_columns(told_of_rows), strict=True):
        row += more
    gain_of_programs = judge(
        "an algorithm that listens to that prediction is faster than the same told nothing, by "
        "more than 2 %",
        [(f"{name} ({gain.worth:.2f})", gain.worth >= 1.02) for name, gain in gains],
        "In brackets told nothing over told the prediction, simulated on 1 Gbit/s; sites of "
        "collectives that no algorithm listens for are left out.",
        ours=span_of_worth([gain for _, gain in gains], "the prediction"),
    )
    told = "what the recorded programs call, told predictions"
    claims = [
        judge(
            f"the best predictor is off by at most {100 * GOOD:.0f} % of the delay",
            errors,
            "In brackets the median error over the delay.",
            kind="own",
        ),
        replace(
            as_control(gain_of_programs, told, "absorbed", (gain.worth for _, gain in gains)),
            instrument="model, not compared with times, of recorded arrivals",
        ),
    ]
    setting = (
        f"measured: arrivals of {', '.join(name for name, _ in programs)}, recorded under Open MPI "
        f"on 4 ranks that share two cores with other work; of each program the {SITES} sites whose "
        "calls wait longest in all; what predictions are worth is simulated (1 Gbit/s, alpha 25 "
        f"us, {LINKS_SHARED})"
    )
    return Outcome(setting, COLUMNS, rows, claims, lambda plt: _draw(plt, bars))


def _draw(plt: Any, bars: Sequence[tuple[str, float, float]]) -> Any:
    figure, place = plt.subplots(figsize=(9, 1 + 0.35 * max(1, len(bars))))
    y = range(len(bars))
    place.barh([i + 0.2 for i in y], [max(d, 1e-4) for _, d, _ in bars], 0.38, label="delay")
    place.barh(
        [i - 0.2 for i in y],
        [max(e, 1e-4) for _, _, e in bars],
        0.38,
        label="best predictor's error",
    )
    place.set_yticks(list(y), [name for name, _, _ in bars], fontsize=8)
    place.set(xscale="log", xlabel="median [ms]")
    place.legend(fontsize=8)
    place.grid(alpha=0.3, axis="x")
    figure.tight_layout()
    return figure
