"""`sibyl fft-plot`: the picture of a run of sibyl-fft, spectrum above, waterfall below."""

import json
from pathlib import Path
from typing import Any

from sibyl.errors import CommandError
from sibyl.experiment.plots import figure_bytes, plot_library
from sibyl.files import check_all_writable, write_result
from sibyl.inputs import LARGE, read_text
from sibyl.terminal import printable

# Below the loudest point of the waterfall: what is fainter has the darkest colour.
RANGE_DB = 90.0
# Of levels, frequencies, seconds: larger numbers are slips, and no axis has room for them.
MOST = 1e12


def draw(document: Path, picture: Path) -> int:
    """Draw the picture; see `sibyl fft-plot --help`."""
    if picture.suffix not in (".png", ".svg", ".pdf"):
        raise CommandError(f"{picture}: name a file that ends in .png, .svg or .pdf")
    check_all_writable({"PICTURE": picture}, [("FILE.json", document)])
    run = read_document(document)
    write_result(picture, figure_bytes(_draw(run, plot_library("fft-plot")), picture))
    return 0


def read_document(path: Path) -> dict[str, Any]:
    """What sibyl-fft wrote.

    Raises:
        CommandError: the file cannot be read, or is something else.
    """
    try:
        run = json.loads(read_text(path, LARGE))
    except OSError as error:
        raise CommandError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{path} is no JSON: {error}") from error
    if not isinstance(run, dict) or run.get("program") != "sibyl-fft":
        raise CommandError(f"{path} is not from sibyl-fft --json")
    picture = run.get("picture")
    if not isinstance(picture, dict) or not picture.get("rows"):
        raise CommandError(f"{path} holds no spectrum")
    if not (_has_picture(picture) and _has_title(run)):
        raise CommandError(f"{path} holds no whole run of sibyl-fft; write it again with --json")
    return run


def _has_picture(picture: dict[str, Any]) -> bool:
    """Whether everything is there that is drawn, in numbers that fit together."""
    frequencies: Any = picture.get("frequencies")
    rows = picture["rows"]
    if not _are_numbers(frequencies) or min(frequencies) <= 0:  # their axis is logarithmic
        return False
    return (
        isinstance(rows, list)
        and all(_are_numbers(row, len(frequencies)) for row in rows)
        and _are_numbers(picture.get("mean"), len(frequencies))
        and _are_numbers(picture.get("seconds"), len(rows))
    )


def _has_title(run: dict[str, Any]) -> bool:
    """Whether the numbers and the name are there that stand above the picture."""
    recording = run.get("recording")
    return (
        isinstance(recording, dict)
        and isinstance(recording.get("file"), str)
        and _are_numbers([recording.get("rate"), run.get("size"), run.get("ranks")], 3)
        and recording["rate"] > 0
    )


def _are_numbers(values: Any, count: int | None = None) -> bool:
    """Whether it is a list of numbers, of so many where that is known, and at least one."""
    return (
        isinstance(values, list)
        and len(values) == (len(values) or 1 if count is None else count)
        and all(isinstance(each, int | float) and -MOST <= each <= MOST for each in values)
    )


def _draw(run: dict[str, Any], plt: Any) -> Any:
    import numpy as np

    shown = run["picture"]
    frequencies = np.array(shown["frequencies"])
    rows = np.array(shown["rows"])
    several = len(rows) > 1
    figure, axes = plt.subplots(
        1 + several,
        1,
        sharex=True,
        squeeze=False,
        figsize=(8, 6.5 if several else 3.5),
        height_ratios=(2, 3)[: 1 + several],
        layout="constrained",
    )
    spectrum = axes[0, 0]
    spectrum.semilogx(frequencies, shown["mean"], color="#0072B2", linewidth=0.9)
    spectrum.set_ylabel("level, dB of full scale")
    spectrum.set_title("mean over all windows", fontsize=10)
    spectrum.grid(which="both", alpha=0.25)
    spectrum.set_xlim(frequencies[0], frequencies[-1])
    if several:
        waterfall = axes[1, 0]
        loudest = rows.max()
        mesh = waterfall.pcolormesh(
            frequencies,
            shown["seconds"],
            rows,
            cmap="magma",
            vmin=loudest - RANGE_DB,
            vmax=loudest,
            shading="nearest",
            rasterized=True,
        )
        waterfall.invert_yaxis()
        waterfall.set_ylabel("start of the window, s")
        figure.colorbar(mesh, ax=waterfall, label="dB of full scale", pad=0.01)
    axes[-1, 0].set_xlabel("frequency, Hz")
    length = run["size"] / run["recording"]["rate"]
    figure.suptitle(
        f"{printable(Path(run['recording']['file']).name)}: windows of {run['size']} samples "
        f"({length:.3g} s), {run['ranks']} ranks",
        fontsize=11,
        parse_math=False,  # a name may have dollars
    )
    return figure
