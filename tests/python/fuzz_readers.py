"""Every reader of a file in Python, as a function of the file's bytes, for fuzzers.

A reader takes what it is given or refuses it by its own error, with a line that can be printed;
any other exception, a hang or a result that cannot be used is a fault. tests/fuzz/corpus/<name>
holds what each is fed first; tests/python/test_fuzz_corpus.py goes over it, scripts/fuzz lets
atheris make more of it.
"""

import json
import lzma
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

from sibyl.arguments import read_order, read_sizes
from sibyl.bench import calls, calls_output
from sibyl.cluster.state import Cluster, _read_cluster
from sibyl.commands.fft_plot import read_document
from sibyl.errors import CommandError
from sibyl.experiment.journal import Journal
from sibyl.experiment.recording import read_recording, replayed_calls
from sibyl.experiment.samples import CellResult
from sibyl.mpi.arrivals import merge_arrivals
from sibyl.mpi.placement import read_hostfile
from sibyl.mpi.report import merge_reports
from sibyl.prediction import replay
from sibyl.profile.chrome import to_chrome
from sibyl.profile.costs import Costs
from sibyl.profile.document import to_json
from sibyl.profile.page import to_html
from sibyl.profile.profile import make_profile
from sibyl.profile.tail_calls import tail_calls_of
from sibyl.profile.trace import TraceError
from sibyl.profile.world import read_world
from sibyl.reproduce.catalogue import ITEMS
from sibyl.reproduce.page import details, markdown
from sibyl.reproduce.results import is_current, read_result
from sibyl.reproduce.samples import asked_of, judged, read_samples
from sibyl.reproduce.session import page
from sibyl.simulator import calibration
from sibyl.simulator.contenders import contenders
from sibyl.simulator.session import Row

Reader = Callable[[Path], object]
MEASURED = next(item for item in ITEMS if item.name == "exscan-table-1-cluster")
# Of what is kept in journals: cells that were measured, and that were simulated.
ENTRIES = (CellResult.from_json, partial(Row.from_json, entrants=contenders("gather", "linear")))


def _recording(path: Path) -> None:
    with suppress(CommandError):
        read_recording(path)
    with suppress(CommandError):
        replayed_calls(str(path), 4)
    for site in replay.read_trace(path)[:2]:
        if site.ranks * len(site.calls) < 10_000:
            replay.replay(site, ["last"])


def _trace(path: Path) -> None:
    world = read_world(path.parent)
    profile = make_profile(world, lambda: Costs(None, None, "nothing"), ["program"])
    json.loads(to_json(profile))
    json.loads(to_chrome(profile))
    to_html(profile)


def _report(path: Path) -> None:
    report = merge_reports(path.parent)
    json.dumps(report.as_json(["program"], 0))


def _arrivals(path: Path) -> None:
    json.dumps(merge_arrivals(path.parent, ["program"]))


def _cluster(path: Path) -> None:
    try:
        cluster = _read_cluster("default", path.read_text(encoding="utf-8"))
    except (ValueError, TypeError, RecursionError):  # as `load` has it
        return
    assert isinstance(cluster, Cluster)
    assert all(name.startswith("sibyl-default-") for name in cluster.namespaces)


def _reproduction(path: Path) -> None:
    """As a result of an item that is simulated, and of one that is measured."""
    found = read_result(ITEMS[0], path.parent)
    documents = [] if found is None else [found]
    for document in documents:
        is_current(ITEMS[0], document)
        is_current(MEASURED, document)
    for text in (markdown(documents, ITEMS, "today"), details(documents, "today"), page(documents)):
        text.encode()


def _samples(path: Path) -> None:
    """Of what the compressed file holds."""
    path.write_bytes(lzma.compress(path.read_bytes()))
    kept = read_samples(MEASURED, path.parent)
    if kept is not None:
        assert kept.made.where is not None
        asked = asked_of(MEASURED, kept.made.where, kept.made.iterations)
        judged(MEASURED, replace(kept, asked=asked))


def _journal(path: Path) -> None:
    with patch.dict(os.environ, XDG_CACHE_HOME=str(path.parents[2])):
        for from_json in ENTRIES:
            for entry in Journal(path.stem, from_json).read():
                json.dumps(entry.as_json())


def _calls(path: Path) -> None:
    with path.open("rb") as file:
        begin, cells = calls.read_run(calls.read_lines(file))
    with suppress(*calls.DAMAGED):  # as `judge_input` has it
        run = calls.judge_calls(begin, cells)
        for text_of in (calls_output.to_table, calls_output.to_csv, calls_output.to_json):
            text_of(run)


def _module(path: Path) -> None:
    found = tail_calls_of(path)
    for offset in range(4096 if found is not None else 0):
        assert found.offset_of_jump(offset) is None or offset > 0


# By the name of the corpus: the reader, and what its file is called.
READERS: dict[str, tuple[Reader, str]] = {
    "recording": (_recording, "recording.json"),
    "trace": (_trace, "here-1.trace"),
    "report": (_report, "rank-0-1.json"),
    "rank_arrivals": (_arrivals, "arrivals-0-1.json"),
    "hostfile": (read_hostfile, "hosts"),
    "order": (lambda path: read_order(path, 4, 1), "order"),
    "sizes": (lambda path: read_sizes(str(path)), "sizes"),
    "calibration": (calibration.read, "costs.json"),
    "fft": (read_document, "fft.json"),
    "cluster": (_cluster, "default.json"),
    "module": (_module, "module.so"),
    "journal": (_journal, "sibyl/journal/entries.jsonl"),
    "calls": (_calls, "calls.jsonl"),
    "samples": (_samples, f"{MEASURED.name}.samples.xz"),
    "reproduction": (_reproduction, f"{ITEMS[0].name}.json"),
}


def feed(name: str, data: bytes) -> None:
    """Let a reader read; returns where it has, or has refused."""
    reader, file = READERS[name]
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        with suppress(CommandError, TraceError):
            reader(path)
