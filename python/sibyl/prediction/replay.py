"""Replay recorded arrivals through the predictors, and judge them.

A trace is a recording of `sibyl run --record`, or a text file with one time a line per rank and a
line `# call` before each call (sibyl.experiment.recording reads both). What is predicted is each
rank's arrival behind the first one of the call; a predictor sees the calls of a site one after the
other and is asked before it is told. The first call of a site has no prediction and does not count.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sibyl import _core
from sibyl.errors import CommandError
from sibyl.experiment.recording import Site, parse_recording, read_text_calls
from sibyl.inputs import LARGE, read_text

BEST = "best"


@dataclass(frozen=True)
class Score:
    """How far one predictor was off at one site, in seconds.

    Attributes:
        predictor: its name.
        median: of the absolute errors of all ranks and calls.
        p90: nine of ten errors are at most this.
        relative: the median relative to the site's delay; None where all ranks came at once.
    """

    predictor: str
    median: float
    p90: float
    relative: float | None


@dataclass(frozen=True)
class Replay:
    """A site's calls, and what the predictors made of them.

    Attributes:
        site: the calls.
        times: shape (calls, ranks), seconds behind the first arrival of each call.
        delay: median over the calls of how far the last rank is behind the first.
        predictions: per predictor, of the shape of `times`; row 0 means nothing.
        scores: per predictor, in the order in which they were asked for.
    """

    site: Site
    times: np.ndarray
    delay: float
    predictions: dict[str, np.ndarray]
    scores: list[Score]

    @property
    def best(self) -> Score:
        """The score of the predictor that was off least; `best`, which chooses, only if alone."""
        fixed = [score for score in self.scores if score.predictor != BEST] or self.scores
        return min(fixed, key=lambda score: (score.median, score.p90))


def read_text_trace(path: Path, text: str) -> list[Site]:
    """The one site of a text file of times."""
    calls = read_text_calls(path, text)
    ranks = len(calls[0]) if calls else 0
    for number, call in enumerate(calls):
        if len(call) != ranks:
            raise CommandError(
                f"{path}: call {number} has {len(call)} arrival times and the first call {ranks}; "
                f"write one for each rank"
            )
    return [Site("call", -1, 0, ranks, calls)]


def read_trace(path: Path) -> list[Site]:
    """The call sites of a trace, the one with the most calls first.

    Raises:
        CommandError: no such file, or no trace.
    """
    try:
        text = read_text(path, LARGE)
    except OSError as error:
        raise CommandError(f"cannot read the trace {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CommandError(
            f"the trace {path} is not text; sibyl run --record writes one"
        ) from error
    read = parse_recording if text.lstrip().startswith("{") else read_text_trace
    sites = read(path, text)
    usable = [site for site in sites if len(site.calls) > 1]
    if not usable:
        raise CommandError(f"{path}: no call site has two calls or more; record a longer run")
    for site in usable:
        if any(len(call) != site.ranks for call in site.calls):
            raise CommandError(f"{path}: {site}: a call lacks times of some ranks; record again")
    return usable


def replay(site: Site, predictors: list[str]) -> Replay:
    """Replay a site through predictors.

    Raises:
        CommandError: no such predictor.
    """
    times = np.ascontiguousarray(site.calls, dtype=np.float64)
    times -= times.min(axis=1, keepdims=True)
    delay = float(np.median(times[1:].max(axis=1)))
    predictions = {}
    scores = []
    for name in predictors:
        try:
            predictions[name] = _core.predict_arrivals(times, name)
        except ValueError as error:
            raise CommandError(f"--predictor {name}: {error}") from error
        errors = np.abs(predictions[name] - times)[1:]
        median = float(np.median(errors))
        p90 = float(np.quantile(errors, 0.9))
        scores.append(Score(name, median, p90, median / delay if delay > 0 else None))
    return Replay(site, times, delay, predictions, scores)
