"""`sibyl predict`: how well arrivals of a recorded run can be predicted, and by what."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from sibyl import _core
from sibyl.files import check_all_writable, console_beside, write_result
from sibyl.prediction.replay import BEST, Replay, read_trace, replay
from sibyl.terminal import seconds_text


def predict_trace(
    trace: Path,
    predictors: Sequence[str],
    csv_file: Path | None,
    json_file: Path | None,
    plot: Path | None,
) -> int:
    """Replay a trace through predictors; write the files that are asked for, print the errors."""
    if plot is not None:
        from sibyl.prediction.plot import check_plot, plot_replays

        check_plot(plot)
    outputs = {"--csv": csv_file, "--json": json_file, "--plot": plot}
    check_all_writable(outputs, [("TRACE", trace)])
    names = list(dict.fromkeys(predictors)) or [*_core.standard_predictors(), BEST]
    replays = [replay(site, names) for site in read_trace(trace)]
    if csv_file is not None:
        write_result(csv_file, _as_csv(replays))
    if json_file is not None:
        write_result(json_file, json.dumps(_as_json(trace, replays), indent=2) + "\n")
    if plot is not None:
        plot_replays(plot, replays)
    console = console_beside(csv_file, json_file)
    for number, one in enumerate(replays):
        _print(console, number, one)
    return 0


def _percent(relative: float | None) -> str:
    return "-" if relative is None else f"{100 * relative:.3g} %"


def _print(console: Console, number: int, one: Replay) -> None:
    title = f"#{number} {one.site}, the last one {seconds_text(one.delay)} behind the first"
    table = Table(title=title, title_justify="left")
    table.add_column("predictor")
    for heading in ("median error", "90 % within", "of the delay"):
        table.add_column(heading, justify="right")
    for score in one.scores:
        table.add_row(
            score.predictor,
            seconds_text(score.median),
            seconds_text(score.p90),
            _percent(score.relative),
            style="bold" if score is one.best else None,
        )
    console.print(table)
    console.print(
        f"smallest error: {one.best.predictor}, {_percent(one.best.relative)} of the delay",
        highlight=False,
    )


def _as_json(trace: Path, replays: Sequence[Replay]) -> dict[str, object]:
    return {
        "format": "sibyl-prediction",
        "version": 1,
        "trace": str(trace),
        "sites": [
            {
                "collective": one.site.collective,
                "root": one.site.root,
                "bytes": one.site.size,
                "ranks": one.site.ranks,
                "calls": len(one.site.calls),
                "delay_s": one.delay,
                "best": one.best.predictor,
                "predictors": [
                    {
                        "predictor": score.predictor,
                        "median_s": score.median,
                        "p90_s": score.p90,
                        "relative": score.relative,
                    }
                    for score in one.scores
                ],
            }
            for one in replays
        ],
    }


def _as_csv(replays: Sequence[Replay]) -> str:
    names = list(replays[0].predictions)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["site", "call", "rank", "arrival_s", *(f"{name}_s" for name in names)])
    for number, one in enumerate(replays):
        for call in range(1, len(one.times)):
            for rank in range(one.site.ranks):
                predicted = (repr(float(one.predictions[name][call, rank])) for name in names)
                writer.writerow(
                    [number, call, rank, repr(float(one.times[call, rank])), *predicted]
                )
    return text.getvalue()
