"""What an item leaves in a folder: NAME.csv, NAME.png and, last, NAME.json.

The last says what became of the claims, and what made the result: a fingerprint, with what else
is needed to see whether it would be made alike today. Of an item that is measured on a cluster the
samples are there too (samples.py), and its fingerprint is that of the measurement.
"""

import csv
import datetime
import hashlib
import io
import json
import os
import platform
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import sibyl
from sibyl import __version__, _core
from sibyl.errors import CommandError
from sibyl.experiment.plots import plot_library
from sibyl.experiment.provenance import processor, programs_hash, settings
from sibyl.experiment.runner import choose_benchmark_launcher
from sibyl.experiment.simulated import platform_files
from sibyl.files import write_result
from sibyl.inputs import read_text
from sibyl.paths import is_file
from sibyl.processes.questions import answer_of
from sibyl.reproduce.outcome import VERDICTS, Item, Kind, Measurement, Outcome, Where
from sibyl.terminal import say

Document = dict[str, Any]
PACKAGE = Path(sibyl.__file__).parent
# That decide what a result is; with the modules that lie in no room.
ROOMS = ("reproduce", "simulator", "prediction", "experiment", "bench", "cluster", "mpi", "")
# That keep and lay out what there is, and decide no verdict.
PAGES = (
    *("reproduce/page.py", "reproduce/headlines.py", "reproduce/results.py"),
    *("reproduce/samples.py", "reproduce/session.py"),
)
# Of those that take samples, which are judged anew whenever they are looked at.
MEASURING_ROOMS = ("experiment", "cluster", "mpi")
NOT_MEASURING = ("experiment/judge.py", "experiment/plots.py", "experiment/statistics.py")
MOST = 1e9  # that knowing can be worth
TEXTS = ("title", "source", "how", "setting")


def today() -> str:
    """As results are dated."""
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")


@dataclass(frozen=True)
class Made:
    """How a result, or the samples that it rests on, came about.

    Attributes:
        mark: its fingerprint.
        date: as `today` has it.
    """

    iterations: int
    where: Where | None
    mark: str
    date: str
    seconds: float


def _simgrid() -> str:
    """The simulator under SMPI, in a line; nothing where there is none."""
    if shutil.which("smpirun") is None:
        return ""
    done = answer_of(["smpirun", "--version"])
    return done.stdout.strip().partition("\n")[0] if done is not None else ""


def _machine(where: Where | None) -> str:
    """What else a measurement depends on."""
    system = (
        f"{platform.release()} {platform.machine()} {os.cpu_count()} {processor()} {_simgrid()} "
        f"{settings()}"
    )
    if where is None:
        return system
    try:
        return f"{system} {choose_benchmark_launcher(where.mpi)}"
    except CommandError:  # there is no MPI, and so no measurement
        return system


def fingerprint(item: Item, iterations: int, where: Where | None = None) -> str:
    """Equal as long as what was measured or simulated is still worth what it was.

    Of what is simulated it is that of the judgement. For what is measured it changes with the
    programs and libraries that run there, the MPI, the processor, SimGrid, the machines that SMPI
    is told of, and settings in the environment; of what is measured on a cluster with what is asked
    for there and the rooms that measure it, and not with what judges it.

    Raises:
        CommandError: the item is not measured there.
    """
    digest = hashlib.sha256(f"{__version__} {item.name} {iterations}".encode())
    if item.how != "simulated":
        digest.update(f" {where} {programs_hash()} {_machine(where)}".encode())
        for path in platform_files():
            digest.update(path.read_bytes())
    if isinstance(item.run, Measurement):
        if where is None:
            raise CommandError(f"{item.name} is measured on a cluster")
        digest.update(item.run.asked(where, iterations).encode())
        _update_by_rooms(digest, MEASURING_ROOMS, NOT_MEASURING)
    else:
        digest.update(judgement().encode())
    return digest.hexdigest()[:16]


def judgement() -> str:
    """Equal as long as the same samples are judged alike.

    It changes with the bindings, which hold planners and simulator, with published numbers, and
    with the rooms that lay out grids, run them and judge them.
    """
    digest = hashlib.sha256(Path(_core.__file__).read_bytes())
    _update_by_rooms(digest, ROOMS, PAGES)
    data = [*(PACKAGE / "data").glob("*.csv"), *(PACKAGE / "data/recordings").glob("*.json")]
    for path in sorted(data):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _update_by_rooms(digest: Any, rooms: Sequence[str], left_out: Sequence[str]) -> None:
    """By all modules of rooms but those that are left out."""
    for room in rooms:
        for path in sorted((PACKAGE / room).glob("*.py")):
            if path.relative_to(PACKAGE).as_posix() not in left_out:
                digest.update(path.read_bytes())


def is_judged_today(document: Document) -> bool:
    """Whether it was measured on a cluster, and is judged as it would be today."""
    return document.get("judgement") == judgement()


def is_current(item: Item, document: Document) -> bool:
    """Whether a result would be made and judged alike today, by what it says of itself."""
    if "iterations" not in document:  # an earlier version did not say
        return False
    place = document.get("place")
    where = None if place is None else Where(**place)
    if isinstance(item.run, Measurement) and not is_judged_today(document):
        return False
    try:
        return document.get("fingerprint") == fingerprint(item, document["iterations"], where)
    except CommandError:  # nobody measures it there any more
        return False


def write_outcome(item: Item, outcome: Outcome, folder: Path, made: Made) -> Document:
    """NAME.csv, NAME.png and, last, NAME.json, which says that the item is finished."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(outcome.columns)
    writer.writerows(outcome.rows)
    write_result(folder / f"{item.name}.csv", text.getvalue())
    plt = plot_library()
    figure = outcome.draw(plt)
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=130)
    plt.close(figure)
    write_result(folder / f"{item.name}.png", image.getvalue())
    document = {
        "item": item.name,
        "title": item.title,
        "source": item.source,
        "how": item.how,
        "date": made.date,
        "iterations": made.iterations,
        "place": None if made.where is None else vars(made.where),
        "setting": outcome.setting,
        "error": outcome.error,
        "claims": [vars(claim) for claim in outcome.claims],
        "seconds": round(made.seconds, 1),
        "fingerprint": made.mark,
        **({"judgement": judgement()} if isinstance(item.run, Measurement) else {}),
    }
    write_result(folder / f"{item.name}.json", json.dumps(document, indent=1) + "\n")
    return document


def _is_claim(claim: object) -> bool:
    if not isinstance(claim, dict):
        return False
    texts = (claim.get(name, "") for name in ("text", "reason", "published", "ours", "instrument"))
    worth = claim.get("worth", [])
    return (
        all(isinstance(text, str) for text in texts)
        and bool(claim.get("text"))
        and claim.get("verdict") in VERDICTS
        and claim.get("kind", "paper") in get_args(Kind)
        and all(isinstance(claim.get(name, ""), str) for name in ("algorithm", "metric"))
        and isinstance(worth, list)
        and (not worth or bool(claim.get("algorithm") and claim.get("metric")))
        and all(isinstance(one, (int, float)) and abs(one) < MOST for one in worth)
    )


def is_place(place: object) -> bool:
    """Whether this is what the fields of a place are kept as."""
    if place is None:
        return True
    if not isinstance(place, dict) or set(place) != {"hosts", "rate", "mpi"}:
        return False
    return (
        isinstance(place["hosts"], int)
        and isinstance(place["rate"], str)
        and (place["mpi"] is None or isinstance(place["mpi"], str))
    )


def _is_result(item: Item, document: object) -> bool:
    if not isinstance(document, dict) or document.get("item") != item.name:
        return False
    claims = document.get("claims")
    return (
        all(isinstance(document.get(name), str) and document[name] for name in TEXTS)
        and isinstance(document.get("iterations", 0), int)
        and is_place(document.get("place"))
        and all(isinstance(document.get(name, ""), str) for name in ("date", "error"))
        and isinstance(claims, list)
        and all(_is_claim(claim) for claim in claims)
    )


def read_document(
    path: Path, read: Callable[[Path], str | bytes], is_one: Callable[[object], bool], what: str
) -> Document | None:
    """JSON that an earlier run left; a file that is something else is left out, and said so.

    Args:
        path: may be missing.
        read: its text, or raises OSError or ValueError.
        is_one: whether it is what it should be.
        what: it should be.
    """
    try:
        document: Document = json.loads(read(path))
        json.dumps(document, ensure_ascii=False).encode()  # halves of surrogate pairs are no text
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        say(f"{path} is left out: {error}")
        return None
    if not is_one(document):
        say(f"{path} is left out: it is no {what}")
        return None
    return document


def read_result(item: Item, folder: Path) -> Document | None:
    """What an earlier run left of an item."""
    path, what = folder / f"{item.name}.json", f"result of sibyl reproduce {item.name}"
    document = read_document(path, read_text, lambda found: _is_result(item, found), what)
    if document is None:
        return None
    for claim in document["claims"]:
        claim.setdefault("reason", "")
    return document


def finished(item: Item, folder: Path, mark: str) -> Document | None:
    """A result that need not be made again: made as it would be today, with its table and picture.

    Args:
        item: of the result.
        folder: where it was left.
        mark: the fingerprint that it must have.
    """
    if not all(is_file(folder / f"{item.name}.{end}") for end in ("json", "csv", "png")):
        return None
    document = read_result(item, folder)
    if document is None or document.get("fingerprint") != mark:
        return None
    return document if is_current(item, document) else None
